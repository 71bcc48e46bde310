"""Cells that list names, by what several small terminologies know."""

from __future__ import annotations

import pytest

from canonym import Concept, Document, InvalidInput, Linker, Mention, Name, Terminology
from canonym.types import Record
from tests.tables import cases, tables

DISEASES = """
asthma; eczema; hepatitis B; hepatitis C; influenza A; influenza B; fever; cough; headache; sepsis
pneumonia; heart failure; chronic kidney disease; breast cancer; ovarian cancer; lung cancer
hand, foot and mouth disease; nausea and vomiting; nausea; vomiting; diarrhea; hypertension
diabetes mellitus; diabetes mellitus, type 2; carcinoma; acute kidney injury; chest pain; gout
constipation; rash; abdominal pain; back pain; stroke; anemia; HIV infection; tuberculosis
head and neck cancer; swelling; fatigue; depression; anxiety; ventricular tachycardia
ventricular fibrillation; mitral regurgitation; aortic regurgitation; chills; dizziness
asthma without status asthmaticus; asthma with exacerbation; fracture
""".replace("\n", ";")
DRUGS = """
lisinopril; hydrochlorothiazide; amoxicillin; clavulanate; metformin; aspirin; caffeine
trimethoprim; sulfamethoxazole; trimethoprim, sulfamethoxazole drug combination; calcium
1,2-dichloroethane; N,N-dimethylformamide; vitamin B6; vitamin B12; sodium chloride; lopinavir
potassium chloride; sodium; paracetamol; codeine; levodopa; carbidopa; ritonavir; magnesium
calcium calmodulin dependent protein kinase; acetaminophen; simvastatin; ezetimibe
""".replace("\n", ";")
GENES = """
TP53; BRCA1; BRCA2; EGFR; KRAS; CD4; CD8; CD4/CD8 ratio; ERBB2; IL-2; IL-6; MMP2; MMP9; GLUT1
GLUT4; Na+/K+ ATPase; HSV-1; HSV-2; calmodulin; interleukin 2 receptor; TNF; collagen; insulin
""".replace("\n", ";")
ANATOMY = """
head; neck; lung; liver; left lung; right lung; upper lip; lower lip; kidney; brain; spinal cord
heart; femur; breast; ovary; hand; foot; mouth; retina; kidney cortex; kidney medulla
""".replace("\n", ";")


def linker_of(names: str, further: tuple[tuple[str, str], ...] = ()) -> Linker:
    """Return a linker whose concepts have their labels for ids; `further` are (name, id)."""
    labels = list(dict.fromkeys(name.strip() for name in names.split(";") if name.strip()))
    records: list[Record] = [Concept(label, label) for label in labels]
    records += [Name(text, id_) for text, id_ in further]
    return Linker.build(Terminology.build(records), encoders=["chargrams"])


@pytest.fixture(scope="module")
def linkers() -> dict[str, Linker]:
    return {
        "diseases": linker_of(
            DISEASES,
            (
                ("high blood pressure", "hypertension"),
                ("HTN", "hypertension"),
                ("AKI", "acute kidney injury"),
                ("kidney failure, acute", "acute kidney injury"),
                ("TB", "tuberculosis"),
            ),
        ),
        "drugs": linker_of(DRUGS, (("paracetamol tablet", "paracetamol"),)),
        "genes": linker_of(GENES),
        "anatomy": linker_of(ANATOMY),
        "mixed": linker_of(DISEASES + DRUGS + ANATOMY),
    }


LISTS = tables(__file__)["lists"]


def answer(link) -> str:
    return "|".join(link.ids)


@pytest.mark.parametrize(("terminology", "cell", "ids"), LISTS)
def test_a_list_has_a_part_for_each_name(linkers, terminology, cell, ids):
    (link,) = linkers[terminology].link([cell])
    assert answer(link) == ids
    assert len(link.parts) == ids.count("|") + 1


@cases("terminology", "cell", "id_")
def test_a_name_that_holds_a_separator_stays_whole(linkers, terminology, cell, id_):
    (link,) = linkers[terminology].link([cell], min_confidence=0)
    assert (answer(link), link.parts) == (id_, ())


@cases("terminology", "cell")
def test_what_is_no_list_is_not_cut(linkers, terminology, cell):
    (link,) = linkers[terminology].link([cell])
    assert link.parts == ()


