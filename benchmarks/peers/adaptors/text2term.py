"""text2term with its default mapper, TF-IDF; its terms stay in memory.

Each call fits the vectors of all names again, as the package does.
"""

from __future__ import annotations

from typing import Any

REQUIREMENTS = ["text2term==4.6.0"]
PACKAGES = ["text2term"]

IRI = "http://purl.obolibrary.org/obo/"


def build(names: list[tuple[str, str]]) -> Any:
    """Make its terms; the first name of a concept is the label."""
    from text2term.term import OntologyTerm
    from text2term.tfidf_mapper import TFIDFMapper

    of_concept: dict[str, list[str]] = {}
    for text, id_ in names:
        of_concept.setdefault(id_, []).append(text)
    terms = {
        id_: OntologyTerm(IRI + id_.replace(":", "_"), labels=[texts[0]], synonyms=texts[1:])
        for id_, texts in of_concept.items()
    }
    return TFIDFMapper(terms)


def candidates(index: Any, mentions: list[str]) -> list[Any]:
    """Return the mappings of each mention above its default score, as the labels of concepts."""
    found: list[Any] = [[] for _ in mentions]
    numbers = [str(number) for number in range(len(mentions))]
    for row in index.map(mentions, numbers).to_dict("records"):
        id_ = row["Mapped Term IRI"].removeprefix(IRI).replace("_", ":", 1)
        found[int(row["Source Term ID"])].append((row["Mapped Term Label"], id_))
    return found
