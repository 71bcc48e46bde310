"""The JSON of ``/v1``: what requests hold, checked, and what answers hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, model_validator

_T = TypeVar("_T")
_MOST_MEMBERS = 10_000
_LONGEST = 10_000
Text = Annotated[str, Field(max_length=_LONGEST)]
"""A text of a limited length: a mention or a name."""

Sound = Annotated[str, Field(min_length=0)]
"""A text of any length; as with every bound, lone surrogates are refused: no answer holds them."""

MOST = 100_000
"""Members of a list, whatever a service allows: before they are counted, they take memory."""

Batch = Annotated[list[_T], FailFast(), Field(max_length=MOST)]
"""A list whose length the service limits; it ends at the first error, for each takes memory."""

_TERMINOLOGY = Field(
    None, description="Name of the terminology; not needed where only one is served."
)
Filter = Annotated[list[Sound], FailFast(), Field(max_length=10_000)]
"""Values that a concept or name has to have one of."""


def _has_few_members(content: object) -> object:
    if isinstance(content, dict) and len(content) > _MOST_MEMBERS:  # each may be an error
        raise ValueError(
            f"at most {_MOST_MEMBERS:,} members are taken, and it has {len(content):,}"
        )
    return content


class Given(BaseModel):
    """Part of a request; what it does not know is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    _few = model_validator(mode="before")(_has_few_members)


class GivenMention(Given):
    """A mention with its place in the document, or with the text around it."""

    text: Text | None = Field(None, description="Without it, the text at the offsets.")
    start: int | None = Field(None, ge=0, description="First code point in the document.")
    end: int | None = Field(None, ge=0, description="The code point after the last.")
    type: Text = ""
    context: str = Field("", max_length=100_000, description="Text around it, of no document.")


class GivenDocument(Given):
    """The text that all mentions of a request are from."""

    id: Text = ""
    text: Sound = ""


class GivenText(Given):
    """A text to find names in."""

    id: Text = Field("", description="Comes back with the links.")
    text: Sound


class _Options(Given):
    """What is common to requests that link."""

    terminology: str | None = _TERMINOLOGY
    abbreviations: Annotated[dict[Sound, Sound], BeforeValidator(_has_few_members)] = Field(
        default_factory=dict, description="Short forms and their long forms."
    )
    k: int = Field(5, ge=1, le=100, description="Most candidates of a mention.")
    types: Filter = []
    sources: Filter = []
    languages: Filter = []
    ids: Filter = []
    prefer: Filter = Field([], description="What goes first of concepts of one name.")
    min_score: float | None = Field(None, ge=-1, le=1, description="NIL below it.")
    min_confidence: float | None = Field(None, ge=0, le=1, description="NIL below it.")
    context: bool = Field(True, description="Whether surroundings choose between homonyms.")
    seed: int | None = Field(None, ge=0, description="Break ties at random.")
    explain: bool = Field(False, description="Whether candidates come with their scores.")


class LinkRequest(_Options):
    """Mentions to link, and how."""

    mentions: Batch[Text | GivenMention] = Field(description="Strings or objects, as many as fit.")
    document: GivenDocument | None = None
    keep_negated: bool = Field(False, description='Whether "no fever" has a concept.')
    separator: Text | None = Field(None, description="What parts the names of a mention.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"mentions": ["heart attack", "type 2 diabetes"], "k": 1},
                {
                    "document": {"text": "History of myocardial infarction (MI). MI in 2019."},
                    "mentions": [{"start": 39, "end": 41}],
                    "explain": True,
                },
            ]
        }
    )


class AnnotateRequest(_Options):
    """Texts to find names in, and how to link those."""

    texts: Batch[Sound | GivenText] = Field(description="Strings or objects, as many as fit.")
    k: int = Field(1, ge=1, le=100, description="Most candidates of a mention.")
    flags: bool = Field(
        True, deprecated=True, description="Of no effect: every mention has its status."
    )

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"texts": ["History of myocardial infarction (MI). MI in 2019."]},
                {"texts": [{"id": "note 1", "text": "Type 2 diabetes, no cough."}], "k": 3},
            ]
        }
    )


class ContradictionAnswer(BaseModel):
    """What a mention says and a name excludes."""

    kind: str = Field(description="Such as number, side, opposite or negation.")
    mention: str
    name: str


class AgainstAnswer(BaseModel):
    """What speaks against a candidate: its name beside the mention."""

    left_over: list[str] = Field(description="Words of the mention that the name lacks.")
    missing: list[str] = Field(description="Words of the name that the mention lacks.")
    contradictions: list[ContradictionAnswer] = Field(description="What excludes each other.")
    relation: Literal["equal", "broader", "narrower", "close", "related"] = Field(
        description="What the concept can be to the mention."
    )


