"""Properties of concepts: values for data extension, and conditions on candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.service.reconcile.queries import CONTEXT, Condition
from canonym.service.served import Opened
from canonym.text import normalise

_MOST_BELOW = 50_000


class Property(NamedTuple):
    """A property: `values` of a concept, and `concepts` that have a value."""

    id: str
    name: str
    description: str
    values: Callable[[Opened, str], Iterable[Any]] | None = None
    concepts: Callable[[Opened, str], Iterable[str]] | None = None

    def described(self) -> dict[str, str]:
        """Return id, name and description, for clients."""
        return {"id": self.id, "name": self.name, "description": self.description}


# --- values ---------------------------------------------------------------------------------------


def _texts(
    texts_of: Callable[[Opened, str], Iterable[str]],
) -> Callable[[Opened, str], Iterable[Any]]:
    return lambda opened, id: [{"str": text} for text in texts_of(opened, id)]


def _entities(
    ids_of: Callable[[Opened, str], Iterable[str]],
) -> Callable[[Opened, str], Iterable[Any]]:
    return lambda opened, id: [{"id": id_, "name": opened.label(id_)} for id_ in ids_of(opened, id)]


def _of_concept(attribute: str) -> Callable[[Opened, str], Iterable[Any]]:
    def texts(opened: Opened, id: str) -> Iterable[str]:
        value = getattr(opened.terminology.concept(id), attribute)
        return filter(None, value if isinstance(value, tuple) else (value,))

    return _texts(texts)


def _synonyms(opened: Opened, id: str) -> Iterable[str]:
    label = opened.terminology.concept(id).label
    return dict.fromkeys(name.text for name in opened.names(id) if name.text != label)


def _xrefs(*, alternative: bool) -> Callable[[Opened, str], Iterable[Any]]:
    return _texts(
        lambda opened, id: (
            xref.target
            for xref in opened.terminology.xrefs(id)
            if (xref.kind == "alternative") is alternative
        )
    )


_parents = _entities(lambda opened, id: opened.terminology.parents(id))
_children = _entities(lambda opened, id: opened.terminology.children(id))
_ancestors = _entities(Opened.ancestors)
_replaced_by = _entities(lambda opened, id: opened.terminology.concept(id).replaced_by)
_names = _texts(_synonyms)
_id = _texts(lambda _, id: [id])
_code = _texts(lambda _, id: [id.partition(":")[2] or id])


# --- concepts with a value ------------------------------------------------------------------------


def _filtered(name: str) -> Callable[[Opened, str], Iterable[str]]:
    """Return a function that finds concepts as the filter of that name does."""

    def concepts(opened: Opened, value: str) -> Iterable[str]:
        try:
            rows = opened.terminology.rows_where(**{name: [value]})  # type: ignore[arg-type]
        except InvalidInput:
            return []
        ordinals = np.unique(opened.terminology.concept_of_row()[rows])
        return [concept.id for concept in opened.terminology.concepts_at(ordinals)]

    return concepts


def _same(opened: Opened, value: str) -> Iterable[str]:
    known = opened.id_of(value)
    return [known] if known else []


def _meant(opened: Opened, value: str) -> list[str]:
    """Return the concepts that a value names, by id or by name."""
    return [*_same(opened, value)] or opened.named(value)


def _below(opened: Opened, value: str) -> Iterable[str]:
    return [child for id_ in _meant(opened, value) for child in opened.terminology.children(id_)]


def _far_below(opened: Opened, value: str) -> Iterable[str]:
    below = dict.fromkeys(_meant(opened, value))
    waiting = [*below]
    for id_ in waiting:
        for child in opened.terminology.children(id_):
            if child not in below and len(below) < _MOST_BELOW:
                below[child] = None
                waiting.append(child)
    return below


_ALL = (
    Property("label", "label", "The preferred name.", _of_concept("label")),
    Property("synonym", "synonym", "Another name.", _names, Opened.named),
    Property("definition", "definition", "The definition.", _of_concept("definition")),
    Property("type", "type", "A semantic type.", _of_concept("types"), _filtered("types")),
    Property("parent", "parent", "A concept directly above.", _parents, _below),
    Property("child", "child", "A concept directly below.", _children),
    Property(
        "ancestor",
        "ancestor",
        "A concept above, the nearest first; as a condition also the concept itself.",
        _ancestors,
        _far_below,
    ),
    Property(
        "xref",
        "cross-reference",
        "An id elsewhere.",
        _xrefs(alternative=False),
        lambda opened, value: opened.terminology.with_xref(value),
    ),
    Property("id", "id", "The id; as a condition also an alternative one.", _id, _same),
    Property("code", "code", "The id without its prefix: I21 of ICD10CM:I21.", _code),
    Property("alternative_id", "alternative id", "Another id.", _xrefs(alternative=True)),
    Property("source", "source", "Where it is from.", _of_concept("source"), _filtered("sources")),
    Property("language", "language", "That of one of its names.", None, _filtered("languages")),
    Property("replaced_by", "replaced by", "What replaces a deprecated concept.", _replaced_by),
    Property(CONTEXT, "context", "The text around the name, which decides between homonyms."),
)
PROPERTIES: dict[str, Property] = {property_.id: property_ for property_ in _ALL}
"""All properties by id."""


def concepts_with(opened: Opened, condition: Condition) -> set[str]:
    """Return the ids of the concepts that meet a condition, whatever its quantifier forbids."""
    known_property = PROPERTIES.get(condition.property)
    if known_property is None or known_property.concepts is None:
        return set()
    sets = [set(known_property.concepts(opened, value)) for value in condition.values]
    if condition.quantifier == "all" and sets:
        return set.intersection(*sets)
    return set().union(*sets)


def values_of(opened: Opened, id: str, property: str, most: int) -> list[Any]:
    """Return the values of a concept for a property, none for what is unknown; 0 for all."""
    known_property = PROPERTIES.get(property)
    known = opened.id_of(id)
    if known_property is None or known_property.values is None or known is None:
        return []
    values = list(known_property.values(opened, known))
    return values[:most] if most else values


def find_properties(prefix: str) -> list[Property]:
    """Return the properties whose id or name begins with a prefix, the id itself first."""
    form = normalise(prefix)
    properties = [
        property_
        for property_ in PROPERTIES.values()
        if any(normalise(text).startswith(form) for text in (property_.id, property_.name))
    ]
    return sorted(properties, key=lambda property_: property_.id != prefix)
