"""Who reviews: the holder of a key, or on one's own machine whoever gives a name."""

from __future__ import annotations

import ipaddress
from http import HTTPStatus
from typing import Annotated
from urllib.parse import unquote, urlsplit

from fastapi import Depends, Request

from canonym.review.table import clean
from canonym.service.problems import Problem
from canonym.service.state import Shared, State

_LONGEST = 100
_SAFE = {"GET", "HEAD"}


def _reviewer(request: Request, state: Shared) -> str:
    """Return the name of who asks, or refuse it.

    Without keys the service is open to this machine only. Pages of others in its browser could
    still ask, so their address has to be that of the service.
    """
    changes = request.method not in _SAFE
    if state.access.keys is None:
        state.access.check(request, "read")
        _check_same_place(request, state)
        given = clean(unquote(request.headers.get("x-reviewer", ""))).strip()[:_LONGEST]
        if changes and not given:
            detail = "the name of the reviewer is expected, in the header X-Reviewer"
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
        return given
    key = state.access.check(request, "review" if changes else "read")
    return key.name if key else ""


def _check_same_place(request: Request, state: State) -> None:
    allowed = urlsplit(state.settings.public_url).netloc
    host = request.headers.get("host", "")
    if host != allowed and not _is_local(urlsplit(f"//{host}").hostname or ""):
        detail = "without keys, reviews are for the machine of the service: call it localhost"
        raise Problem(HTTPStatus.FORBIDDEN, detail)
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc not in {host, allowed} - {""}:
        raise Problem(HTTPStatus.FORBIDDEN, "reviews are not for pages of other addresses")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


Reviewer = Annotated[str, Depends(_reviewer)]
"""The name of who asks, for routes; those who may not are refused."""
