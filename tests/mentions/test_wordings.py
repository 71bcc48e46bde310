"""Rows of other wordings: what notes write, and the names of a classification that it means."""

from __future__ import annotations

import pytest

from canonym import Concept, Linker, Name, Terminology
from canonym.errors import InvalidInput, ReadError
from canonym.linking.book import check_rules
from canonym.mentions.phrasings import phrasings
from canonym.mentions.status import read_status, split_statuses, unsaid_operation
from canonym.rules import Rule, shipped, using
from tests.tables import cases

SURE = 0.85
SITES = ("breast", "colon", "lung", "liver", "bone", "brain", "prostate", "ovary", "pancreas")
ENDS = ("lower end", "upper end", "shaft")
ADJECTIVES = {"ovary": "ovarian", "pancreas": "pancreatic"}


def _cancers() -> list[Concept | Name]:
    records: list[Concept | Name] = [Concept("P:melanoma", "Melanoma")]
    for site in SITES:
        called = ADJECTIVES.get(site, site)
        records += [
            Concept(f"P:{site}", f"Malignant neoplasm of {site}"),
            Name(f"{called} cancer", f"P:{site}"),
            Concept(f"S:{site}", f"Secondary malignant neoplasm of {site}"),
            Name(f"{called} metastasis", f"S:{site}"),
        ]
    return records


def _diabetes() -> list[Concept | Name]:
    named = ("kidney", "ophthalmic", "neurological", "circulatory")
    return [
        *(Concept(f"D:{kind}", f"Type {kind} diabetes mellitus") for kind in "12"),
        *(
            Concept(
                f"D:{kind}-{which}", f"Type {kind} diabetes mellitus with {which} complications"
            )
            for kind in "12"
            for which in named
        ),
        *(Concept("D:ckd", "Chronic kidney disease"), Concept("D:n", "Nephropathy")),
        *(Concept("D:r", "Retinopathy"), Concept("D:neuropathy", "Neuropathy")),
    ]


def _findings() -> list[Concept | Name]:
    labels = (
        *("Pneumonia", "Fracture of femur", "Subdural hematoma", "Agenesis of corpus callosum"),
        *("Diverticulosis", "Cerebral atrophy", "Cholelithiasis", "Tachycardia", "Seizure"),
        *("Pericardial effusion", "Inability to walk", "Inability to swallow", "Blurred vision"),
        *("Swollen knee", "Delayed speech", "Slurred speech", "Loss of ability to speak"),
        *("Difficulty in swallowing", "Impaired balance", "Thyroid disease", "Heart disorder"),
        *("Elevated temperature", "Dry skin", "Medical condition", "Knee pain", "Gout", "Fever"),
        *("Abnormal weight gain", "Abnormal weight loss", "Edema", "Rash", "Cough"),
        *("Short stature", "Tall stature", "Microcephaly", "Macrocephaly"),
        *("Contact with and (suspected) exposure to tuberculosis", "Tuberculosis"),
        *(f"Fracture of {end} of {bone}" for end in ENDS for bone in ("radius", "femur")),
    )
    return [Concept(f"F:{label}", label) for label in labels]


def _others() -> list[Concept | Name]:
    labels = (
        *("Pulmonary embolism", "Personal history of pulmonary embolism", "Colon polyp"),
        *("Personal history of colon polyps", "Myocardial infarction"),
        *("Old myocardial infarction", "Peptic ulcer", "Personal history of peptic ulcer disease"),
        *("Deep vein thrombosis", "Personal history of venous thrombosis"),
        *("Acquired absence of kidney", "Acquired absence of spleen", "Kidney transplant status"),
        *("Acquired absence of stomach [part of]", "Presence of aortocoronary bypass graft"),
        *("Postcholecystectomy syndrome", "Postgastric surgery syndrome", "Coronary disease"),
        *("Alcohol abuse", "Alcohol dependence", "Alcoholic cirrhosis of liver", "Cirrhosis"),
        *("Alcoholic hepatitis", "Alcoholic cardiomyopathy", "Inhalant abuse", "Hepatitis"),
        *("Asthma", "Asthma with exacerbation", "Chronic obstructive pulmonary disease"),
        "Chronic obstructive pulmonary disease with exacerbation",
    )
    return [Concept(f"O:{label}", label) for label in labels]


@pytest.fixture(scope="module")
def linker() -> Linker:
    return Linker.build(Terminology.build([*_cancers(), *_diabetes(), *_findings(), *_others()]))


