"""Everything that the routes of one application share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Request
from fastapi.security import APIKeyHeader, HTTPBearer

from canonym.service.access import Access
from canonym.service.keys import SCOPES
from canonym.service.metrics import Metrics
from canonym.service.problems import Problem
from canonym.service.review.jobs import Reviews
from canonym.service.served import Served
from canonym.service.settings import Settings
from canonym.service.work import Work

_BEARER = HTTPBearer(auto_error=False, description="A key made by `canonym keys add`.")
_HEADER = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")


class State(NamedTuple):
    """Settings, indexes by name, counts, threads, access and reviews."""

    settings: Settings
    served: dict[str, Served]
    metrics: Metrics
    work: Work
    access: Access
    reviews: Reviews

    def find(self, name: str | None) -> Served:
        """Return the index of that name; where there is one index only, it needs no name."""
        if name is None and len(self.served) == 1:
            return next(iter(self.served.values()))
        if name is None or name not in self.served:
            given = "none is named" if name is None else f"there is no terminology {name!r:.80}"
            status = HTTPStatus.UNPROCESSABLE_ENTITY if name is None else HTTPStatus.NOT_FOUND
            raise Problem(
                status, f"{given}; there are {', '.join(self.served)}", terminologies=[*self.served]
            )
        return self.served[name]

    def base_url(self, request: Request) -> str:
        """Return the address of the service as clients see it, without a slash at its end."""
        return (self.settings.public_url or str(request.base_url)).rstrip("/")


async def _state(request: Request) -> State:  # a plain function would run in a thread
    state: State = request.app.state.canonym
    return state


Shared = Annotated[State, Depends(_state)]
"""The state of the application that a request came to, for routes."""


def needs(scope: str) -> Any:
    """Return the dependency that refuses requests without a key of a scope."""
    return Depends(_checks[scope])


def _check(scope: str) -> Callable[..., Awaitable[None]]:
    async def check(
        request: Request,
        state: Shared,
        _bearer: Annotated[object, Depends(_BEARER)],  # for the description in /openapi.json
        _header: Annotated[object, Depends(_HEADER)],
    ) -> None:
        state.access.check(request, scope)

    return check


# One function for each scope, so that a request is checked once.
_checks = {scope: _check(scope) for scope in SCOPES}
