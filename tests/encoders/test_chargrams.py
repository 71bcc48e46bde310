"""Character n-gram vectors are those of scikit-learn, whatever the characters."""

from __future__ import annotations

import json
import math
import mmap
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from canonym.encoders import chargrams
from canonym.encoders import chargrams as grams
from canonym.encoders.chargrams import CharGrams
from canonym.errors import InvalidInput, Mismatch, NotTrained, ReadError
from canonym.types import SparseVectors

NAMES = [
    "heart attack",
    "Heart  Attack",
    "acute\tmyocardial infarction",
    "",
    "ΟΔΟΣ",
    "心筋梗塞",
    "İstanbul \u3000 fever",
    "a",
    "  ",
    "\ud800 lone",
    "NUL\x00inside",
    "😀😀 smile",
    "β-thalassaemia",
]

# Few letters, so that n-grams repeat, and every kind of trouble: spaces of several widths, letters
# whose lower case is longer or depends on the neighbour, NUL, surrogates, the largest code point.
TEXT = st.text(
    st.sampled_from("abAB  \t\n\x0b\x1c\x85\xa0\u3000\x00-ßİΣσ心😀\ud800\U0010ffff"), max_size=12
)
ANY_TEXT = st.text(max_size=12)


def as_matrix(vectors: SparseVectors) -> csr_matrix:
    shape = (vectors.n_rows, vectors.n_columns)
    return csr_matrix((vectors.data, vectors.indices, vectors.indptr), shape=shape)


def reference(encoder: CharGrams) -> TfidfVectorizer:
    return TfidfVectorizer(
        analyzer="char_wb" if encoder.word_boundaries else "char",
        ngram_range=(encoder.n_min, encoder.n_max),
        lowercase=encoder.lowercase,
    )


@settings(max_examples=60, deadline=None)
@given(
    fitted=st.lists(TEXT | ANY_TEXT, min_size=1, max_size=8),
    encoded=st.lists(TEXT | ANY_TEXT, max_size=8),
    n_min=st.integers(1, 5),
    more=st.integers(0, 4),
    word_boundaries=st.booleans(),
    lowercase=st.booleans(),
)
def test_equals_scikit_learn(
    fitted: list[str],
    encoded: list[str],
    n_min: int,
    more: int,
    word_boundaries: bool,
    lowercase: bool,
) -> None:
    encoder = CharGrams(
        n_min=n_min, n_max=n_min + more, word_boundaries=word_boundaries, lowercase=lowercase
    )
    other = reference(encoder)
    try:
        other.fit(fitted)
    except ValueError:  # "empty vocabulary"
        with pytest.raises(InvalidInput, match="hold no n-gram"):
            encoder.fit(fitted)
        return
    encoder.fit(fitted)
    names = fitted + encoded
    ours, theirs = as_matrix(encoder.encode(names)), other.transform(names)
    assert ours.shape == theirs.shape
    assert ours.has_sorted_indices
    np.testing.assert_array_equal(np.diff(ours.indptr), np.diff(theirs.indptr))
    if encoder.n_max <= 3:
        np.testing.assert_allclose(ours.toarray(), theirs.toarray(), atol=1e-6)
    else:  # the same columns in another order
        np.testing.assert_allclose(
            (ours @ ours.T).toarray(), (theirs @ theirs.T).toarray(), atol=1e-6
        )
        np.testing.assert_allclose(
            np.sort(ours.toarray().sum(axis=0)), np.sort(theirs.toarray().sum(axis=0)), atol=1e-5
        )


def test_equation_by_hand() -> None:
    encoder = CharGrams(n_max=1).fit(["aab", "b", "c"])
    vectors = encoder.encode(["aabz"])
    a, b = 2 * (math.log(4 / 2) + 1), math.log(4 / 3) + 1
    assert encoder.n_columns == 3
    assert vectors.indices.tolist() == [0, 1]
    np.testing.assert_allclose(vectors.data, np.array([a, b]) / math.hypot(a, b), rtol=1e-7)


