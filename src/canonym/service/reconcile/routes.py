"""The routes of the Reconciliation API: one set for both versions, which differ in few."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

from canonym.errors import InvalidInput
from canonym.service.bodies import parsed, read_form
from canonym.service.html import environment
from canonym.service.origins import frames
from canonym.service.problems import Problem
from canonym.service.reconcile.answers import answer
from canonym.service.reconcile.manifest import manifest_02, manifest_10
from canonym.service.reconcile.properties import PROPERTIES, find_properties, values_of
from canonym.service.reconcile.queries import read_query_02, read_query_10
from canonym.service.routing import Route, needs
from canonym.service.schemas import PROBLEMS, Batch, Sound
from canonym.service.served import Opened, Served
from canonym.service.state import Shared, State
from canonym.text import normalise

V1 = "application/reconciliation.v1+json"
"""The media type by which a client asks for 1.0-draft at an address of 0.2."""

_Prefix = Annotated[str, Query(max_length=1000)]
_Limit = Annotated[int, Query(ge=1, le=100)]
_Offset = Annotated[int, Query(ge=0, le=10_000)]
_Candidates = list[list[dict[str, Any]]]
_FEW = 8  # names and neighbours of a card


async def _served(request: Request, state: Shared) -> Served:
    return state.find(request.path_params.get("terminology"))


Named = Annotated[Served, Depends(_served)]
"""The terminology in the path; where one is served only, it may be left out."""


async def _describe(
    terminology: Annotated[str, Path(description="Its name, see `GET /v1/terminologies`.")],
) -> None:
    """Describe the part of the path that `_served` reads."""


def _json(served: Served, content: Any) -> JSONResponse:
    return JSONResponse(content, headers={"Content-Language": served.opened.language})


# --- manifest and matching ------------------------------------------------------------------------


async def base_02(request: Request, state: Shared, served: Named) -> Response:
    """Answer queries or data extension of 0.2; without either, the manifest of either version."""
    form: dict[str, Any] = dict(request.query_params)
    if request.method == "POST":
        form |= await _fields(request)
    elif "queries" in form or "extend" in form:
        await state.access.check(request, "read")
    if "extend" in form:
        extension = await _parsed(form["extend"])
        return await run_in_threadpool(_extend_02, state, served, extension)
    if "queries" in form:
        return await _match_02(state, served, await _parsed(form["queries"]))
    if request.method == "POST":
        raise InvalidInput("queries or extend is expected, in a form or in a JSON object")
    make = manifest_10 if V1 in request.headers.get("accept", "") else manifest_02
    return await run_in_threadpool(_manifest, make, request, state, served)


def base_10(request: Request, state: Shared, served: Named) -> Response:
    """Return the manifest of 1.0-draft."""
    return _manifest(manifest_10, request, state, served)


def _manifest(
    make: Callable[..., dict[str, Any]], request: Request, state: State, served: Served
) -> Response:
    url = f"{state.base_url(request)}/reconcile/{served.name}"
    return _json(served, served.use(lambda opened: make(served.name, url, opened, state)))


async def _fields(request: Request) -> dict[str, Any]:
    """Return the fields of a body, which is a form or JSON."""
    body = await request.body()
    if "json" not in request.headers.get("content-type", ""):
        return await read_form(body)
    content = await _parsed(body) if body else {}
    if not isinstance(content, dict):
        raise InvalidInput("the body is no JSON object; an object with queries is expected")
    return content


async def _parsed(value: Any) -> Any:
    """Return what a JSON text says; what is parsed already stays."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return await parsed(value if isinstance(value, bytes) else value.encode())
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no JSON that can be read ({type(error).__name__})") from error


async def _match_02(state: State, served: Served, queries: Any) -> Response:
    if not isinstance(queries, dict):
        raise InvalidInput("queries is no JSON object; queries by their keys are expected")
    try:
        "".join(queries).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            "a key of queries has a lone surrogate; no answer can hold it"
        ) from error
    answers = await _match(state, served, [*queries.values()], read_query_02)
    return _json(
        served,
        {key: {"result": candidates} for key, candidates in zip(queries, answers, strict=True)},
    )


class MatchRequest(BaseModel):
    """Queries of 1.0-draft; each is checked on its own."""

    queries: list[Any]


async def match_10(request: MatchRequest, state: Shared, served: Named) -> Response:
    """Answer queries of 1.0-draft, in their order."""
    answers = await _match(state, served, request.queries, read_query_10)
    return _json(served, {"results": [{"candidates": candidates} for candidates in answers]})


