"""Cells that list names, by what several small terminologies know."""

from __future__ import annotations

import pytest

from canonym import Concept, Document, InvalidInput, Linker, Mention, Name, Terminology
from canonym.types import Record

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


LISTS = [
    ("diseases", "asthma; eczema", "asthma|eczema"),
    ("diseases", "asthma;eczema;gout", "asthma|eczema|gout"),
    ("diseases", "asthma/eczema", "asthma|eczema"),
    ("diseases", "asthma / eczema / gout", "asthma|eczema|gout"),
    ("diseases", "asthma and eczema", "asthma|eczema"),
    ("diseases", "asthma + eczema", "asthma|eczema"),
    ("diseases", "asthma & eczema", "asthma|eczema"),
    ("diseases", "asthma &amp; eczema", "asthma|eczema"),
    ("diseases", "Asthma, Eczema", "asthma|eczema"),
    ("diseases", "asthma,eczema,gout", "asthma|eczema|gout"),
    ("diseases", "asthma as well as gout", "asthma|gout"),
    ("diseases", "asthma plus gout", "asthma|gout"),
    ("diseases", "asthma and/or gout", "asthma|gout"),
    ("diseases", "fever, cough and headache", "fever|cough|headache"),
    ("diseases", "fever, cough, and headache", "fever|cough|headache"),
    ("diseases", "fever, cough & headache", "fever|cough|headache"),
    ("diseases", "fever; cough; and headache", "fever|cough|headache"),
    ("diseases", "1. pneumonia 2. sepsis 3. AKI", "pneumonia|sepsis|acute kidney injury"),
    ("diseases", "1) pneumonia 2) sepsis", "pneumonia|sepsis"),
    ("diseases", "(1) pneumonia; (2) sepsis", "pneumonia|sepsis"),
    ("diseases", "1.pneumonia 2.sepsis", "pneumonia|sepsis"),
    ("diseases", "#1 pneumonia #2 sepsis", "pneumonia|sepsis"),
    ("diseases", "a) gout b) stroke c) anemia", "gout|stroke|anemia"),
    ("diseases", "i) gout ii) stroke", "gout|stroke"),
    ("diseases", "Diagnoses: 1. gout, 2. stroke", "gout|stroke"),
    ("diseases", "- gout\n- stroke\n- anemia", "gout|stroke|anemia"),
    ("diseases", "* gout\n* stroke", "gout|stroke"),
    ("diseases", "• gout • stroke", "gout|stroke"),
    ("diseases", "gout\nstroke\nanemia", "gout|stroke|anemia"),
    ("diseases", "gout\r\nstroke", "gout|stroke"),
    ("diseases", "gout | stroke", "gout|stroke"),
    ("diseases", "HTN, TB, gout", "hypertension|tuberculosis|gout"),
    ("diseases", "hepatitis B and C", "hepatitis B|hepatitis C"),
    ("diseases", "hepatitis B/C", "hepatitis B|hepatitis C"),
    ("diseases", "influenza A & B", "influenza A|influenza B"),
    ("diseases", "ventricular tachycardia and fibrillation",
     "ventricular tachycardia|ventricular fibrillation"),
    ("diseases", "aortic or mitral regurgitation", "aortic regurgitation|mitral regurgitation"),
    ("diseases", "breast and ovarian cancer", "breast cancer|ovarian cancer"),
    ("diseases", "breast, lung and ovarian cancer", "breast cancer|lung cancer|ovarian cancer"),
    ("diseases", "fever, nausea & vomiting", "fever|nausea and vomiting"),
    ("diseases", "gout and hand, foot and mouth disease", "gout|hand, foot and mouth disease"),
    ("diseases", "fever & cough; gout", "fever|cough|gout"),
    ("diseases", "high blood pressure and stroke", "hypertension|stroke"),
    ("diseases", "N/V/D", "nausea and vomiting|diarrhea"),
    ("diseases", "f/c", "fever|chills"),
    ("diseases", "pneumonias, strokes and fevers", "pneumonia|stroke|fever"),
    ("diseases", "pneumonia, constipatoin and headache", "pneumonia|constipation|headache"),
    ("diseases", "fever; gout;", "fever|gout"),
    ("diseases", "fever、gout", "fever|gout"),
    ("drugs", "lisinopril/hydrochlorothiazide", "lisinopril|hydrochlorothiazide"),
    ("drugs", "lisinopril / hydrochlorothiazide", "lisinopril|hydrochlorothiazide"),
    ("drugs", "amoxicillin+clavulanate", "amoxicillin|clavulanate"),
    ("drugs", "paracetamol, caffeine, aspirin", "paracetamol|caffeine|aspirin"),
    ("drugs", "metformin; aspirin", "metformin|aspirin"),
    ("drugs", "vitamin B6 and B12", "vitamin B6|vitamin B12"),
    ("drugs", "vitamin B6/B12", "vitamin B6|vitamin B12"),
    ("drugs", "sodium and potassium chloride", "sodium chloride|potassium chloride"),
    ("drugs", "simvastatin + ezetimibe", "simvastatin|ezetimibe"),
    ("genes", "BRCA1, BRCA2", "BRCA1|BRCA2"),
    ("genes", "BRCA1/BRCA2", "BRCA1|BRCA2"),
    ("genes", "EGFR & KRAS", "EGFR|KRAS"),
    ("genes", "CD4 and CD8", "CD4|CD8"),
    ("genes", "MMP2/9", "MMP2|MMP9"),
    ("genes", "GLUT1 and 4", "GLUT1|GLUT4"),
    ("genes", "HSV-1/2", "HSV-1|HSV-2"),
    ("genes", "IL-2 and IL-6", "IL-2|IL-6"),
    ("anatomy", "heart and lung", "heart|lung"),
    ("anatomy", "left and right lung", "left lung|right lung"),
    ("anatomy", "head, neck", "head|neck"),
    ("anatomy", "upper and lower lip", "upper lip|lower lip"),
    ("anatomy", "liver; kidney; femur", "liver|kidney|femur"),
    ("mixed", "breast and ovarian cancer", "breast cancer|ovarian cancer"),
    ("mixed", "fever and lung cancer", "fever|lung cancer"),
    ("mixed", "asthma, metformin", "asthma|metformin"),
]  # fmt: skip
"""A terminology, a cell and its ids."""