@pytest.mark.parametrize(("n_min", "n_max", "words"), [(1, 2, False), (1, 3, True), (4, 5, True)])
def test_cutting_into_blocks_changes_nothing(
    n_min: int, n_max: int, words: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = NAMES * 3 + ["long " * 200]
    encoder = CharGrams(n_min=n_min, n_max=n_max, word_boundaries=words)
    whole = encoder.fit(names).encode(names)
    monkeypatch.setattr(grams, "_BLOCK_CHARACTERS", 50)
    monkeypatch.setattr(grams, "_BLOCK_NAMES", 3)
    monkeypatch.setattr(chargrams, "_FIT_NAMES", 5)
    again = CharGrams(n_min=n_min, n_max=n_max, word_boundaries=words).fit(iter(names))
    for one, other in zip(whole, again.encode(names), strict=True):
        np.testing.assert_array_equal(one, other)


def test_blocks_keep_every_name_and_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grams, "_BLOCK_CHARACTERS", 10)
    monkeypatch.setattr(grams, "_BLOCK_NAMES", 3)
    names = ["", "", "", "", "four", "four", "x" * 40, "b", "", "y" * 9, "z"]
    cut = list(grams.blocks(names))
    assert [name for block in cut for name in block] == names
    assert max(map(len, cut)) == 3
    assert all(len(block) == 1 or sum(map(len, block)) + len(block) <= 10 for block in cut)
    assert list(grams.blocks([])) == []


@pytest.mark.parametrize("cells", [0, 30])
@pytest.mark.parametrize(("n_min", "n_max"), [(1, 2), (2, 2), (1, 4)])
def test_tables_and_binary_search_agree(
    cells: int, n_min: int, n_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = CharGrams(n_min=n_min, n_max=n_max)
    expected = encoder.fit(NAMES[:7]).encode(NAMES)
    monkeypatch.setattr(grams, "_TABLE_CELLS", cells)
    found = encoder.fit(NAMES[:7]).encode(NAMES)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_counted_with_many_columns_is_counted_in_64_bits() -> None:
    row = np.array([2, 0, 2, 2], np.int32)
    column = np.array([2**31 - 2, 5, 2**31 - 2, 0], np.int32)
    rows, columns, counts = grams.counted(row, column, 3, 2**31 - 1)
    assert rows.tolist() == [0, 2, 2]
    assert columns.tolist() == [5, 0, 2**31 - 2]
    assert counts.tolist() == [1, 1, 2]


def test_keys_of_up_to_three_characters_sort_as_strings_and_longer_ones_apart() -> None:
    text = "ab\U0010ffff\x00a"
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    packed, hashed = {}, {}
    for n, key in grams.keys(codes, 9):
        found = {text[i : i + n]: int(value) for i, value in enumerate(key)}
        (packed if n <= 3 else hashed).update(found)
    assert sorted(packed, key=lambda gram: packed[gram]) == sorted(packed)
    assert set(map(len, hashed)) == {4, 5}
    assert len(set(hashed.values())) == len(hashed)
    assert min(hashed.values()) > max(packed.values())


def test_hashed_keys_tell_all_grams_of_a_large_alphabet_apart() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 0x110000, 200_000).astype(np.uint32)
    for n, key in grams.keys(codes, 5):
        if n >= 4:
            assert len(np.unique(key)) == len(codes) - n + 1


