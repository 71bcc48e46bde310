"""Names and options are checked before anything is computed."""

from __future__ import annotations

import numpy as np
import pytest

from canonym.encoders.inputs import (
    check_count,
    check_grams,
    check_option,
    checked_names,
    distinct_names,
)
from canonym.errors import InvalidInput
from canonym.io.encodings import without_surrogates


class Marked(str):
    """A string of another class, as numpy's are."""

    __slots__ = ()


def test_any_collection_of_strings_becomes_a_list() -> None:
    assert checked_names(("a", "b")) == ["a", "b"]
    assert checked_names(name for name in "ab") == ["a", "b"]
    assert checked_names(np.array(["a", "bc"])) == ["a", "bc"]
    assert checked_names([Marked("a")]) == ["a"]
    assert checked_names([]) == []


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("heart attack", r"found one str \('heart attack'\); put it in a list"),
        (b"flu", "found one bytes"),
        (None, "found NoneType"),
        (["flu", 3], r"name 1 is 3 \(int\)"),
        (["flu", float("nan")], r"name 1 is nan \(float\)"),
        ([b"flu"], r"name 0 is b'flu' \(bytes\)"),
    ],
)
def test_everything_else_is_refused(names: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        checked_names(names)  # type: ignore[arg-type]


def test_distinct_names_rebuild_the_list() -> None:
    names = ["b", "a", "b", "", "a"]
    distinct, places = distinct_names(names)
    assert distinct == ["b", "a", ""]
    assert [distinct[place] for place in places] == names
    assert distinct_names([])[1].shape == (0,)


def test_lone_surrogates_are_replaced_and_pairs_cannot_occur() -> None:
    assert without_surrogates("a\ud800b\udfffc😀") == "a\ufffdb\ufffdc😀"


def test_options() -> None:
    check_option("pooling", "cls", ("cls", "mean"))
    check_count("n", 1)
    check_count("n", np.int64(5), least=5)
    with pytest.raises(InvalidInput, match="pooling='sum' is not known; choose one of cls, mean"):
        check_option("pooling", "sum", ("cls", "mean"))
    for value in (0, -1, 1.0, "2", None, True):
        with pytest.raises(InvalidInput, match="a whole number of at least 1"):
            check_count("n", value)


def test_grams_have_a_length_that_memory_holds() -> None:
    check_grams(1, 100)
    for n_max in (101, 1 << 32):
        with pytest.raises(InvalidInput, match=f"n_max={n_max}: at most 100 characters"):
            check_grams(1, n_max)
