"""Synonyms and forbidden pairs written to the overlay of an index, all of a call or none."""

from __future__ import annotations

from collections.abc import Iterable

from canonym.errors import InvalidInput
from canonym.linking.names import CurrentNames
from canonym.linking.overlay import (
    OverlayContent,
    checked_name,
    checked_pair,
    checked_synonym,
)
from canonym.terminology import Terminology
from canonym.types import Name


def teach(
    terminology: Terminology,
    names: CurrentNames,
    synonyms: Iterable[Name],
    forbidden: Iterable[tuple[str, str]],
) -> tuple[int, int]:
    """Add names and forbidden pairs; see `canonym.Linker.teach`."""
    checked = [checked_synonym(terminology, name) for name in synonyms]
    barred = [checked_pair(terminology, pair) for pair in forbidden]
    known: dict[str, set[str]] = {}
    for name in checked:
        if name.concept_id not in known:
            known[name.concept_id] = {
                *(one.text for one in terminology.names(name.concept_id)),
                *names.training_texts(name.concept_id),
            }
    new = tuple(name for name in checked if name.text not in known[name.concept_id])
    pairs = tuple((name.text, name.concept_id) for name in barred)
    written = names.overlay.write(OverlayContent(new, pairs))
    return len(written.synonyms), len(written.forbidden)


def remove_synonym(
    terminology: Terminology, names: CurrentNames, name: str, concept_id: str
) -> None:
    """Remove a name that was added; see `canonym.Linker.remove_synonym`."""
    given = checked_name(terminology, name, concept_id)
    if names.overlay.remove(OverlayContent(synonyms=(given,))).synonyms:
        return
    id_ = given.concept_id
    if any(known.text == given.text for known in terminology.names(id_)):
        whose = f"a name of {id_} in the terminology itself"
    elif given.text in names.training_texts(id_):
        whose = f"a training mention of {id_} in the index"
    else:
        raise InvalidInput(
            f"{given.text!r} was not added to {id_}: nothing is removed; the added names are "
            "listed by Linker.synonyms() and `canonym synonyms list`"
        )
    raise InvalidInput(
        f"{given.text!r} is {whose}, and stays there; so that it does not stand for {id_} any "
        f"more, forbid it: Linker.forbid({given.text!r}, {id_!r}), `canonym synonyms forbid`"
    )


def allow(terminology: Terminology, names: CurrentNames, mention: str, concept_id: str) -> None:
    """Undo a forbidden pair; see `canonym.Linker.allow`."""
    given = checked_name(terminology, mention, concept_id)
    pair = (given.text, given.concept_id)
    if not names.overlay.remove(OverlayContent(forbidden=(pair,))).forbidden:
        raise InvalidInput(
            f"{given.concept_id} is not forbidden for {given.text!r}: nothing is taken back; "
            "`canonym synonyms list` lists the forbidden pairs"
        )
