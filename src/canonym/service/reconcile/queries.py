"""Queries of both versions, checked, and turned into one kind."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

MOST = 100
"""Candidates of a query, at most."""

_LONGEST = 10_000
_MOST_VALUES = 100
_MOST_CONDITIONS = 50
_FEW = 5
CONTEXT = "context"
"""The property that is no property of a concept but the text around the name."""

_Text = Annotated[str, Field(max_length=_LONGEST)]


class _Member(BaseModel):
    """Part of a query; a member that is null counts as missing, as OpenRefine sends it."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, content: Any) -> Any:
        if not isinstance(content, dict):
            return content
        return {name: value for name, value in content.items() if value is not None}


class _Entity(_Member):
    id: _Text


_One = _Text | bool | int | float | _Entity
_Values = _One | Annotated[list[_One | None], Field(max_length=_MOST_VALUES)] | None


class _Property(_Member):
    pid: _Text
    v: _Values = None


class _Query02(_Member):
    query: _Text = ""
    type: _Text | Annotated[list[_Text | None], Field(max_length=_MOST_VALUES)] = []
    limit: int | float = Field(_FEW, ge=1)
    properties: list[_Property] = Field([], max_length=_MOST_CONDITIONS)
    type_strict: Literal["any", "all", "should"] = "any"


class _Condition10(_Member):
    match_type: Literal["name", "id", "property"] = Field(alias="matchType")
    property_id: _Text = Field("", alias="propertyId")
    values: _Values = Field(None, alias="propertyValue")
    required: bool = False
    quantifier: Literal["any", "all", "none"] = Field("any", alias="matchQuantifier")


class _Query10(_Member):
    type: _Text = ""
    limit: int | float = Field(_FEW, ge=1)
    conditions: list[_Condition10] = Field(min_length=1, max_length=_MOST_CONDITIONS)


class Condition(NamedTuple):
    """A property that candidates have to have, or had better have, one or all values of."""

    property: str
    values: tuple[str, ...]
    required: bool = False
    quantifier: str = "any"


class Query(NamedTuple):
    """What is looked for: names or ids, types, conditions."""

    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    type_strict: str = "any"
    limit: int = _FEW
    conditions: tuple[Condition, ...] = ()
    context: str = ""


def read_query_02(content: Any) -> Query | None:
    """Return a query of version 0.2; None if it is broken."""
    try:
        query = _Query02.model_validate(content)
    except ValidationError:
        return None
    pairs = [
        (property_.pid, _strings(property_.v))
        for property_ in query.properties
        if not _is_null(property_.v)
    ]
    if not query.query.strip() and not pairs:
        return None
    return Query(
        names=(query.query,) if query.query.strip() else (),
        types=tuple(filter(None, [query.type] if isinstance(query.type, str) else query.type)),
        type_strict=query.type_strict,
        limit=int(min(query.limit, MOST)),
        conditions=tuple(Condition(pid, values) for pid, values in pairs if pid != CONTEXT),
        context="\n".join(dict(pairs).get(CONTEXT, ())),
    )


def read_query_10(content: Any) -> Query | None:
    """Return a query of version 1.0-draft; None if it is broken."""
    try:
        query = _Query10.model_validate(content)
    except ValidationError:
        return None
    names: list[str] = []
    ids: list[str] = []
    conditions: list[Condition] = []
    context: tuple[str, ...] = ()
    for condition in query.conditions:
        if _is_null(condition.values):
            continue
        values = _strings(condition.values)
        is_property = condition.match_type == "property"
        if is_property and condition.property_id == CONTEXT:
            context = values
        elif is_property or condition.quantifier == "none":
            key = condition.property_id if is_property else condition.match_type
            required = condition.required or condition.quantifier == "none"
            conditions.append(Condition(key, values, required, condition.quantifier))
        else:
            (names if condition.match_type == "name" else ids).extend(filter(str.strip, values))
    return Query(
        names=tuple(names),
        ids=tuple(ids),
        types=(query.type,) if query.type else (),
        limit=int(min(query.limit, MOST)),
        conditions=tuple(conditions),
        context="\n".join(context),
    )


def _is_null(values: Any) -> bool:
    """Tell whether a condition has no value: it is none."""
    return values is None or (values != [] and not _strings(values))


def _strings(values: Any) -> tuple[str, ...]:
    """Return values as strings; an entity is its id."""
    several = values if isinstance(values, list) else [values]
    known = (value for value in several if value is not None)
    return tuple(value.id if isinstance(value, _Entity) else str(value) for value in known)
