"""The application: settings in, routes out."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from starlette.routing import BaseRoute

from canonym import __version__
from canonym.service import health, problems, rest
from canonym.service.access import Access
from canonym.service.fhir import routes as fhir
from canonym.service.home import routes as home
from canonym.service.metrics import Metrics
from canonym.service.middleware import Surroundings
from canonym.service.origins import Origins
from canonym.service.reconcile.routes import make_router
from canonym.service.review import routes
from canonym.service.review.jobs import Reviews
from canonym.service.review.uploads import Uploads
from canonym.service.served import Served
from canonym.service.settings import Settings
from canonym.service.state import State
from canonym.service.work import Work

_THREADS = 16  # of routes that wait for a file or a database; each keeps a megabyte
_LARGE_AT_ONCE = 2
_MOST_WAITING = 16  # exports and the like


def make_app(settings: Settings) -> FastAPI:
    """Make the application; its indexes are opened when it starts."""
    metrics = Metrics()
    served = {
        name: Served(name, folder, second_look=settings.second_look)
        for name, folder in settings.folders().items()
    }
    state = State(
        settings,
        served,
        metrics,
        Work(settings.threads, settings.queue, metrics.count_open),
        Access(settings.keys, settings.rate_limit),
        Reviews(settings.reviews, served),
        asyncio.Semaphore(_LARGE_AT_ONCE),
        Uploads(),
        Work(1, _MOST_WAITING, lambda _: None, "exports"),
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        current_default_thread_limiter().total_tokens = _THREADS
        for index in served.values():
            index.open()
        state.reviews.resume()
        yield
        state.reviews.close()
        state.work.close()
        state.whole.close()
        state.access.close()
        metrics.close()

    app = FastAPI(
        title="canonym",
        version=__version__,
        summary="Find the concept a biomedical name stands for.",
        lifespan=lifespan,
        # Their pages would fetch scripts from another host.
        docs_url=None,
        redoc_url=None,
        # A redirect would be to the host that the client names.
        redirect_slashes=False,
        routes=_routes(),
    )
    app.state.canonym = state
    problems.add_handlers(app)
    app.add_middleware(Surroundings, metrics=metrics, max_body=settings.max_body)
    app.add_middleware(Origins, settings=settings)
    return app


@functools.cache
def _routes() -> list[BaseRoute]:
    """Return all routes, which hold no state.

    They are handed over as they are: a router that is included is read once more by each
    application, with its first request, which takes longer than all the rest of its start.
    """
    routers = (
        health.router,
        rest.router,
        routes.router,
        fhir.make_router("/fhir", r5=False),
        fhir.make_router("/fhir/R5", r5=True),
        fhir.nowhere,
        home.router,
        make_router("/reconcile", described=False),
        make_router("/reconcile/{terminology}", described=True),
    )
    return [route for router in routers for route in router.routes]
