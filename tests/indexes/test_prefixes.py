"""Rows by the beginning of their string, against a search through all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.indexes.prefixes import Prefixes

STRINGS = ["heart attack", "heart", "", "heart rate", "hip", "heart", "attack"]
PREFERRED = np.array([False, True, True, True, True, False, True])


def _expected(prefix: str, strings: list[str], preferred: list[bool]) -> list[int]:
    rows = [row for row, string in enumerate(strings) if string.startswith(prefix)]
    rows.sort(key=lambda row: (strings[row], row))
    rows.sort(key=lambda row: (not preferred[row], len(strings[row])))
    return sorted(rows, key=lambda row: len(strings[row]) != len(prefix))


def test_the_string_itself_comes_first_then_preferred_ones_then_short_ones() -> None:
    prefixes = Prefixes.build(STRINGS, PREFERRED)
    assert prefixes.find("heart", 9, STRINGS.__getitem__) == [1, 5, 3, 0]
    assert prefixes.find("heart", 2, STRINGS.__getitem__) == [1, 5]
    assert prefixes.find("hx", 9, STRINGS.__getitem__) == []


@given(st.lists(st.tuples(st.text("abc", max_size=4), st.booleans())), st.text("abc", max_size=3))
def test_all_strings_with_the_prefix_are_found(rows: list[tuple[str, bool]], prefix: str) -> None:
    strings, preferred = [string for string, _ in rows], [flag for _, flag in rows]
    prefixes = Prefixes.build(strings, np.array(preferred, dtype=np.bool_))
    found = prefixes.find(prefix, len(rows) + 1, strings.__getitem__)
    assert found == _expected(prefix, strings, preferred)


def test_few_strings_are_read() -> None:
    strings = [f"{number:05d}" for number in range(10_000)]
    read: list[int] = []

    def string_at(row: int) -> str:
        read.append(row)
        return strings[row]

    prefixes = Prefixes.build(strings, np.ones(len(strings), np.bool_))
    assert prefixes.find("0123", 20, string_at) == list(range(1230, 1240))
    assert len(read) < 40


def test_saved_prefixes_find_the_same(tmp_path: Path) -> None:
    Prefixes.build(STRINGS, PREFERRED).save(tmp_path)
    loaded = Prefixes.load(tmp_path, n_rows=len(STRINGS))
    assert loaded.find("heart", 9, STRINGS.__getitem__) == [1, 5, 3, 0]
    with pytest.raises(ReadError, match="expected 6 of int32"):
        Prefixes.load(tmp_path, n_rows=6)
