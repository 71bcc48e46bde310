"""gilda: a grounder of our names, which looks variants of a mention up and scores the matches."""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["gilda==1.6.1"]
PACKAGES = ["gilda"]


def build(names: list[tuple[str, str]]) -> Any:
    """Make a term of each name; the first one of a concept is its standard name."""
    from gilda import Grounder, Term
    from gilda.process import normalize

    labels: dict[str, str] = {}
    terms = []
    for text, id_ in names:
        label = labels.setdefault(id_, text)
        database, _, number = id_.partition(":")
        status = "name" if text == label else "synonym"
        normal = normalize(text)
        if normal.strip():
            terms.append(Term(normal, text, database, number, label, status, "terminology"))
    return Grounder(terms)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the matches of each mention, the best score first."""
    return [
        [(one.term.text, f"{one.term.db}:{one.term.id}") for one in index.ground(mention)]
        for mention in mentions
    ]


def annotate(index: Any, text: str) -> list[tuple[int, int, str]]:
    """Return the names in a text by gilda's annotator: start, end and concept."""
    from gilda.ner import annotate as spans

    index.gilda_disambiguators = {}  # its models are a download, and are of other names
    return [
        (span.start, span.end, f"{term.db}:{term.id}")
        for span in spans(text, grounder=index)
        for term in [span.matches[0].term]
    ]
