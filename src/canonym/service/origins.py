"""Pages in a browser that may ask a service without keys, and the names it may be asked under."""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from canonym.service.problems import ProblemResponse
from canonym.service.settings import Settings, is_local

REFUSED = "canonym.refused"
"""Where a request has the answer that refuses it."""

_OPENREFINE = "/reconcile/"
_OWN = ("same-origin", "none")  # what a browser says of our pages, and of an address that is typed
_FRAMES = "'self' http://localhost:* http://127.0.0.1:*"


class Origins(CORSMiddleware):
    """Lets pages of all origins ask where keys decide who may; without keys, refuses most.

    Without keys any page in a browser of this machine could read what is served. One could do so
    under a name of its own as well, which it lets stand for 127.0.0.1.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(
            app,
            allow_origins=["*"],
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["X-Request-ID", "Retry-After", "Content-Language"],
        )
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; one that is refused is answered inside, where the log is."""
        if scope["type"] != "http" or is_open(self._settings):
            await super().__call__(scope, receive, send)
            return
        allowed = self._settings.allow_origin
        if problem := foreign(Headers(scope=scope), self._settings, scope["path"], allowed):
            advice = "start it with --allow-origin, --public-url or --keys if that is wanted"
            refusal = ProblemResponse(HTTPStatus.FORBIDDEN, f"{problem}; {advice}")
            await self.app({**scope, REFUSED: refusal}, receive, send)
            return
        await super().__call__(scope, receive, send)


def is_open(settings: Settings) -> bool:
    """Tell whether pages of all origins may ask: keys decide, or somebody says so."""
    return bool(settings.keys) or "*" in settings.allow_origin


def frames(settings: Settings) -> str:
    """Return what a policy says of the pages that may frame a preview, as OpenRefine does."""
    return "*" if is_open(settings) else " ".join([_FRAMES, *settings.allow_origin])


def foreign(
    headers: Headers, settings: Settings, path: str = "", allowed: Collection[str] = ()
) -> str:
    """Return why a request is that of a page that may not ask, or nothing.

    The host has to be this machine, or that of the public address. The origin has to be the same
    as the host, or `allowed`. OpenRefine may reconcile: it is a page of this machine, on any port.
    """
    public = {_split(settings.public_url).netloc} - {""}
    host = headers.get("host", "localhost")
    if host not in public and not is_local(_split(f"//{host}").hostname or ""):
        return f"the service of this machine is called localhost, and not {host!r:.100}"
    # A form of a page that sends no address has the origin null: the browser says more here.
    site, origin = headers.get("sec-fetch-site", ""), headers.get("origin")
    if site in _OWN:
        return ""
    reconciles = f"{path}/".startswith(_OPENREFINE)
    if origin is not None:
        of_page = _split(origin)
        near = reconciles and is_local(of_page.hostname or "")
        if near or of_page.netloc in {host, *public} or origin.lower() in allowed:
            return ""
        return f"the service is not for pages of {origin!r:.100}"
    # Whoever opens a link may see where it leads; a script or a picture of another page may not.
    shown = ("document", "iframe") if reconciles else ("document",)
    opened = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in shown
    return "" if opened or not site else "the service is not for parts of other pages"


def _split(address: str) -> SplitResult:
    """Return the parts of an address, all empty where it is none."""
    try:
        parts = urlsplit(address)
        return parts if parts.port != 0 else urlsplit("")  # it has a port that is a number
    except ValueError:
        return urlsplit("")
