"""HTML about concepts: cards, and pages that hold one."""

from __future__ import annotations

import secrets

from fastapi.responses import HTMLResponse

from canonym.service.html import environment
from canonym.service.served import Opened

_FEW = 8


def card(opened: Opened, id: str, *, whole: bool = False) -> str:
    """Return HTML about a concept: the first few names and neighbours, or all of them."""
    concept, terminology = opened.terminology.concept(id), opened.terminology
    most = None if whole else _FEW
    names = dict.fromkeys(name.text for name in opened.names(id) if name.text != concept.label)
    lists = {
        "Also called": list(names),
        "Parents": [opened.label(parent) for parent in terminology.parents(id)],
        "Children": [opened.label(child) for child in terminology.children(id)],
        "Other ids": [xref.target for xref in terminology.xrefs(id)],
    }
    return _render(
        "card.html",
        concept=concept,
        lists={title: (items[:most], len(items)) for title, items in lists.items() if items},
    )


def line(name: str, description: str) -> str:
    """Return a line of HTML about a type or property."""
    return _render("line.html", name=name, description=description)


def as_page(inner: str, *, frames: str = "'none'") -> HTMLResponse:
    """Return a page with some HTML of ours; nothing runs in it, and nothing is fetched."""
    nonce = secrets.token_urlsafe(16)
    policy = f"default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'"
    return HTMLResponse(
        _render("page.html", inner=inner, nonce=nonce),
        headers={"Content-Security-Policy": f"{policy}; frame-ancestors {frames}"},
    )


def _render(template: str, **values: object) -> str:
    return environment().get_template(template).render(**values)
