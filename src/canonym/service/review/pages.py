"""The pages: shells without data, which their script fills."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from canonym.service import html
from canonym.service.state import Shared

router = APIRouter(include_in_schema=False)


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
def static(name: str) -> Response:
    """Return a script or a style sheet."""
    return html.static("review", name)