WHOLE = [
    ("diseases", "hand, foot and mouth disease", "hand, foot and mouth disease"),
    ("diseases", "Hand-foot-and-mouth disease", "hand, foot and mouth disease"),
    ("diseases", "nausea and vomiting", "nausea and vomiting"),
    ("diseases", "nausea & vomiting", "nausea and vomiting"),
    ("diseases", "vomiting and nausea", "nausea and vomiting"),
    ("diseases", "nausea/vomiting", "nausea and vomiting"),
    ("diseases", "N/V", "nausea and vomiting"),
    ("diseases", "diabetes mellitus, type 2", "diabetes mellitus, type 2"),
    ("diseases", "Kidney failure, acute", "acute kidney injury"),
    ("diseases", "head & neck cancer", "head and neck cancer"),
    ("diseases", "asthma w/o status asthmaticus", "asthma without status asthmaticus"),
    ("diseases", "asthma w/ exacerbation", "asthma with exacerbation"),
    ("diseases", "1. pneumonia", "pneumonia"),
    ("diseases", "HTN; hypertension", "hypertension"),
    ("diseases", "high blood pressure / hypertension", "hypertension"),
    ("drugs", "1,2-dichloroethane", "1,2-dichloroethane"),
    ("drugs", "N,N-dimethylformamide", "N,N-dimethylformamide"),
    ("drugs", "Calcium/calmodulin-dependent protein kinase",
     "calcium calmodulin dependent protein kinase"),
    ("drugs", "trimethoprim/sulfamethoxazole", "trimethoprim, sulfamethoxazole drug combination"),
    ("drugs", "sulfamethoxazole + trimethoprim", "trimethoprim, sulfamethoxazole drug combination"),
    ("genes", "CD4/CD8 ratio", "CD4/CD8 ratio"),
    ("genes", "Na+/K+ ATPase", "Na+/K+ ATPase"),
]  # fmt: skip
"""A terminology, a cell and its one id."""

