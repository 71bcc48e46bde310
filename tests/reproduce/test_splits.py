"""Parts of a corpus, and the published counts of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from canonym.corpora.census import drop_duplicates, duplicates, take_census
from canonym.corpora.concept_files import read_concepts
from canonym.corpora.pubtator import read_pubtator
from canonym.errors import InvalidInput, ReadError
from canonym.types import Mention
from reproduce.run import reproduce
from reproduce.splits import hold_out, read_official, refined
from reproduce.trials import trial_parts


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


def test_composites_of_trials_are_split_by_their_words() -> None:
    assert trial_parts("combination of ribociclib + capecitabine") == ("ribociclib", "capecitabine")
    assert trial_parts("Aspirin plus Heparin vs. Placebo") == ("Aspirin", "Heparin", "Placebo")
    assert trial_parts("aspirin+heparin 5 mg") == ("aspirin", "heparin 5 mg")
    assert trial_parts("aspirin combined with heparin") == ("aspirin", "heparin")
    assert trial_parts("Ibuprofen 600 mg tab") == ("Ibuprofen 600 mg tab",)
    assert trial_parts("Combination") == ("Combination",)


def test_fields_of_trials_are_asked_once_and_in_parts(tmp_path: Path) -> None:
    """Without training, the refined set has each different mention once."""
    texts = ["Aspirin plus heparin", "ASPIRIN", "aspirin", "heparin, aspirin", "aspirin"]
    ids = ["A|H", "A", "A", "A|H", "H"]
    (tmp_path / "fields").mkdir()
    for part in ("train", "test"):
        lines, start, whole = [], 0, ". ".join(texts)
        for text, id_ in zip(texts, ids, strict=True):
            lines.append(f"1\t{start}\t{start + len(text)}\t{text}\tDrug\t{id_}\n")
            start += len(text) + 2
        (tmp_path / "fields" / f"{part}.pubtator").write_text(f"1|t|{whole}\n{''.join(lines)}\n")
    (tmp_path / "names.tsv").write_text("id\tname\nA\taspirin\nH\theparin\n")
    row = '{ name = "a", corpus = "fields", format = "trial-fields", protocol = "refined", '
    row += 'split = "file", training = false, encoders = [], published = { "accuracy@1" = 90 } }'
    (tmp_path / "e.toml").write_text(f'source = "b"\nterminology = ["names.tsv"]\nrow = [{row}]\n')
    (ours,) = reproduce(tmp_path / "e.toml", data=tmp_path).rows
    # Of five mentions one is repeated; "heparin, aspirin" has no word that splits it, and "aspirin"
    # with the id of heparin is another pair.
    assert (ours.n, ours.value) == (4, 50)
    assert "1 mentions repeated were left out" in ours.remarks