async def _match(
    state: State, served: Served, queries: Sequence[Any], read: Callable[[Any], Any]
) -> _Candidates:
    state.check_batch("queries", queries)

    def work(opened: Opened) -> _Candidates:
        candidates, links = answer(opened, [*map(read, queries)], state.settings.match_confidence)
        state.metrics.count_links(served.name, links)
        return candidates

    return await state.work.run(lambda: served.use(work))


# --- suggestions ----------------------------------------------------------------------------------


def suggest_entity(
    served: Named,
    prefix: _Prefix = "",
    limit: _Limit = 10,
    offset: _Offset = 0,
    cursor: _Offset = 0,
) -> Response:
    """Complete the name of a concept; an id as prefix comes first."""
    first = offset or cursor
    concepts = served.use(lambda opened: opened.search(prefix, first + limit))
    result = [
        {
            "id": concept.id,
            "name": concept.label,
            "description": "" if name == concept.label else f"also called {name}",
            "notable": [{"id": type_, "name": type_} for type_ in concept.types],
        }
        for concept, name in concepts[first:]
    ]
    return _json(served, {"result": result})


def suggest_type(
    served: Named, prefix: _Prefix = "", limit: _Limit = 10, offset: _Offset = 0
) -> Response:
    """Complete the name of a type."""
    form = normalise(prefix)
    types = served.use(lambda opened: opened.types)
    matching = [
        type_ for type_ in types if f" {normalise(type_)}".find(f" {form}") >= 0 or type_ == prefix
    ]
    matching.sort(key=lambda type_: (type_ != prefix, -types[type_], type_))
    result = [
        {"id": type_, "name": type_, "description": f"{types[type_]:,} concepts"}
        for type_ in matching[offset : offset + limit]
    ]
    return _json(served, {"result": result})


def suggest_property(
    served: Named, prefix: _Prefix = "", limit: _Limit = 100, offset: _Offset = 0
) -> Response:
    """Complete the name of a property."""
    properties = [property_.described() for property_ in find_properties(prefix)]
    return _json(served, {"result": properties[offset : offset + limit]})


# --- pages ----------------------------------------------------------------------------------------


def flyout(kind: str, id: str, served: Named) -> Response:
    """Return a few words of HTML about a concept, type or property."""

    def work(opened: Opened) -> str:
        if kind == "entity":
            return _card(opened, _known(opened, id))
        if kind == "type" and id in opened.types:
            return _render("line.html", name=id, description=f"{opened.types[id]:,} concepts")
        if kind == "property" and id in PROPERTIES:
            return _render("line.html", **PROPERTIES[id].described())
        raise Problem(HTTPStatus.NOT_FOUND, f"there is no {kind:.20} {id!r:.200}")

    return _json(served, {"id": id, "html": served.use(work)})


def preview(id: str, served: Named, state: Shared) -> Response:
    """Return a small page about a concept, which other pages may frame."""
    inner = served.use(lambda o: _card(o, _known(o, id)))
    return _as_page(inner, may_frame=frames(state.settings))


def view(id: str, served: Named) -> Response:
    """Return a page about a concept."""
    return _as_page(served.use(lambda o: _card(o, _known(o, id), whole=True)))


def _known(opened: Opened, id: str) -> str:
    known = opened.id_of(id)
    if known is None:
        raise Problem(HTTPStatus.NOT_FOUND, f"there is no concept with the id {id!r:.200}")
    return known


def _card(opened: Opened, id: str, *, whole: bool = False) -> str:
    """Return HTML about a concept: the first few names and neighbours, or all of them."""
    concept, terminology = opened.terminology.concept(id), opened.terminology
    most = None if whole else _FEW
    names = dict.fromkeys(name.text for name in opened.names(id) if name.text != concept.label)
    lists = {
        "Also called": list(names),
        "Parents": [opened.label(parent) for parent in terminology.parents(id)],
        "Children": [opened.label(child) for child in terminology.children(id)],
        "Other ids": [xref.target for xref in terminology.xrefs(id)],
    }
    return _render(
        "card.html",
        concept=concept,
        lists={title: (items[:most], len(items)) for title, items in lists.items() if items},
    )


