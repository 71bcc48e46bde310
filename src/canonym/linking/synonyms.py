"""Synonyms and forbidden pairs of an index, which people add while it is in use."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from canonym.errors import InvalidInput
from canonym.linking.links import check_options
from canonym.linking.names import CurrentNames
from canonym.terminology import Terminology
from canonym.terminology.overlay import OverlayContent, checked_name, checked_pair, checked_synonym
from canonym.text import STRONG, tokens
from canonym.types import Candidate, Name


class Synonyms:
    """The names that were added to an index, and the concepts that are forbidden for mentions.

    They are kept in ``overlay.db`` in the folder of the index. All linkers that have the folder
    open, in this process and in others, follow between two batches of mentions. Iteration yields
    each `Name` that was added, in the order in which they came.

    Examples
    --------
    >>> from canonym import Concept, Linker, Terminology
    >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
    >>> linker = Linker.build(terminology, encoders=["chargrams"])
    >>> linker.synonyms.add("the big one", "X:1")
    True
    >>> linker.link(["The Big One"])[0].id
    'X:1'
    >>> [name.text for name in linker.synonyms]
    ['the big one']
    """

    def __init__(self, terminology: Terminology, names: CurrentNames) -> None:
        self._terminology = terminology
        self._names = names

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names.overlay.read().synonyms)

    def __len__(self) -> int:
        return len(self._names.overlay.read().synonyms)

    def __repr__(self) -> str:
        content = self._names.overlay.read()
        return f"<Synonyms, {len(content.synonyms)} added, {len(content.forbidden)} forbidden>"

    def __call__(self) -> tuple[Name, ...]:
        """Return the names that were added, as of old; use ``list(linker.synonyms)``."""
        warnings.warn("linker.synonyms() is list(linker.synonyms)", DeprecationWarning, 2)
        return tuple(self)

    @property
    def forbidden(self) -> tuple[tuple[str, str], ...]:
        """The forbidden pairs of a mention and the id of a concept, in order."""
        return self._names.overlay.read().forbidden

    def add(self, name: str, concept_id: str, *, language: str = "en") -> bool:
        """Make a name stand for a concept, from the next batch of mentions on.

        Sieves and encoders find it like a name of the terminology, in every target of a search;
        the means of concepts change with it.

        Parameters
        ----------
        name : str
            The name as it is written.
        concept_id : str
            The concept, by its id or an alternative one.
        language : str
            BCP 47 tag, for filters by language.

        Returns
        -------
        bool
            Whether it is new: neither added before nor a name of the index.

        Raises
        ------
        InvalidInput
            If there is no such concept, or no letter or digit in the name.
        """
        return bool(self.update([Name(name, concept_id, language=language)])[0])

    def update(
        self, names: Iterable[Name] = (), forbidden: Iterable[tuple[str, str]] = ()
    ) -> tuple[int, int]:
        """Add names and forbidden pairs, all of them or none; return how many of each are new.

        Parameters
        ----------
        names : iterable of Name
            As `add` takes them one by one.
        forbidden : iterable of (str, str)
            Pairs of a mention and the id of a concept, as `forbid` takes them.

        Raises
        ------
        InvalidInput
            If a concept is not in the terminology, or a name has no letter or digit.
        """
        checked = [checked_synonym(self._terminology, name) for name in names]
        barred = [checked_pair(self._terminology, pair) for pair in forbidden]
        known: dict[str, set[str]] = {}
        for name in checked:
            if name.concept_id not in known:
                known[name.concept_id] = {
                    *(own.text for own in self._terminology.names(name.concept_id)),
                    *self._names.training_texts(name.concept_id),
                }
        new = tuple(name for name in checked if name.text not in known[name.concept_id])
        pairs = tuple((name.text, name.concept_id) for name in barred)
        written = self._names.overlay.write(OverlayContent(new, pairs))
        return len(written.synonyms), len(written.forbidden)

    def remove(self, name: str, concept_id: str) -> None:
        """Remove a name that was added.

        Raises
        ------
        InvalidInput
            If it was not added: forbid a name that the index has without it.
        """
        synonym = checked_name(self._terminology, name, concept_id)
        if self._names.overlay.remove(OverlayContent(synonyms=(synonym,))).synonyms:
            return
        id_ = synonym.concept_id
        if any(own.text == synonym.text for own in self._terminology.names(id_)):
            whose = f"a name of {id_} in the terminology itself"
        elif synonym.text in self._names.training_texts(id_):
            whose = f"a training mention of {id_} in the index"
        else:
            raise InvalidInput(
                f"{synonym.text!r} was not added to {id_}: nothing is removed; the added names are "
                "listed by list(linker.synonyms) and `canonym synonyms list`"
            )
        raise InvalidInput(
            f"{synonym.text!r} is {whose}, and stays there; so that it does not stand for {id_} "
            f"any more, forbid it: linker.synonyms.forbid({synonym.text!r}, {id_!r}), "
            "`canonym synonyms forbid`"
        )

    def forbid(self, mention: str, concept_id: str) -> bool:
        """Keep a concept from being found for a mention; nothing else changes.

        Parameters
        ----------
        mention : str
            Stands for every mention of the same normal form, and for what preparation makes of
            others: parts of composite mentions, corrected spellings, long forms of abbreviations.
        concept_id : str
            The concept, by its id or an alternative one.

        Returns
        -------
        bool
            Whether it was not forbidden before.

        Raises
        ------
        InvalidInput
            If there is no such concept, or no letter or digit in the mention.
        """
        return bool(self.update(forbidden=[(mention, concept_id)])[1])

    def allow(self, mention: str, concept_id: str) -> None:
        """Undo `forbid`; an error where the pair was not forbidden."""
        name = checked_name(self._terminology, mention, concept_id)
        pair = (name.text, name.concept_id)
        if not self._names.overlay.remove(OverlayContent(forbidden=(pair,))).forbidden:
            raise InvalidInput(
                f"{name.concept_id} is not forbidden for {name.text!r}: nothing is taken back; "
                "`canonym synonyms list` lists the forbidden pairs"
            )


def find_by_words(
    terminology: Terminology, added: Iterable[Name], words: str, *, k: int, types: Sequence[str]
) -> list[Candidate]:
    """Find concepts by words of the names that were added and of others; see `Linker.search`."""
    check_options({"k": k, "types": types})
    asked = {*tokens(words, STRONG)}
    of_types = {type_.casefold() for type_ in types}
    mine = (name for name in added if asked and asked <= {*tokens(name.text, STRONG)})
    hits: dict[str, Candidate] = {}
    for name in chain(mine, terminology.search(words, types=types)):
        concept = terminology.concept(name.concept_id)
        if not of_types or of_types & {type_.casefold() for type_ in concept.types}:
            share = min(len(asked) / max(len({*tokens(name.text, STRONG)}), 1), 1.0)
            facts = (concept.id, concept.label, share, name.text, name.scope, concept.types)
            hits.setdefault(concept.id, Candidate(*facts, sieve="words"))
        if len(hits) == k:
            break
    return [*hits.values()]