class CandidateAnswer(BaseModel):
    """A concept that may be meant; with `explain` all members of a `canonym.types.Candidate`."""

    model_config = ConfigDict(extra="allow")
    id: str
    label: str
    score: float
    name: str
    types: list[str]
    against: AgainstAnswer | None = Field(None, description="Left out where nothing is.")


class LinkAnswer(BaseModel):
    """The decision for a mention."""

    model_config = ConfigDict(extra="allow")
    mention: str
    start: int | None = Field(description="First code point in the text.")
    end: int | None = Field(description="The code point after the last.")
    type: str
    document: str = Field(description="Id of the document.")
    id: str | None
    label: str | None
    score: float | None
    ids: list[str]
    confidence: float | None
    nil: bool
    reason: str
    status: list[str] = Field(description="Negated, historical, hypothetical, family, uncertain.")
    candidates: list[CandidateAnswer]
    parts: list[LinkAnswer]


class LinkResponse(BaseModel):
    """One link for each mention, in order; the fingerprint changes with all they depend on."""

    terminology: str
    fingerprint: str
    links: list[LinkAnswer]


class AnnotatedAnswer(BaseModel):
    """The mentions of a text with their links, in their order; none overlap, none is NIL."""

    id: str
    links: list[LinkAnswer]


class AnnotateResponse(BaseModel):
    """One member of `documents` for each text, in order."""

    terminology: str
    fingerprint: str
    documents: list[AnnotatedAnswer]


class NameAnswer(BaseModel):
    """A name of a concept."""

    text: str
    scope: str
    language: str
    source: str


class NeighbourAnswer(BaseModel):
    """A parent or child."""

    id: str
    label: str


class ConceptAnswer(BaseModel):
    """A concept and what stands around it; of many children only the first are listed."""

    terminology: str
    id: str
    label: str
    definition: str
    types: list[str]
    source: str
    version: str
    deprecated: bool
    replaced_by: list[str]
    alternative_ids: list[str]
    names: list[NameAnswer]
    parents: list[NeighbourAnswer]
    children: list[NeighbourAnswer]
    n_children: int
    xrefs: list[str]


class FoundAnswer(BaseModel):
    """A concept, and the name that begins with the prefix."""

    id: str
    label: str
    name: str
    types: list[str]


class SearchResponse(BaseModel):
    """Concepts whose id is the prefix, or with a name that begins with it."""

    terminology: str
    concepts: list[FoundAnswer]


class TerminologyAnswer(BaseModel):
    """A terminology that is served; `hierarchy` tells whether concepts stand below others."""

    name: str
    fingerprint: str
    concepts: int
    names: int
    sources: list[str]
    types: dict[str, int]
    hierarchy: bool
    languages: dict[str, int]
    encoders: list[str]
    reconciliation: str


class TerminologiesResponse(BaseModel):
    """All terminologies that are served."""

    terminologies: list[TerminologyAnswer]


class Synonym(Given):
    """A name that was or will be added to a concept."""

    name: Text
    id: Text
    language: str = Field("en", max_length=100)


class Forbidden(Given):
    """A mention, and a concept that it does not stand for."""

    mention: Text
    id: Text


class SynonymsRequest(Given):
    """Names to add, all or none."""

    terminology: str | None = _TERMINOLOGY
    synonyms: Batch[Synonym]

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"synonyms": [{"name": "widow maker", "id": "I21.02"}]}]}
    )


class ForbiddenRequest(Given):
    """Pairs to forbid, all or none."""

    terminology: str | None = _TERMINOLOGY
    forbidden: Batch[Forbidden]

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"forbidden": [{"mention": "cold", "id": "J00"}]}]}
    )


class SynonymsResponse(BaseModel):
    """Added names, in the order in which they came."""

    terminology: str
    synonyms: list[Synonym]


class ForbiddenResponse(BaseModel):
    """Forbidden pairs, in order."""

    terminology: str
    forbidden: list[Forbidden]


class AddedResponse(BaseModel):
    """How many were new."""

    terminology: str
    added: int


class KeyAnswer(BaseModel):
    """A key without its secret; times are seconds since 1970."""

    id: str
    name: str
    scope: str
    created: int
    revoked: int | None


class KeysResponse(BaseModel):
    """All keys, the revoked ones as well."""

    keys: list[KeyAnswer]


class ProblemAnswer(BaseModel):
    """An error, as problem details (RFC 9457)."""

    model_config = ConfigDict(extra="allow")
    type: str
    title: str
    status: int
    detail: str


_PROBLEM = {"application/problem+json": {"schema": ProblemAnswer.model_json_schema()}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "The request cannot be answered.", "content": _PROBLEM},
    "5XX": {"description": "The service cannot answer now.", "content": _PROBLEM},
}
"""Answers that every route may give."""
