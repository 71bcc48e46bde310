"""The pages: shells without data, which their script fills."""

from __future__ import annotations

import functools
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response

from canonym.service.problems import Problem
from canonym.service.state import Shared

if TYPE_CHECKING:
    from jinja2 import Environment

router = APIRouter(include_in_schema=False)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {"js": "text/javascript", "css": "text/css"}
_STATIC = files("canonym.service.review") / "static"


@router.get("/")
def start(state: Shared) -> HTMLResponse:
    """Return the page on which a review begins."""
    return _page("start.html", terminologies=list(state.served), keys=bool(state.access.keys))


@router.get("/reviews/{review_id}")
def queue(review_id: int, state: Shared) -> HTMLResponse:
    """Return the page of a review."""
    least, keys = state.settings.match_confidence, bool(state.access.keys)
    return _page("queue.html", review_id=review_id, keys=keys, least=least)


@router.get("/review/{name}")
def static(name: str) -> Response:
    """Return a script or a style sheet."""
    found = {one.name: one for one in _STATIC.iterdir()}.get(name)
    if found is None:
        raise Problem(HTTPStatus.NOT_FOUND, "there is nothing at this address")
    kind = _KINDS[name.rpartition(".")[2]]
    return Response(found.read_bytes(), media_type=f"{kind}; charset=utf-8")


def _page(template: str, **values: object) -> HTMLResponse:
    html = _environment().get_template(template).render(**values)
    return HTMLResponse(html, headers={"Content-Security-Policy": _POLICY})


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader

    return Environment(
        loader=PackageLoader("canonym.service.review"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
