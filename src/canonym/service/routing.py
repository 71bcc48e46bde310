"""Routes that look at the key of a request, and at how many are made, before they read its body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer

from canonym.service.bodies import LARGE, ParsedRequest, give_memory_back
from canonym.service.state import State
from canonym.service.work import in_turn

_BEARER = HTTPBearer(auto_error=False, description="A key made by `canonym serve keys add`.")
_HEADER = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")
_PATIENCE = 30.0  # seconds until another large body is done with
_REST = 2.0  # seconds after which the answer to a large body is likely to be sent
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Need:
    """The scope of the key that a route needs, as a dependency that describes it.

    `Route` calls `check` before a body is read: FastAPI would read it before any dependency.
    """

    def __init__(self, scope: str) -> None:
        self.scope = scope

    async def __call__(
        self,
        _bearer: Annotated[object, Depends(_BEARER)],  # for the description in /openapi.json
        _header: Annotated[object, Depends(_HEADER)],
    ) -> None:
        """Do nothing: it was checked before."""

    async def check(self, request: Request, state: State) -> None:
        """Refuse a request without a key of the scope."""
        await state.access.check(request, self.scope)


def needs(scope: str) -> Any:
    """Return the dependency that refuses requests without a key of a scope."""
    return Depends(Need(scope))


class Route(APIRoute):
    """A route that checks the last `Need` of its dependencies, which is the strictest.

    Few large bodies are parsed and answered at a time.
    """

    def get_route_handler(self) -> _Handler:
        """Return the function that answers a request."""
        handle = super().get_route_handler()
        needed = [
            dependency.dependency
            for dependency in self.dependencies
            if isinstance(dependency.dependency, Need)
        ]
        is_file = bool(self.openapi_extra)  # which another process reads

        async def answer(request: Request) -> Response:
            state: State = request.app.state.canonym
            for need in needed[-1:]:
                await need.check(request, state)
            request = ParsedRequest(request.scope, request.receive)
            if request.method != "POST" or len(await request.body()) <= LARGE:
                return await handle(request)
            refusal = "too many large bodies are being answered"
            try:
                if is_file:
                    return await handle(request)
                async with in_turn(state.large, _PATIENCE, refusal):
                    return await handle(request)
            finally:
                loop = asyncio.get_running_loop()
                loop.call_later(_REST, loop.run_in_executor, None, give_memory_back)

        return answer