def _linked(linker: Linker, mention: str) -> tuple[str, ...]:
    """Return the ids of a mention that are more than a guess."""
    (link,) = linker.link([mention])
    return link.ids


@cases("mention")
def test_a_cancer_that_has_spread_is_the_primary_one(linker: Linker, mention: str) -> None:
    assert _linked(linker, mention) == ("P:breast",)


@cases("mention", "ids")
def test_where_it_has_spread_to_is_another_concept(
    linker: Linker, mention: str, ids: tuple[str, ...]
) -> None:
    assert _linked(linker, mention) == ids


@pytest.mark.parametrize("kind", ["1", "2"])
@cases("written", "which")
def test_a_diabetes_is_that_with_its_complication(
    linker: Linker, kind: str, written: str, which: str
) -> None:
    assert _linked(linker, written.format(kind)) == (f"D:{kind}{which}",)


@cases("mention", "label")
def test_notes_say_it_in_other_words(linker: Linker, mention: str, label: str) -> None:
    assert _linked(linker, mention) == (f"O:{label}",)


@pytest.mark.parametrize(
    "mention", ["s/p cholecystectomy", "h/o cholecystectomy", "s/p lobectomy", "s/p thyroidectomy"]
)
def test_what_no_name_says_of_an_operation_is_no_complication(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.id is None


def test_what_a_list_denies_stays_an_item(linker: Linker) -> None:
    (link,) = linker.link(["asthma, no cirrhosis"])
    assert [part.status for part in link.parts] == [(), ("negated",)]


def test_a_complication_of_an_operation_may_be_one() -> None:
    assert unsaid_operation("infection after splenectomy", "Infection") == ""
    assert unsaid_operation("gastrectomy", "Partial gastrectomy") == ""
    assert split_statuses("gout s/p gastrectomy") == ("gout", "s/p gastrectomy")


@cases("mention", "labels")
def test_a_list_keeps_all_its_items(linker: Linker, mention: str, labels: tuple[str, ...]) -> None:
    (link,) = linker.link([mention])
    assert len(link.parts) == len(labels)
    for part, label in zip(link.parts, labels, strict=True):
        assert part.candidates[0].label.startswith(label)


@pytest.mark.parametrize(
    "text",
    [
        *("metastatic workup", "breast cancer screening", "T2DM without neuropathy", "mets"),
        *("history of gout", "EtOH", "liver cancer", "x" * 300, "cancer of the breast"),
    ],
)
def test_other_texts_have_no_other_wording(text: str) -> None:
    assert [step for step in phrasings(text) if step.name == "wording"] == []


@pytest.mark.parametrize(
    ("mention", "label"),
    [
        *((f"CT {verb} pneumonia", "Pneumonia") for verb in ("showed", "shows", "revealed")),
        *((f"chest x-ray {verb} pneumonia", "Pneumonia") for verb in ("showing", "confirmed")),
        *((f"CXR {said} for pneumonia", "Pneumonia") for said in ("positive", "was notable")),
        ("brain MRI revealed agenesis of corpus callosum", "Agenesis of corpus callosum"),
        ("MRI brain demonstrated cerebral atrophy", "Cerebral atrophy"),
        ("cranial CT disclosed a subdural hematoma", "Subdural hematoma"),
        ("CT scan identified a subdural hematoma", "Subdural hematoma"),
        ("echocardiography showed pericardial effusion", "Pericardial effusion"),
        ("colonoscopy showed diverticulosis", "Diverticulosis"),
        ("abdominal ultrasound showed cholelithiasis", "Cholelithiasis"),
        ("EEG showed seizures", "Seizure"),
        ("EEG: seizures", "Seizure"),
        ("ECG showed tachycardia", "Tachycardia"),
        ("EKG - tachycardia", "Tachycardia"),
        ("physical exam revealed tachycardia", "Tachycardia"),
    ],
)
def test_what_a_test_showed_is_found(linker: Linker, mention: str, label: str) -> None:
    assert _linked(linker, mention) == (f"F:{label}",)


@cases("mention")
def test_what_was_not_so_is_negated(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert (link.nil, link.status) == (True, ("negated",))
    assert link.candidates[0].label.lower() in (
        *("pneumonia", "delayed speech", "blurred vision", "swollen knee"),
    )


@cases("mention")
def test_what_is_there_is_not_negated_with_what_it_is_not(mention: str) -> None:
    assert read_status(mention).flags == ()


@pytest.mark.parametrize(
    ("mention", "label"),
    [
        *((said, "Blurred vision") for said in ("vision is blurred", "his vision was blurred")),
        *((said, "Swollen knee") for said in ("knee is swollen", "my knee has been swollen")),
        *((said, "Swollen knee") for said in ("the knee became swollen", "knee is very swollen")),
        *((said, "Delayed speech") for said in ("speech is delayed", "speech seems to be delayed")),
        *((said, "Delayed speech") for said in ("speech is severely delayed",)),
        *((said, "Slurred speech") for said in ("her speech was slurred", "speech is slurred")),
        *((said, "Dry skin") for said in ("skin is dry", "my skin feels really dry")),
        ("temperature is elevated", "Elevated temperature"),
        *((said, "Inability to walk") for said in ("unable to walk", "cannot walk", "can't walk")),
        *((said, "Inability to walk") for said in ("he is unable to walk", "not able to walk")),
        ("patient was unable to swallow", "Inability to swallow"),
        ("losing her ability to speak", "Loss of ability to speak"),
        ("gradually lost the ability to speak", "Loss of ability to speak"),
        ("trouble swallowing", "Difficulty in swallowing"),
        *((f"{said} cough", "Cough") for said in ("patient reports", "pt endorses", "reports")),
        *((f"{said} cough", "Cough") for said in ("he developed", "she had", "he came in with")),
        *((said, "Fever") for said in ("low grade fever", "low-grade temp", "high grade fevers")),
        *((said, "Abnormal weight gain") for said in ("gained 20 pounds", "put on about 5 kg")),
        *((said, "Abnormal weight loss") for said in ("lost 15 lbs", "losing over 3 kilos")),
        *((said, "Edema") for said in ("3+ pitting edema", "2+ pedal edema", "trace edema")),
        *((said, "Rash") for said in ("rash on arms", "rash all over my body")),
        ("problems with swallowing", "Difficulty in swallowing"),
        ("trouble with balance", "Impaired balance"),
        *((said, "Thyroid disease") for said in ("thyroid problems", "thyroid trouble")),
        *((said, "Heart disorder") for said in ("heart problem", "heart condition")),
    ],
)
def test_half_sentences_name_what_they_say(linker: Linker, mention: str, label: str) -> None:
    assert _linked(linker, mention) == (f"F:{label}",)


@pytest.mark.parametrize("bone", ["radius", "femur"])
@cases("written", "end")
def test_ends_of_bones(linker: Linker, bone: str, written: str, end: str) -> None:
    adjective = {"radius": "radial", "femur": "femoral"}[bone]
    mention = written.format(bone, adjective=adjective)
    assert _linked(linker, mention) == (f"F:Fracture of {end} of {bone}",)


@pytest.mark.parametrize(
    ("mention", "label"),
    [
        *((f"{said} gout", "Gout") for said in ("a 3-day history of", "3 day history of")),
        *((f"{said} gout", "Gout") for said in ("two week h/o", "6 months history of")),
        *((f"{said} gout", "Gout") for said in ("10-year history of", "several months hx of")),
        *((f"{said} gout", "Gout") for said in ("HPI:", "Clinical history:", "A/P:")),
        *((f"{said} gout", "Gout") for said in ("Presenting complaint:", "reason for exam:")),
    ],
)
def test_how_long_and_where_it_stands_is_left_out(linker: Linker, mention: str, label: str) -> None:
    (link,) = linker.link([mention])
    assert (link.ids, link.status) == ((f"F:{label}",), ())


@pytest.mark.parametrize(
    "said",
    ["exposure to", "exposed to", "recent exposure to", "contact with", "close contact with"],
)
def test_who_met_a_disease_may_not_have_it(linker: Linker, said: str) -> None:
    label = "Contact with and (suspected) exposure to tuberculosis"
    assert _linked(linker, f"{said} tuberculosis") == (f"F:{label}",)
    assert _linked(linker, f"{said} TB") == (f"F:{label}",)


@pytest.mark.parametrize(
    ("mention", "label"),
    [
        ("chronic problem", "Heart disorder"),
        ("pain swallowing", "Inability to swallow"),
    ],
)
def test_half_sentences_that_say_something_else_do_not(
    linker: Linker, mention: str, label: str
) -> None:
    assert _linked(linker, mention) != (f"F:{label}",)


def test_one_that_says_less_comes_after_one_that_says_all() -> None:
    steps = phrasings("metastatic breast cancer")
    assert [step.name for step in steps[:2]] == ["wording", "broader"]
    assert steps[1].before == steps[0].after == "breast cancer metastatic"


def test_a_row_that_can_never_be_found_is_refused() -> None:
    for form, means in (("X (of|) Y", "Y X"), ("ward X (a", "X"), ("ward X", r"\1 Y")):
        rule = Rule("own.a", "wording", form, means, example="ward gout")
        with (
            using(shipped().with_rules([rule])),
            pytest.raises(InvalidInput, match="lacks a word that is always there"),
        ):
            phrasings("ward gout")


def test_an_institution_has_wordings_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("rules") / "ward.tsv"
    header = "id\tkind\tform\tmeans\twhere\texample\tcounter\n"
    row = "w.a\twording\tX on the rocks\tstony X\t\tgout on the rocks\tgout on ice\n"
    path.write_text(header + row, "utf-8")
    assert [rule.means for rule in check_rules(path)] == ["stony X"]
    path.write_text(header + row.replace("stony X", r"\4 X"), "utf-8")
    with pytest.raises(ReadError, match="lacks a word"):
        check_rules(path)


@cases("said")
def test_trials_tell_how_a_disease_was_found_and_treated(linker: Linker, said: str) -> None:
    (link,) = linker.link([f"{said} asthma"], min_confidence=0)
    assert link.ids == ("O:Asthma",)
    assert not linker.link(["advanced maternal age"])[0].ids


@pytest.mark.parametrize(
    "said", ["on CPAP", "on home oxygen", "on 2L O2", "on MTX", "on prednisone", "on inhalers"]
)
def test_a_disease_that_is_treated_is_that_disease(linker: Linker, said: str) -> None:
    assert _linked(linker, f"asthma {said}") == ("O:Asthma",)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        *(
            (f"height {at}", "Short stature")
            for at in ("below the 3rd centile", "< 1st percentile")
        ),
        *(
            (f"height {at}", "Tall stature")
            for at in ("above the 97th centile", "over 99th centile")
        ),
        *((f"OFC {at}", "Microcephaly") for at in ("below 3rd centile", "at the 2nd percentile")),
        *((f"HC {at}", "Macrocephaly") for at in ("> 98th centile", "above 99th percentile")),
        ("head circumference at the 97th centile", "Macrocephaly"),
    ],
)
def test_a_centile_at_an_end_is_a_finding(linker: Linker, said: str, label: str) -> None:
    assert _linked(linker, said) == (f"F:{label}",)
    assert not linker.link([said.split()[0] + " at the 50th centile"])[0].ids


