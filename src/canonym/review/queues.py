"""Queues of a review: parts, orders, and the conditions of what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from typing import Any, Literal

from sqlalchemy import JSON, ColumnElement, Select, Text, cast, func, literal, select
from sqlalchemy.orm import Session

from canonym.review.models import STATES, Item, Review
from canonym.text import UNORDERED, normalise

_LONGEST_COMPARED = 100  # characters
BETWEEN = "\n"  # ids of a key, which may have a space in them

Part = Literal["todo", "reopened", "flagged", "accepted", "decided", "all"]
Order = Literal["doubt", "frequency", "row", "text", "state", "confidence", "concept"]

FILTERS: dict[Part, tuple[str, ...]] = {
    "todo": ("open", "reopened"),
    "reopened": ("reopened",),
    "flagged": ("flagged",),
    "accepted": ("accepted",),
    "decided": ("accepted", "linked", "nil"),
    "all": STATES,
}
"""Parts of a queue, and the states of their items."""

ORDERS: dict[Order, tuple[Any, ...]] = {
    # First what has a proposal, the most doubtful first; then the rest, the nearest to one first.
    "doubt": (Item.confidence < 0, func.abs(Item.confidence), Item.frequency.desc()),
    "frequency": (Item.frequency.desc(),),
    "row": (),
    "text": (func.lower(Item.mention),),
    "state": (Item.state,),
    "confidence": (Item.confidence,),
    # What has the same proposal stands together, and so does what has none, last.
    "concept": (Item.concept == "", Item.concept, Item.confidence),
}
"""Orders of a queue; what is equal in one is in that of the rows."""


def in_part(
    session: Session, id: int, part: Part, text: str, concepts: AbstractSet[str] | None
) -> list[ColumnElement[bool]]:
    """Return the conditions of items in a part of a queue, with a text in their mention.

    One of some concepts counts for each, if they are not None.
    """
    conditions = [Item.review_id == id, Item.state.in_(FILTERS[part])]
    if text:
        conditions.append(Item.mention.icontains(text, autoescape=True))
    if concepts is not None:
        keys = (key for key in keys_of(session, id) if not concepts.isdisjoint(key.split(BETWEEN)))
        conditions.append(Item.concept.in_(_listed(session, [*keys])))
    return conditions


def keys_of(session: Session, id: int) -> Iterable[str]:
    """Return what the items of a review have in `Item.concept`, each once; an index has it."""
    keys = select(Item.concept).where(Item.review_id == id, Item.concept != "").distinct()
    return session.scalars(keys)


def _listed(session: Session, values: Sequence[str]) -> Select[str]:
    """Select some values, which are one parameter: a database takes only so many."""
    listed = json.dumps(values)
    if session.get_bind().dialect.name == "sqlite":
        return select(func.json_each(listed).table_valued("value").c.value)
    elements = func.json_array_elements_text(cast(literal(listed, Text), JSON))
    return select(elements.column_valued())


def sure_enough(id: int, least: float) -> list[ColumnElement[bool]]:
    """Return the conditions of open items that may be accepted unseen: none has a contradiction."""
    sure = Item.confidence >= max(least, 1e-9)  # 0 is that of items without a proposal
    meant = Item.proposal["by_hand"].as_boolean().is_not(True)
    return [Item.review_id == id, Item.state == "open", sure, meant]


def waiting(review: Review) -> Select[Item]:
    """Select what is not linked with the index that it should be linked with."""
    return select(Item).where(Item.review_id == review.id, Item.fingerprint != review.fingerprint)


def count(selected: Select[Any]) -> Select[int]:
    """Select how many rows something selects."""
    return select(func.count()).select_from(selected.subquery())


def same_words(item: Item, other: Item) -> bool:
    """Tell whether two mentions have the same words, in whatever form and order, and a status."""
    first, second = (
        (normalise(compared.mention, UNORDERED), compared.proposal.get("status"))
        for compared in (item, other)
    )
    return first == second


def distance(item: Item, other: Item) -> tuple[bool, float]:
    """Return how two mentions differ: whether they have other words, and minus their likeness."""
    first, second = (compared.mention[:_LONGEST_COMPARED].lower() for compared in (item, other))
    likeness = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return not same_words(item, other), -likeness