def test_before_fit_nothing_works() -> None:
    encoder = CharGrams()
    for use in (lambda: encoder.encode(["a"]), lambda: encoder.n_columns):
        with pytest.raises(NotTrained, match=r"call fit\(names\)"):
            use()
    with pytest.raises(NotTrained):
        encoder.save(Path("never-written"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_min": 0}, "n_min=0"),
        ({"n_max": 2.5}, r"n_max=2\.5"),
        ({"n_min": True}, "n_min=True"),
        ({"n_min": 3, "n_max": 2}, "n_min=3 is larger than n_max=2"),
    ],
)
def test_bad_options(options: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        CharGrams(**options)


@pytest.mark.parametrize("names", ["one string", b"bytes", ["fine", None]])
def test_fit_wants_a_collection_of_strings(names: list[str]) -> None:
    with pytest.raises(InvalidInput):
        CharGrams().fit(names)


@pytest.mark.parametrize("names", [[], ["", ""]])
def test_fit_wants_at_least_one_gram(names: list[str]) -> None:
    with pytest.raises(InvalidInput, match=f"{len(names)} names hold no n-gram of 1 to 2"):
        CharGrams().fit(names)


def test_a_second_fit_forgets_the_first() -> None:
    encoder = CharGrams().fit(["xyz"]).fit(["abc"])
    assert encoder.encode(["xyz"]).indptr.tolist() == [0, 0]
    assert encoder.n_columns == 5


def test_load_maps_the_arrays_and_keeps_the_settings(tmp_path: Path) -> None:
    encoder = CharGrams(n_min=2, n_max=np.int64(4), word_boundaries=True, lowercase=False)
    encoder.fit(NAMES).save(tmp_path / "new" / "folder")
    loaded = CharGrams.load(tmp_path / "new" / "folder")
    assert loaded.settings == encoder.settings
    assert repr(loaded) == ("CharGrams(n_min=2, n_max=4, word_boundaries=True, lowercase=False)")
    for one, other in zip(encoder.encode(NAMES), loaded.encode(NAMES), strict=True):
        np.testing.assert_array_equal(one, other)
    assert isinstance(loaded._fitted().keys.base, mmap.mmap | np.memmap)


def test_load_refuses_damage(tmp_path: Path) -> None:
    encoder = CharGrams().fit(NAMES)

    def saved(name: str) -> Path:
        encoder.save(tmp_path / name)
        return tmp_path / name

    folder = saved("truncated")
    (folder / "keys.npy").write_bytes((folder / "keys.npy").read_bytes()[:100])
    with pytest.raises(ReadError, match=r"keys\.npy.*cannot be opened .*; save the encoder again"):
        CharGrams.load(folder)
    folder = saved("missing")
    (folder / "idf.npy").unlink()
    with pytest.raises(ReadError, match=r"idf\.npy"):
        CharGrams.load(folder)
    folder = saved("other type")
    np.save(folder / "idf.npy", np.ones(3, np.float32))
    with pytest.raises(ReadError, match="expected any of float64; save the encoder again"):
        CharGrams.load(folder)
    folder = saved("pickled")
    np.save(folder / "idf.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ReadError, match=r"idf\.npy"):
        CharGrams.load(folder)
    folder = saved("shorter")
    np.save(folder / "idf.npy", np.ones(3))
    with pytest.raises(ReadError, match=r"idf\.npy 3"):
        CharGrams.load(folder)
    for number, broken in enumerate([{"n_min": 0}, {"unknown": 1}]):
        folder = saved(f"settings {number}")
        content = {"format": 1, "kind": "chargrams", "settings": broken}
        (folder / "encoder.json").write_text(json.dumps(content))
        with pytest.raises(ReadError, match="the encoder is damaged"):
            CharGrams.load(folder)
    folder = saved("other kind")
    content = {"format": 1, "kind": "static", "settings": {}}
    (folder / "encoder.json").write_text(json.dumps(content))
    with pytest.raises(Mismatch, match="kind 'static'; 'chargrams' is expected"):
        CharGrams.load(folder)


def test_ties_in_order_between_neighbours_do_not_leak() -> None:
    # The last character of a name and the first of the next are no 2-gram.
    encoder = CharGrams(n_min=2, n_max=2).fit(["ab", "cd", "bc"])
    rows = encoder.encode(["ab", "cd"])
    assert [rows.indices[a:b].tolist() for a, b in pairwise(rows.indptr)] == [[0], [2]]
