"""Watched mentions and candidates: what is nearest, what is right, and in which epochs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from canonym import InvalidInput
from canonym.encoders.chargrams import CharGrams
from canonym.training.loop.fit import fit
from canonym.training.loop.reports import FitProgress
from canonym.training.loop.settings import FitSettings
from canonym.training.papers.biosyn import BioSyn
from canonym.training.papers.few_shot import FewShot
from canonym.training.sampling.name_table import NameTable
from canonym.training.watched import kept_measures, shown_epochs, watched_tables

TABLE = NameTable.from_pairs(
    [
        *((text, "heart") for text in ("heart attack", "cardiac infarct", "mi")),
        *((text, "brain") for text in ("stroke", "brain attack", "mi")),
        *((text, "skin") for text in ("rash", "eczema", "itch")),
    ],
    preparation="biosyn",
)
MENTIONS = [("heart attacks", ["heart"]), ("itching", ["skin"])]
DEV = [("Strokes!", ["brain"]), ("eczemas", ["skin"]), ("mi", ["heart", "gone"]), ("x", ["gone"])]
WATCHED = ("STROKES", "sore hand")


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_biosyn_measures_candidates_and_watched_mentions(small_table: Any, ratio: float) -> None:
    made = BioSyn(TABLE, MENTIONS, k=2, dense_ratio=ratio, watch=WATCHED, dev=DEV)
    texts = [*TABLE.texts, *made.search.texts]
    table = small_table.Table(texts)
    plan = made.plan(table.encode, 0, np.random.default_rng(0))
    assert made.settings == BioSyn(TABLE, MENTIONS, k=2, dense_ratio=ratio).settings
    found = made.measure(plan, 0)
    assert json.loads(json.dumps(found)) == found

    grams = CharGrams(n_min=1, n_max=2).fit(list(TABLE.texts))

    def by_grams(text: str) -> list[str]:
        sides = [grams.encode([one]) for one in (text, *TABLE.texts)]
        dense = np.zeros((len(sides), grams.n_columns))
        for row, side in enumerate(sides):
            dense[row, side.indices] = side.data
        order = np.argsort(-(dense[1:] @ dense[0]), kind="stable")
        return [TABLE.texts[i] for i in order]

    def by_encoder(text: str) -> list[str]:
        names, queries = (table.encode(t, normalise=False) for t in (TABLE.texts, [text]))
        scores = names @ queries[0]
        return [TABLE.texts[i] for i in np.argsort(-scores, kind="stable")]

    def owners(name: str) -> set[str]:
        return {TABLE.ids[c] for c in TABLE.concepts.of(TABLE.texts.index(name))}

    def candidates(text: str) -> list[str]:
        first = by_grams(text)[: 2 - int(ratio * 2)]
        return (first + [name for name in by_encoder(text) if name not in first])[:2]

    for part, mentions in (("training", MENTIONS), ("dev", [("strokes", ["brain"]), *DEV[1:3]])):
        right = [any(owners(n) & set(ids) for n in candidates(text)) for text, ids in mentions]
        assert found["recall"][part] == pytest.approx(np.mean(right))
    assert found["reference"][0] == "tf-idf"
    for mention, text, wanted in (("STROKES", "strokes", "brain"), ("sore hand", "sore hand", "")):
        for entries, names in (
            (found["nearest"][mention], by_encoder(text)[:2]),
            (found["reference"][1][mention], by_grams(text)[:2]),
        ):
            assert [entry["name"] for entry in entries] == names
            assert [set(entry["ids"]) for entry in entries] == [owners(name) for name in names]
            known = [entry.get("right") for entry in entries]
            assert known == [wanted in owners(name) if wanted else None for name in names]
    assert "reference" not in made.measure(plan, 1)


def test_nothing_is_measured_that_nobody_asked_for(small_table: Any) -> None:
    made = BioSyn(TABLE, MENTIONS, k=2)
    table = small_table.Table([*TABLE.texts, *made.search.texts])
    assert made.measure(made.plan(table.encode, 0, np.random.default_rng(0)), 0) == {}
    strangers = BioSyn(TABLE, MENTIONS, k=2, dev=[("x", ["gone"])])
    assert strangers.dev is None
    with pytest.raises(InvalidInput, match="watched mention is empty when prepared"):
        BioSyn(TABLE, MENTIONS, watch=("?!",))


def test_few_shot_ranks_its_training_names(small_table: Any) -> None:
    groups = {c: [f"{c}{i}" for i in range(12)] for c in "ABC"}
    names = [name for group in groups.values() for name in group]

    def inputs(texts: Any) -> Any:
        seeds = [int.from_bytes(text.encode()) for text in texts]
        return np.array([np.random.default_rng(s).normal(size=8) for s in seeds], np.float32)

    made = FewShot.from_groups(
        groups, inputs, np.random.default_rng(0), n=5, watch=("B11", "unknown")
    )
    table = small_table.Table([*names, "unknown"])
    plan = small_table.check_objective(made, table)
    found = made.measure(plan, 0)
    assert json.loads(json.dumps(found)) == found

    def ranked(encode: Callable[[Any], Any], text: str) -> list[str]:
        vectors = encode([text, *made.names.training]).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:10]
        return [made.names.training[i] for i in order]

    assert found["reference"][0] == "encoder underneath"
    for mention in ("B11", "unknown"):
        for entries, encode in (
            (found["nearest"][mention], table.encode),
            (found["reference"][1][mention], inputs),
        ):
            assert [entry["name"] for entry in entries] == ranked(encode, mention)
            assert all(entry["ids"] == [entry["name"][0]] for entry in entries)
            for entry in entries:
                assert entry.get("right") == (entry["name"][0] == "B" if mention == "B11" else None)
    assert FewShot(made.names, inputs).measure({}, 0) == {}


@pytest.mark.parametrize(
    ("n", "kept", "shown"),
    [
        (1, None, [0]),
        (4, None, [0, 1, 3]),
        (4, 1, [0, 1, 2]),
        (11, 6, [0, 1, 5, 7, 10]),
        (61, 58, [0, 1, 5, 10, 50, 59]),
    ],
)
def test_epochs_that_are_shown(n: int, kept: int | None, shown: list[int]) -> None:
    assert shown_epochs(n, kept) == shown
    measured = [{"recall": {"dev": epoch / n}, "nearest": {}} for epoch in range(n)]
    found = kept_measures(measured, kept)
    assert [epoch for epoch, one in enumerate(found) if "nearest" in one] == shown
    assert [one["recall"] for one in found] == [one["recall"] for one in measured]


def test_tables_of_watched_mentions() -> None:
    right, wrong = {"name": "a", "ids": ["X:1"], "right": True}, {"name": "b", "ids": ["X:2"]}
    measured: list[Mapping[str, Any]] = [
        {"nearest": {"m": [wrong | {"right": False}, right]},
         "reference": ["tf-idf", {"m": [wrong, wrong]}]},
        {"nearest": {"m": [right, wrong]}},
    ]  # fmt: skip
    (table,) = watched_tables(measured, 0)
    assert table.columns == ("tf-idf", "epoch 0", "epoch 1 (kept)")
    assert table.rows == (("b (X:2)", "b", "a*"), ("b (X:2)", "a*", "b (X:2)"))
    assert watched_tables([], None) == watched_tables([{}], None) == ()


@pytest.mark.slow
def test_a_resumed_run_has_measured_what_a_whole_one_has(small: ModuleType, tmp_path: Any) -> None:
    class Measuring(small.Synonyms):  # type: ignore[misc,name-defined]
        def measure(self, plan: Any, epoch: int) -> dict[str, Any]:
            return {"recall": {"dev": float(plan["negative"].mean())}, "epoch": epoch}

    def run(stop: int = 0, **loop: Any) -> Any:
        def progress(now: FitProgress) -> None:
            if now.step == stop:
                raise KeyboardInterrupt

        settings = FitSettings(epochs=3, learning_rate=1e-3)
        return fit(
            small.make_module(), Measuring(), settings=settings, progress=progress, device="cpu",
            **loop,
        )  # fmt: skip

    whole = run(log=tmp_path / "whole")
    assert [one["epoch"] for one in whole.measured] == [0, 1, 2, 3]
    assert len({one["recall"]["dev"] for one in whole.measured}) > 1
    for stop in (2, 5, 7, 15):
        place = tmp_path / f"{stop}"
        with pytest.raises(KeyboardInterrupt):
            run(stop, checkpoints=place, checkpoint_every=2, log=f"{place}.log")
        again = {"checkpoints": place, "log": f"{place}.log", "resume": True}
        resumed = run(**again, notice=lambda _: None)
        assert resumed.measured == whole.measured
        assert resumed.seconds > 0
        longer = run(**again)
        assert longer.measured == whole.measured
        assert longer.seconds > 0
    lines = [json.loads(line) for line in (tmp_path / "whole").read_text().splitlines()]
    logged = [line["recall"] for line in lines if "recall" in line]
    assert logged == [one["recall"] for one in whole.measured]
