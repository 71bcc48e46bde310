"""Pages for people: templates that escape all they show, and a policy that fetches nothing else."""

from __future__ import annotations

import functools
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi.responses import HTMLResponse, Response

from canonym.service.problems import Problem

if TYPE_CHECKING:
    from jinja2 import Environment

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action {forms}; frame-ancestors 'none'"
)
_KINDS = {"js": "text/javascript", "css": "text/css"}
_ROOMS = ("canonym.service", "canonym.service.review", "canonym.service.home")


def page(template: str, *, status: int = 200, forms: str = "'none'", **values: object) -> Response:
    """Return a page from a template; `forms` says where its forms may go without a script."""
    headers = {"Content-Security-Policy": _POLICY.format(forms=forms)}
    return HTMLResponse(environment().get_template(template).render(**values), status, headers)


def static(room: str, name: str) -> Response:
    """Return a script or a style sheet of a room."""
    folder = files(f"canonym.service.{room}") / "static"
    path = {file.name: file for file in folder.iterdir()}.get(name)
    if path is None:
        raise Problem(HTTPStatus.NOT_FOUND, "there is nothing at this address")
    kind = _KINDS[name.rpartition(".")[2]]
    return Response(path.read_bytes(), media_type=f"{kind}; charset=utf-8")


@functools.cache
def environment() -> Environment:
    """Return the templates of all rooms; names in them are escaped wherever they stand."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    return Environment(
        loader=ChoiceLoader([PackageLoader(room) for room in _ROOMS]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
