"""The first examples of a plan in words, to look at before a long run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from canonym.training.objective import Plan

_SHOWN = 4


def examples(objective: Any, plan: Plan, n: int = 5) -> list[tuple[str, ...]]:
    """Return the first examples of a plan, with as many columns as `COLUMNS` has."""
    return list(islice(_READERS[objective.name](objective, plan), n))


def _biosyn(objective: Any, plan: Plan) -> Iterator[tuple[str, ...]]:
    linked, table = objective.mentions, objective.table
    for mention in plan["mentions"]:
        text = linked.text_of[mention]
        wanted = set(linked.concepts.of(int(mention)))
        sides: tuple[list[str], list[str]] = ([], [])
        for row in plan["candidates"][text]:
            right = bool(wanted & set(table.concepts.of(int(row))))
            sides[not right].append(table.texts[row])
        yield linked.texts[text], *map(_listed, sides)


def _batch_hard(objective: Any, plan: Plan) -> Iterator[tuple[str, ...]]:
    for name, concept in zip(plan["names"], plan["concepts"], strict=True):
        yield objective.table.texts[name], objective.table.ids[concept]


def _dilbert(objective: Any, plan: Plan) -> Iterator[tuple[str, ...]]:
    for triplet in objective.triplets(plan):
        yield triplet.mention, triplet.positive, triplet.negative, triplet.strategy


def _coder(objective: Any, plan: Plan) -> Iterator[tuple[str, ...]]:
    texts, names, batches = objective.table.texts, objective.relations.relations, objective.batches
    for batch in range(batches.count()):
        triplets, *ends = batches.batch(plan, batch)
        for start in range(0, len(triplets), batches.repeats):
            drawn = (rows[start : start + batches.repeats] for rows in ends)
            head, tail = (_listed(dict.fromkeys(texts[row] for row in rows)) for rows in drawn)
            yield head, names[triplets[start, 1]], tail


def _few_shot(objective: Any, plan: Plan) -> Iterator[tuple[str, ...]]:
    names = objective.names
    for anchor, negative in zip(plan["anchors"], plan["negatives"], strict=True):
        concept = names.concepts[names.training_concepts[anchor]]
        yield names.training[anchor], concept, names.training[negative]


def _listed(names: Any) -> str:
    listed = list(names)
    more = f" … {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return "; ".join(listed[:_SHOWN]) + more


_READERS: dict[str, Callable[[Any, Plan], Iterator[tuple[str, ...]]]] = {
    "biosyn": _biosyn,
    "batch-hard": _batch_hard,
    "dilbert": _dilbert,
    "coder": _coder,
    "few-shot": _few_shot,
}
COLUMNS: dict[str, tuple[str, ...]] = {
    "biosyn": ("mention", "right candidates", "other candidates"),
    "batch-hard": ("names of one batch", "concept"),
    "dilbert": ("mention", "positive", "negative", "strategy"),
    "coder": ("head", "relation", "tail"),
    "few-shot": ("anchor", "concept", "negative"),
}
"""Columns of `examples`, by the name of the objective."""
