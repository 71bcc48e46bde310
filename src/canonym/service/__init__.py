"""A service over HTTP: linking, reconciliation and a page for reviews (extra ``service``).

``canonym serve`` runs it; `create_app` makes the application for any ASGI server. Nothing is opened
before the application starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from canonym.service.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["Settings", "create_app"]


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the application; indexes are opened when it starts.

    Parameters
    ----------
    settings : Settings, optional
        By default those of the environment, see `Settings.from_environment`.

    Returns
    -------
    fastapi.FastAPI
        An ASGI application.

    Raises
    ------
    InvalidInput
        If a setting cannot be used.
    MissingExtra
        Without the extra ``service``.
    """
    from canonym.errors import require

    require("fastapi", "the service", "service")
    require("prometheus_client", "the service", "service")
    require("sqlalchemy", "the service", "service")
    from canonym.service.app import make_app

    return make_app(Settings.from_environment() if settings is None else settings)
