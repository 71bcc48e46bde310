"""The routes of reviews: upload, queue, decide, link again, teach, export."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from canonym.errors import InvalidInput
from canonym.exchange.writers import Choices
from canonym.review.export import FORMATS, export_review, formats_of
from canonym.review.kinds import Kind, ids_of_kind
from canonym.review.lessons import Lessons, lessons_of
from canonym.review.models import Decision, Review
from canonym.review.proposals import snapshot
from canonym.review.queues import Order, Part, same_words
from canonym.review.store import Absent, Conflict, Entry, Given
from canonym.review.table import Layout, as_table, clean
from canonym.service.bodies import give_memory_back
from canonym.service.origins import foreign
from canonym.service.problems import Problem
from canonym.service.review import schemas
from canonym.service.review.uploads import Upload
from canonym.service.routing import Need, Route
from canonym.service.schemas import PROBLEMS
from canonym.service.served import Opened, Served
from canonym.service.state import Shared, State

# --- who reviews: the holder of a key, or on one's own machine whoever gives a name ---------------

_LONGEST = 100
_SAFE = {"GET", "HEAD"}


class _NeedsReviewer(Need):
    """The key of a reviewer; without keys, a name and a page of the same machine.

    Without keys the service is open to this machine only. Pages of others in its browser could
    still ask, so their address has to be that of the service.
    """

    async def check(self, request: Request, state: State) -> None:
        """Refuse who may not review, and keep the name of who may."""
        key = await state.access.check(request, self.scope if state.access.keys else "read")
        request.state.reviewer = key.name if key else _named(request, state)


def _named(request: Request, state: State) -> str:
    if problem := foreign(request.headers, state.settings):
        raise Problem(HTTPStatus.FORBIDDEN, f"without keys, reviews are for one machine: {problem}")
    reviewer = clean(unquote(request.headers.get("x-reviewer", ""))).strip()[:_LONGEST]
    if request.method not in _SAFE and not reviewer:
        detail = "the name of the reviewer is expected, in the header X-Reviewer"
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    return reviewer


async def _reviewer(request: Request) -> str:
    name: str = request.state.reviewer
    return name


Reviewer = Annotated[str, Depends(_reviewer)]
"""The name of who asks."""

router = APIRouter(
    prefix="/v1",
    tags=["reviews"],
    dependencies=[Depends(_NeedsReviewer("review"))],
    responses=PROBLEMS,
    route_class=Route,
)

# --- what a table is read by ----------------------------------------------------------------------

_SHOWN_ROWS = 5
_SHOWN = ("concepts", "reason", "status", "confidence", "by_hand")  # of a proposal, in a queue
_TABLE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string"}}},
    }
}

Filename = Annotated[str, Query(max_length=300, description="Empty for pasted text.")]
Name = Annotated[str, Query(max_length=300)]
Separator = Literal["", "comma", "semicolon", "tab", "bar", "line"]
HeaderRow = Annotated[
    int | None, Query(ge=1, le=10_000, description="Row that names the columns, from 1.")
]
Id = Annotated[int, Path(ge=1, le=schemas.MOST)]


def _layout(sheet: Name = "", header_row: HeaderRow = None, separator: Separator = "") -> Layout:
    return Layout(clean(sheet) or None, header_row, separator or None)


def _columns(
    column: Name = "", context_column: Name = "", frequency_column: Name = ""
) -> dict[str, str]:
    named = {"column": column, "context_column": context_column}
    return {**named, "frequency_column": frequency_column}


# --- reviews --------------------------------------------------------------------------------------


@router.post("/tables", response_model=schemas.TableAnswer, openapi_extra=_TABLE)
async def table(
    request: Request,
    state: Shared,
    layout: Annotated[Layout, Depends(_layout)],
    filename: Filename = "",
) -> dict[str, Any]:
    """Show the columns and the first rows of a table; nothing is kept.

    Which sheet, header and separator it has is found out where nothing says so.
    """

    def show(upload: Upload) -> dict[str, Any]:
        columns, *rows = islice(upload, 1 + _SHOWN_ROWS)
        n_rows = sum(1 for _ in upload) - 1
        return {"columns": columns, "rows": rows, "n_rows": n_rows, "sheets": upload.sheets}

    async with state.uploads.read(request, filename, layout) as upload:
        return await run_in_threadpool(show, upload)


@router.post(
    "/reviews",
    response_model=schemas.ReviewAnswer,
    status_code=HTTPStatus.CREATED,
    openapi_extra=_TABLE,
)
async def create(
    request: Request,
    state: Shared,
    who: Reviewer,
    layout: Annotated[Layout, Depends(_layout)],
    named: Annotated[dict[str, str], Depends(_columns)],
    name: Name,
    filename: Filename = "",
    terminology: str | None = None,
) -> dict[str, Any]:
    """Begin a review of a table; it is linked in the background."""
    served = state.find(terminology)

    def make(upload: Upload) -> dict[str, Any]:
        columns, *rows = upload
        given = as_table(columns, rows, **named)
        title = clean(name).strip() or "without a name"
        review_id = state.reviews.store.create(
            title, served.name, given, who=who, workbook=upload.workbook()
        )
        state.reviews.link(review_id)
        return _review(state, state.reviews.store.review(review_id))

    async with state.uploads.read(request, filename, layout) as upload:
        return await run_in_threadpool(make, upload)


@router.get("/reviews", response_model=schemas.ReviewsAnswer)
def reviews(state: Shared) -> dict[str, Any]:
    """List the reviews, the newest first."""
    return {"reviews": [_review(state, one) for one in state.reviews.store.reviews()]}


@router.get("/reviews/{review_id}", response_model=schemas.ReviewAnswer)
def review(review_id: Id, state: Shared) -> dict[str, Any]:
    """Return a review, and how far it is."""
    return _review(state, _found(state, review_id))


@router.patch("/reviews/{review_id}", response_model=schemas.ReviewAnswer)
def change(review_id: Id, changes: schemas.GivenChange, state: Shared) -> dict[str, Any]:
    """Rename a review, archive or delete it, or bring it back: what is deleted is only hidden."""
    changed = state.reviews.store.change(review_id, **changes.model_dump(exclude_none=True))
    return _review(state, changed)


def _found(state: State, review_id: int) -> Review:
    review = state.reviews.store.review(review_id)
    if review.shelf == "deleted":
        raise Absent(f"the review {review_id} was deleted")
    return review


def _served(state: State, review_id: int) -> Served:
    return state.find(_found(state, review_id).terminology)


def _review(state: State, review: Review) -> dict[str, Any]:
    progress = state.reviews.store.progress(review.id)
    served = state.served.get(review.terminology)
    problem, current, formats = review.problem, True, list(FORMATS)
    if served is None:
        problem = f"the terminology {review.terminology} is not served now"
    else:
        linker = served.use(lambda opened: opened.linker)
        formats = formats_of(linker.terminology)
        current = bool(progress["waiting"]) or linker.fingerprint == review.fingerprint
    found = {"problem": problem, "current": current, "formats": formats}
    return {**vars(review), **found, **progress}


@router.post("/reviews/{review_id}/link", response_model=schemas.ReviewAnswer)
def link(review_id: Id, state: Shared) -> dict[str, Any]:
    """Link all items again with the index as it is now; only what that changes opens again."""
    _link_again(state, review_id)
    return _review(state, _found(state, review_id))


def _link_again(state: State, review_id: int) -> None:
    served = _served(state, review_id)
    state.reviews.store.aim(review_id, served.use(lambda opened: opened.linker.fingerprint))
    state.reviews.link(review_id)


# --- items ----------------------------------------------------------------------------------------


@router.get("/reviews/{review_id}/items", response_model=schemas.ItemsAnswer)
def items(
    review_id: Id,
    state: Shared,
    part: Part = "todo",
    text: Annotated[str, Query(max_length=200)] = "",
    type: Annotated[str, Query(max_length=300, description="A semantic type.")] = "",
    leaf: Annotated[
        bool | None, Query(description="Whether nothing stands below the concept.")
    ] = None,
    least: Annotated[float, Query(ge=0, le=1, description="What is accepted from here.")] = 0,
    order: Order = "doubt",
    descending: bool = False,
    offset: Annotated[int, Query(ge=0, le=schemas.MOST)] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Return part of the queue: the most doubtful first, those without a proposal last.

    `type` and `leaf` are those of the concept that a decision links to, or else of the proposed
    one; of several concepts, one of them has to pass.
    """
    _found(state, review_id)
    found, total, alike = state.reviews.store.queue(
        review_id,
        part,
        text=clean(text),
        concepts=_concepts(state, review_id, Kind(type, leaf)),
        least=least,
        order=order,
        descending=descending,
        offset=offset,
        limit=limit,
    )
    items = [{**_item(entry), "n_alike": alike[entry.item.concept]} for entry in found]
    return {"total": total, "items": items}


