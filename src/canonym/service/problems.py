"""Errors as problem details (RFC 9457): status, title, detail, and what helps to mend it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from canonym.errors import CanonymError, InvalidInput, NotTrained, ReadError
from canonym.review.database import Unreachable
from canonym.review.store import Absent, Changed
from canonym.service.schemas import MOST

_log = logging.getLogger(__name__)
_MOST_ERRORS = 20
_RETRY = 5  # seconds, for what may take a person to mend
_STATUS = {Absent: HTTPStatus.NOT_FOUND, Changed: HTTPStatus.CONFLICT}
_UNREADABLE = "There was an error parsing the body"  # in the words of FastAPI


class Problem(HTTPException):
    """An error with an explanation; `members` are further members of its answer."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(status, detail, headers)
        self.members = members


class ProblemResponse(JSONResponse):
    """A problem as an answer."""

    media_type = "application/problem+json"

    def __init__(
        self, status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any
    ) -> None:
        self.detail = _text(detail)
        title = HTTPStatus(status).phrase
        content = {"type": "about:blank", "title": title, "status": status}
        super().__init__({**content, "detail": self.detail, **members}, status, headers)


def too_large(what: str, limit: int, number: int | None = None) -> Problem:
    """Return the problem of a body or batch over its limit."""
    also = "" if number is None else f", and {number:,} were given"
    detail = f"at most {limit:,} {what} are taken at once{also}; send several requests"
    return Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, limit=limit)


def busy(detail: str, seconds: int = 1) -> Problem:
    """Return the problem of a request that comes at a bad time, and may come again."""
    headers = {"Retry-After": str(seconds)}
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, f"{detail}; try again later", headers)


def add_handlers(app: FastAPI) -> None:
    """Let an application answer errors with problem details."""
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(CanonymError, _of_canonym)


async def problem_of(request: Request, error: Exception) -> ProblemResponse:
    """Return the problem that an error of HTTP or of ours is."""
    handle = _of_http if isinstance(error, HTTPException) else _of_canonym
    return await handle(request, error)


async def _of_http(_request: Request, error: Exception) -> ProblemResponse:
    assert isinstance(error, HTTPException)
    members = error.members if isinstance(error, Problem) else {}
    detail = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND and detail == HTTPStatus.NOT_FOUND.phrase:
        detail = "there is nothing at this address; /openapi.json lists what there is"
    if detail == _UNREADABLE:
        detail = "the body is no JSON in UTF-8, or it is nested too deeply"
    return ProblemResponse(error.status_code, detail, error.headers, **members)


async def _of_validation(request: Request, error: Exception) -> ProblemResponse:
    """Say where the input is wrong; what was given is not repeated, for it may be anything."""
    assert isinstance(error, RequestValidationError)
    raised = error.errors()
    if any(
        problem["type"] == "too_long" and problem["ctx"]["max_length"] == MOST for problem in raised
    ):
        most = request.app.state.canonym.settings.max_batch
        return await _of_http(request, too_large("members of a list", most))
    errors = [
        {"where": _text("/".join(map(str, problem["loc"]))), "problem": _problem(problem)}
        for problem in raised[:_MOST_ERRORS]
    ]
    first = f"{errors[0]['where']}: {errors[0]['problem']}" if errors else "it is malformed"
    return ProblemResponse(
        HTTPStatus.UNPROCESSABLE_ENTITY, f"the request cannot be used: {first}", errors=errors
    )


def _problem(error: Mapping[str, Any]) -> str:
    if tuple(error["loc"]) == ("body",):
        return "a JSON object is expected, and the header Content-Type: application/json"
    return _text(error["msg"])


async def _of_canonym(request: Request, error: Exception) -> ProblemResponse:
    """Answer 404 or 422 for input of the caller, and 409 for what has changed or is not learned.

    What is wrong with files here is for the log only: they may be right again, so that it is 503.
    """
    if isinstance(error, NotTrained):
        return ProblemResponse(HTTPStatus.CONFLICT, str(error))
    if isinstance(error, Unreachable):
        await run_in_threadpool(request.app.state.canonym.reviews.lose)
    if isinstance(error, ReadError):
        _log.error("a file or database cannot be used: %s", error)
        what = "the database of reviews" if isinstance(error, Unreachable) else "a file it needs"
        return await _of_http(request, busy(f"the service cannot use {what} now", _RETRY))
    if isinstance(error, InvalidInput):
        status = _STATUS.get(type(error), HTTPStatus.UNPROCESSABLE_ENTITY)
        return ProblemResponse(status, str(error))
    raise error


def _text(value: object) -> str:
    """Return text that UTF-8 can hold."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
