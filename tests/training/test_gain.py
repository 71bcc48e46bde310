"""Mentions as names: which count, how often they are drawn, which are set aside, what is gained."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from canonym import Concept, Document, InvalidInput, Mention, Name, Terminology
from canonym.encoders.subword import Subword
from canonym.training.sampling.groups import SynonymGroups
from canonym.training.sampling.mentions import SEVERAL
from canonym.training.subword.held_out import fit_names, hold_out, hold_out_mentions, measure_gain
from canonym.training.subword.mention_names import (
    EITHER,
    MentionNames,
    mention_names,
    mention_weights,
)

ORGANS = ("kidney", "heart", "liver", "lung", "stomach", "skin", "brain", "eye")
LEARNED = ("renal", "cardiac", "hepatic", "pulmonary", "gastric", "dermal", "cerebral", "ocular")
SIGNS = ("stone", "failure", "pain", "tumor", "infection", "abscess", "injury")
PAIRS = [
    (f"{organ} {sign}", f"{sign} {learned}")
    for organ, learned in zip(ORGANS, LEARNED, strict=True)
    for sign in SIGNS
]
SMALL: dict[str, Any] = {
    "steps": 60,
    "batch": 64,
    "dimensions": 24,
    "n_bits": 12,
    "learning_rate": 0.02,
}


def mentions_of(names: list[str], concepts: list[int], documents: list[str]) -> MentionNames:
    return MentionNames(names, np.array(concepts, dtype=np.int32), documents, {})


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(
        [
            Concept("MESH:D1", "Breast Cancer"),
            Name("mammary tumour", "MESH:D1"),
            Concept("MESH:D2", "Ovarian cancer"),
            Concept("MESH:D3", "Wilson disease"),
        ]
    )


# --- which mentions count ------------------------------------------------------------------------


def test_mentions_of_one_known_concept_are_names(terminology: Terminology) -> None:
    text = "Wilson disease (WD), WD, a lump and breast and ovarian cancer; cough."
    mentions = (
        Mention("WD", 21, 23, "Disease", ("D3",)),
        Mention("lump", 27, 31, "Disease", ("D1", "D2")),
        Mention("breast and ovarian cancer", 36, 61, "Disease", ("D1", "D2"), "all"),
        Mention("cough", 63, 68, "Disease", ("D9",)),
        Mention("a", 25, 26, "Letter", ("D2",)),
    )
    documents = [
        Document("7", text, mentions),
        Document("8", "Lump", (Mention("Lump", 0, 4, "Disease", ("D1",)),)),
    ]
    found = mention_names(documents, terminology, types=["Disease"], engine="schwartz-hearst")
    assert found.names == ["wilson disease", "lump"]
    assert found.concepts.tolist() == [2, 0]
    assert found.documents == ["7", "8"]
    assert found.dropped == {
        "with an id that the terminology does not have": 1,
        SEVERAL: 1,
        EITHER: 1,
    }
    assert len(mention_names(documents, terminology).names) == 3


def test_a_corpus_that_leaves_none_says_why(terminology: Terminology) -> None:
    either = [Document("1", "lump", (Mention("lump", 0, 4, "", ("D1", "D2")),))]
    with pytest.raises(InvalidInput, match=f"no mention to fit to: 1 {EITHER}"):
        mention_names(either, terminology)
    unknown = [Document("1", "cough", (Mention("cough", 0, 5, "", ("D9",)),))]
    with pytest.raises(InvalidInput, match="1 with an id that the terminology does not have"):
        mention_names(unknown, terminology)


# --- how often they are drawn --------------------------------------------------------------------


def test_a_share_of_the_names_drawn_are_mentions() -> None:
    names = ["aa", "bb", "cc", "dd", "ee", "lonely", "Aa!", "ff", "ff"]
    concepts = np.array([0, 0, 0, 1, 1, 2, 0, 1, 1], dtype=np.int32)
    for share in (0.1, 0.4, 0.8):
        weights = mention_weights(names, concepts, 3, share=share)
        groups = SynonymGroups(
            Subword(np.zeros((256, 2), np.float32)), names, concepts, None, None, weights
        )
        drawn = groups.draw_names(4000, np.random.default_rng(0))
        texts = [groups.texts[row] for row in drawn]
        assert np.mean([text in {"aa", "ff"} for text in texts]) == pytest.approx(share, abs=0.03)
        assert "lonely" not in texts


def test_common_mentions_are_drawn_more_often_and_doubtful_ones_less() -> None:
    names = ["aa", "bb", "cc", "dd", *["one"] * 4, "two", *["split"] * 3, "split"]
    concepts = np.array([0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1], dtype=np.int32)
    weights = mention_weights(names, concepts, 9, share=0.5, weights=np.array([2.0, 1.0]))
    one, two, mostly, seldom = weights[4] * 2, weights[8] * 2, weights[9] * 2, weights[12]
    assert one == pytest.approx(2 * two)
    assert mostly == pytest.approx(np.sqrt(3) * 3 / 4 * two)
    assert seldom == pytest.approx(1 / 4 * two)
    # Half of all draws: as much as the four names, two of them of weight 2.
    assert one + two + mostly + seldom == pytest.approx(6)
    assert weights[:4].tolist() == [1] * 4


def test_where_all_are_mentions_they_weigh_the_same() -> None:
    weights = mention_weights(["a", "b"], np.array([0, 0], np.int32), 2, share=0.2)
    assert weights.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("share", [0, 1, -0.1, float("nan")])
def test_shares_that_cannot_be(share: float) -> None:
    with pytest.raises(InvalidInput, match="share="):
        mention_weights(["a"], np.array([0], np.int32), 1, share=share)


# --- which are set aside -------------------------------------------------------------------------


def test_mentions_of_some_documents_are_set_aside() -> None:
    names, concepts = ["flu", "grippe", "cold"], np.array([0, 0, 1], dtype=np.int32)
    documents = [f"d{i}" for i in range(20) for _ in range(3)]
    texts = [f"{kind} {i}" for i in range(20) for kind in ("Influenza", "sniffle")]
    texts = [text for i in range(20) for text in (*texts[2 * i : 2 * i + 2], "FLU")]
    mentions = mentions_of(texts, [0, 1, 0] * 20, documents)
    held, kept = hold_out_mentions(mentions, names, concepts, share=0.25, seed=1)
    left = {documents[row] for row in kept}
    assert len(left) == 15
    away = [i for i in range(20) if f"d{i}" not in left]
    # A name of the terminology is found anyway, and is not asked for.
    assert sorted(held.names) == sorted(
        f"{kind} {i}" for i in away for kind in ("Influenza", "sniffle")
    )
    assert held.concepts.tolist() == [int(n.startswith("sn")) for n in held.names]
    assert held.searched.tolist() == held.rest.tolist() == [0, 1, 2]
    other, _ = hold_out_mentions(mentions, names, concepts, share=0.25, seed=2)
    assert other.names != held.names


def test_mentions_that_other_documents_have_are_not_asked_for() -> None:
    documents = [f"d{i}" for i in range(12)]
    mentions = mentions_of(["same", "Same"] * 6, [0] * 12, documents)
    held, kept = hold_out_mentions(mentions, ["x"], np.array([0], np.int32))
    assert held.names == []
    assert len(kept) == 10


def test_few_documents_are_split_by_mention() -> None:
    texts = ["one", "two", "three", "four", "five", "One"]
    mentions = mentions_of(texts, [0] * 6, [""] * 6)
    held, kept = hold_out_mentions(mentions, ["x"], np.array([0], np.int32), share=0.4)
    assert len(held.names) == 2
    left = {texts[row].lower() for row in kept}
    assert left.isdisjoint(name.lower() for name in held.names)
    assert len(left) == 3
    alone = mentions_of(["one"], [0], ["d"])
    held, kept = hold_out_mentions(alone, ["x"], np.array([0], np.int32))
    assert (held.names, kept.tolist()) == ([], [0])


def test_a_name_set_aside_does_not_come_back_as_a_mention() -> None:
    names = ["hip fracture", "broken hip", "fractured hip", "x"]
    concepts = np.array([0, 0, 0, 1], dtype=np.int32)
    apart = hold_out(names, concepts)
    texts = [apart.names[0].upper(), *(f"word {i}" for i in range(20))]
    mentions = mentions_of(texts, [0] * 21, [str(i) for i in range(21)])
    for seed in range(6):
        held, kept = hold_out_mentions(mentions, names, concepts, rest=apart.rest, seed=seed)
        assert 0 not in kept
        assert texts[0] not in held.names
        assert held.searched.tolist() == apart.rest.tolist()


# --- what is gained ------------------------------------------------------------------------------


def named() -> tuple[list[str], Any]:
    names = [name for lay, _ in PAIRS for name in (lay, f"{lay} nos", f"{lay} unspecified")]
    return names, np.repeat(np.arange(len(PAIRS), dtype=np.int32), 3)


def annotated() -> MentionNames:
    """Return the learned names, each in a document of its own."""
    learned = [name for _, name in PAIRS]
    return mentions_of(learned, list(range(len(PAIRS))), [str(i) for i in range(len(PAIRS))])


def test_mentions_teach_what_the_names_do_not_say() -> None:
    names, concepts = named()
    baseline = fit_names(names, concepts, **SMALL | {"steps": 1, "learning_rate": 1e-9})
    gain = measure_gain(
        names, concepts, baseline=baseline, mentions=annotated(), share=0.5, **SMALL
    )
    assert gain.names is not None
    assert gain.mentions is not None
    assert (gain.mentions.n, gain.mentions.n_searched) == (11, len(names) - gain.names.n)
    assert gain.mentions.before < 0.5
    assert gain.mentions.after > 0.8
    alone = measure_gain(names, concepts, baseline=baseline, **SMALL)
    assert alone.mentions is None
    assert alone.names is not None
    assert alone.names.n == gain.names.n


def test_nothing_is_measured_where_nothing_can_be_set_aside() -> None:
    names, concepts = ["flu", "grippe"], np.array([0, 0], dtype=np.int32)
    baseline = Subword(np.eye(64, dtype=np.float32))
    assert measure_gain(names, concepts, baseline=baseline, **SMALL) == (None, None)
    gain = measure_gain(
        ["flu", "cold"],
        np.array([0, 1], np.int32),
        baseline=baseline,
        mentions=mentions_of(["grippe", "influenza", "a cold"], [0, 0, 1], [""] * 3),
        **SMALL | {"steps": 2},
    )
    assert gain.names is None
    assert gain.mentions is not None
    assert gain.mentions.n == 1


def test_without_mentions_it_is_the_plain_fit() -> None:
    names, concepts = named()
    options = SMALL | {"steps": 5}
    plain = fit_names(names, concepts, **options)
    empty = fit_names(names, concepts, mentions=mentions_of([], [], []), **options)
    np.testing.assert_array_equal(plain.table, empty.table)
    less = fit_names(names, concepts, mentions=annotated(), share=0.1, **options)
    more = fit_names(names, concepts, mentions=annotated(), share=0.6, **options)
    assert not np.array_equal(less.table, more.table)