@cases("mention", "label")
def test_a_remark_beside_a_name_is_left_over(linker: Linker, mention: str, label: str) -> None:
    (link,) = linker.link([mention])
    assert link.label == label
    assert not link.parts


def test_no_wording_loses_a_word_of_status() -> None:
    assert phrasings("flu shot declined")
    assert not phrasings("h/o flu shot declined")


@cases("mention", "label")
def test_what_is_more_than_a_remark_stays(linker: Linker, mention: str, label: str | None) -> None:
    (link,) = linker.link([mention])
    assert not link.steps if label is None else link.label == label


@cases("mention")
def test_a_remark_ends_where_a_list_goes_on(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.ids == ("F:Gout", "F:Pneumonia")


def test_what_is_left_over_is_the_remark_alone(linker: Linker) -> None:
    for mention in ("gout, seen by rheumatology", "gout (seen by rheumatology)"):
        (link,) = linker.link([mention])
        assert " ".join(link.left_over).strip("()") == "seen by rheumatology"


@cases("mention")
def test_what_denies_doubts_or_adds_is_no_remark(linker: Linker, mention: str) -> None:
    (link,) = linker.link([mention])
    assert link.nil or link.parts or link.confidence is None or link.confidence < SURE
    assert all(step.name != "broader" for step in link.steps)


@cases("mention", "status")
def test_what_denies_or_doubts_is_a_status(linker: Linker, mention: str, status: str) -> None:
    (link,) = linker.link([mention], keep_negated=True)
    assert link.status == (status,)
    assert link.label == mention.split()[0].capitalize()


def test_a_question_mark_before_a_remark_stays(linker: Linker) -> None:
    for mention in ("pneumonia? on CXR", "gout? see note", "tuberculosis? seen by ID"):
        (link,) = linker.link([mention])
        assert "uncertain" in link.status


def test_what_is_denied_behind_a_comma_is_another_mention(linker: Linker) -> None:
    (link,) = linker.link(["gout, not tuberculosis"])
    assert [(part.mention.text, part.status) for part in link.parts] == [
        ("gout", ()),
        ("tuberculosis", ("negated",)),
    ]
