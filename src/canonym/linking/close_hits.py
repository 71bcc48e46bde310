"""The nearest concepts of a string, put in order by their letters too."""

from __future__ import annotations

from collections.abc import Container

from canonym.linking.names import Names
from canonym.linking.search import ConceptHit, ConceptTable, at_most
from canonym.ranking.letters import gain, most_gain
from canonym.text.memo import strong_forms

LOOKED_AT = 8
"""Nearest concepts that are found at least and looked at most, so that k changes no order."""


def by_letters(
    nearest: dict[str, list[ConceptHit]],
    known: Container[str],
    names: Names,
    concepts: ConceptTable,
) -> None:
    """Put the hits of strings that no sieve knows in order by their letters too.

    Only hits nearly as near as the first are looked at; see `canonym.ranking.letters`. Scores fall:
    a hit that goes behind another gets at most its score.
    """
    strings = [one for one, hits in nearest.items() if len(hits) > 1 and one not in known]
    near: list[tuple[str, str, list[ConceptHit]]] = []
    for string, form in zip(strings, strong_forms(strings), strict=True):
        hits = nearest[string]
        least = hits[0].score - most_gain(form)
        close = [hit for hit in hits[:LOOKED_AT] if hit.score > least]
        if len(close) > 1 and all(hit.row >= 0 for hit in close):  # no means of names
            near.append((string, form, close))
    for string, form, close in near:
        texts = [
            (concepts if hit.row < names.n_base else names).name(hit.row).text for hit in close
        ]
        gains = [gain(form, text) for text in strong_forms(texts)]
        if any(gains):
            rest = nearest[string][len(close) :]
            nearest[string] = _ordered(close, gains, rest)


def _ordered(
    close: list[ConceptHit], gains: list[float], rest: list[ConceptHit]
) -> list[ConceptHit]:
    order = sorted(range(len(close)), key=lambda at: -(close[at].score + gains[at]))
    ordered: list[ConceptHit] = []
    for hit in (*(close[at] for at in order), *rest):
        ordered.append(at_most(hit, ordered[-1].score) if ordered else hit)
    return ordered