def _concepts(state: State, review_id: int, kind: Kind) -> set[str] | None:
    """Return the ids of a kind that count in a review; None where every kind will do."""
    if kind == Kind():
        return None
    served = _served(state, review_id)
    ids = state.reviews.store.concepts(review_id)
    return served.use(lambda opened: ids_of_kind(opened.terminology, ids, kind, opened.inner))


def _item(entry: Entry) -> dict[str, Any]:
    item = entry.item
    names = schemas.ItemAnswer.model_fields.keys() - {"decision", "n_alike"}
    kept = {key: getattr(item, key) for key in names}
    kept["confidence"] = max(0.0, item.confidence)  # below 0 nothing is proposed
    kept["proposal"] = {key: kept["proposal"].get(key) for key in _SHOWN}
    return {**kept, "decision": entry.decision and _decision(entry.decision)}


def _decision(decision: Decision) -> dict[str, Any]:
    return {key: getattr(decision, key) for key in schemas.DecisionAnswer.model_fields}


@router.get("/reviews/{review_id}/items/{item_id}", response_model=schemas.WholeItemAnswer)
def item(review_id: Id, item_id: Id, state: Shared) -> dict[str, Any]:
    """Return an item with its candidates and its history."""
    return _whole(state, review_id, _entry(state, review_id, item_id))


