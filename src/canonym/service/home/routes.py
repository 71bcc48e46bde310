"""The pages for people: the home page, those of concepts, and the shells of reviews."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from canonym.errors import CanonymError
from canonym.review.table import Layout
from canonym.service import html
from canonym.service.access import given_key
from canonym.service.bodies import read_form
from canonym.service.home.answers import Views
from canonym.service.home.pasted import KINDS, Pasted, read_pasted
from canonym.service.home.results import MOST_CHARACTERS, cells_of, results_of
from canonym.service.keys import Key
from canonym.service.problems import Problem, problem_of, too_large
from canonym.service.review.uploads import Upload
from canonym.service.served import Opened
from canonym.service.state import Shared, State

_SMALL = 100_000  # bytes of a form that is read before its key is looked at
_FORMS = "'self'"
_NO_KEY = "The key is missing, or it is none that is in use. Give it at the top of the page."

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "POST"])
async def home(request: Request, state: Shared) -> Response:
    """Return the home page: links of what was typed, or examples to begin with."""
    first, query = next(iter(state.served)), request.query_params
    shown: dict[str, Any] = {
        "keys": bool(state.access.keys),
        "served": list(state.served),
        "name": query.get("in", "") if query.get("in", "") in state.served else first,
        "most": MOST_CHARACTERS,
        "kind": "auto",
        "text": "",
    }
    if state.access.keys and request.method == "GET" and not given_key(request):
        return html.page("home.html", forms=_FORMS, locked=True, **shown)
    try:
        key, form = await _entered(request, state)
        text = form.get("example") or form.get("text", "")
        kind = form.get("kind", "auto")
        kind = kind if kind in KINDS and not form.get("example") else "auto"
        # A script has what was typed already.
        shown |= {"text": text if _is_for_people(request) else "", "kind": kind}
        served = state.find(form.get("in") or shown["name"])
        shown |= {"name": served.name}

        def work(opened: Opened) -> Response:
            pasted = _pasted(text, kind, form)
            results = results_of(opened, served.name, state, pasted)
            may = key is None or key.allows("review")
            return html.page("home.html", forms=_FORMS, results=results, may=may, **shown)

        return await state.work.run(lambda: served.use(work))
    except (HTTPException, CanonymError) as error:
        return await _told(request, "home.html", error, **shown)


@router.post("/table")
async def table(request: Request, state: Shared) -> Response:
    """Return the links of what was typed as cells, for a spreadsheet."""
    _, form = await _entered(request, state)
    served = state.find(form.get("in"))
    pasted = _pasted(form.get("text", ""), form.get("kind", "auto"), form)

    def work(opened: Opened) -> str:
        return cells_of(opened, pasted, state.settings.max_batch)

    return _tabs(await state.work.run(lambda: served.use(work)))


@router.post("/file")
async def file(request: Request, state: Shared, name: str = "") -> Response:
    """Return a table or a workbook as cells, as somebody would paste them."""
    await state.access.check(request, "read")

    def work(upload: Upload) -> str:
        header, *rows = upload
        lines = rows if len(header) == 1 else [header, *rows]
        return "\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in lines)

    async with state.uploads.read(request, name, Layout()) as upload:
        return _tabs(await run_in_threadpool(work, upload))


def _pasted(text: str, kind: str, form: dict[str, str]) -> Pasted:
    return read_pasted(text, kind, form.get("column", ""), header=bool(form.get("header")))


def _tabs(cells: str) -> Response:
    return Response(cells, media_type="text/tab-separated-values; charset=utf-8")


def _is_for_people(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


async def _entered(request: Request, state: State) -> tuple[Key | None, dict[str, str]]:
    """Return the key of who asks, and the fields of the form.

    A key in a header is looked at before the form is read. A form that holds the key itself, as
    one without a script does, has to be read first, and so it may not be large.
    """
    in_form = bool(state.access.keys) and request.method == "POST" and not given_key(request)
    if in_form:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _SMALL:
            raise too_large("bytes are taken of a form that holds a key", _SMALL)
        form = await read_form(await request.body())
        return await state.access.check(request, "read", form.get("key", "")), form
    key = await state.access.check(request, "read")
    return key, await read_form(await request.body()) if request.method == "POST" else {}


async def _told(request: Request, template: str, error: Exception, **shown: object) -> Response:
    """Return a page that says what is wrong; who asks for no page gets a problem."""
    problem = await problem_of(request, error)
    if not _is_for_people(request):
        return problem
    locked = problem.status_code == HTTPStatus.UNAUTHORIZED
    page = html.page(
        template,
        status=problem.status_code,
        forms=_FORMS,
        locked=locked,
        problem=_NO_KEY if locked else _sentence(problem.detail),
        **shown,
    )
    for name in ("retry-after", "www-authenticate"):
        if name in problem.headers:
            page.headers[name] = problem.headers[name]
    return page


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"


@router.api_route("/concepts/{terminology}/{id:path}", methods=["GET", "POST"])
async def concept(terminology: str, id: str, request: Request, state: Shared) -> Response:
    """Return the page of a concept; without a key that is needed, a page that asks for it."""
    shown: dict[str, Any] = {"keys": bool(state.access.keys), "name": terminology}
    if state.access.keys and request.method == "GET" and not given_key(request):
        status = HTTPStatus.UNAUTHORIZED
        return html.page("concept.html", status=status, forms=_FORMS, locked=True, **shown)
    try:
        await _entered(request, state)
        served = state.find(terminology)

        def work(opened: Opened) -> Response:
            known = opened.id_of(id)
            if known is None:
                raise Problem(
                    HTTPStatus.NOT_FOUND, f"{served.name} has no concept with the id {id!r:.200}"
                )
            views = Views(opened, served.name, state.settings.match_confidence)
            return html.page("concept.html", forms=_FORMS, concept=views.page(known), **shown)

        return await state.work.run(lambda: served.use(work))
    except (HTTPException, CanonymError) as error:
        return await _told(request, "concept.html", error, **shown)


@router.get("/assets/{name}")
def static(name: str) -> Response:
    """Return a script or a style sheet."""
    return html.static("home", name)


# --- reviews: pages without data, which their script fills ----------------------------------------


@router.get("/reviews")
def start(state: Shared) -> Response:
    """Return the page on which a review begins."""
    return html.page("start.html", terminologies=list(state.served), keys=bool(state.access.keys))


@router.get("/reviews/{review_id}")
def queue(review_id: int, state: Shared) -> Response:
    """Return the page of a review."""
    least, keys = state.settings.match_confidence, bool(state.access.keys)
    return html.page("queue.html", review_id=review_id, keys=keys, least=least)


@router.get("/review/{name}")
def static_of_reviews(name: str) -> Response:
    """Return a script or a style sheet of these pages."""
    return html.static("review", name)
