"""The routes of ``/v1``: link, annotate, look up, change synonyms, see who has keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from canonym.errors import InvalidInput
from canonym.io.time_limit import TooSlow, check_time, time_limit
from canonym.linking.links import DEFAULTS
from canonym.service import schemas
from canonym.service.problems import Problem, too_large
from canonym.service.routing import Route, needs
from canonym.service.served import Opened, Served
from canonym.service.state import Shared
from canonym.types import Concept, Document, Link, Mention, Name

_T = TypeVar("_T")

router = APIRouter(
    prefix="/v1",
    tags=["v1"],
    dependencies=[needs("read")],
    responses=schemas.PROBLEMS,
    route_class=Route,
)

_EXPLANATION = {"searched", "steps", "scope", "sieve", "worth", "context"}
_OF_CANDIDATES = ("id", "label", "score", "name", "types", "against")  # without an explanation
_MOST_CHILDREN = 100
_FEW = 10  # mentions of a request that is linked together with others
LONGEST_TEXT = 100_000
"""Characters of a text that is annotated, or has mentions."""
_SECONDS = 30  # for a batch; what takes longer is full of homonyms
_AT_A_TIME = 64  # mentions, or text for about as many
_CHARACTERS = 1000  # of a text, on average; all have as many candidates as a batch of mentions

Terminology = Annotated[
    str | None, Query(description="Its name; not needed where only one is served.")
]


# --- linking --------------------------------------------------------------------------------------


@router.post("/link", response_model=schemas.LinkResponse)
async def link(request: schemas.LinkRequest, state: Shared) -> Response:
    """Link mentions to concepts, one link for each, in order.

    The text of a document may have 100,000 characters. What takes more than 30 seconds is refused.
    """
    served = state.find(request.terminology)
    state.check_batch("mentions", request.mentions)
    if request.document is not None:
        _check_length(request.document.text)
    asked = _Asked(_documents(request), request.explain)
    options: Any = request.model_dump(include={*DEFAULTS})

    def linked(opened: Opened, several: Sequence[_Asked]) -> list[Response]:
        # The JSON of many links takes a while, so that it is made here, in the thread.
        documents = [document for member in several for document in member.documents]
        linker = opened.linker
        pairs = linker.pipeline.link_documents(documents, options, request.abbreviations)
        links = [link for _, of_document in pairs for link in of_document]
        state.metrics.count_links(served.name, links)
        left, head = iter(links), {"terminology": served.name, "fingerprint": linker.fingerprint}
        answers: list[Response] = []
        for member in several:
            n = sum(len(document.mentions) for document in member.documents)
            shown = [_link(link, explain=member.explain) for link in islice(left, n)]
            answers.append(JSONResponse({**head, "links": shown}))
        return answers

    def work(several: Sequence[_Asked]) -> list[Response]:
        return _in_time(served, lambda opened: linked(opened, several))

    if request.document is not None or len(request.mentions) > _FEW:
        return (await state.work.run(lambda: work([asked])))[0]
    kind = (served.name, str(options), str(request.abbreviations))
    return await state.work.together(kind, asked, work)


def _check_length(text: str) -> None:
    """Refuse a text whose abbreviations would make others wait, and take memory for good."""
    if len(text) > LONGEST_TEXT:
        raise too_large("characters of a text", LONGEST_TEXT, len(text))


class _Asked(NamedTuple):
    """The documents of a request, and whether its candidates are explained."""

    documents: list[Document]
    explain: bool


def _documents(request: schemas.LinkRequest) -> list[Document]:
    """Return the document with its mentions, or each mention as a document."""
    text = request.document.text if request.document else ""
    mentions = [_mention(mention, text) for mention in request.mentions]
    if request.document:
        return [Document(request.document.id, text, tuple(mentions))]
    return [Document("", "", (mention,)) for mention in mentions]


def _mention(mention: str | schemas.GivenMention, text: str) -> Mention:
    if isinstance(mention, str):
        return Mention(mention)
    written = mention.text
    if written is None:
        if not text or mention.start is None or mention.end is None:
            raise InvalidInput(
                "a mention without a text needs a document with a text, start and end"
            )
        written = text[mention.start : mention.end]
    return Mention(written, mention.start, mention.end, mention.type, context=mention.context)


@router.post("/annotate", response_model=schemas.AnnotateResponse)
async def annotate(request: schemas.AnnotateRequest, state: Shared) -> Response:
    """Find the names of the terminology in texts, and link them; offsets count code points.

    The status of a mention says whether it is negated, past, doubtful or of the family. A text may
    have 100,000 characters, and all of them a thousand for each mention of a batch; with k
    candidates a k-th of that.
    """
    served = state.find(request.terminology)
    state.check_batch("texts", request.texts)
    documents = [
        Document("", text) if isinstance(text, str) else Document(text.id, text.text)
        for text in request.texts
    ]
    most = state.settings.max_batch * _CHARACTERS // request.k
    length = sum(len(document.text) for document in documents)
    if length > most:
        raise too_large(f"characters with k = {request.k}", most, length)
    for document in documents:
        _check_length(document.text)
    options: Any = {**request.model_dump(include={*DEFAULTS}), "batch": _AT_A_TIME}

    def work(opened: Opened) -> Response:
        check_readable(opened)
        annotated = opened.linker.annotate_documents(
            documents, abbreviations=request.abbreviations, **options
        )
        answers = []
        for document, links in annotated:
            check_time()
            state.metrics.count_links(served.name, links)
            shown = [_link(link, explain=request.explain) for link in links]
            answers.append({"id": document.id, "links": shown})
        return JSONResponse(
            {
                "terminology": served.name,
                "fingerprint": opened.linker.fingerprint,
                "documents": answers,
            }
        )

    return await state.work.run(lambda: _in_time(served, work))


def _in_time(served: Served, work: Callable[[Opened], _T]) -> _T:
    """Do some work with an index, and refuse what takes too long: others wait for the thread."""
    try:
        with time_limit(_SECONDS):
            return served.use(work)
    except TooSlow as error:
        detail = (
            f"it takes more than {_SECONDS} seconds; send several requests, one after the other"
        )
        raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail) from error


def check_readable(opened: Opened) -> None:
    """Refuse an index that finds no names in texts: no other request would be answered."""
    try:
        opened.linker.annotator.open()
    except InvalidInput as error:
        raise Problem(HTTPStatus.CONFLICT, str(error)) from error


def _link(link: Link, *, explain: bool) -> dict[str, Any]:
    """Return a link for an answer, without its explanation unless that is wanted."""
    whole = link.to_dict()
    whole.update(id=link.id, label=link.label, score=link.score)
    whole["parts"] = [_link(part, explain=explain) for part in link.parts]
    if explain:
        return whole
    whole["candidates"] = [
        {key: candidate[key] for key in _OF_CANDIDATES if key in candidate}
        for candidate in whole["candidates"]
    ]
    return {key: value for key, value in whole.items() if key not in _EXPLANATION}


# --- looking up -----------------------------------------------------------------------------------


@router.get("/terminologies", response_model=schemas.TerminologiesResponse)
def terminologies(request: Request, state: Shared) -> dict[str, Any]:
    """Describe the terminologies that are served."""

    def describe(name: str, opened: Opened) -> dict[str, Any]:
        linker, terminology = opened.linker, opened.terminology
        return {
            "name": name,
            "fingerprint": linker.fingerprint,
            "concepts": terminology.n_concepts,
            "names": terminology.n_names,
            "sources": [" ".join(pair).strip() for pair in terminology.sources() if any(pair)],
            "types": opened.types,
            "hierarchy": bool(opened.inner.any()),
            "languages": opened.languages,
            "encoders": list(linker.encoder_names),
            "reconciliation": f"{state.base_url(request)}/reconcile/{name}",
        }

    return {
        "terminologies": [
            served.use(partial(describe, name)) for name, served in state.served.items()
        ]
    }


@router.get("/concepts/{id:path}", response_model=schemas.ConceptAnswer)
def concept(id: str, state: Shared, terminology: Terminology = None) -> dict[str, Any]:
    """Describe a concept: names, definition, parents, children, ids elsewhere."""
    served = state.find(terminology)

    def work(opened: Opened) -> dict[str, Any]:
        known = opened.id_of(id)
        if known is None:
            raise Problem(
                HTTPStatus.NOT_FOUND, f"{served.name} has no concept with the id {id!r:.200}"
            )
        return {"terminology": served.name, **describe_concept(opened, known)}

    return served.use(work)


def describe_concept(opened: Opened, id: str) -> dict[str, Any]:
    """Return the members of a `schemas.ConceptAnswer`, but for the name of the terminology."""
    concept, terminology = opened.terminology.concept(id), opened.terminology
    children = terminology.children(concept.id)
    xrefs = terminology.xrefs(concept.id)
    return {
        **asdict(concept),
        "alternative_ids": [xref.target for xref in xrefs if xref.kind == "alternative"],
        "names": [asdict(name) for name in opened.names(concept.id)],
        "parents": _neighbours(opened, terminology.parents(concept.id)),
        "children": _neighbours(opened, children[:_MOST_CHILDREN]),
        "n_children": len(children),
        "xrefs": [xref.target for xref in xrefs if xref.kind != "alternative"],
    }


def _neighbours(opened: Opened, ids: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"id": id_, "label": opened.label(id_)} for id_ in ids]


@router.get("/search", response_model=schemas.SearchResponse)
def search(
    state: Shared,
    prefix: Annotated[str, Query(max_length=1000, examples=["heart att"])],
    terminology: Terminology = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    anywhere: Annotated[
        bool, Query(description="Also names with all words, in any order.")
    ] = False,
) -> dict[str, Any]:
    """Complete a name: concepts with names that begin with a prefix."""
    served = state.find(terminology)

    def work(opened: Opened) -> list[tuple[Concept, str]]:
        if not anywhere:
            return opened.search(prefix, limit)
        return [*islice(opened.matching(prefix, limit), limit)]

    concepts = served.use(work)
    return {
        "terminology": served.name,
        "concepts": [{**asdict(concept), "name": name} for concept, name in concepts],
    }


# --- synonyms and forbidden pairs -----------------------------------------------------------------


@router.get("/synonyms", response_model=schemas.SynonymsResponse)
def synonyms(state: Shared, terminology: Terminology = None) -> dict[str, Any]:
    """List the names that were added."""
    served = state.find(terminology)
    synonyms = served.use(lambda opened: tuple(opened.linker.synonyms))
    listed = [
        {"name": name.text, "id": name.concept_id, "language": name.language} for name in synonyms
    ]
    return {"terminology": served.name, "synonyms": listed}


@router.post("/synonyms", response_model=schemas.AddedResponse, dependencies=[needs("review")])
def add_synonyms(request: schemas.SynonymsRequest, state: Shared) -> dict[str, Any]:
    """Add names, all of them or none; they count from the next request on."""
    served = state.find(request.terminology)
    state.check_batch("synonyms", request.synonyms)
    names = [Name(name.name, name.id, language=name.language) for name in request.synonyms]
    added = served.change(lambda opened: opened.linker.synonyms.update(names)[0])
    return {"terminology": served.name, "added": added}


@router.delete("/synonyms", status_code=HTTPStatus.NO_CONTENT, dependencies=[needs("review")])
def remove_synonym(name: str, id: str, state: Shared, terminology: Terminology = None) -> None:
    """Remove a name that was added."""
    state.find(terminology).change(lambda opened: opened.linker.synonyms.remove(name, id))


@router.get("/forbidden", response_model=schemas.ForbiddenResponse)
def forbidden(state: Shared, terminology: Terminology = None) -> dict[str, Any]:
    """List the forbidden pairs of a mention and a concept."""
    served = state.find(terminology)
    pairs = served.use(lambda opened: opened.linker.synonyms.forbidden)
    listed = [{"mention": mention, "id": id_} for mention, id_ in pairs]
    return {"terminology": served.name, "forbidden": listed}


@router.post("/forbidden", response_model=schemas.AddedResponse, dependencies=[needs("review")])
def forbid(request: schemas.ForbiddenRequest, state: Shared) -> dict[str, Any]:
    """Forbid pairs, all of them or none; they count from the next request on."""
    served = state.find(request.terminology)
    state.check_batch("pairs", request.forbidden)
    pairs = [(pair.mention, pair.id) for pair in request.forbidden]
    added = served.change(lambda opened: opened.linker.synonyms.update(forbidden=pairs)[1])
    return {"terminology": served.name, "added": added}


@router.delete("/forbidden", status_code=HTTPStatus.NO_CONTENT, dependencies=[needs("review")])
def allow(mention: str, id: str, state: Shared, terminology: Terminology = None) -> None:
    """Allow a forbidden pair again."""
    state.find(terminology).change(lambda opened: opened.linker.synonyms.allow(mention, id))


# --- keys -----------------------------------------------------------------------------------------


@router.get("/keys", response_model=schemas.KeysResponse, dependencies=[needs("admin")])
def keys(state: Shared) -> dict[str, Any]:
    """List the keys of the service."""
    listed = state.access.keys.list() if state.access.keys else []
    return {"keys": [key._asdict() for key in listed]}


@router.delete("/keys/{id}", status_code=HTTPStatus.NO_CONTENT, dependencies=[needs("admin")])
def revoke_key(id: str, state: Shared) -> None:
    """Revoke a key, for good; keys are made on the machine of the service only."""
    if state.access.keys:
        state.access.keys.revoke(id)
