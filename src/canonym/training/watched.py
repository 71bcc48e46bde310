"""Watched mentions: the names nearest to them as an encoder learns.

An objective with a method ``measure(plan, epoch)`` is asked after the sampling of every epoch, and
once more at the end of training. It returns what JSON can hold: under ``"nearest"`` the names
nearest to each watched mention, under ``"reference"``, at epoch 0, those by what is not trained.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

N_NAMES = 10
"""Names listed for a watched mention, as in table 4 of BioSyn and of the few-shot paper."""

Entry = Mapping[str, Any]
"""A name, the ids of its concepts, and whether it is right where that is known."""


class WatchedTable(NamedTuple):
    """The names nearest to a mention: a column for each epoch shown, a row for each rank."""

    mention: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def nearest_entries(
    right_of: Mapping[str, Collection[str] | None],
    rows: npt.NDArray[np.integer[Any]],
    named: Callable[[int], tuple[str, Sequence[str]]],
) -> dict[str, list[Entry]]:
    """Return the names in the rows nearest to each mention, as JSON can hold them.

    `right_of` has the ids of the concepts of each mention, None where they are not known. `named`
    returns the name in a row, with the ids of its concepts.
    """

    def entry(row: int, right: Collection[str] | None) -> Entry:
        name, ids = named(row)
        known = {} if right is None else {"right": not set(ids).isdisjoint(right)}
        return {"name": name, "ids": list(ids), **known}

    return {
        mention: [entry(row, right) for row in nearest]
        for (mention, right), nearest in zip(right_of.items(), rows.tolist(), strict=True)
    }


def shown_epochs(n: int, kept_epoch: int | None) -> list[int]:
    """Return which of `n` measured epochs are shown: 0, 1, 5, 10, 50, 100, … and the saved one.

    Their numbers count epochs trained; `kept_epoch` is the one, from 0, whose weights were kept,
    None for the last.
    """
    epochs = {0, n - 1 if kept_epoch is None else kept_epoch + 1}
    epochs |= {first * 10**power for power in range(6) for first in (1, 5)}
    return sorted(epoch for epoch in epochs if epoch < n)


def kept_measures(
    measured: Sequence[Mapping[str, Any]], kept_epoch: int | None
) -> list[dict[str, Any]]:
    """Return what was measured, with nearest names in the epochs shown alone."""
    shown = shown_epochs(len(measured), kept_epoch)
    return [
        {key: value for key, value in measures.items() if key != "nearest" or epoch in shown}
        for epoch, measures in enumerate(measured)
    ]


def watched_tables(
    measured: Sequence[Mapping[str, Any]], kept_epoch: int | None
) -> tuple[WatchedTable, ...]:
    """Return a table for each watched mention; a right name has an asterisk."""
    if not measured or "nearest" not in measured[0]:
        return ()
    label, reference = measured[0]["reference"]
    shown = shown_epochs(len(measured), kept_epoch)
    words = {} if kept_epoch is None else {kept_epoch + 1: " (kept)"}
    columns = (label, *(f"epoch {epoch}{words.get(epoch, '')}" for epoch in shown))
    tables = []
    for mention in measured[0]["nearest"]:
        lists = [reference[mention], *(measured[epoch]["nearest"][mention] for epoch in shown)]
        rows = zip(*(map(_shown, entries) for entries in lists), strict=True)
        tables.append(WatchedTable(mention, columns, tuple(rows)))
    return tuple(tables)


def _shown(entry: Entry) -> str:
    if "right" in entry:
        return f"{entry['name']}*" if entry["right"] else str(entry["name"])
    return f"{entry['name']} ({', '.join(entry['ids'])})"