@cases("cell", "parts")
def test_items_that_are_no_names_have_parts_too(linkers, cell, parts):
    (link,) = linkers["diseases"].link([cell])
    assert "|".join(part.mention.text for part in link.parts) == parts


def test_an_unknown_code_behind_a_name_may_qualify_it(linkers):
    (link,) = linkers["diseases"].link(["gout, CNS"])
    assert link.parts == ()


def test_an_unknown_item_is_left_over(linkers):
    for mention in ("gout, xyzzy", "gout, xyzzy, plugh"):
        (link,) = linkers["diseases"].link([mention])
        assert link.label.lower() == "gout"
        assert link.left_over == tuple(mention[6:].split(", "))
        assert link.confidence < 0.9


@pytest.mark.parametrize("mention", ["gout, xyzzy", "gout, plugh, xyzzy"])
def test_an_item_that_a_filter_hides_leaves_no_certain_link(mention):
    concepts = [Concept("X:1", "gout", types=("A",)), Concept("X:2", "anemia", types=("B",))]
    (link,) = Linker.build(Terminology.build(concepts)).link([mention], types=["B"])
    assert link.nil or link.confidence < 0.9


def test_a_part_that_is_no_name_may_be_near_to_one(linkers):
    (link,) = linkers["diseases"].link(["tuberculosis, chronic kidney diseasez and stroke"])
    assert link.ids == ("tuberculosis", "chronic kidney disease", "stroke")


def test_steps_tell_what_was_cut_and_written_out(linkers):
    (link,) = linkers["diseases"].link(["gout, stroke"])
    assert [[step.name for step in part.steps] for part in link.parts] == [["list"], ["list"]]
    assert link.parts[0].steps[0].after == "gout | stroke"
    (link,) = linkers["diseases"].link(["asthma w/ exacerbation"])
    assert link.steps[0] == ("shorthand", "asthma w/ exacerbation", "asthma with exacerbation")
    assert link.candidates[0].sieve == "verbatim"


def test_shorthand_as_it_is_written_may_be_the_name():
    linker = linker_of("DM w/o complication; DM with complication")
    (link,) = linker.link(["DM w/o complication"])
    assert link.ids == ("DM w/o complication",)
    assert [step.name for step in link.steps][:2] == ["shorthand", "as written"]


def test_parts_are_linked_as_they_are_alone(linkers):
    linker = linkers["diseases"]
    cells = [cell for terminology, cell, _ in LISTS if terminology == "diseases"]
    together = linker.link([*cells, "asthma", "gout"], k=3)
    for cell, link in zip(cells, together, strict=False):
        assert link == linker.link([cell], k=3)[0]
    (link,) = linker.link(["gout; asthma"], k=3)
    assert [part.candidates for part in link.parts] == [
        linker.link([name], k=3)[0].candidates for name in ("gout", "asthma")
    ]


def test_the_decision_does_not_depend_on_k(linkers):
    for name, linker in linkers.items():
        cells = [cell for terminology, cell, _ in LISTS if terminology == name]
        expected = [ids for terminology, _, ids in LISTS if terminology == name]
        for k in (1, 10):
            assert [answer(link) for link in linker.link(cells, k=k)] == expected


def test_a_name_without_the_separator_is_another():
    linker = linker_of(
        "migraine; headache", (("migraine headache", "migraine"), ("cyst; left", "headache"))
    )
    assert linker.link(["migraine; headache"])[0].ids == ("migraine", "headache")
    assert linker.link(["migraine headache"])[0].ids == ("migraine",)
    assert linker.link(["cyst; left"])[0].ids == ("headache",)


def test_a_conjunction_is_not_dropped():
    linker = linker_of("lung; cancer; lung cancer")
    assert linker.link(["lung and cancer"])[0].ids == ("lung", "cancer")


def test_a_name_that_is_added_is_no_list():
    linker = linker_of("asthma; eczema")
    linker.synonyms.add("asthma/eczema", "eczema")
    assert linker.link(["asthma/eczema"])[0].ids == ("eczema",)


def test_a_defined_short_form_is_one_thing(linkers):
    text = "Acute fever and rash (AFR) was seen."
    document = Document("1", text, (Mention("AFR", 22, 25), Mention("fever and rash", 6, 20)))
    short, long = linkers["diseases"].link_document(document)
    assert len(long.parts) == 2
    assert not any(step.name == "list" for part in short.parts for step in part.steps)