@router.get("/reviews/{review_id}/items/{item_id}/alike", response_model=schemas.AlikesAnswer)
def alike(review_id: Id, item_id: Id, state: Shared) -> dict[str, Any]:
    """Return items to decide that have the same proposal, or none as this one, at most 200."""
    item = _entry(state, review_id, item_id).item
    names = schemas.AlikeAnswer.model_fields.keys() - {"same"}
    return {
        "items": [
            {**{name: getattr(one, name) for name in names}, "same": same_words(item, one)}
            for one in state.reviews.store.alike(item_id)
        ]
    }


def _entry(state: State, review_id: Id, item_id: Id) -> Entry:
    entry = state.reviews.store.item(item_id)
    if entry.item.review_id != review_id:
        raise Absent(f"the review {review_id} has no item {item_id}")
    return entry


def _whole(state: State, review_id: int, entry: Entry) -> dict[str, Any]:
    served = _served(state, review_id)
    candidates = entry.item.proposal.get("candidates", [])
    described = served.use(lambda opened: [_described(opened, one) for one in candidates])
    found = _item(entry)
    found["proposal"] = {
        key: value for key, value in entry.item.proposal.items() if key != "candidates"
    }
    history = [_decision(one) for one in entry.history]
    values = state.reviews.store.values(entry.item)
    return {**found, "candidates": described, "history": history, "columns": values}


def _described(opened: Opened, candidate: dict[str, Any]) -> dict[str, Any]:
    known = opened.terminology.resolve(candidate["id"])
    if known is None:
        return {**candidate, "definition": "", "parents": [], "deprecated": True}
    concept = opened.terminology.concept(known)
    return {
        **candidate,
        "definition": concept.definition,
        "parents": [opened.label(one) for one in opened.terminology.parents(known)],
        "deprecated": concept.deprecated,
    }


# --- decisions ------------------------------------------------------------------------------------


@router.post(
    "/reviews/{review_id}/items/{item_id}/decisions", response_model=schemas.WholeItemAnswer
)
def decide(
    review_id: Id, item_id: Id, given: schemas.GivenDecision, state: Shared, who: Reviewer
) -> dict[str, Any]:
    """Add a decision; 409, with the item as it is now, where somebody else was quicker."""
    _entry(state, review_id, item_id)
    served = _served(state, review_id)
    decision = served.use(lambda opened: _checked(opened, given))
    try:
        entry = state.reviews.store.decide(
            item_id,
            decision,
            version=given.version,
            who=who,
            also={one.id: one.version for one in given.also},
        )
    except Conflict as error:
        if error.item_id != item_id:
            mention = _entry(state, review_id, error.item_id).item.mention
            detail = f"somebody else changed {mention!r:.100} meanwhile: nothing was saved"
            raise Problem(HTTPStatus.CONFLICT, detail) from error
        now = _whole(state, review_id, _entry(state, review_id, item_id))
        raise Problem(HTTPStatus.CONFLICT, str(error), item=now) from error
    return _whole(state, review_id, entry)


def _checked(opened: Opened, given: schemas.GivenDecision) -> Given:
    """Return a decision about concepts that the terminology has."""
    comment = clean(given.comment).strip()
    if (given.kind == "link") != (bool(given.concepts) != given.proposed):
        raise InvalidInput("concepts are expected for a link, and for nothing else")
    if given.kind == "comment" and not comment:
        raise InvalidInput("the comment is empty")
    missing = [one.id for one in given.concepts if opened.terminology.resolve(one.id) is None]
    if missing:
        raise InvalidInput(f"the terminology has no concept with the id {missing[0]!r:.200}")
    concepts = {
        one.id: snapshot(opened.terminology, one.id, one.relation) for one in given.concepts
    }
    return Given(given.kind, tuple(concepts.values()), comment)


