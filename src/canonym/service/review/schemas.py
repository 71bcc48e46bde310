"""The JSON of ``/v1/reviews``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from canonym.service.schemas import Given

MOST = 2**31 - 1
"""The largest number of an item, a review or a version that a database holds."""

Comment = Annotated[str, StringConstraints(max_length=4000)]


class GivenConcept(Given):
    """A concept, and what it is to the mention."""

    id: str = Field(max_length=1000)
    relation: Literal["equal", "equivalent", "broader", "narrower", "close", "related"] = "equal"


class GivenItem(Given):
    """An item as it was at a version."""

    id: int = Field(ge=1, le=MOST)
    version: int = Field(ge=1, le=MOST)


class GivenDecision(Given):
    """What a person decides, about an item as it was at a version, and about others `also`."""

    version: int = Field(ge=1, le=MOST)
    kind: Literal["link", "nil", "flag", "comment", "undo"]
    concepts: list[GivenConcept] = Field([], max_length=50)
    proposed: bool = Field(False, description="Link each item to what is proposed for it.")
    comment: Comment = ""
    also: list[GivenItem] = Field([], max_length=200)

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"version": 2, "kind": "link", "concepts": [{"id": "ICD10CM:I21"}]}]
        }
    )


class GivenAcceptance(Given):
    """From which confidence on all proposals are accepted, without which, and how many."""

    least: float = Field(gt=0, le=1)
    without: list[Annotated[int, Field(ge=1, le=MOST)]] = Field([], max_length=1000)
    expected: int = Field(ge=0)


class GivenChange(Given):
    """Another name of a review, or where it is kept: an empty shelf brings it back."""

    name: Annotated[str, StringConstraints(strip_whitespace=True)] | None = Field(
        None, min_length=1, max_length=300
    )
    shelf: Literal["", "archived", "deleted"] | None = None


class GivenNone(Given):
    """Mentions of a part of the queue, as it was filtered, and how many those were."""

    part: Literal["todo", "reopened", "flagged"] = "todo"
    text: str = Field("", max_length=200)
    type: str = Field("", max_length=300)
    leaf: bool | None = None
    expected: int = Field(ge=1)


class ExportChoices(Given):
    """A format, and what the formats for other programs need beside the decisions."""

    format: Literal["csv", "tsv", "xlsx", "sssom", "usagi", "omop", "fhir", "corpus"] = "csv"
    code_column: str = Field("", max_length=300)
    frequency_column: str = Field("", max_length=300)
    source_vocabulary: str = Field("", max_length=300)
    domain: list[str] = Field([], max_length=50)
    fhir_version: Literal["R4", "R5"] = "R4"
    mapping_set_id: str = Field("", max_length=1000)
    license: str = Field("", max_length=1000)


class TableAnswer(BaseModel):
    """A table as it was understood: its columns and the first rows.

    `sheets` are the visible sheets of a workbook.
    """

    columns: list[str]
    rows: list[list[str]]
    n_rows: int
    sheets: list[str]


class ReviewAnswer(BaseModel):
    """A review and how far it is.

    `current` is false where the index has changed since all items were linked. `formats` are those
    that can hold concepts of the terminology. `items` and `rows` count by state. `changed` is when
    somebody decided last.
    """

    id: int
    name: str
    terminology: str
    columns: list[str]
    column: str
    context_column: str
    created: float
    created_by: str
    changed: float | None
    changed_by: str
    shelf: str
    problem: str
    current: bool
    formats: list[str]
    items: dict[str, int]
    rows: dict[str, int]
    total: int
    waiting: int


class ReviewsAnswer(BaseModel):
    """All reviews, the newest first."""

    reviews: list[ReviewAnswer]


class DecisionAnswer(BaseModel):
    """A decision, or the opening again by a new index (kind ``reopen``)."""

    kind: str
    concepts: list[dict[str, Any]]
    comment: str
    who: str
    made: float


class ItemAnswer(BaseModel):
    """An item in a queue, and how many of it have the concept that counts for this one."""

    id: int
    mention: str
    context: str
    frequency: int
    state: str
    version: int
    confidence: float
    proposal: dict[str, Any]
    decision: DecisionAnswer | None
    n_alike: int = 0


class WholeItemAnswer(ItemAnswer):
    """An item with its candidates, its history, and what its rows have in the other columns."""

    columns: list[dict[str, Any]]
    candidates: list[dict[str, Any]]
    history: list[DecisionAnswer]


class ItemsAnswer(BaseModel):
    """A page of a queue, the most doubtful items first."""

    total: int
    items: list[ItemAnswer]


class AlikeAnswer(BaseModel):
    """An item that may mean the same as another; `same` tells whether it has the same words."""

    id: int
    version: int
    mention: str
    context: str
    frequency: int
    same: bool


class AlikesAnswer(BaseModel):
    """Items that may mean the same as another, those with the same words first."""

    items: list[AlikeAnswer]


class AcceptableAnswer(BaseModel):
    """What a bulk decision would accept, and the errors to expect."""

    items: int
    rows: int
    errors: float


class DecidedAnswer(BaseModel):
    """How many items were decided."""

    decided: int


class UndoneAnswer(BaseModel):
    """How many items are again as they were, and the first of them."""

    id: int
    mention: str
    undone: int


class LessonsAnswer(BaseModel):
    """Names and forbidden pairs that the index lacks, or that it was taught."""

    names: int
    forbidden: int
