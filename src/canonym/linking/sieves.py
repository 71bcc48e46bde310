"""Sieves: strings looked up exactly, in one normal form after the other."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from canonym.linking.filters import Filter
from canonym.linking.hits import ConceptTable
from canonym.linking.names import Names
from canonym.linking.settings import Sieve
from canonym.mentions.contrasts import differs_in_meaning, sentence_case
from canonym.ranking.pooling import TieRule
from canonym.text import PLAIN, normalise
from canonym.text.memo import MemoNormaliser
from canonym.text.qualifiers import bare_name
from canonym.types import SCOPES, Int32Array

Sifted = Mapping[str, tuple[Sieve, list[tuple[int, int]]]]
"""The sieve and the (concept, row) pairs of each string that a sieve knows."""

_LABEL = SCOPES.index("label")


def sift(
    plain: Mapping[str, str],
    sieves: Sequence[Sieve],
    names: Names,
    filters: Sequence[Filter],
    concepts: ConceptTable,
) -> dict[str, tuple[Sieve, list[tuple[int, int]]]]:
    """Look strings up in one sieve after the other; the first that knows a string decides.

    Strings come with their `PLAIN` forms. Returns the sieve and the (concept, row) pairs of each
    string that a sieve knows. Of several filters, one per step of the search, the first that leaves
    any row is used. A name that differs by a sign or a negation is another name. Of names that are
    equal in normal form, those written with the same capitals go first; those of the first letter
    of a word count for less than scopes: *cold* is "Cold" as well.

    A synonym yields to a label of the next sieve, unless the labels of its concepts are plurals.
    UBERON has *lungs* for *pair of lungs*, and the lung is meant. Where labels are plurals, as in
    MeSH, *acetic acids* are a class.
    """
    sifted: dict[str, tuple[Sieve, list[tuple[int, int]]]] = {}
    odd: set[str] = set()
    known: dict[str, str] = {}  # forms of the strings that the sieve before was asked for
    for number, sieve in enumerate(sieves):
        left = [string for string in plain if string not in sifted or string in odd]
        if number and sieve.steps == sieves[number - 1].steps:
            forms = [known[string] for string in left]
        else:
            forms = _normaliser(sieve.steps)(left, [plain[string] for string in left])
            known = dict(zip(left, forms, strict=True))
        rows_of = names.find(number, forms)
        texts = _Texts(names, concepts, rows_of)
        for string, form, rows in zip(left, forms, rows_of, strict=True):
            if string in odd and form == plain[string]:
                continue
            for step_filter in filters if len(rows) else ():
                allowed = rows if step_filter.allowed is None else rows[step_filter.allowed[rows]]
                if string in odd:
                    allowed = allowed[step_filter.ties.scope_of_row[allowed] == _LABEL]
                allowed, writing = texts.of_one_meaning(string, allowed)
                if len(allowed) and (
                    string not in odd or _are_singular(sifted[string][1], concepts)
                ):
                    pairs = concepts_of(allowed, step_filter.ties, writing)
                    if sieve.bare and len(pairs) > 1:
                        pairs = _barest(pairs, step_filter.ties, names, concepts)
                    sifted[string] = (sieve, pairs)
                    break
        odd = set()
        if number == 0:
            scopes = filters[0].ties.scope_of_row
            odd = {
                string for string, (_, pairs) in sifted.items() if _are_odd(pairs, names, scopes)
            }
    return sifted


class _Texts:
    """The names of rows that a sieve returned for strings, read in one query."""

    def __init__(self, names: Names, concepts: ConceptTable, rows_of: Sequence[Int32Array]) -> None:
        self._names, self._concepts = names, concepts
        rows = np.concatenate(rows_of) if rows_of else np.empty(0, dtype=np.int32)
        concepts.read_names(rows[rows < names.n_base].tolist())

    def of_one_meaning(
        self, string: str, rows: Int32Array
    ) -> tuple[Int32Array, npt.NDArray[np.int8]]:
        """Return the rows whose names mean what a string does, and how they are written.

        ``(n, 2)``: whether case differs by more than the first letter of words, and whether the
        name is not equal as it is written; see `TieRule.order`.
        """
        texts = [self._text(row) for row in rows.tolist()]
        meant = np.array(
            [text == string or not differs_in_meaning(string, text) for text in texts], np.bool_
        )
        plain = sentence_case(string)
        writing = [
            (text != string and sentence_case(text) != plain, text != string) for text in texts
        ]
        return rows[meant], np.array(writing, dtype=np.int8).reshape(-1, 2)[meant]

    def _text(self, row: int) -> str:
        whole = self._concepts if row < self._names.n_base else self._names
        return whole.name(row).text


def _barest(
    pairs: Sequence[tuple[int, int]], ties: TieRule, names: Names, concepts: ConceptTable
) -> list[tuple[int, int]]:
    """Order the concepts of one bare name.

    "X, unspecified" goes before "X, not elsewhere classified", a label before other names, and the
    shorter name before the longer. Equal names are in the order of ties.
    """

    def key(pair: tuple[int, int]) -> tuple[bool, int, int, int]:
        row = pair[1]
        text = (concepts.name(row) if row < names.n_base else names.name(row)).text
        bare = bare_name(text)
        narrower = bare is not None and bare.is_narrower
        return narrower, int(ties.scope_of_row[row]), len(text.split()), len(text)

    return sorted(pairs, key=key)


def _are_odd(pairs: Sequence[tuple[int, int]], names: Names, scopes: npt.NDArray[np.int8]) -> bool:
    """Tell whether rows are mere synonyms in the terminology, which another label may overrule."""
    return all(row < names.n_base and scopes[row] != _LABEL for _, row in pairs)


def _are_singular(pairs: Sequence[tuple[int, int]], concepts: ConceptTable) -> bool:
    """Tell whether the labels of all concepts are in the singular, as *pair of lungs* is."""
    labels = [normalise(concepts[concept].label).split(" of ")[0] for concept, _ in pairs]
    return list(_normaliser((*PLAIN, "plural"))(labels)) == labels


_normaliser = functools.cache(MemoNormaliser)


def concepts_of(
    rows: Int32Array, ties: TieRule, writing: npt.NDArray[np.int8] | None = None
) -> list[tuple[int, int]]:
    """Return the concepts of equal rows in the order of ties, with the best row of each.

    `writing` is how near each name is to a string as it is written, see `TieRule.order`.
    """
    best: dict[int, int] = {}
    for row in rows[ties.order(rows, writing=writing)].tolist():
        best.setdefault(int(ties.concept_of_row[row]), row)
    return list(best.items())
