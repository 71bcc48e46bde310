"""Lessons of decisions for an index: names to add, and pairs to forbid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from canonym.review.store import DECIDED, SEEN, Entry, decided_ids
from canonym.terminology import Terminology
from canonym.text import normalise
from canonym.types import Name


class Lessons(NamedTuple):
    """Names that were accepted for concepts, and pairs of a mention and a concept it is not."""

    names: list[Name]
    forbidden: list[tuple[str, str]]


def lessons_of(entries: Iterable[Entry], terminology: Terminology) -> Lessons:
    """Find what decisions teach; only a single concept that is meant gets a name.

    A proposal that was not chosen is forbidden for the mention, unless it was chosen for the same
    mention elsewhere. What was accepted unseen teaches nothing. Concepts that the terminology lacks
    are left out.
    """
    names: dict[tuple[str, str], Name] = {}
    denied: dict[tuple[str, str], None] = {}
    meant: set[tuple[str, str]] = set()
    for item, decision, _ in entries:
        form = normalise(item.mention)
        if decision is None or decision.kind not in DECIDED or not form:
            continue
        ids = decided_ids(decision)
        meant.update((form, id_) for id_ in ids)
        if decision.kind not in SEEN:
            continue
        same = len(ids) == 1 and decision.concepts[0]["relation"] in ("equal", "equivalent")
        if same and not _has_name(terminology, ids[0], form):
            names[item.mention, ids[0]] = Name(item.mention, ids[0])
        proposed = item.proposal.get("concepts", ())
        if len(proposed) == 1 and proposed[0]["id"] not in ids:
            denied[item.mention, proposed[0]["id"]] = None
    forbidden = [
        (mention, id_)
        for mention, id_ in denied
        if (normalise(mention), id_) not in meant and terminology.resolve(id_)
    ]
    return Lessons(list(names.values()), forbidden)


def _has_name(terminology: Terminology, id: str, form: str) -> bool:
    """Whether a name needs no adding; to a concept that is gone, none can be added."""
    return terminology.resolve(id) is None or any(
        normalise(name.text) == form for name in terminology.names(id)
    )
