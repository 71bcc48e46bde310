from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.indexes.verbatim import Verbatim


@given(st.lists(st.text(max_size=3), max_size=40), st.lists(st.text(max_size=3), max_size=10))
def test_finds_exactly_the_equal_strings(names: list[str], asked: list[str]) -> None:
    index = Verbatim.build([names[:7], names[7:]])
    for string, rows in zip(asked + names, index.find(asked + names), strict=True):
        expected = [row for row, name in enumerate(names) if name == string and string]
        assert rows.tolist() == expected


def test_lone_surrogates_are_strings_like_others() -> None:
    index = Verbatim.build([["a", "\ud800"]])
    assert [rows.tolist() for rows in index.find(["\ud800", "\udfff"])] == [[1], []]


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    index = Verbatim.build([["flu", "cold", "", "flu"]])
    index.save(tmp_path)
    loaded = Verbatim.load(tmp_path)
    assert isinstance(loaded.keys.base, mmap.mmap | np.memmap)
    assert [r.tolist() for r in loaded.find(["flu", "cold", "", "x"])] == [[0, 3], [1], [], []]


def test_a_damaged_index_is_said_to_be_damaged(tmp_path: Path) -> None:
    Verbatim.build([["flu", "cold"]]).save(tmp_path)
    np.save(tmp_path / "rows.npy", np.zeros(1, np.int32))
    with pytest.raises(ReadError, match="2 keys and 1 rows"):
        Verbatim.load(tmp_path)
    (tmp_path / "keys.npy").write_bytes(b"nothing")
    with pytest.raises(ReadError, match="build the index again"):
        Verbatim.load(tmp_path)


def test_an_index_without_names_finds_nothing() -> None:
    assert Verbatim.build([]).find(["a"])[0].tolist() == []
