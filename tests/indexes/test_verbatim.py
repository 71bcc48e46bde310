from __future__ import annotations

import mmap
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym import indexes
from canonym.errors import ReadError
from canonym.indexes.verbatim import Verbatim, VerbatimWriter, keys_of


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


@given(st.lists(st.text("ab", max_size=3), max_size=60), st.sampled_from([1, 100, 500, 10**6]))
def test_it_is_written_in_any_memory_as_it_is_saved(names: list[str], memory: int) -> None:
    with TemporaryDirectory() as whole, TemporaryDirectory() as parts:
        Verbatim.build([names]).save(Path(whole))
        with VerbatimWriter(Path(parts)) as writer:
            writer.add(keys_of(names[:7]))
            writer.add(keys_of(names[7:]))
        writer.finish(memory)
        files = sorted(path.name for path in Path(parts).iterdir())
        assert files == ["keys.npy", "rows.npy"]
        for name in files:
            assert (Path(parts) / name).read_bytes() == (Path(whole) / name).read_bytes()


def test_of_many_rows_those_that_are_found_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Verbatim.build([["flu", "cold", "cough"]]).save(tmp_path)
    with pytest.raises(
        ReadError, match=r"rows\.npy.*holds numbers from 0 to 2, expected from 0 to 1"
    ):
        Verbatim.load(tmp_path, n_rows=2)
    monkeypatch.setattr(indexes, "LOOKED_AT", 2)
    index = Verbatim.load(tmp_path, n_rows=2)
    assert [rows.tolist() for rows in index.find(["cold", "x"])] == [[1], []]
    with pytest.raises(ReadError, match=r"rows\.npy.*expected from 0 to 1"):
        index.find(["flu", "cough"])
