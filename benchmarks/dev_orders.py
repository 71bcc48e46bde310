"""What orders of the nearest concepts are worth on development parts, and what was chosen by that.

Encoders have read the train parts alone. Every distinct string of a document of the dev parts of
NCBI disease and BC5CDR disease is looked up in MEDIC, with the training mentions as names, without
them, and as a linker does with its sieves; the 20 nearest concepts are put in order by

- the best name of each, and by all of them (``--reranker marginal``);
- all names, times ``(1 + n) ** w`` for ``n`` other mentions of the document that have the concept
  first (``--reranker collective`` has ``w = 1``);
- a fitted re-ranker that knows these mentions and one that does not, every fifth of the strings
  predicted from the others.

    canonym train default --part train -o default-train
    python benchmarks/dev_orders.py --encoder default=default-train

Test parts are not touched. Writes ``results/dev_orders.json``; what other encoders have stays.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Linker, Terminology
from canonym.linking.features import COMPANIES, COMPANY, marginals_of
from canonym.linking.reranker import Reranker
from canonym.ranking.pooling import COSINE_SCALE
from canonym.terminology import read_records
from canonym.types import Link
from fit_rerankers import CORPORA, FOLDS, MEDIC, Asked, cross_validated, looked_up, right
from models.lessons import Lesson, fit_to_questions
from record import data_folder, save
from reproduce.data import Shelf

WEIGHTS = (0.5, 1.0, 1.5, 2.0, 3.0)


def by_all_names(link: Link, weight: float) -> int:
    """Return the place of the candidate that is first by all names and the weighed company."""
    nearness = marginals_of(link)
    company = np.array([one.near.get(COMPANY, 0.0) for one in link.candidates])
    # What is found by the mention itself is before all others.
    worth = COSINE_SCALE * np.where(np.isnan(nearness), 9.0, nearness) + weight * company
    return int(worth.argmax())


def alone(lesson: Lesson) -> Lesson:
    """Return a lesson that does not know what stands beside it."""
    candidates = tuple(
        replace(one, near={what: near for what, near in one.near.items() if what not in COMPANIES})
        for one in lesson.link.candidates
    )
    return lesson._replace(link=replace(lesson.link, candidates=candidates))


def fitted(conditions: dict[str, list[Asked]], called: tuple[str, ...]) -> dict[str, Any]:
    """Predict every fifth of the strings by a re-ranker fitted to the others."""
    every = [one for asked in conditions.values() for one in asked]
    by_fold: list[Reranker] = [
        fit_to_questions([one.lesson for one in every if one.fold != fold], called)
        for fold in range(FOLDS)
    ]
    return {name: one["after"] for name, one in cross_validated(conditions, by_fold).items()}


def ordered(
    conditions: dict[str, list[Asked]], first: Callable[[Link], int]
) -> dict[str, dict[str, float]]:
    """Return what an order is worth under each condition."""
    return {
        name: right(asked, [first(one.lesson.link) for one in asked])
        for name, asked in conditions.items()
    }


def with_mean(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the same with the mean of all conditions."""
    mean = {
        kind: round(float(np.mean([one[kind] for one in found.values()])), 2)
        for kind in ("lenient", "strict")
    }
    return {**found, "mean": mean}


def main() -> None:
    """Look up, order, and write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    what = "an encoder that has read the train parts alone"
    parser.add_argument("--encoder", action="append", required=True, metavar="NAME=SPEC", help=what)
    named = dict(one.split("=", 1) for one in parser.parse_args().encoder)
    data = data_folder()
    shelf = Shelf(data)
    encoders = [shelf.encoder(spec) for spec in named.values()]
    terminology = Terminology.build(read_records(data / MEDIC))
    conditions: dict[str, list[Asked]] = {}
    with TemporaryDirectory() as folder:
        linker = Linker.build(terminology, encoders=encoders, folder=Path(folder) / "index")
        for corpus in CORPORA:
            conditions |= looked_up(linker, encoders, data, corpus, "train")
        called = linker.encoder_names
    without = {
        name: [one._replace(lesson=alone(one.lesson)) for one in asked]
        for name, asked in conditions.items()
    }
    orders = {
        "best name": ordered(conditions, lambda _: 0),
        "all names": ordered(conditions, lambda link: by_all_names(link, 0.0)),
        **{
            f"all names and the document, {weight:g}": ordered(
                conditions, lambda link, weight=weight: by_all_names(link, weight)
            )
            for weight in WEIGHTS
        },
        "re-ranked, each mention alone": fitted(without, called),
        "re-ranked": fitted(conditions, called),
    }
    found = {" + ".join(named): {name: with_mean(one) for name, one in orders.items()}}
    for name, one in orders.items():
        print(name, with_mean(one)["mean"])
    written = Path(__file__).parent / "results" / "dev_orders.json"
    before = json.loads(written.read_text(encoding="utf-8")) if written.is_file() else {}
    kept = {name: one for name, one in before.items() if "default" in name}
    files = [data / corpus / f"{part}.pubtator" for corpus in CORPORA for part in ("train", "dev")]
    save("dev_orders", kept | found, packages=["numpy", "scipy"], data=[data / MEDIC, *files])


if __name__ == "__main__":
    main()
