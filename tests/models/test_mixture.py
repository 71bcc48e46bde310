"""The mixture of names, mentions and definitions, from small files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from canonym.errors import InvalidInput, Mismatch
from canonym.types import Document, Name
from models import mixture as mixture_module
from models.mixture import (
    Definition,
    check_apart,
    defined_in,
    digests,
    mixture_files,
    read_mixture,
    shorten,
)


def test_mentions_are_names_and_test_parts_are_not_read(mixed: Path) -> None:
    lines: list[str] = []
    mixture = read_mixture(mixed, log=lines.append)
    of_name = dict(zip(mixture.names, mixture.concepts.tolist(), strict=True))
    infarction = of_name["Myocardial Infarction"]
    for text in ("infarcted hearts", "coronary infarct", "cardiac death"):
        assert of_name[text] == infarction
    assert of_name["abate tablets"] == of_name["Temefos"]
    assert not {"secret words", "hidden thing", "nonsense"} & set(of_name)
    assert "bc5cdr Chemical: 1 mentions, 1 distinct" in lines
    assert "ncbi-disease : 3 mentions, 3 distinct" in lines
    assert mixture.counts["mentioned"] == int((mixture.name_weights != 1).sum())


def test_parts_choose_the_mentions(mixed: Path) -> None:
    of_train = set(read_mixture(mixed, parts=["train"]).names)
    assert "infarcted hearts" in of_train
    assert "coronary infarct" not in of_train
    alone = read_mixture(mixed, parts=[])
    assert "infarcted hearts" not in alone.names
    assert (alone.name_weights == 1).all()
    both = read_mixture(mixed)
    # A mention makes a concept neither a member of more terminologies nor more often drawn.
    for one, other in ((alone.sources, both.sources), (alone.weights, both.weights)):
        np.testing.assert_array_equal(one, other)


def test_share_of_mentions(mixed: Path) -> None:
    mixture = read_mixture(mixed, mention_share=0.4)
    chances = mixture.weights[mixture.concepts] * mixture.name_weights
    chances *= np.bincount(mixture.concepts)[mixture.concepts] > 1  # the others are never drawn
    mentioned = mixture.name_weights != 1
    assert 4 <= mentioned.sum() < len(mixture.names)
    assert chances[mentioned].sum() / chances.sum() == pytest.approx(0.4)
    # Heart attack was annotated twice, the others once.
    common = np.array([name.lower() == "heart attack" for name in mixture.names])
    once = chances[mentioned & ~common]
    assert np.ptp(once) < 1e-9
    assert chances[mentioned & common].max() == pytest.approx(np.sqrt(2) * once[0])


def test_everyday_names_and_definitions(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay = [Name("coronary", "ICD10CM:I21"), Name("the shakes", "ICD10CM:R50")]
    monkeypatch.setattr(mixture_module, "read_everyday", lambda: iter(lay))
    plain = read_mixture(mixed)
    assert not plain.definitions
    assert "the shakes" not in plain.names
    lines: list[str] = []
    mixture = read_mixture(mixed, everyday_weight=4.0, defined=True, log=lines.append)
    of_name = dict(zip(mixture.names, mixture.concepts.tolist(), strict=True))
    assert of_name["coronary"] == of_name["Acute MI [heart attack]"]
    weights = dict(zip(mixture.names, mixture.name_weights.tolist(), strict=True))
    assert weights["coronary"] == weights["the shakes"] == 4
    assert weights["Fever NOS"] == 1
    infarction = of_name["Myocardial Infarction"]
    assert [tuple(one) for one in mixture.definitions] == [
        ("Death of heart muscle.", infarction),
        ("a condition in which the heart lacks blood. It is treated at once.", infarction),
        (
            "the most common of complaints, and nobody knows them by that name alone.",
            of_name["Fever"],
        ),
    ]
    assert "3 definitions" in lines
    assert (mixture.counts["everyday"], mixture.counts["definitions"]) == (2, 3)


def test_a_test_document_among_those_learned_from(mixed: Path) -> None:
    with (mixed / "ncbi-disease" / "train.pubtator").open("a", encoding="utf-8") as stream:
        stream.write("5|t|Something else.\n5|a|More.\n")
    with pytest.raises(Mismatch, match=r"1 documents of ncbi-disease .*test part too \(5\)"):
        read_mixture(mixed)


def test_a_test_document_of_the_other_corpus(mixed: Path) -> None:
    with (mixed / "ncbi-disease" / "train.pubtator").open("a", encoding="utf-8") as stream:
        stream.write("9|t|Something else.\n9|a|More.\n")
    with pytest.raises(Mismatch, match=r"1 documents of ncbi-disease .*\(9\)"):
        read_mixture(mixed)


def test_documents_are_compared_by_text_too() -> None:
    one, other = Document("1", "The same."), Document("2", "The same.")
    with pytest.raises(Mismatch, match="2"):
        check_apart([other], [one])
    check_apart([Document("3", "Another.")], [one])


def test_what_cannot_be_learned_from(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'test'"):
        read_mixture(tmp_path, parts=["train", "test"])
    with pytest.raises(InvalidInput, match="from 0 to below 1"):
        read_mixture(tmp_path, mention_share=1.0)
    with pytest.raises(InvalidInput, match="everyday_weight=-1"):
        read_mixture(tmp_path, everyday_weight=-1)


def test_files_and_their_digests(mixed: Path) -> None:
    files = mixture_files()
    assert "ncbi-disease/dev.pubtator" in files.values()
    assert not any("test" in path for path in files.values())
    found = digests(mixed)
    assert set(found) == set(files)
    assert set(digests(mixed, defined=True)) == {*files, "MedQuAD text"}
    assert all(len(digest) == 64 for digest in found.values())


def test_what_a_passage_says_of_the_name_it_begins_with() -> None:
    passages = [
        "The Flu (influenza) is a contagious illness of the airways. It comes in winter.",
        "Summary : Ulcers are the sores that remain open for weeks and months.",
        "What is the flu ?",
        "What are the symptoms of flu ?",
        "Colds is a word of several concepts, so that nobody knows which one is meant.",
        "Grippe is an old word that is no name of anything here at all.",
        "Flu is a word.",
        "Flu happens to people who have met somebody who has it.",
    ]
    names = {"flu": 3, "ulcer": 5, "cold": None}
    assert list(defined_in(passages, names)) == [
        Definition("a contagious illness of the airways. It comes in winter.", 3),
        Definition("the sores that remain open for weeks and months.", 5),
    ]


def test_definitions_are_shortened_in_whole_words() -> None:
    text = shorten("word " * 100)
    assert len(text) <= 240
    assert set(text.split()) == {"word"}
    assert shorten("w" * 300) == ""