@router.post("/reviews/{review_id}/undo", response_model=schemas.UndoneAnswer)
def undo(review_id: Id, state: Shared, who: Reviewer) -> dict[str, Any]:
    """Take back what the person who asks decided last in a review, all that was decided at once."""
    _found(state, review_id)
    first, *others = state.reviews.store.undo_last(review_id, who)
    return {"id": first.id, "mention": first.mention, "undone": 1 + len(others)}


@router.get("/reviews/{review_id}/acceptable", response_model=schemas.AcceptableAnswer)
def acceptable(
    review_id: Id, state: Shared, least: Annotated[float, Query(gt=0, le=1, allow_inf_nan=False)]
) -> dict[str, Any]:
    """Count the open items that are so sure, and the errors to expect among them."""
    _served(state, review_id)  # a review of a terminology that is not served cannot be decided
    return state.reviews.store.acceptable(review_id, least)


@router.post("/reviews/{review_id}/accept", response_model=schemas.DecidedAnswer)
def accept(
    review_id: Id, given: schemas.GivenAcceptance, state: Shared, who: Reviewer
) -> dict[str, int]:
    """Accept the proposals of all open items that are so sure, all or none."""
    _found(state, review_id)
    return {"decided": state.reviews.store.accept_above(review_id, **given.model_dump(), who=who)}


@router.post("/reviews/{review_id}/none", response_model=schemas.DecidedAnswer)
def decide_none(
    review_id: Id, given: schemas.GivenNone, state: Shared, who: Reviewer
) -> dict[str, int]:
    """Decide that no mention of a part of the queue, as it is filtered, has a concept; all or none.

    A text, a type or a leaf is expected, so that nobody decides a whole part by accident.
    """
    _found(state, review_id)
    text, kind = clean(given.text), Kind(given.type, given.leaf)
    if not text and kind == Kind():
        raise InvalidInput("a text, a type or a leaf is expected: which mentions are nothing?")
    filters = ", ".join(filter(None, (text and repr(text), str(kind))))
    decided = state.reviews.store.decide_none(
        review_id,
        given.part,
        text,
        concepts=_concepts(state, review_id, kind),
        comment=f"decided with all of {filters}",
        expected=given.expected,
        who=who,
    )
    return {"decided": decided}


# --- afterwards -----------------------------------------------------------------------------------


def _lessons(state: State, review_id: int, opened: Opened) -> Lessons:
    found = lessons_of(state.reviews.store.entries(review_id), opened.terminology)
    added = {(one.text, one.concept_id) for one in opened.linker.synonyms}
    denied = set(opened.linker.synonyms.forbidden)
    return Lessons(
        [one for one in found.names if (one.text, one.concept_id) not in added],
        [pair for pair in found.forbidden if pair not in denied],
    )


@router.get("/reviews/{review_id}/lessons", response_model=schemas.LessonsAnswer)
async def lessons(review_id: Id, state: Shared) -> dict[str, int]:
    """Count what the decisions could teach the index."""

    def count() -> dict[str, int]:
        served = _served(state, review_id)
        learned = served.use(lambda opened: _lessons(state, review_id, opened))
        return {"names": len(learned.names), "forbidden": len(learned.forbidden)}

    return await state.whole.run(count)


@router.post("/reviews/{review_id}/lessons", response_model=schemas.LessonsAnswer)
async def teach(review_id: Id, state: Shared) -> dict[str, int]:
    """Add accepted mentions as names, forbid proposals that were refused, and link again."""

    def learn() -> dict[str, int]:
        served = _served(state, review_id)
        names, forbidden = served.change(
            lambda opened: opened.linker.synonyms.update(*_lessons(state, review_id, opened))
        )
        _link_again(state, review_id)
        return {"names": names, "forbidden": forbidden}

    return await state.whole.run(learn)


@router.get("/reviews/{review_id}/export", response_class=StreamingResponse)
async def export_decisions(
    review_id: Id, state: Shared, chosen: Annotated[schemas.ExportChoices, Query()]
) -> StreamingResponse:
    """Return the decisions: beside the rows that were given, as mappings, or as a corpus."""
    given = chosen.model_dump(exclude={"format"})
    choices = Choices(domains=given.pop("domain"), **given)

    def make() -> Iterator[bytes]:
        served = _served(state, review_id)
        store, format = state.reviews.store, chosen.format
        try:
            return served.use(
                lambda opened: export_review(store, review_id, format, opened.terminology, choices)
            )
        finally:
            give_memory_back()

    pieces = await state.whole.run(make)
    suffix, media_type = FORMATS[chosen.format]
    return StreamingResponse(
        pieces,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="review-{review_id}{suffix}"'},
    )
