"""Parts of a corpus, its duplicates and its census."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from canonym.corpora.census import Duplicate, drop_duplicates, duplicates, take_census
from canonym.corpora.concept_files import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.corpora.splits import hold_out, read_official, refined
from canonym.errors import InvalidInput, ReadError
from canonym.types import Document, Mention


def named(text: str, *ids: str, rule: str = "any") -> Mention:
    return Mention(text, ids=ids, rule=rule)


def lines(path: Path) -> list[str]:
    return path.read_text().split()


def test_official_parts(tmp_path: Path) -> None:
    for name in ("train.txt", "development.txt", "test.txt", "train_dictionary.txt", "notes"):
        (tmp_path / name).write_text(name)
    parts = read_official(tmp_path, lines)
    assert parts == (("train.txt",), ("development.txt",), ("test.txt",))


def test_official_parts_by_their_published_names(tmp_path: Path) -> None:
    for name in ("NCBItrainset_corpus.txt", "CDR_TestSet.PubTator.txt"):
        (tmp_path / name).write_text(name)
    parts = read_official(tmp_path, lines)
    assert parts.train == ("NCBItrainset_corpus.txt",)
    assert parts.dev == ()
    assert parts.test == ("CDR_TestSet.PubTator.txt",)


def test_bad_folders_of_parts(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is no folder"):
        read_official(tmp_path / "none", lines)
    with pytest.raises(ReadError, match="train part was expected, found none"):
        read_official(tmp_path, lines)
    (tmp_path / "train.a").write_text("")
    (tmp_path / "train.b").write_text("")
    with pytest.raises(ReadError, match=r"found train\.a, train\.b"):
        read_official(tmp_path, lines)


def test_refined_by_hand() -> None:
    known = [named("Hip fracture", "D1"), named("pain", "D2")]
    test = [
        named("hip-fracture", "D1"),
        named("Pain", "D3"),
        named("coxalgia", "D4"),
        named("Coxalgia", "D4"),
        named("coxalgia", "D5"),
    ]
    by_text = refined(test, known, same="text")
    assert by_text.mentions == [test[2]]
    assert (by_text.n_seen, by_text.n_repeated) == (2, 2)
    by_pair = refined(test, known, same="pair")
    assert by_pair.mentions == [test[1], test[2], test[4]]
    assert (by_pair.n_seen, by_pair.n_repeated) == (1, 1)
    exact = refined(test, known, same="text", key=lambda text: text)
    assert exact.mentions == [test[0], test[1], test[2], test[3]]
    with pytest.raises(InvalidInput, match="text, pair"):
        refined(test, known, same="id")


def test_the_order_of_ids_makes_no_other_pair_but_the_rule_does() -> None:
    test = [named("x", "D1", "D2"), named("x", "D2", "D1"), named("x", "D1", "D2", rule="all")]
    assert refined(test, [], same="pair").mentions == [test[0], test[2]]


@pytest.mark.parametrize("n", [0, 1, 7, 50, 60])
def test_hold_out_keeps_the_shares(n: int) -> None:
    items = [(i, "abc"[min(i // 10, 2)]) for i in range(60)]  # 10 a, 10 b, 40 c
    rest, held = hold_out(items, n, stratum=lambda item: item[1], rng=np.random.default_rng(1))
    assert sorted(rest + held) == items
    assert rest == sorted(rest)
    assert held == sorted(held)
    assert len(held) == n
    counts = Counter(letter for _, letter in held)
    for letter, size in (("a", 10), ("b", 10), ("c", 40)):
        assert abs(counts[letter] - n * size / 60) < 1


def test_hold_out_follows_its_seed_and_its_range() -> None:
    def draw(seed: int) -> list[int]:
        rng = np.random.default_rng(seed)
        return hold_out(range(100), 10, stratum=lambda _: 0, rng=rng)[1]

    assert draw(1) == draw(1) != draw(2)
    assert hold_out([], 0, stratum=str, rng=np.random.default_rng(0)) == ([], [])
    for n in (-1, 101):
        with pytest.raises(InvalidInput, match="from 100"):
            hold_out(range(100), n, stratum=str, rng=np.random.default_rng(0))


def test_duplicates_by_id_and_by_text() -> None:
    hip = Mention("hip", 7, 10, ids=("D1",))
    documents = [
        Document("1", "Broken hip", (hip,)),
        Document("2", "x"),
        Document("1", "Broken  HIP", (hip,)),
        Document("3", "broken hip"),
        Document("2", "y"),
        Document("4", ""),
        Document("5", ""),
    ]
    assert duplicates(documents) == [
        Duplicate(("1", "1"), (0, 2), True, True),
        Duplicate(("1", "1", "3"), (0, 2, 3), True, False),
        Duplicate(("2", "2"), (1, 4), False, True),
    ]
    assert drop_duplicates(documents) == [documents[i] for i in (0, 1, 3, 5, 6)]
    # Two tables of mentions are two documents without an id.
    tables = [Document("", "", (Mention(text, ids=("X:1",)),)) for text in ("ague", "fever")]
    assert drop_duplicates([*documents[:1], *tables]) == [documents[0], *tables]
    assert duplicates([]) == []


def test_census_by_hand() -> None:
    first = Mention("Broken hip", 0, 10, "A", ("MESH:D1",), "any", "1")
    inside = Mention("hip", 7, 10, "A", ("D1", "-1"), "all", "1")
    again = Mention("Broken hip", 0, 10, "A", (), "nil", "1")
    outside = Mention("leg", 20, 23, "B", (), "any", "1")
    after = Mention("x", 10, 11, "B", ("D1",), "any", "2")
    loose = Mention("loose", ids=("D3",))
    text = Document("1", "Broken hip", (first, inside, again, outside))
    census = take_census([text, text, after, loose])
    assert take_census([Document("3", "x", (loose,))]).outside == []
    assert (census.n_documents, census.n_mentions) == (3, 10)
    assert census.types == {"A": 6, "B": 3, "": 1}
    assert census.prefixes == {"MESH": 2, "": 4}
    assert (census.n_composite, census.n_nil, census.n_unknown) == (2, 2, 2)
    assert census.duplicates == [Duplicate(("1", "1"), (0, 1), True, True)]
    assert census.outside == [outside] * 2
    assert census.overlaps == [(first, inside)] * 2
    assert census.repeated == [again] * 2
    assert census.oddities() == [
        "2 documents are the same (1): same text, same mentions",
        "the gold ids have several prefixes: MESH 2, none 4",
        "2 mentions have offsets outside of their text, the first is 'leg' at 20-23 of document "
        "'1'",
        "2 pairs of mentions overlap, the first is 'Broken hip' at 0-10 of document '1'",
        "2 mentions repeat the span and type of another, the first is 'Broken hip' at 0-10 of "
        "document '1'",
    ]


def test_census_of_a_tidy_and_of_an_empty_corpus() -> None:
    tidy = take_census([named("a", "D1"), named("b", "D2")])
    assert tidy.oddities() == []
    assert tidy.n_documents == 0
    with pytest.raises(InvalidInput, match="empty"):
        take_census([])


def test_overlaps_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(0)
    starts = rng.integers(0, 60, 40)
    mentions = [
        Mention("x", int(s), int(s + n), str(i))
        for i, (s, n) in enumerate(zip(starts, rng.integers(1, 9, 40), strict=True))
    ]
    found = take_census([Document("1", "x" * 80, tuple(mentions))]).overlaps
    naive = {
        frozenset((a.type, b.type))
        for a in mentions
        for b in mentions
        if a.type < b.type and a.start < b.end and b.start < a.end  # type: ignore[operator]
    }
    assert {frozenset((a.type, b.type)) for a, b in found} == naive
    assert len(found) == len(naive)


@pytest.mark.parametrize(
    ("corpus", "by_pair", "by_text"), [("bc5cdr-disease", 657, 642), ("ncbi-disease", 204, 199)]
)
def test_the_published_refined_sizes(data: Path, corpus: str, by_pair: int, by_text: int) -> None:
    parts = read_official(data / "biosyn-processed" / corpus, read_concepts)
    known = parts.train + parts.dev

    def size(same: str) -> int:
        return len(refined(parts.test, known, same=same, key=lambda text: text).mentions)

    assert (size("pair"), size("text")) == (by_pair, by_text)
    assert len(refined(parts.test, known, key=lambda text: text).mentions) == by_pair


def test_published_counts_of_ncbi_disease(data: Path) -> None:
    parts = read_official(data / "ncbi-disease", read_pubtator)
    assert [len(part) for part in parts] == [593, 100, 100]
    assert duplicates(parts.train)[0].ids == ("8528200", "8528200")
    unique = [drop_duplicates(part) for part in parts]
    assert [len(part) for part in unique] == [592, 100, 100]
    assert [take_census(part).n_mentions for part in unique] == [5134, 787, 960]


def test_published_counts_of_bc5cdr(data: Path) -> None:
    parts = read_official(data / "bc5cdr", read_pubtator)
    counts = [take_census(part).types for part in parts]
    assert [count["Disease"] for count in counts] == [4182, 4244, 4424]
    assert [count["Chemical"] for count in counts] == [5203, 5347, 5385]
    assert all(duplicates(part) == [] for part in parts)
