"""Titles of OMIM, which several dictionaries of diseases take over as they are."""

from __future__ import annotations

from collections.abc import Iterable

from canonym.regex import regex

_INCLUDED = regex(r"(?:(?:[,;(]\s*|\s)INCLUDED|[,;(]\s*included)\b\)?(?=\s*(?:[,;.]|$))")


def title_name(title: str) -> tuple[str, str]:
    """Return a title as a name, with its scope.

    An included title is that of another entity in the same entry: narrower than it, and called
    without the word.

    >>> title_name("BIG TOE SYNDROME"), title_name("SMALL TOE SYNDROME, INCLUDED")
    (('BIG TOE SYNDROME', 'exact'), ('SMALL TOE SYNDROME', 'narrow'))
    >>> title_name("SMALL TOE SYNDROME, INCLUDED; STS"), title_name("Tooth, Included")
    (('SMALL TOE SYNDROME; STS', 'narrow'), ('Tooth, Included', 'exact'))
    """
    name, n_included = _INCLUDED.subn("", title)
    return (name.rstrip(" ,;."), "narrow") if n_included else (title, "exact")


def title_names(titles: Iterable[str], label: str) -> dict[str, str]:
    """Return the names of a concept, but for its label, each with the best of its scopes."""
    names: dict[str, str] = {}
    for name, scope in map(title_name, titles):
        if name != label and names.get(name) != "exact":
            names[name] = scope
    return names
