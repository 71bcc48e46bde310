"""Fitting a subword encoder: it learns, it repeats itself, it says what it cannot use."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.sampling.groups import SynonymGroups, hashed
from canonym.training.sampling.noise import NOISE
from canonym.training.subword import fit_subword as subword
from canonym.training.subword.fit_subword import fit_subword, initial_table

# A made-up language in which every stem has a second, unrelated form.
STEMS = [
    ("kidney", "renal"), ("heart", "cardiac"), ("liver", "hepatic"), ("lung", "pulmonary"),
    ("stomach", "gastric"), ("skin", "dermal"), ("brain", "cerebral"), ("eye", "ocular"),
    ("bone", "osseous"), ("ear", "aural"),
]  # fmt: skip
SIGNS = ["stone", "failure", "pain", "tumor", "infection", "abscess", "injury", "ulcer", "bleeding"]
PAIRS = [(f"{lay} {sign}", f"{sign} {learned}") for lay, learned in STEMS for sign in SIGNS]
SMALL: dict[str, Any] = {
    "steps": 90,
    "batch": 64,
    "dimensions": 24,
    "n_bits": 12,
    "learning_rate": 0.02,
}


def synonyms() -> tuple[list[str], Any]:
    return [name for pair in PAIRS for name in pair], np.repeat(np.arange(len(PAIRS)), 2)


def accuracy(encoder: Subword, held: list[int]) -> float:
    """Share of the learned names held out whose nearest lay name is the right one."""
    lay = encoder.encode([pair[0] for pair in PAIRS])
    learned = encoder.encode([PAIRS[row][1] for row in held])
    return float(np.mean((learned @ lay.T).argmax(axis=1) == held))


def test_synonyms_that_were_not_seen_are_found() -> None:
    held = list(range(3, len(PAIRS), 7))
    names, concepts = synonyms()
    left = [row for row in range(len(names)) if row not in {2 * held_row + 1 for held_row in held}]
    rest = [names[row] for row in left]
    start = fit_subword(rest, concepts[left], **SMALL | {"steps": 1, "learning_rate": 1e-9})
    fitted = fit_subword(rest, concepts[left], **SMALL)
    assert accuracy(start, held) < 0.5
    assert accuracy(fitted, held) > 0.95


def test_equal_seeds_give_equal_bytes(tmp_path: Path) -> None:
    names, concepts = synonyms()
    for run, seed in (("one", 4), ("two", 4), ("three", 5)):
        fit_subword(names, concepts, **SMALL | {"steps": 12}, seed=seed).save(tmp_path / run)
    one, two, three = (
        (tmp_path / run / "model.safetensors").read_bytes() for run in ("one", "two", "three")
    )
    assert one == two
    assert one != three


def test_progress_and_log_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subword, "_LOGGED", 4)
    names, concepts = synonyms()
    done: list[tuple[int, int]] = []
    lines: list[str] = []
    options = SMALL | {"steps": 9, "refresh": 2}
    fit_subword(
        names, concepts, progress=lambda *both: done.append(both), log=lines.append, **options
    )
    assert done == [(step + 1, 9) for step in range(9)]
    assert [line.split(":")[0] for line in lines] == ["step 3", "step 4", "step 6", "step 8"]
    assert "neighbours searched for" in lines[0]
    assert "loss" in lines[1]


def test_it_goes_on_from_another_encoder() -> None:
    names, concepts = synonyms()
    options = SMALL | {"steps": 30}
    start = fit_subword(names, concepts, **options)
    further = fit_subword(names, concepts, steps=1, learning_rate=1e-6, batch=64, start=start)
    assert further.settings == start.settings
    start.rarity = 0.5
    on = fit_subword(names, concepts, steps=1, batch=64, start=start)
    assert (on.rarity, on.waits_for_names) == (0.5, True)  # an index fits it to its names
    np.testing.assert_allclose(further.encode(names), start.encode(names), atol=0.02)
    exact = fit_subword(names, concepts, **options, quantise=False)
    assert exact.table.dtype == np.float32
    before = exact.table.copy()
    run = {"steps": 3, "batch": 64, "start": exact, "quantise": False}
    on = fit_subword(names, concepts, **run)
    np.testing.assert_array_equal(exact.table, before)  # not changed in place
    assert not np.array_equal(on.table, before)
    kept = fit_subword(names, concepts, **run, start_share=0.25)
    np.testing.assert_allclose(kept.table, 0.25 * before + 0.75 * on.table, atol=1e-6)


def see_concepts(monkeypatch: pytest.MonkeyPatch, seen: list[Any]) -> None:
    """Put the concepts of every batch into a list."""
    loss = subword.multi_positive_loss
    monkeypatch.setattr(
        subword,
        "multi_positive_loss",
        lambda *given, **more: seen.append(more["concepts"]) or loss(*given, **more),
    )


def test_weights_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    names, concepts = synonyms()
    seen: list[Any] = []
    see_concepts(monkeypatch, seen)
    weights = np.zeros(len(PAIRS))
    weights[[2, 5]] = 1
    fit_subword(names, concepts, **SMALL | {"steps": 4, "refresh": 0}, weights=weights)
    assert set(np.concatenate(seen).tolist()) == {2, 5}
    seen.clear()
    sources = np.where(np.arange(len(PAIRS)) < 5, 1, 2)
    options = SMALL | {"steps": 6, "refresh": 1}
    fit_subword(names, concepts, **options, weights=weights, sources=sources)
    # From the first search on, concepts of the same source come along, and no others.
    joined = set(np.concatenate(seen[3:]).tolist())
    assert {2, 5} < joined
    weights[5] = 0
    seen.clear()
    fit_subword(names, concepts, **options, weights=weights, sources=sources)
    assert set(np.concatenate(seen).tolist()) <= {0, 1, 2, 3, 4}


def drawn_names(groups: SynonymGroups, n: int = 4000) -> dict[str, float]:
    """Return the share of each name among `n` that are drawn."""
    rows = groups.draw_names(n, np.random.default_rng(0))
    texts, counts = np.unique([groups.texts[row] for row in rows], return_counts=True)
    return dict(zip(texts.tolist(), (counts / n).tolist(), strict=True))


def test_names_are_drawn_by_their_weight_and_that_of_their_concept() -> None:
    encoder = Subword(np.zeros((1 << 8, 4), np.float32))
    names = ["one", "two", "three", "four", "five", "?", "Five"]
    concepts = np.array([0, 0, 1, 1, 2, 0, 1], dtype=np.int32)
    name_weights = np.array([1.0, 0.0, 2.0, 1.0, 9.0, 9.0, 1.0])

    def drawn(*, weights: Any = None, name_weights: Any = None) -> dict[str, float]:
        return drawn_names(
            SynonymGroups(encoder, names, concepts, weights, None, name_weights=name_weights)
        )

    one, three, four, five = 0.2, 0.4, 0.2, 0.2
    assert drawn(name_weights=name_weights) == pytest.approx(
        {"one": one, "three": three, "four": four, "five": five}, abs=0.03
    )
    both = drawn(weights=np.array([4.0, 1.0, 1.0]), name_weights=name_weights)
    assert both == pytest.approx(
        {"one": 0.5, "three": 0.25, "four": 0.125, "five": 0.125}, abs=0.03
    )
    assert drawn(name_weights=np.ones(7)) == drawn()


def test_of_equal_names_the_largest_weight_holds() -> None:
    encoder = Subword(np.zeros((1 << 8, 4), np.float32))
    names = ["flu", "grippe", "Flu", "FLU"]
    weights = np.array([1.0, 2.0, 6.0, 0.0])
    groups = SynonymGroups(encoder, names, np.zeros(4, np.int32), None, None, weights)
    assert drawn_names(groups) == pytest.approx({"flu": 0.75, "grippe": 0.25}, abs=0.03)


def test_fit_hears_name_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    names, concepts = synonyms()
    given: list[Any] = []
    see_concepts(monkeypatch, given)
    name_weights = np.zeros(len(names))
    name_weights[[4, 11]] = 1
    fit_subword(names, concepts, **SMALL | {"steps": 3, "refresh": 0}, name_weights=name_weights)
    assert set(np.concatenate(given).tolist()) == {2, 5}


# --- noise ----------------------------------------------------------------------------------------


def test_noise_makes_it_forgive_slips() -> None:
    names, concepts = synonyms()
    options = SMALL | {"steps": 150, "refresh": 0}
    rng = np.random.default_rng(3)
    written = [" ".join(NOISE["slip"](name.split(" "), rng)) for name in names]
    exact, noisy = (fit_subword(names, concepts, **options, noise=share) for share in (0.0, 0.5))

    def found(encoder: Subword) -> float:
        nearest = (encoder.encode(written) @ encoder.encode(names).T).argmax(axis=1)
        return float(np.mean(concepts[nearest] == concepts))

    assert found(noisy) > found(exact) + 0.05


def test_without_hard_neighbours_no_search_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subword, "HardPool", None)
    names, concepts = synonyms()
    fit_subword(names, concepts, **SMALL | {"steps": 4}, hard_neighbours=0)


def test_features_of_common_words_start_short() -> None:
    names, concepts = synonyms()
    groups = SynonymGroups(
        Subword(np.zeros((1 << 14, 64), np.float32)), names, concepts.astype(np.int32), None, None
    )
    table = initial_table(groups.encoder, groups.texts, np.random.default_rng(0))
    lengths = np.linalg.norm(table, axis=1)
    _, buckets = hashed(groups.encoder, ["kidney stone"])
    kidney, stone = buckets[:2]
    n = len(names)
    # "kidney" is in 9 names, "stone" in 20.
    expected = np.log((n + 1) / (20 + 1)) / np.log((n + 1) / (9 + 1))
    assert lengths[stone] / lengths[kidney] == pytest.approx(expected, rel=0.3)


# --- what cannot be used --------------------------------------------------------------------------


def test_concepts_with_one_name_each_have_nothing_to_teach() -> None:
    with pytest.raises(InvalidInput, match="none of 3 concepts has two different names"):
        fit_subword(["one", "two", "three", "ONE!"], [0, 1, 2, 0])
    with pytest.raises(InvalidInput, match="none of 0 concepts"):
        fit_subword([], np.empty(0, int))
    with pytest.raises(InvalidInput, match="none of 1 concepts"):
        fit_subword(["?", "!"], [0, 0])


def test_weights_that_leave_nothing() -> None:
    names, concepts = synonyms()
    with pytest.raises(InvalidInput, match="weights"):
        fit_subword(names, concepts, weights=np.zeros(len(PAIRS)))
    nothing = np.zeros(len(names))
    for bad in (nothing, nothing - 1, nothing + np.nan, nothing + np.inf):
        with pytest.raises(InvalidInput, match="weights have to be finite"):
            fit_subword(names, concepts, name_weights=bad)
    with pytest.raises(InvalidInput, match=r"180 names .* name_weights of shape \(3,\)"):
        fit_subword(names, concepts, name_weights=np.ones(3))


@pytest.mark.parametrize(
    ("concepts", "message"),
    [
        ([0], r"shape \(1,\)"),
        ([0.0, 1.0], "float64"),
        ([0, -1], "from 0"),
        ([0, 1 << 31], "from 0"),
    ],
)
def test_concepts_that_cannot_be_used(concepts: list[Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fit_subword(["one", "two"], concepts)


@pytest.mark.parametrize(
    "option",
    [
        {"steps": 0}, {"batch": 1}, {"temperature": 0}, {"dropout": 1.0}, {"learning_rate": -1},
        {"n_bits": 25}, {"dimensions": 0}, {"positives": 0}, {"refresh": -1},
        {"hard_neighbours": -1}, {"dropout": float("nan")},
    ],
)  # fmt: skip
def test_options_that_cannot_be_used(option: dict[str, Any]) -> None:
    name = next(iter(option))
    with pytest.raises(InvalidInput, match=f"{name}="):
        fit_subword(["one", "two"], [0, 0], **option)


def test_a_batch_larger_than_the_names_is_cut() -> None:
    names, concepts = ["hip pain", "pain of hip", "knee pain", "pain of knee"], np.arange(4) // 2
    began = time.process_time()
    fitted = [
        fit_subword(names, concepts, steps=2, batch=batch, dimensions=4, n_bits=8)
        for batch in (512, 100_000_000)
    ]
    assert time.process_time() - began < 3
    assert np.array_equal(fitted[0].table, fitted[1].table)
