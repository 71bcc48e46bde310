"""Names by words in any order: forms, order of rows, and the table that the cache keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Name, Terminology
from canonym.terminology.words import Words

RECORDS = [
    Concept("X:1", "Fracture of the left hip"),
    Name("broken left hip", "X:1"),
    Concept("X:2", "Hip fracture"),
    Concept("X:3", "Sjögren's syndrome"),
    Concept("X:4", "Type II diabetes"),
    Concept("X:5", 'The "hip" of C++ 5\'-end'),
    Concept("X:6", "Hippocampus"),
]


@pytest.fixture
def terminology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminology:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    return Terminology.build(RECORDS)


def _names(terminology: Terminology, words: str) -> list[str]:
    rows = [*Words.open(terminology).find(words)]
    return [name.text for name in terminology.names_at(rows)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hips left", ["Fracture of the left hip", "broken left hip"]),
        ("FRACTURES hip", ["Hip fracture", "Fracture of the left hip"]),
        ("sjogren", ["Sjögren's syndrome"]),
        ("diabetes type 2", ["Type II diabetes"]),
        ("hip c++", ['The "hip" of C++ 5\'-end']),
        ("hippo", ["Hippocampus"]),
        ("hip fract", ["Hip fracture", "Fracture of the left hip"]),
        ("fract hip", []),
        ("the fracture of a hip", []),
        ("the fracture of the hip", ["Hip fracture", "Fracture of the left hip"]),
        ("left left hip", ["Fracture of the left hip", "broken left hip"]),
        ("hip elbow", []),
        ('" OR hip*', []),
        ("+ -", []),
        ("", []),
    ],
)
def test_names_have_all_words(terminology: Terminology, words: str, expected: list[str]) -> None:
    assert _names(terminology, words) == expected


def test_names_of_these_words_alone_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANONYM_CACHE", str(tmp_path / "cache"))
    records = [
        Concept("X:1", "Mumps nephritis"),
        Concept("X:2", "Kidney"),
        Name("nephritis", "X:2"),
    ]
    terminology = Terminology.build(records)
    assert _names(terminology, "nephritis") == ["nephritis", "Mumps nephritis"]
    assert _names(terminology, "nephritis mumps") == ["Mumps nephritis"]


def test_whole_words_come_before_those_that_begin_so(terminology: Terminology) -> None:
    assert _names(terminology, "hip") == [
        'The "hip" of C++ 5\'-end',
        "Hip fracture",
        "Fracture of the left hip",
        "broken left hip",
        "Hippocampus",
    ]


def test_the_table_is_kept_and_made_again_where_it_is_damaged(
    terminology: Terminology, tmp_path: Path
) -> None:
    expected = _names(terminology, "hip")
    (table,) = (tmp_path / "cache").glob("words-*/words.db")
    written = table.stat().st_mtime_ns
    assert _names(terminology, "hip") == expected
    assert table.stat().st_mtime_ns == written
    table.write_bytes(b"no table")
    assert _names(terminology, "hip") == expected


def test_a_cache_that_cannot_be_written_to_is_done_without(
    terminology: Terminology, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("no folder")
    assert _names(terminology, "sjogren") == ["Sjögren's syndrome"]
