"""Kinds of error, each rule by an example."""

from __future__ import annotations

import pytest

from canonym import InvalidInput
from canonym.evaluation.error_kinds import ERROR_KINDS, PUBLISHED, ErrorKinds
from canonym.evaluation.questions import looks_short

NAMES = {
    "mood": ["mood disorders"],
    "hypo": ["hypodermyiasis"],
    "adenoma": ["colorectal adenomas"],
    "polyps": ["adenomatous polyps"],
    "sca": ["spinocerebellar ataxia 1"],
    "oca": ["oca1"],
    "cumming": ["campomelia cumming type"],
    "campo": ["campomelic syndrome"],
    "eye": ["eye abnormalities"],
    "eye movement": ["eye movement disorder"],
    "desmoid": ["desmoid fibromatosis"],
    "tumor": ["tumors of the skin"],
}


def names(id_: str) -> list[str]:
    return NAMES.get(id_, [])


@pytest.mark.parametrize(
    ("kind", "searched", "matched", "predicted", "gold"),
    [
        # The examples of the published table, wherever a rule can see what its authors saw.
        ("incomplete synset", "hypomania", "hypodermyiasis", "hypo", "mood"),
        ("contextual entity", "colorectal adenomas", "colorectal adenomas", "adenoma", "polyps"),
        ("abbreviation", "SCA1", "oca1", "oca", "sca"),
        ("hypernym", "campomelia", "campomelic syndrome", "campo", "cumming"),
        ("hyponym", "eye movement abnormalities", "eye movement disorder", "eye movement", "eye"),
        ("overlapped entity", "desmoid tumor", "tumors of the skin", "tumor", "desmoid"),
        ("other", "desmoid rash", "hypodermyiasis", "hypo", "desmoid"),
        ("not in terminology", "x", "oca1", "oca", "missing"),
    ],
)
def test_kinds_by_name(kind: str, searched: str, matched: str, predicted: str, gold: str) -> None:
    assert ErrorKinds(names).kind(searched, matched, predicted, [gold]) == kind


def test_nil_on_either_side() -> None:
    kinds = ErrorKinds(names)
    assert kinds.kind("x", "", None, ["mood"]) == "no concept"
    assert kinds.kind("x", "oca1", "oca", []) == "no concept"
    assert kinds.kind("x", "", None, ["missing"]) == "not in terminology"


@pytest.mark.parametrize(("predicted", "gold"), [("mood", ["mood", "sca"]), (None, [])])
def test_what_is_right_has_no_kind(predicted: str | None, gold: list[str]) -> None:
    with pytest.raises(InvalidInput, match="no error"):
        ErrorKinds(names).kind("x", "x", predicted, gold)


def test_the_hierarchy_decides_before_words() -> None:
    parents = {"child": ["middle"], "middle": ["top"], "top": ["child"]}  # a cycle does no harm
    named = {"child": ["a b"], "top": ["a b c"], "aside": ["a x"]}
    kinds = ErrorKinds(lambda id_: named.get(id_, []), lambda id_: parents.get(id_, []))
    assert kinds.kind("a", "z", "middle", ["child"]) == "hypernym"
    tree = {"child": ["middle"], "middle": ["top"]}
    kinds = ErrorKinds(lambda id_: named.get(id_, []), lambda id_: tree.get(id_, []))
    assert kinds.kind("a b z", "z", "top", ["child"]) == "hypernym"
    assert kinds.kind("a", "z", "child", ["top"]) == "hyponym"
    assert kinds.kind("a", "z", "aside", ["top"]) == "hypernym"  # by words: a ⊂ a b c


def test_a_short_form_that_was_written_out_is_no_abbreviation() -> None:
    kinds = ErrorKinds(names)
    kind = kinds.kind("spinal ataxia", "oca1", "oca", ["sca"], mention="SCA")
    assert kind == "other"
    assert kinds.kind("sca", "oca1", "oca", ["sca"], mention="SCA") == "abbreviation"


@pytest.mark.parametrize(
    ("text", "short"),
    [
        *(("SCA1", True), ("VWF", True), ("mRNA", True)),
        *(("Sca", False), ("ABCDEFG", False), ("A B", False), ("X", False)),
    ],
)
def test_short_forms(text: str, short: bool) -> None:
    assert looks_short(text) is short


def test_plurals_are_folded_but_not_short_words_or_double_s() -> None:
    named = {"g": ["loss of hearing", "aids"]}
    kinds = ErrorKinds(lambda id_: named.get(id_, []))
    assert kinds.kind("los x", "y", "p", ["g"]) == "incomplete synset"
    assert kinds.kind("aid", "y", "p", ["g"]) == "other"


def test_the_published_kinds_come_first() -> None:
    assert list(PUBLISHED) == [
        *("incomplete synset", "contextual entity", "overlapped entity", "abbreviation"),
        *("hypernym", "hyponym", "other"),
    ]
    assert set(PUBLISHED) < set(ERROR_KINDS)
