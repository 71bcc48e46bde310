"""The routes below ``/fhir``, R4, and ``/fhir/R5``; errors are OperationOutcomes.

Statements of what the service can do, which clients of FHIR ask for first, are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from canonym import __version__
from canonym.errors import CanonymError, InvalidInput
from canonym.service.fhir import answers
from canonym.service.fhir.questions import Question, accepts_json, pairs_of
from canonym.service.problems import Problem, problem_of
from canonym.service.routing import Route, needs
from canonym.service.state import Shared

_ISSUES = {
    HTTPStatus.UNAUTHORIZED: "login",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.NOT_FOUND: "not-found",
    HTTPStatus.NOT_ACCEPTABLE: "not-supported",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too-long",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
    HTTPStatus.TOO_MANY_REQUESTS: "throttled",
    HTTPStatus.SERVICE_UNAVAILABLE: "transient",
}
_OPERATIONS = {
    "CodeSystem/$lookup": (answers.lookup, answers.LOOKUP),
    "CodeSystem/$validate-code": (answers.validate_code, answers.VALIDATE),
    "ValueSet/$expand": (answers.expand, answers.EXPAND),
    "ConceptMap/$translate": (answers.translate, answers.TRANSLATE),
}
_RELEASES = {False: "4.0.1", True: "5.0.0"}
_KEPT = ("Retry-After", "WWW-Authenticate")
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class FhirResponse(JSONResponse):
    """A resource as an answer."""

    media_type = "application/fhir+json"


class FhirRoute(Route):
    """A route whose errors are answered with an OperationOutcome."""

    def get_route_handler(self) -> _Handler:
        """Return the function that answers a request."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                _check_format(request)
                return await handle(request)
            except (HTTPException, CanonymError) as error:
                return await _outcome(request, error)
            except RequestValidationError:
                return await _outcome(request, InvalidInput("the request cannot be read"))

        return answer


def _check_format(request: Request) -> None:
    """Refuse to answer in another format than JSON; ``_format`` goes before ``Accept``."""
    accept = ", ".join(request.headers.getlist("accept"))
    if "_format" not in request.query_params and not accepts_json(accept):
        detail = f"the header Accept is {accept!r:.200}; the answer is application/fhir+json alone"
        raise Problem(HTTPStatus.NOT_ACCEPTABLE, f"{detail}: accept that, or */*")


async def _outcome(request: Request, error: Exception) -> Response:
    problem = await problem_of(request, error)
    issue = error.members.get("issue") if isinstance(error, Problem) else None
    outcome = {
        "resourceType": "OperationOutcome",
        "issue": [
            {
                "severity": "error",
                "code": issue or _ISSUES.get(HTTPStatus(problem.status_code), "processing"),
                "diagnostics": problem.detail,
            }
        ],
    }
    kept = {name: problem.headers[name] for name in _KEPT if name in problem.headers}
    return FhirResponse(outcome, problem.status_code, kept)


def make_router(prefix: str, *, r5: bool) -> APIRouter:
    """Return the routes of a version of FHIR below a prefix."""
    router = APIRouter(prefix=prefix, route_class=FhirRoute, include_in_schema=False)

    @router.get("/metadata")
    def metadata(request: Request, state: Shared, mode: str = "full") -> Response:
        address = state.base_url(request) + prefix
        if mode == "terminology":
            return FhirResponse(_terminology_capabilities(state.served, address, r5=r5))
        return FhirResponse(_capabilities(address, r5=r5))

    for path, (operate, known) in _OPERATIONS.items():
        router.add_api_route(
            f"/{path}",
            _handler(operate, known, r5=r5),
            methods=["GET", "POST"],
            dependencies=[needs("read")],
        )
    return router


def _handler(
    operate: Callable[..., answers.Resource], known: frozenset[str], *, r5: bool
) -> Callable[..., Coroutine[Any, Any, Response]]:
    async def answer(request: Request, state: Shared) -> Response:
        question = Question(await _pairs(request), known)
        return FhirResponse(await run_in_threadpool(operate, state.served, question, r5=r5))

    return answer


async def _pairs(request: Request) -> list[tuple[str, Any]]:
    if request.method != "POST":
        return request.query_params.multi_items()
    try:
        return pairs_of(await request.json())
    except (ValueError, RecursionError) as error:
        raise InvalidInput("the body is no JSON in UTF-8, or it is nested too deeply") from error


def _capabilities(address: str, *, r5: bool) -> answers.Resource:
    """Return the CapabilityStatement of the service at an address."""
    operations: dict[str, list[dict[str, str]]] = {}
    for path in _OPERATIONS:
        type_, _, name = path.partition("/$")
        definition = f"http://hl7.org/fhir/OperationDefinition/{type_}-{name}"
        operations.setdefault(type_, []).append({"name": name, "definition": definition})
    resources = [{"type": type_, "operation": named} for type_, named in operations.items()]
    return {
        **_head("CapabilityStatement", address),
        "fhirVersion": _RELEASES[r5],
        "format": ["json"],
        "rest": [{"mode": "server", "resource": resources}],
    }


def _terminology_capabilities(
    indexes: answers.Indexes, address: str, *, r5: bool
) -> answers.Resource:
    """Return the TerminologyCapabilities: code systems with their versions."""
    systems: dict[str, set[str]] = {}
    for served in indexes.values():
        versions = {version for _, version in served.use(lambda o: o.terminology.sources())}
        for system in served.use(lambda o: [*o.systems]):
            systems.setdefault(system, versions - {""})
    parameters = [{"name": name} for name in sorted(answers.EXPAND)]
    return {
        **_head("TerminologyCapabilities", address),
        "codeSystem": [
            {
                "uri": system,
                **({"content": "complete"} if r5 else {}),
                **({"version": [{"code": v} for v in sorted(versions)]} if versions else {}),
            }
            for system, versions in systems.items()
        ],
        "expansion": {"paging": True, "parameter": parameters},
        "translation": {"needsMap": False},
    }


def _head(type_: str, address: str) -> answers.Resource:
    return {
        "resourceType": type_,
        "status": "active",
        "date": datetime.now(UTC).date().isoformat(),
        "kind": "instance",
        "software": {"name": "canonym", "version": __version__},
        "implementation": {"description": "Terminologies served by canonym", "url": address},
    }


nowhere = APIRouter(prefix="/fhir", route_class=FhirRoute, include_in_schema=False)
"""What is at no other address below ``/fhir``."""


@nowhere.api_route("/{path:path}", methods=["GET", "POST", "PUT", "DELETE"])
async def refuse() -> Response:
    """Say what there is."""
    there = ", ".join(["metadata", *_OPERATIONS])
    detail = f"there is nothing at this address; below /fhir (R4) and /fhir/R5 are {there}"
    raise Problem(HTTPStatus.NOT_FOUND, detail)
