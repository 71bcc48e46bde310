"""Decisions of reviewers taken over into an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from canonym.errors import CanonymError, ReadError
from canonym.linker import Linker
from canonym.linking.overlay import checked_name
from canonym.linking.reviews import Review, ReviewFile
from canonym.terminology.ids import ConceptIds
from canonym.text import STRONG, normalise
from canonym.types import Name


class Taken(NamedTuple):
    """What was taken over.

    Names and forbidden pairs, with how many are new; the number of rows passed over by reason; and
    of the names accepted those for which another concept is still found.
    """

    names: tuple[Name, ...]
    new_names: int
    forbidden: tuple[tuple[str, str], ...]
    new_forbidden: int
    passed_over: dict[str, int]
    without_effect: tuple[tuple[str, str, str], ...]


def take_reviews(
    linker: Linker,
    file: ReviewFile,
    *,
    language: str = "en",
    skip_unknown: bool = False,
    dry_run: bool = False,
) -> Taken:
    """Add accepted names and forbidden pairs to an index, all of them or none.

    Raises
    ------
    ReadError
        If a reviewed id is unknown (unless `skip_unknown`), a text cannot be looked up, or a text
        is accepted and rejected for one concept.
    """
    passed_over: Counter[str] = Counter()
    decided: dict[tuple[str, str], tuple[Review, Name]] = {}
    known = ConceptIds(linker.terminology)
    barred = {(normalise(text, STRONG), id_) for text, id_ in linker.synonyms.forbidden}
    for review in file.reviews:
        reason = review.reason
        id_ = None if reason else known.find(review.id)
        if id_ is None:
            if not reason and not skip_unknown:
                raise _unknown(linker, file, known)
            passed_over[reason or "the concept is not in the terminology"] += 1
            continue
        try:
            name = checked_name(linker.terminology, review.text, id_, language)
        except CanonymError as error:
            raise ReadError(file.path, str(error), line=review.line or None) from error
        key = (normalise(name.text, STRONG), id_)
        earlier, _ = decided.setdefault(key, (review, name))
        if earlier.accepted != review.accepted:
            raise ReadError(
                file.path,
                f"{review.text!r} is accepted and rejected for {review.id} (the other row is in "
                f"line {earlier.line}): keep one of the two",
                line=review.line or None,
            )
        if review.accepted and key in barred:
            passed_over["the pair is forbidden (`canonym synonyms allow` allows it again)"] += 1
            del decided[key]
    names = tuple(name for review, name in decided.values() if review.accepted)
    pairs = tuple(
        (name.text, name.concept_id) for review, name in decided.values() if not review.accepted
    )
    if dry_run:
        new_names = sum(1 for name in names if name.text not in _texts(linker, name.concept_id))
        new_pairs = sum((normalise(text, STRONG), id_) not in barred for text, id_ in pairs)
        return Taken(names, new_names, pairs, new_pairs, dict(passed_over), ())
    new_names, new_pairs = linker.synonyms.update(names, pairs)
    notes = {(name.text, name.concept_id): review.note for review, name in decided.values()}
    linker.pipeline.names.overlay.note(notes)
    left = tuple(_without_effect(linker, names))
    return Taken(names, new_names, pairs, new_pairs, dict(passed_over), left)


def _texts(linker: Linker, id_: str) -> set[str]:
    added = {name.text for name in linker.synonyms if name.concept_id == id_}
    return added | {name.text for name in linker.terminology.names(id_)}


def _unknown(linker: Linker, file: ReviewFile, known: ConceptIds) -> ReadError:
    wanted = [review for review in file.reviews if not review.reason]
    missing = [review for review in wanted if known.find(review.id) is None]
    example = linker.terminology.concepts_at([0])[0].id
    other = (
        "the file is of another terminology"
        if len(missing) == len(wanted)
        else "pass over such rows with skip_unknown=True"
    )
    return ReadError(
        file.path,
        f"{missing[0].id!r} is no concept of {linker.folder}, whose ids look like {example!r}; so "
        f"it is in {len(missing):,} of {len(wanted):,} reviewed rows: {other}",
        line=missing[0].line or None,
    )


def _without_effect(linker: Linker, names: Sequence[Name]) -> Iterator[tuple[str, str, str]]:
    """Yield accepted texts, their concept, and what is found for them instead."""
    for name, link in zip(names, linker.link([name.text for name in names]), strict=True):
        if link.ids != (name.concept_id,):
            yield name.text, name.concept_id, "|".join(link.ids) or "NIL"
