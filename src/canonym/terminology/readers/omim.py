"""Titles of OMIM, which several dictionaries of diseases take over as they are."""

from __future__ import annotations

import re

_INCLUDED = re.compile(r"(?:(?:[,;(]\s*|\s)INCLUDED|[,;(]\s*included)\b\)?\s*(?:[,;.].*)?$")


def title_scope(title: str) -> str:
    """Return the scope of a title: an included one is that of another entity in the same entry.

    >>> title_scope("BIG TOE SYNDROME"), title_scope("SMALL TOE SYNDROME, INCLUDED")
    ('exact', 'related')
    >>> title_scope("SMALL TOE SYNDROME, INCLUDED; STS"), title_scope("Tooth, Included")
    ('related', 'exact')
    """
    return "related" if _INCLUDED.search(title) else "exact"
