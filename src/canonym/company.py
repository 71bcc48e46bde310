"""What the mentions of one document say for each other's candidates.

A document is about a few concepts, and names the same one in several ways: *renal damage* beside
*acute kidney injury* is more likely to be that than elsewhere. Less so *attenuated polyposis*
beside *polyposis*: who adds a word may mean a kind of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from canonym.candidate_features import COMPANIES, COMPANY, LONGER, OTHERS, SHORTER, marginals_of
from canonym.text import STRONG, normalise
from canonym.types import Link

__all__ = ["with_company"]


def with_company(links: Sequence[Link]) -> list[Link]:
    """Say of each candidate how many other mentions of the document have it first.

    Parameters
    ----------
    links : sequence of Link
        All of a document, their candidates with `Candidate.near` of
        `canonym.closeness.with_closeness`.

    Returns
    -------
    list of Link
        The same with ``log(1 + n)`` under `canonym.candidate_features.COMPANY`, and of the mentions
        of each of its `canonym.candidate_features.COMPANIES` under that. Mentions of one normal
        form count once, and not for themselves; one that is NIL does not count. What comes first
        goes by all names of a concept. Where a document has no second mention nothing is known, and
        nothing is changed.

    Examples
    --------
    >>> from canonym.types import Candidate, Mention
    >>> def found(text, *ids):
    ...     near = [Candidate(id, id, 0.9 - 0.1 * n, id) for n, id in enumerate(ids)]
    ...     return Link(Mention(text), tuple(near), searched=text)
    >>> links = with_company([found("renal damage", "D1", "D2"), found("kidney injury", "D2")])
    >>> [round(one.near[COMPANY], 2) for one in links[0].candidates]
    [0.0, 0.69]
    """
    parts: dict[str, Link] = {}
    for link in links:
        for part in link.parts or (link,):
            if part.candidates and not part.nil:
                parts.setdefault(normalise(part.searched, STRONG), part)
    if len(parts) < 2:
        return list(links)
    forms: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for form, part in parts.items():
        forms.setdefault(_first(part), []).append((form, frozenset(form.split())))
    return [_told(link, forms) for link in links]


def _first(part: Link) -> str:
    # What is found by the mention itself is not compared with anything: it is first.
    nearness = marginals_of(part)
    return part.candidates[int(np.where(np.isnan(nearness), math.inf, nearness).argmax())].id


def _told(link: Link, forms: dict[str, list[tuple[str, frozenset[str]]]]) -> Link:
    if link.parts:
        return replace(link, parts=tuple(_told(part, forms) for part in link.parts))
    form = normalise(link.searched, STRONG)
    own = frozenset(form.split())
    candidates = []
    for one in link.candidates:
        beside = [words for other, words in forms.get(one.id, ()) if other != form]
        kinds = Counter(
            SHORTER if words < own else LONGER if words > own else OTHERS for words in beside
        )
        near = {what: math.log1p(kinds[what]) for what in COMPANIES}
        candidates.append(replace(one, near={**one.near, COMPANY: math.log1p(len(beside)), **near}))
    return replace(link, candidates=tuple(candidates))
