"""Routes for those who run the service: is it alive, is it ready, what has it done."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Response
from fastapi.concurrency import run_in_threadpool

from canonym.service.problems import Problem
from canonym.service.routing import Route, needs
from canonym.service.schemas import PROBLEMS
from canonym.service.state import Shared

router = APIRouter(tags=["health"], responses=PROBLEMS, route_class=Route)


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Answer for as long as the process works."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(state: Shared) -> dict[str, str]:
    """Answer 200 when all indexes are open and reviews can be reached, else 503."""
    waiting = [name for name, served in state.served.items() if not served.is_open]
    if waiting:
        detail = f"not open yet: {', '.join(waiting)}"
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, {"Retry-After": "1"})
    await run_in_threadpool(state.reviews.check)
    return {"status": "ready"}


@router.get("/metrics", dependencies=[needs("read")], response_class=Response)
async def metrics(state: Shared) -> Response:
    """Return counts and times in the format of Prometheus."""
    return Response(state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
