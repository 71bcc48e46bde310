"""Dictionaries of published tables: other targets of a search, and other weights."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence

from canonym.errors import InvalidInput
from canonym.evaluation.dictionary import (
    Dictionary,
    FoundConcept,
    FoundName,
    dictionary_records,
    distinct_strings,
    prepared_encoders,
)
from canonym.linker import Linker
from canonym.linking.pipeline import Pipeline
from canonym.linking.settings import parse_search
from canonym.mentions.prepared import How
from canonym.terminology import Terminology
from canonym.text import biosyn_normal
from canonym.types import Encoder


class TargetDictionary(Dictionary):
    """Finds concepts by a search of `canonym.linking.settings`, but no names.

    Training mentions stand beside the terminology here, not among its names. The mean of the names
    of a concept is no name, so only concepts are ranked.
    """

    def find(
        self, strings: Iterable[str], k: int
    ) -> dict[str, tuple[tuple[FoundName, ...], tuple[FoundConcept, ...]]]:
        """Rank the concepts nearest to each string, best first; the names are left empty."""
        distinct = distinct_strings(strings, k)
        pipeline = self.linker.pipeline
        batch = pipeline.batch(pipeline.filters.choose())
        hits = pipeline.find([(text, How.SEARCHED) for text in distinct if text], k, batch)
        return {
            text: (
                (),
                tuple(
                    FoundConcept(batch.concepts[hit.concept].id, batch.name(hit).text, hit.score)
                    for hit in hits[text, How.SEARCHED].hits
                )
                if text
                else (),
            )
            for text in distinct
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
    """Index the terminology of an evaluation for a search of `canonym.linking.settings`.

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
    """Return a dictionary with the same vectors and other weights of its encoders."""
    described = dictionary.linker.manifest["encoders"]
    if len(weights) != len(described) or (described and (min(weights) < 0 or not sum(weights))):
        raise InvalidInput(
            f"the weights are {', '.join(f'{w:g}' for w in weights) or 'missing'}; one is expected "
            f"for each of the {len(described)} encoders, 0 or more, and not all of them 0"
        )
    entries = [
        {**encoder, "weight": float(w)} for encoder, w in zip(described, weights, strict=True)
    ]
    linker = copy.copy(dictionary.linker)
    linker.manifest = {**linker.manifest, "encoders": entries}
    linker.pipeline = Pipeline.open(linker.folder, linker.manifest, linker.terminology)
    other = copy.copy(dictionary)
    # The folder goes with the linker it was made for.
    other.linker, other.kept = linker, dictionary
    return other
