"""Everything that the routes of one application share."""

from __future__ import annotations

import asyncio
from collections.abc import Sized
from typing import Annotated, NamedTuple

from fastapi import Depends, Request

from canonym.service.access import Access
from canonym.service.metrics import Metrics
from canonym.service.problems import too_large
from canonym.service.review.jobs import Reviews
from canonym.service.review.uploads import Uploads
from canonym.service.served import Served, find_served
from canonym.service.settings import Settings
from canonym.service.work import Work


class State(NamedTuple):
    """Settings, indexes by name, counts, threads, access, reviews, and room for what is large.

    What reads the `whole` of a review is done one after the other: it takes time and memory.
    """

    settings: Settings
    served: dict[str, Served]
    metrics: Metrics
    work: Work
    access: Access
    reviews: Reviews
    large: asyncio.Semaphore
    uploads: Uploads
    whole: Work

    def find(self, name: str | None) -> Served:
        """Return the index of that name; where there is one index only, it needs no name."""
        return find_served(self.served, name)

    def check_batch(self, what: str, members: Sized) -> None:
        """Refuse more members of a request than one may have."""
        if len(members) > self.settings.max_batch:
            raise too_large(what, self.settings.max_batch, len(members))

    def base_url(self, request: Request) -> str:
        """Return the address of the service as clients see it, without a slash at its end."""
        return (self.settings.public_url or str(request.base_url)).rstrip("/")


async def _state(request: Request) -> State:  # a plain function would run in a thread
    state: State = request.app.state.canonym
    return state


Shared = Annotated[State, Depends(_state)]
"""The state of the application that a request came to, for routes."""