UNCUT = [
    ("diseases", "Diabetes Mellitus, Insulin-Dependent"),
    ("diseases", "Carcinoma, Squamous Cell, Oral"),
    ("diseases", "asthma, NOS"),
    ("diseases", "asthma, severe"),
    ("diseases", "Pneumonia, Unspecified"),
    ("diseases", "fracture, left, initial encounter"),
    ("diseases", "stroke, acute and chronic"),
    ("diseases", "asthma; uncontrolled"),
    ("diseases", "diabetes w/o complications"),
    ("diseases", "ulcer r/t diabetes"),
    ("diseases", "pain d/t fall"),
    ("diseases", "t(9;22)(q34;q11)"),
    ("diseases", "severe chronic\nkidney disease of dogs"),
    ("diseases", "asthma (mild, persistent)"),
    ("diseases", "oral & maxillofacial surgery"),
    ("drugs", "trimethoprim, sulfamethoxazole combination"),
    ("drugs", "2,4-dinitrophenol"),
    ("drugs", "calcium/calmodulin-dependent kinase II"),
    ("drugs", "aspirin 75 mg/day"),
    ("drugs", "magnesium, elemental"),
    ("genes", "HER2/neu"),
    ("genes", "CD4+CD25+ T cells"),
    ("genes", "TNF-alpha/beta binding"),
    ("anatomy", "head and neck"),
    ("anatomy", "head and neck region"),
    ("anatomy", "hand, foot and mouth"),
    ("anatomy", "brain and spinal cord"),
    ("mixed", "graft-versus-host disease and/or"),
    ("mixed", "oral and ovarian"),
]
"""A terminology, and a cell that is no list, though it has separators, and no name."""


def answer(link) -> str:
    return "|".join(link.ids)


@pytest.mark.parametrize(("terminology", "cell", "ids"), LISTS)
def test_a_list_has_a_part_for_each_name(linkers, terminology, cell, ids):
    (link,) = linkers[terminology].link([cell])
    assert answer(link) == ids
    assert len(link.parts) == ids.count("|") + 1


@pytest.mark.parametrize(("terminology", "cell", "id_"), WHOLE)
def test_a_name_that_holds_a_separator_stays_whole(linkers, terminology, cell, id_):
    (link,) = linkers[terminology].link([cell], min_confidence=0)
    assert (answer(link), link.parts) == (id_, ())


@pytest.mark.parametrize(("terminology", "cell"), UNCUT)
def test_what_is_no_list_is_not_cut(linkers, terminology, cell):
    (link,) = linkers[terminology].link([cell])
    assert link.parts == ()


@pytest.mark.parametrize(
    ("cell", "parts"),
    [
        ("HTN; DM2; CAD", "HTN|DM2|CAD"),
        ("HTN, DM2, CAD", "HTN|DM2|CAD"),
        ("DM2, CAD", "DM2|CAD"),
        ("DM2 and CAD", "DM2|CAD"),
        ("DM2, gout", "DM2|gout"),
        ("HTN DM2, gout", "HTN|DM2|gout"),
        ("gout, HTN DM2", "gout|HTN|DM2"),
        ("HTN DM2 and gout", "HTN|DM2|gout"),
        ("gout, stroke, DM2", "gout|stroke|DM2"),
        ("gout & COPD", "gout|COPD"),
        ("1. HTN 2. xyzzy plugh", "HTN|xyzzy plugh"),
        ("gout; qwertz zuiop", "gout|qwertz zuiop"),
        ("gout\nqwertz zuiop\nstroke", "gout|qwertz zuiop|stroke"),
    ],
)
def test_items_that_are_no_names_have_parts_too(linkers, cell, parts):
    (link,) = linkers["diseases"].link([cell])
    assert "|".join(part.mention.text for part in link.parts) == parts


def test_an_unknown_code_behind_a_name_may_qualify_it(linkers):
    (link,) = linkers["diseases"].link(["gout, CNS"])
    assert link.parts == ()


def test_an_unknown_item_is_not_the_known_one():
    linker = Linker.build(Terminology.build([Concept("X:1", "gout"), Concept("X:2", "anemia")]))
    for mention in ("gout, xyzzy", "gout, xyzzy, plugh"):
        (link,) = linker.link([mention])
        assert link.parts[0].id == "X:1"
        assert link.confidence is None or link.confidence < 0.9


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
    for terminology, cell, ids in LISTS:
        assert [answer(linkers[terminology].link([cell], k=k)[0]) for k in (1, 10)] == [ids, ids]


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


@pytest.mark.parametrize(
    ("separator", "cell", "ids"),
    [
        (";", "gout;stroke", "gout|stroke"),
        (";", "diabetes mellitus, type 2; gout", "diabetes mellitus, type 2|gout"),
        (",", "diabetes mellitus, gout", "diabetes mellitus|gout"),
        (",", "diabetes mellitus, gout,", "diabetes mellitus|gout"),
        ("/", "gout", "gout"),
        ("^", "gout^stroke^^anemia", "gout|stroke|anemia"),
        (" - ", "gout - stroke", "gout|stroke"),
        (
            "|",
            "breast and ovarian cancer|fever & cough",
            "breast cancer|ovarian cancer|fever|cough",
        ),
        (" and ", "nausea and vomiting", "nausea|vomiting"),
    ],
)
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
    assert link.id is None or (link.confidence or 0) <= 0.5


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
