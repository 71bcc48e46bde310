"""The linter: every kind of finding, and none without a reason."""

from __future__ import annotations

import pytest

from canonym.errors import InvalidInput
from canonym.terminology import Terminology
from canonym.terminology.lint import Finding, is_damaged, lint
from canonym.types import Concept, Name, Record, Relation, Xref
from tests.tables import cases


def findings(*records: Record, samples: int = 5) -> dict[str, Finding]:
    found = lint(Terminology.build(records), samples=samples)
    return {finding.kind: finding for finding in found if finding.severity != "note"}


def only(*records: Record, samples: int = 5) -> Finding:
    (finding,) = findings(*records, samples=samples).values()
    assert finding.advice
    return finding


CLEAN: list[Record] = [
    Concept("X:1", "infection", source="S", version="1"),
    Concept("X:2", "flu", source="S", version="1"),
    Name("grippe", "X:2"),
    Relation("X:2", "is_a", "X:1"),
    Concept("X:3", "old flu", deprecated=True, replaced_by=("X:2",)),
    Concept("X:4", "older flu", deprecated=True, replaced_by=("X:22",)),
    Xref("X:2", "X:22", "alternative"),
]


def test_a_clean_terminology_has_one_note() -> None:
    (note,) = lint(Terminology.build(CLEAN))
    assert note == Finding(
        "concepts by source", "note", 2, ("(no source): 2", "S 1: 2"), note.advice
    )


def test_names_shared_by_several_ids() -> None:
    finding = only(
        *CLEAN,
        Name("cold", "X:1"),
        Name("cold", "X:2"),
        Name("cold", "X:3", "related", "de"),
        Name("cold", "X:2", language="de"),
        Name("grippe", "X:1"),
    )
    assert (finding.kind, finding.severity, finding.count) == (
        "names shared by several ids",
        "warning",
        2,
    )
    assert finding.samples == (
        "'cold': 3 ids, such as X:1 and X:3",
        "'grippe': 2 ids, such as X:1 and X:2",
    )


def test_labels_shared_by_several_ids() -> None:
    found = findings(Concept("X:1", "flu"), Concept("X:2", "flu"))
    assert list(found) == ["names shared by several ids", "labels shared by several ids"]
    shared = found["labels shared by several ids"]
    assert shared.samples == ("'flu': 2 ids, such as X:1 and X:2",)


def test_names_that_normalise_to_nothing() -> None:
    finding = only(*CLEAN, Name("-", "X:1"), Name("(?)", "X:1"))
    assert (finding.kind, finding.count) == ("names that normalise to nothing", 2)
    assert finding.samples == ("'-' of X:1", "'(?)' of X:1")


@pytest.mark.parametrize("id_", ["X:1|X:2", "X:1;X:2", "X:1,X:2", "X 1", "X:1\tY", "X:1\u00a0"])
def test_ids_with_separators(id_: str) -> None:
    finding = only(Concept(id_, "flu"))
    assert (finding.kind, finding.severity) == ("ids with separators", "error")
    assert finding.samples == (repr(id_),)


def test_cycles_and_dangling_parents() -> None:
    found = findings(*CLEAN, Relation("X:1", "is_a", "X:2"), Relation("X:1", "is_a", "X:404"))
    assert found["cycles"].severity == "error"
    assert found["cycles"].samples == ("X:1 → X:2 → X:1",)
    assert found["dangling parents"].samples == ("X:1 is_a X:404",)
    assert len(found) == 2


def test_deprecated_targets() -> None:
    found = findings(
        Concept("X:1", "a"),
        Concept("X:2", "b", deprecated=True, replaced_by=("X:3", "X:404")),
        Concept("X:3", "c", deprecated=True),
        Relation("X:1", "part_of", "X:3"),
        Relation("X:2", "part_of", "X:3"),
        Relation("X:404", "part_of", "X:3"),
    )
    assert {kind: finding.samples for kind, finding in found.items()} == {
        "successors that are missing": ("X:2 → X:404",),
        "successors that are deprecated": ("X:2 → X:3",),
        "relations to deprecated concepts": ("X:1 part_of X:3",),
    }


@cases("text")
def test_damaged_names(text: str) -> None:
    assert is_damaged(text)
    finding = only(*CLEAN, Name(text, "X:1"))
    assert (finding.kind, finding.severity, finding.count) == ("encoding damage", "error", 1)
    assert finding.samples == (f"{text!r} of X:1",)


@pytest.mark.parametrize("text", ["heart\nattack", "heart\tattack", "heart\x85attack"])
def test_a_name_is_stored_on_one_line(text: str) -> None:
    assert is_damaged(text)
    assert findings(*CLEAN, Name(text, "X:1")) == {}


@cases("text")
def test_names_that_only_look_odd(text: str) -> None:
    assert not is_damaged(text)


def test_long_names() -> None:
    assert "long names" not in findings(*CLEAN, Name("a" * 500, "X:1"))
    finding = only(*CLEAN, Name("ab" * 251, "X:1"))
    assert (finding.kind, finding.count) == ("long names", 1)
    assert finding.samples == (f"{'ab' * 40!r}… (502 characters) of X:1",)


def test_concepts_without_names() -> None:
    finding = only(*CLEAN, Concept("X:5"), Concept("X:6"))
    assert (finding.kind, finding.count) == ("concepts without names", 2)
    assert finding.samples == ("X:5", "X:6")


def test_samples_are_limited_and_counts_are_not() -> None:
    records = [Concept("X:1", "flu"), *(Name("-" * (i + 1), "X:1") for i in range(9))]
    assert only(*records, samples=2).samples == ("'-' of X:1", "'--' of X:1")
    none = only(*records, samples=0)
    assert (none.samples, none.count) == ((), 9)
    shared = [Concept(f"X:{i}", f"{i // 2}") for i in range(8)]
    found = findings(*shared, samples=1)["labels shared by several ids"]
    assert (len(found.samples), found.count) == (1, 4)
    with pytest.raises(InvalidInput, match="samples=-1 is negative"):
        lint(Terminology.build(CLEAN), samples=-1)


def test_errors_come_first_and_notes_last() -> None:
    terminology = Terminology.build([*CLEAN, Name("-", "X:1"), Name("\ufffda", "X:1")])
    assert [finding.severity for finding in lint(terminology)] == ["error", "warning", "note"]
