"""Who reviews: the holder of a key, or on one's own machine whoever gives a name."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Request

from canonym.review.table import clean
from canonym.service.origins import foreign
from canonym.service.problems import Problem
from canonym.service.routing import Need
from canonym.service.state import State

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


NEEDS_REVIEWER = Depends(_NeedsReviewer("review"))
"""The dependency that refuses who may not see or decide reviews."""

Reviewer = Annotated[str, Depends(_reviewer)]
"""The name of who asks, for routes with `NEEDS_REVIEWER`."""
