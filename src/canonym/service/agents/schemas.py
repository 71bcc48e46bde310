"""The JSON of the tools: what calls hold, checked, and what answers hold."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, FailFast, Field

from canonym.service.schemas import ConceptAnswer, Filter, FoundAnswer, Given, Sound

_MOST_NAMES = 100
_LONGEST_NAME = 1000
_LONGEST_TEXT = 20_000
_MOST_FOUND = 50

_Short = Annotated[str, Field(max_length=_LONGEST_NAME)]
_Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
_TYPES: Any = Field(default_factory=list, description="Semantic types; only their concepts count.")


class InOne(Given):
    """A call that looks into one terminology."""

    terminology: Sound | None = Field(None, description="Its name, where several are served.")


class LinkCall(InOne):
    """Names whose concepts are wanted."""

    names: Annotated[list[_Short], FailFast(), Field(min_length=1, max_length=_MOST_NAMES)] = Field(
        description=f"Names as people write them, at most {_MOST_NAMES}."
    )
    context: _Text = Field(
        "", description="Text around the names; it chooses between concepts of the same name."
    )
    types: Filter = _TYPES


class AnnotateCall(InOne):
    """A text whose names are wanted."""

    text: _Text = Field(description=f"At most {_LONGEST_TEXT:,} characters.")
    types: Filter = _TYPES


class ConceptCall(InOne):
    """An id whose concept is wanted."""

    id: _Short = Field(description="As the terminology writes it, or without prefix or dot.")


class SearchCall(InOne):
    """Words of a name."""

    words: _Short = Field(
        description="Words of one name, in any order; of the last one a beginning will do."
    )
    types: Filter = _TYPES
    limit: int = Field(10, ge=1, le=_MOST_FOUND, description="Most concepts.")


class MapCall(Given):
    """An id, and the terminology whose ids are wanted for it."""

    id: _Short = Field(description="With its prefix, as in ICD10CM:E11.9.")
    to: _Short | None = Field(
        None, description="A prefix such as MESH, or a terminology served; all without it."
    )


class Considered(BaseModel):
    """A concept that was considered and not taken."""

    id: str
    label: str
    name: str = Field(description="Its name that is the nearest.")


class Linked(BaseModel):
    """The decision for a name. Without ids it has none, and `reason` says why."""

    name: str
    nil: bool = Field(description="Whether the terminology has no concept for it: an answer.")
    reason: str = Field(description="Why there is none, else empty.")
    id: str | None = Field(description="The concept; none where the name has several, see parts.")
    label: str | None
    matched: str | None = Field(description="The name of the concept that matched.")
    confidence: float | None = Field(
        description="Probability that it is right, 0 to 1; null where the index cannot tell."
    )
    relation: str | None = Field(
        description="What the concept is to the name, as far as the evidence goes: equal, broader, "
        "narrower, close or related."
    )
    status: list[str] = Field(
        description="What the name says besides: negated, historical, hypothetical, family, "
        "uncertain."
    )
    left_over: list[str] = Field(description="Words that the concept does not account for.")
    considered: list[Considered] = Field(description="The next best concepts; not the answer.")
    parts: list[Linked] = Field(description="Of a name of several concepts, a decision for each.")


class LinkAnswer(BaseModel):
    """A decision for each name, in order."""

    terminology: str
    links: list[Linked]


class Marked(Linked):
    """A name in a text, with its place in code points."""

    start: int
    end: int


class AnnotateAnswer(BaseModel):
    """The names that were found, in the order of the text; maybe none."""

    terminology: str
    links: list[Marked]


class ConceptFound(BaseModel):
    """A concept; null where no concept has the id, or several have it, and why."""

    terminology: str
    concept: ConceptAnswer | None
    reason: str


class SearchAnswer(BaseModel):
    """Concepts with a name that has all words; maybe none."""

    terminology: str
    concepts: list[FoundAnswer]


class Meant(BaseModel):
    """A concept that the id names."""

    terminology: str
    id: str
    label: str
    deprecated: bool
    replaced_by: list[str]


class Mapped(BaseModel):
    """An id for another one, as a terminology states it."""

    id: str
    label: str | None = Field(description="Null where no terminology served has the id.")
    stated_by: str = Field(description="The terminology that states it.")
    of: str = Field(description="The id that it is stated of.")
    how: str = Field(description="alternative id, cross-reference or maps_to.")


class MapAnswer(BaseModel):
    """All that the terminologies state for an id; maybe nothing, and why."""

    id: str
    concepts: list[Meant]
    mapped: list[Mapped]
    reason: str
