"""Composite mentions: what is split, into what, and what stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.mentions.composites import split_composite


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        # one head for all
        ("breast and ovarian cancer", "breast cancer|ovarian cancer"),
        ("breast and/or ovarian cancers", "breast cancers|ovarian cancers"),
        ("liver or kidney disease", "liver disease|kidney disease"),
        (
            "neurological and cardiac abnormalities",
            "neurological abnormalities|cardiac abnormalities",
        ),
        (
            "colorectal, endometrial, and ovarian cancers",
            "colorectal cancers|endometrial cancers|ovarian cancers",
        ),
        ("C6/C7 deficiency", "C6 deficiency|C7 deficiency"),
        ("C6 and C7 deficiency", "C6 deficiency|C7 deficiency"),
        ("renal & hepatic failure", "renal failure|hepatic failure"),
        ("renal as well as hepatic failure", "renal failure|hepatic failure"),
        ("breast and squamous cell neoplasms", "breast neoplasms|squamous cell neoplasms"),
        (
            "Duchenne/Becker muscular dystrophy",
            "Duchenne muscular dystrophy|Becker muscular dystrophy",
        ),
        ("Prader-Willi and Angelman syndromes", "Prader-Willi syndromes|Angelman syndromes"),
        ("Marfan and Loeys syndrome", "Marfan syndrome|Loeys syndrome"),
        ("male and female breast cancer", "male breast cancer|female breast cancer"),
        ("type 1 and type 2 diabetes", "type 1 diabetes|type 2 diabetes"),
        # what holds for every conjunct
        ("familial breast and ovarian cancer", "familial breast cancer|familial ovarian cancer"),
        ("subtotal C6 and complete C7 deficiency", "subtotal C6 deficiency|complete C7 deficiency"),
        (
            "left ventricular systolic and diastolic dysfunction",
            "left ventricular systolic dysfunction|left ventricular diastolic dysfunction",
        ),
        # a head each
        ("renal failure and hypertension", "renal failure|hypertension"),
        ("pancreatic cysts and tumors", "pancreatic cysts|pancreatic tumors"),
        ("cysts and tumors", "cysts|tumors"),
        ("dermatitis, renal and hepatic failure", "dermatitis|renal failure|hepatic failure"),
        (
            "spinocerebellar ataxia 3/Huntington disease",
            "spinocerebellar ataxia 3|Huntington disease",
        ),
        ("ALS/FTD", "ALS|FTD"),
        ("HBV and HIV", "HBV|HIV"),
        # after a preposition
        ("cancers of the breast and ovary", "cancers of the breast|cancers of the ovary"),
        ("cancer of the breast and the ovary", "cancer of the breast|cancer of the ovary"),
        ("deficiency of C6 and C7", "deficiency of C6|deficiency of C7"),
        (
            "abnormalities of eyes, ears and kidneys in children",
            "abnormalities of eyes in children|abnormalities of ears in children|"
            "abnormalities of kidneys in children",
        ),
        (
            "defects of the transcription factors FOXC1 and FOXC2",
            "defects of the transcription factors FOXC1|defects of the transcription factors FOXC2",
        ),
        ("demyelination in the central and peripheral nervous system", None),
        (
            "degeneration of the left and right eye",
            "degeneration of the left eye|degeneration of the right eye",
        ),
        ("forms of cleft lip and palate", "forms of cleft lip|forms of cleft palate"),
        ("breast and ovarian cancer in women", "breast cancer in women|ovarian cancer in women"),
        ("aplasia or hypoplasia of the thymus", "aplasia of the thymus|hypoplasia of the thymus"),
        # numbers and hanging hyphens
        ("type 1 and 2 diabetes", "type 1 diabetes|type 2 diabetes"),
        (
            "sialidosis types I, II and III",
            "sialidosis type I|sialidosis type II|sialidosis type III",
        ),
        ("stage IIa/IIb melanoma", "stage IIa melanoma|stage IIb melanoma"),
        ("classes 1 or 2", "class 1|class 2"),
        ("pre- and postnatal growth failure", "prenatal growth failure|postnatal growth failure"),
        ("hyper- or hypothyroidism", "hyperthyroidism|hypothyroidism"),
        ("hypo/hyperkalemia", "hypokalemia|hyperkalemia"),
        ("hypo- / hypercalcemia", "hypocalcemia|hypercalcemia"),
        ("hypo and hypercalcemia", "hypocalcemia|hypercalcemia"),
        ("severe hyper or hypotension", "severe hypertension|severe hypotension"),
        ("micro/macroalbuminuria", "microalbuminuria|macroalbuminuria"),
        ("pre/post-operative pain", "preoperative pain|postoperative pain"),
        ("intra & extrahepatic cholestasis", "intrahepatic cholestasis|extrahepatic cholestasis"),
        ("uni/bilateral hearing loss", "unilateral hearing loss|bilateral hearing loss"),
        ("over and undernutrition", "overnutrition|undernutrition"),
        ("hypo/anhidrosis", None),
        (
            "intra- and extra-hepatic cholestasis",
            "intrahepatic cholestasis|extrahepatic cholestasis",
        ),
        # others
        ("cleft lip/palate", "cleft lip|cleft palate"),
        ("cleft lip and/or palate", "cleft lip|cleft palate"),
        ("obstructive (n = 3) and central apnoea", "obstructive (n = 3) apnoea|central apnoea"),
        ("ventricular septal defects (VSD and/or x", None),
        ("colorectal and head and neck cancers", "colorectal cancers|head and neck cancers"),
    ],
)
def test_split(text, parts):
    assert split_composite(text) == (tuple(parts.split("|")) if parts else (text,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "and",
        " and ",
        "/",
        "a/b",
        "breast cancer",
        "head and neck cancer",
        "hand, foot and mouth disease",
        "skin and soft tissue infection",
        "postoperative nausea and vomiting",
        "attention-deficit/hyperactivity disorder",
        "HIV/AIDS",
        "ischemia/reperfusion injury",
        "graft versus host disease",
        "sudden, unexplained death",
        "autosomal, recessive disorder",
        "GM2 gangliosidosis, type 1",
        "unilateral and bilateral retinoblastoma",
        "complete or partial LCAT deficiency",
        "inherited and sporadic forms of the cancer",
        "hair and nail syndrome",
        "CL/P",
        "breast and/or",
        "breast and ovarian cancer, familial",
        "gold and silver",
        "and and and cancer",
        "cancer of and",
        "heart and disease",
        "the very long and winding road that leads to your own front door or disease",
        "fever with the heart and lungs",
        "loss of a, b and c",
        "cleft lip and other bad palates",
        "deficiency of the long and winding old road up there beyond",
        "a and b " * 100,
        ", ".join(f"organ{i}" for i in range(20)) + " and lung cancer",
    ],
)
def test_stays_whole_and_unchanged(text):
    assert split_composite(text) == (text,)


def test_equal_parts_are_one():
    assert split_composite("breast or breast cancer") == ("breast or breast cancer",)


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_string(text):
    parts = split_composite(text)
    assert parts == (text,) or (len(parts) > 1 and all(parts))


WORDS = (
    "breast and or and/or / , of the in cancer tumors head neck - pre- postnatal type 1 2 II (VSD) "
    "x familial cleft lip palate C6 C7 syndrome Marfan with left right fever"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_any_phrase(text):
    parts = split_composite(text)
    assert parts == (text,) or (len(parts) > 1 and all(part.strip() for part in parts))
    assert not any(character in part for part in parts for character in "\ue000\ue001\ue002")


def test_a_megabyte():
    text = "breast and ovarian cancer " * 40_000
    assert split_composite(text) == (text,)


def read_mentions(path):
    for line in path.read_text("utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 6:
            yield fields[3], fields[4], fields[5]


def test_on_the_development_set_of_the_ncbi_corpus(data):
    mentions = list(read_mentions(data / "ncbi-disease" / "dev.pubtator"))
    composite = [(text, ids.split("|")) for text, _, ids in mentions if "|" in ids]
    right = sum(len(split_composite(text)) == len(set(ids)) for text, ids in composite)
    assert right / len(composite) >= 0.9
    whole = [mention for mention in mentions if mention[1] != "CompositeMention"]
    single = [text for text, _, ids in whole if "|" not in ids]
    wrong = sum(len(split_composite(text)) > 1 for text in single)
    assert wrong / len(single) < 0.02
