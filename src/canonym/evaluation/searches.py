"""Dictionaries searched as Xu and Bethard do, and dictionaries weighed anew.

A dictionary of `canonym.evaluation.dictionary` ranks names. Here training mentions stand beside the
terminology instead of among its names, and what is looked at is one of `canonym.targets.SEARCHES`;
concepts are ranked, for the mean of a concept's names is no name.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import (
    Dictionary,
    dictionary_records,
    prepared_encoders,
)
from canonym.evaluation.found import FoundConcept, FoundName
from canonym.linker import Linker
from canonym.lookup import Lookup
from canonym.targets import parse_search
from canonym.terminology import Terminology
from canonym.text import biosyn_normal
from canonym.types import Encoder

__all__ = ["TargetDictionary", "build_target_dictionary", "reweighed"]


class TargetDictionary(Dictionary):
    """Finds concepts by a search of one or two steps; it finds no names.

    Parameters
    ----------
    linker : Linker
        Of a terminology in normal form, without sieves, with the search and its training mentions.
    """

    def find(
        self, strings: Iterable[str], k: int
    ) -> dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]:
        """Rank the concepts nearest to each string, best first; the names are left empty."""
        if k < 1:
            raise InvalidInput(f"k is {k}; expected the number of candidates wanted, at least 1")
        wanted = list(dict.fromkeys(strings))
        chosen = self.linker.lookup.filters.choose()
        found = self.linker.lookup.find([text for text in wanted if text], k, chosen)
        return {
            text: (
                (),
                tuple(FoundConcept(c.id, c.name, c.score) for c in found[text].candidates)
                if text
                else (),
            )
            for text in wanted
        }


def build_target_dictionary(
    terminology: Terminology,
    learned: Iterable[tuple[str, str]] = (),
    *,
    search: str,
    encoders: Sequence[str | Encoder] = ("chargrams",),
    weights: Sequence[float] | None = None,
    as_written: bool = False,
) -> TargetDictionary:
    """Index the terminology of an evaluation for a search of `canonym.targets`.

    Parameters
    ----------
    terminology, learned
        As `canonym.evaluation.dictionary.dictionary_records` takes them; what is learned is D.
    search : str
        One of `canonym.targets.SEARCHES`.
    encoders, weights, as_written
        As `canonym.evaluation.dictionary.build_dictionary` takes them.

    Raises
    ------
    InvalidInput
        If there is no such search, or it looks at training mentions and there are none.

    References
    ----------
    Xu and Bethard (2021), section 3.2.
    """
    records = Terminology.build(
        dictionary_records(terminology, normal=str if as_written else biosyn_normal)
    )
    wants_mentions = any("D" in target.part for target in parse_search(search))
    mentions = [(text, id_) for text, id_ in learned if text]
    linker = Linker.build(
        records,
        encoders=prepared_encoders(encoders, as_written=as_written),
        weights=weights,
        mentions=mentions if wants_mentions else None,
        search=search,
        sieves=(),
        spelling=False,
        composites=False,
        min_length=0,
    )
    return TargetDictionary(linker)


def reweighed(dictionary: Dictionary, weights: Sequence[float]) -> Dictionary:
    """Return a dictionary with the same vectors and other weights of its encoders.

    Parameters
    ----------
    dictionary : Dictionary
        Stays as it is.
    weights : sequence of float
        One per encoder, 0 or more, not all of them 0.

    Raises
    ------
    InvalidInput
        If they are not.
    """
    described = dictionary.linker.manifest["encoders"]
    if len(weights) != len(described) or (described and (min(weights) < 0 or not sum(weights))):
        raise InvalidInput(
            f"the weights are {', '.join(f'{w:g}' for w in weights) or 'missing'}; one is expected "
            f"for each of the {len(described)} encoders, 0 or more, and not all of them 0"
        )
    entries = [{**one, "weight": float(w)} for one, w in zip(described, weights, strict=True)]
    linker = copy.copy(dictionary.linker)
    linker.manifest = {**linker.manifest, "encoders": entries}
    linker.lookup = Lookup(linker.folder, linker.manifest, linker.terminology)
    other = copy.copy(dictionary)
    # Its folder goes when the linker it was made for goes.
    other.linker, other.kept = linker, dictionary
    return other