def _as_page(inner: str, *, may_frame: str = "'none'") -> HTMLResponse:
    """Return a page with some HTML of ours; nothing runs in it, and nothing is fetched."""
    nonce = secrets.token_urlsafe(16)
    policy = f"default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'"
    return HTMLResponse(
        _render("page.html", inner=inner, nonce=nonce),
        headers={"Content-Security-Policy": f"{policy}; frame-ancestors {may_frame}"},
    )


def _render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)


# --- data extension -------------------------------------------------------------------------------


class _Wanted(BaseModel):
    id: Sound
    settings: dict[str, Any] = Field(default_factory=dict)


class ExtendRequest(BaseModel):
    """Concepts, and the properties whose values are wanted."""

    ids: Batch[Sound]
    properties: Batch[_Wanted]


def _extend_02(state: State, served: Served, content: Any) -> Response:
    try:
        request = ExtendRequest.model_validate(content)
    except ValueError as error:
        raise InvalidInput("extend is no object with ids and properties") from error
    return _json(served, {"meta": _meta(request), "rows": _values(state, served, request)})


def extend_10(request: ExtendRequest, state: Shared, served: Named) -> Response:
    """Return values of properties, for 1.0-draft."""
    values = _values(state, served, request)
    rows = [
        {
            "id": id_,
            "properties": [
                {"id": property_.id, "values": values[id_][property_.id]}
                for property_ in request.properties
            ],
        }
        for id_ in request.ids
    ]
    return _json(served, {"meta": _meta(request), "rows": rows})


def _meta(request: ExtendRequest) -> list[dict[str, str]]:
    return [
        {
            "id": property_.id,
            "name": PROPERTIES[property_.id].name if property_.id in PROPERTIES else property_.id,
        }
        for property_ in request.properties
    ]


def _values(
    state: State, served: Served, request: ExtendRequest
) -> dict[str, dict[str, list[Any]]]:
    state.check_batch("ids", request.ids)
    state.check_batch("properties", request.properties)
    most = {property_.id: _most(property_.settings) for property_ in request.properties}

    def work(opened: Opened) -> dict[str, dict[str, list[Any]]]:
        return {
            id_: {property: values_of(opened, id_, property, n) for property, n in most.items()}
            for id_ in request.ids
        }

    return served.use(work)


def _most(settings: dict[str, Any]) -> int:
    """Return the most values that are wanted; 0 for all of them."""
    limit = str(settings.get("limit") or 0)
    return int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 10 else 0


def propose(
    served: Named,
    type: str | None = None,
    limit: Annotated[int | None, Query(ge=1, le=1000)] = None,
) -> Response:
    """Propose properties for data extension; they are the same for all types."""
    properties = [
        property_.described() for property_ in PROPERTIES.values() if property_.values is not None
    ]
    parameters = {"type": type, "limit": limit}
    content = {
        "properties": properties[:limit],
        **{k: v for k, v in parameters.items() if v is not None},
    }
    return _json(served, content)


# --- routers --------------------------------------------------------------------------------------

_SHARED: tuple[tuple[str, Callable[..., Any], str], ...] = (
    ("/match", match_10, "POST"),
    ("/suggest/entity", suggest_entity, "GET"),
    ("/suggest/type", suggest_type, "GET"),
    ("/suggest/property", suggest_property, "GET"),
    ("/flyout/{kind}", flyout, "GET"),
    ("/preview", preview, "GET"),
    ("/view", view, "GET"),
    ("/extend", extend_10, "POST"),
    ("/extend/propose", propose, "GET"),
)


def make_router(prefix: str, *, described: bool) -> APIRouter:
    """Return the routes below a prefix: both versions there, 1.0-draft alone below ``/v1``."""
    router = APIRouter(
        prefix=prefix,
        tags=["reconciliation"],
        dependencies=[Depends(_describe)] if described else [],
        responses=PROBLEMS,
        include_in_schema=described,
        route_class=Route,
    )
    for slash in ("", "/"):
        shown = described and not slash
        # The manifest says how keys are given, so it needs none.
        for method, needed in (("GET", []), ("POST", [needs("read")])):
            router.add_api_route(
                slash,
                base_02,
                methods=[method],
                name=f"base_02_{method.lower()}",
                dependencies=needed,
                include_in_schema=shown,
            )
        router.add_api_route(f"/v1{slash}", base_10, include_in_schema=shown)
    for version in ("", "/v1"):
        for path, handler, method in _SHARED:
            router.add_api_route(
                version + path,
                handler,
                methods=[method],
                dependencies=[needs("read")],
                response_class=HTMLResponse if handler in (preview, view) else JSONResponse,
            )
    return router