def test_without_composites_nothing_is_cut():
    terminology = Terminology.build([Concept("X:1", "asthma"), Concept("X:2", "eczema")])
    linker = Linker.build(terminology, encoders=["chargrams"], composites=False)
    assert all(link.parts == () for link in linker.link(["asthma; eczema", "asthma and eczema"]))
    assert len(linker.link(["asthma; eczema"], separator=";")[0].parts) == 2


@cases("separator", "cell", "ids")
def test_a_separator_cuts_whatever_is_known(linkers, separator, cell, ids):
    assert answer(linkers["diseases"].link([cell], separator=separator)[0]) == ids


def test_a_separator_takes_the_place_of_others(linkers):
    assert linkers["diseases"].link(["gout; stroke"], separator="|")[0].parts == ()


@pytest.mark.parametrize("separator", ["", 3, "and", b";"])
def test_what_parts_nothing_is_no_separator(linkers, separator):
    with pytest.raises(InvalidInput, match="separator"):
        linkers["diseases"].link(["gout"], separator=separator)


def test_a_separator_is_not_for_texts(linkers):
    with pytest.raises(InvalidInput, match="separator"):
        linkers["diseases"].annotate("gout; stroke", separator=";")


FINDINGS = [
    *("Hypertension", "Retinopathy", "Hypertensive retinopathy", "Splenomegaly", "Seizures"),
    *("Hypotonic seizures", "Carbidopa", "Levodopa", "Furosemide", "Potassium", "Heart attack"),
    "Resting tremor",
]


@pytest.fixture(scope="module")
def findings() -> Linker:
    return Linker.build(Terminology.build([Concept(name, name) for name in FINDINGS]))


@pytest.mark.parametrize(
    ("mention", "names"),
    [
        ("hypertension, retinopathy", ["Hypertension", "Retinopathy"]),
        ("carbidopa-levodopa", ["Carbidopa", "Levodopa"]),
        ("furosemide, potassium", ["Furosemide", "Potassium"]),
        ("heart-attack", ["Heart attack"]),
        ("tremor, resting", ["Resting tremor"]),
    ],
)
def test_two_names_are_two_concepts(findings: Linker, mention: str, names: list[str]) -> None:
    (link,) = findings.link([mention])
    assert list(link.ids) == names


def test_a_drug_and_what_it_did_are_no_list(findings: Linker) -> None:
    (link,) = findings.link(["furosemide-retinopathy"])
    assert not link.parts
    assert (link.confidence or 0) <= 0.5


@pytest.mark.parametrize("mention", ["infections, splenomegaly", "hypotonia, seizures"])
def test_a_list_is_not_surely_one_of_its_items(findings: Linker, mention: str) -> None:
    (link,) = findings.link([mention])
    assert link.id is None or (link.confidence or 0) <= 0.8


SHORT = {
    **{"HTN": "hypertension", "DM2": "diabetes mellitus, type 2", "CKD": "chronic kidney disease"},
    **{"AKI": "acute kidney injury", "VT": "ventricular tachycardia"},
    **{"MR": "mitral regurgitation", "TB": "tuberculosis", "T2DM": "diabetes mellitus, type 2"},
}


@pytest.mark.parametrize("first", SHORT)
@pytest.mark.parametrize("second", ["HTN", "CKD", "VT", "AKI"])
def test_short_forms_in_a_row_are_as_many_mentions(
    linkers: dict[str, Linker], first: str, second: str
) -> None:
    listed = list(dict.fromkeys((first, second, "DM2")))
    (link,) = linkers["diseases"].link([" ".join(listed)], min_confidence=0)
    ids = [part.id for part in link.parts]
    assert [part.mention.text for part in link.parts] == listed
    assert ids == [SHORT[short] for short in listed]


@pytest.mark.parametrize("mention", ["CT VT", "CKD MRI", "MR CNS", "HTN gout", "PT OT", "TB RNA"])
def test_short_forms_beside_something_else_are_not(
    linkers: dict[str, Linker], mention: str
) -> None:
    assert not linkers["diseases"].link([mention], min_confidence=0)[0].parts
