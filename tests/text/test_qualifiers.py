"""What says nothing about a concept goes off both ends of a text, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.text.qualifiers import (
    BROADER,
    QUALIFIERS,
    bare_name,
    is_rest,
    is_unspecified,
    qualified,
)

SAME = [
    ("asthma (disorder)", "asthma"),
    ("Asthma (finding)", "Asthma"),
    ("Appendectomy (procedure)", "Appendectomy"),
    ("Adenocarcinoma (morphologic abnormality)", "Adenocarcinoma"),
    ("Left kidney structure (body structure)", "Left kidney structure"),
    ("Escherichia coli (organism)", "Escherichia coli"),
    ("Spider (organism)", "Spider"),
    ("Aspirin (substance)", "Aspirin"),
    ("Severe (qualifier value)", "Severe"),
    ("Ibuprofen (product)", "Ibuprofen"),
    ("Body weight (observable entity)", "Body weight"),
    ("Breast feeding (regime/therapy)", "Breast feeding"),
    ("Fall (event)", "Fall"),
    ("Suspected gout (situation)", "Suspected gout"),
    ("gout [disorder]", "gout"),
    ("Gout (diagnosis)", "Gout"),
    ("asthma NOS", "asthma"),
    ("asthma nos", "asthma"),
    ("asthma, NOS", "asthma"),
    ("asthma (NOS)", "asthma"),
    ("asthma [NOS]", "asthma"),
    ("asthma - NOS", "asthma"),
    ("asthma N.O.S.", "asthma"),
    ("Dermatitis: NOS", "Dermatitis"),
    ("asthma, unspecified", "asthma"),
    ("asthma,unspecified", "asthma"),
    ("asthma unspecified", "asthma"),
    ("asthma - unspecified", "asthma"),
    ("asthma (unspecified)", "asthma"),
    ("unspecified asthma", "asthma"),
    ("Unspecified viral hepatitis", "viral hepatitis"),
    ("Sepsis, unspecified organism", "Sepsis"),
    ("Malignant neoplasm of unspecified site", "Malignant neoplasm"),
    ("Cellulitis, unspecified site", "Cellulitis"),
    ("Pneumonia, organism unspecified", "Pneumonia"),
    ("Pressure ulcer, unspecified stage", "Pressure ulcer"),
    ("Narcolepsy, cause not specified", "Narcolepsy"),
    ("Major depression, single episode, unspecified severity", "Major depression, single episode"),
    ("Headache, not otherwise specified", "Headache"),
    ("Epilepsy, not further specified", "Epilepsy"),
    ("Glaucoma, not otherwise stated", "Glaucoma"),
    ("Low back pain of unspecified origin", "Low back pain"),
    ("Anemia without further specification", "Anemia"),
    ("Asthma, unspecified (disorder)", "Asthma"),
    ("Unspecified asthma NOS", "asthma"),
    ("acute pain, unspec.", "acute pain"),
    ("Gout,  unspecified ", "Gout"),
    ("ASTHMA, UNSPECIFIED", "ASTHMA"),
    ("UNSPECIFIED ANEMIA", "ANEMIA"),
    ("Chronic pain, unspecified duration", "Chronic pain"),
    ("my back hurts", "back hurts"),
    ("My asthma", "asthma"),
    ("MRI brain: cortical dysplasia", "cortical dysplasia"),
    ("my  asthma NOS", "asthma"),
]

WIDER = [
    ("Edema, not elsewhere classified", "Edema"),
    ("Edema, NEC", "Edema"),
    ("Edema (NEC)", "Edema"),
    ("viral infection NEC", "viral infection"),
    ("Other and unspecified hyperlipidemia", "hyperlipidemia"),
    ("Other or unspecified injury", "injury"),
    ("Dementia in diseases classified elsewhere", "Dementia"),
    ("Dementia in other diseases classified elsewhere", "Dementia"),
    ("Other pneumonia, not elsewhere classified", "pneumonia"),
    ("Other anemias in chronic diseases classified elsewhere", "anemias"),
    ("Diabetes mellitus without mention of complication", "Diabetes mellitus"),
    ("DIABETES MELLITUS WITHOUT MENTION OF COMPLICATION", "DIABETES MELLITUS"),
    ("asthma, without mention of status asthmaticus", "asthma"),
    ("Myocarditis in bacterial diseases classified elsewhere", "Myocarditis"),
]

UNTOUCHED = [
    "asthma",
    "Other asthma",
    "Other specified asthma",
    "Other disorders",
    "Other",
    "Unspecified",
    "unspecified site",
    "Finding",
    "Disorder",
    "(disorder)",
    "Disorder, unspecified organism (disorder)"[:8],
    "NOS1",
    "NOS",
    "nitric oxide synthase NOS",
    "endothelial NOS",
    "neuronal NOS",
    "eNOS",
    "human NOS",
    "NEC",
    "neonatal NEC",
    "lung NEC",
    "stage II NEC",
    "large cell NEC",
    "(R)-ibuprofen",
    "Iron(III)",
    "2-(acetyloxy)benzoic acid (aspirin)",
    "insulin (porcine)",
    "Cold (temperature)",
    "Hepatitis, unspecified, without hepatic coma",
    "fracture of unspecified femur",
    "fracture, unspecified femur",
    "Abscess of unspecified leg",
    "cause of death",
    "cell",
    "stem cell",
    "site",
    "Injection site",
    "Disease of mitral valve of nonrheumatic type",
    "wild type",
    "hepatitis without jaundice",
    "Diabetes mellitus without mention of complication, type II",
    "MY 42445",
    "my",
    "myopia",
    "unspecified",
    "stenosis",
    "diagnosis",
    "CT: abdomen",
    "biopsy: left breast",
    "MRI: hippocampus",
    "echo: mitral valve",
    "Exam - throat",
    "Kronos",
    "thermos",
    "",
    " ",
    "()",
]


@pytest.mark.parametrize(("mention", "left"), SAME)
def test_qualifiers_go(mention: str, left: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert tuple(step) == (QUALIFIERS, mention, left)


@pytest.mark.parametrize(("mention", "left"), WIDER)
def test_what_narrows_a_mention_goes_by_a_step_of_its_own(mention: str, left: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert tuple(step) == (BROADER, mention, left)


@pytest.mark.parametrize("mention", UNTOUCHED)
def test_other_words_stay(mention: str) -> None:
    assert qualified(mention) is None


BARE = [
    ("Sepsis, unspecified organism", "Sepsis", False),
    ("Hypothyroidism, unspecified", "Hypothyroidism", False),
    ("(Pure) hypercholesterolemia NOS", "hypercholesterolemia", False),
    ("Sinusitis (chronic) NOS", "Sinusitis", False),
    ("hypertension (arterial) (benign) (essential)", "hypertension", False),
    ("Unspecified cataract", "cataract", False),
    ("Asthma (disorder)", "Asthma", False),
    ("Otitis media, unspecified, unspecified ear", "Otitis media", False),
    ("Edema, not elsewhere classified", "Edema", True),
    ("Viral hepatitis, unspecified, without hepatic coma", "Viral hepatitis", True),
    ("Type 2 diabetes mellitus without complications", "Type 2 diabetes mellitus", True),
    ("Syncope and collapse", "Syncope", True),
    ("Latent tuberculosis infection (LTBI)", "LTBI", False),
    ("Immune thrombocytopenic purpura [ITP]", "ITP", False),
]

WHOLE = [
    "Elevated C-reactive protein (CRP)",
    "Apparent life threatening event in infant (ALTE), of some kind",
    "Other sepsis",
    "Sepsis of newborn",
    "Asthma",
    "Insulin (porcine)",
    "Interstitial cystitis (chronic)",
    "Erectile dysfunction due to diseases classified elsewhere",
    "Pneumonia in diseases classified elsewhere",
    "Hepatitis without jaundice",
    "Abrasion, unspecified elbow",
    "Ear and nose",
    "Pain and swelling of knee",
    "NOS",
    "Disorder",
    "Unspecified",
    "",
]


@pytest.mark.parametrize(("name", "bare", "is_narrower"), BARE)
def test_names_have_bare_forms(name: str, bare: str, *, is_narrower: bool) -> None:
    assert bare_name(name) == (bare, is_narrower)


@pytest.mark.parametrize("name", WHOLE)
def test_other_names_have_none(name: str) -> None:
    assert bare_name(name) is None


@given(st.text(max_size=60))
def test_any_text_will_do(text: str) -> None:
    step = qualified(text)
    if step is not None:
        assert step.after
        assert qualified(step.after) is None
    bare = bare_name(text)
    assert bare is None or bare.text


WORDS = ["asthma", "unspecified", "NOS", "(disorder)", "other", "and", ",", "site", "NEC", "in"]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
def test_something_is_left_and_nothing_more_can_go(words: list[str]) -> None:
    step = qualified(" ".join(words))
    assert step is None or (step.after and qualified(step.after) is None)


@pytest.mark.parametrize(
    ("mention", "rest"),
    [
        ("newborn with cough x3 days", "newborn with cough"),
        *(("fever 3 days", "fever"), ("cough, 2 weeks", "cough"), ("gout 10 yrs", "gout")),
        *(("cough x3 days", "cough"), ("Cough X3 DAYS", "Cough"), ("seizure x 2", "seizure")),
        *(("cough for the past few days", "cough"), ("vomiting since last week", "vomiting")),
        *(("chest pain, 2 hours ago", "chest pain"), ("rash since 2019", "rash")),
        *(
            ("fever to 103 F", "fever"),
            ("headache 8/10", "headache"),
            ("back pain today", "back pain"),
        ),
    ],
)
def test_how_long_and_how_much_is_no_part_of_a_name(mention: str, rest: str) -> None:
    step = qualified(mention)
    assert step is not None
    assert (step.name, step.after) == (BROADER, rest)
    assert bare_name(mention) is None


@pytest.mark.parametrize(
    "mention",
    [
        *("trisomy 21", "diabetes type 2", "vitamin B12", "IL 10/10", "factor X 5", "x3 days"),
        *(
            *("fever 36.5", "pregnancy 12 weeks", "preterm birth 28 weeks", "newborn 3 days"),
            *("menopause at 51 years", "survival of 5 years", "infant under 28 days", "day 3 days"),
            "fever 98.6 F",
            "factor x a",
            "cross x an",
            "chromosome 7/10",
            "hepatitis C",
            "interleukin 10",
            "20 weeks gestation of pregnancy",
        ),
        "Loss of consciousness of 30 minutes or less",
    ],
)
def test_numbers_of_names_stay(mention: str) -> None:
    assert qualified(mention) is None


def test_the_rest_of_a_class_is_told_from_what_is_unspecified() -> None:
    assert [is_rest(text) for text in ("anemia NEC", "gout, not elsewhere classified")] == [
        True
    ] * 2
    assert is_rest("neuropathy in diseases classified elsewhere")
    assert not is_rest("anemia, unspecified")
    assert [is_unspecified(name) for name in ("Anemia, unspecified", "Gout NOS")] == [True] * 2
    assert not is_unspecified("Anosmia")


@pytest.mark.parametrize(
    "written", ["seizures from age 2", "seizures since 3 years of age", "seizures onset 6 mo"]
)
def test_an_age_of_onset_is_a_measure(written: str) -> None:
    step = qualified(written)
    assert step is not None
    assert step.after == "seizures"
