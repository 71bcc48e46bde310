"""The table of triplets: what is written is read again, and bad rows give file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from canonym import InvalidInput, ReadError
from canonym.training.sampling.triplets import Triplet, read_triplet_file, write_triplet_file

TRIPLETS = [
    Triplet("flus", "influenza", "fever", ("MESH:D1", "MESH:D2"), "random"),
    Triplet('a "quoted" | name', "β-blocker", "#x", (), "re-sampling"),
]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "triplets.tsv"
    assert write_triplet_file(path, iter(TRIPLETS)) == 2
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "mention\tpositive\tnegative\tids\tstrategy"
    assert lines[1] == "flus\tinfluenza\tfever\tMESH:D1|MESH:D2\trandom"
    assert read_triplet_file(path) == TRIPLETS
    packed = tmp_path / "triplets.tsv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_triplet_file(packed) == TRIPLETS


def test_columns_in_another_order_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\nnote\tnegative\tmention\tpositive\r\n\nx\tn\tm\tp\r\n")
    assert read_triplet_file(path) == [Triplet("m", "p", "n")]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("mention\tpositive\n", 1, "0 columns are named 'negative'"),
        ("mention\tmention\tpositive\tnegative\n", 1, "2 columns are named 'mention'"),
        ("mention\tpositive\tnegative\na\tb\n", 2, "2 cells where the header names 3"),
        ("mention\tpositive\tnegative\na\tb\tc\n\n \t b\tc\n", 4, "the mention is empty"),
        ("mention\tpositive\tnegative\na\tb\t\n", 2, "the negative is empty"),
        ("mention\tpositive\tnegative\n", None, "holds no triplets"),
        ("\n\n", None, "holds no triplets"),
        ("", None, "is empty"),
    ],
)
def test_bad_tables_give_file_and_line(
    tmp_path: Path, text: str, line: int | None, problem: str
) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(ReadError, match=problem) as caught:
        read_triplet_file(path)
    assert caught.value.path == path
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("triplet", "problem"),
    [
        (Triplet("", "p", "n"), "triplet 2: the mention is empty"),
        (Triplet("m", "p\tq", "n"), "triplet 2: the positive 'p.*q' holds a tab or a line end"),
        (Triplet("m", "p", "n\n"), "the negative .* holds a tab or a line end"),
        (Triplet("m", "p", "n\rx"), "holds a tab or a line end"),
        (Triplet("m", "p", "n", ("a|b",)), "an id of .* holds a bar"),
    ],
)
def test_nothing_is_written_that_could_not_be_read(
    tmp_path: Path, triplet: Triplet, problem: str
) -> None:
    path = tmp_path / "t.tsv"
    with pytest.raises(InvalidInput, match=problem):
        write_triplet_file(path, [TRIPLETS[0], triplet])
    assert list(tmp_path.iterdir()) == []
