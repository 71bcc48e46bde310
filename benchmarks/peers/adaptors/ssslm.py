"""ssslm: its matcher of literal mappings, which stands on gilda.

``ssslm.make_grounder`` also wants the stop words of NLTK, which are a download, for finding
mentions in text. The matcher does without them, and looks mentions up in the same way.
"""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["ssslm==0.3.0", "gilda==1.6.1", "more-itertools"]
PACKAGES = ["ssslm", "gilda"]


def build(names: list[tuple[str, str]]) -> Any:
    """Make a literal mapping of each name; the first one of a concept is its label."""
    from curies import NamableReference
    from ssslm import LiteralMapping
    from ssslm.ner import GildaMatcher

    references: dict[str, Any] = {}
    mappings = []
    for text, id_ in names:
        if id_ not in references:
            prefix, _, number = id_.partition(":")
            references[id_] = NamableReference(prefix=prefix, identifier=number, name=text)
        mappings.append(LiteralMapping(reference=references[id_], text=text))
    return GildaMatcher.from_literal_mappings(mappings)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the matches of each mention, as the labels of their concepts."""
    return [
        [(one.name, f"{one.prefix}:{one.identifier}") for one in index.get_matches(mention)]
        for mention in mentions
    ]
