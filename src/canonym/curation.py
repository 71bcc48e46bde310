"""What an index is taught after it was built: synonyms, and what a mention does not stand for."""

from __future__ import annotations

from collections.abc import Iterable

from canonym.errors import InvalidInput
from canonym.linking.lookup import Lookup
from canonym.linking.overlay import ADDED, OverlayContent
from canonym.terminology import Terminology
from canonym.text import STRONG, normalise
from canonym.types import Name

__all__ = ["Curated"]


class Curated:
    """The part of `canonym.Linker` that changes what is found, without building anything again.

    What is changed is kept in ``overlay.db`` in the folder of the index. All linkers that have the
    folder open, in this process and in others, follow at once: between two batches of mentions.
    """

    terminology: Terminology
    lookup: Lookup

    # --- synonyms -------------------------------------------------------------------------------

    def add_synonym(self, name: str, concept_id: str, *, language: str = "en") -> bool:
        """Make a name stand for a concept, from the next batch of mentions on.

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
            Whether it is new: neither added before nor a name that the index has anyway.

        Raises
        ------
        InvalidInput
            If there is no such concept, or no letter or digit in the name.

        Notes
        -----
        Sieves and encoders find the name as one of the terminology's, in every target of a search;
        the means of concepts are taken with it.

        Examples
        --------
        >>> from canonym import Concept, Linker, Terminology
        >>> terminology = Terminology.build([Concept("X:1", "Myocardial infarction")])
        >>> linker = Linker.build(terminology, encoders=["chargrams"])
        >>> linker.add_synonym("the big one", "X:1")
        True
        >>> linker.link(["The Big One"])[0].id
        'X:1'
        """
        return bool(self.add_synonyms([Name(name, concept_id, language=language)]))

    def add_synonyms(self, names: Iterable[Name]) -> int:
        """Add names as `add_synonym` does, all of them or none; return how many are new.

        Raises
        ------
        InvalidInput
            If a concept is not in the terminology, or a name has no letter or digit.
        """
        return self.teach(names)[0]

    def teach(
        self, names: Iterable[Name] = (), forbidden: Iterable[tuple[str, str]] = ()
    ) -> tuple[int, int]:
        """Add names and forbidden pairs, all of them or none; return how many of each are new.

        Parameters
        ----------
        names : iterable of Name
            As `add_synonym` takes them one by one.
        forbidden : iterable of (str, str)
            Pairs of a mention and the id of a concept, as `forbid` takes them.

        Raises
        ------
        InvalidInput
            If a concept is not in the terminology, or a name has no letter or digit.
        """
        checked = [self.checked_name(name.text, name.concept_id, name.language) for name in names]
        barred = [self.checked_name(mention, id_) for mention, id_ in forbidden]
        has: dict[str, set[str]] = {}
        for name in checked:
            if name.concept_id not in has:
                has[name.concept_id] = {
                    *(known.text for known in self.terminology.names(name.concept_id)),
                    *self.lookup.live.learned_texts(name.concept_id),
                }
        new = tuple(name for name in checked if name.text not in has[name.concept_id])
        pairs = tuple((name.text, name.concept_id) for name in barred)
        written = self.lookup.live.overlay.write(OverlayContent(new, pairs))
        return len(written.synonyms), len(written.forbidden)

    def remove_synonym(self, name: str, concept_id: str) -> None:
        """Remove a name that was added.

        Raises
        ------
        InvalidInput
            If it was not added: a name that the index has by itself is not removed but forbidden.
        """
        given = self.checked_name(name, concept_id)
        if self.lookup.live.overlay.remove(OverlayContent(synonyms=(given,))).synonyms:
            return
        id_ = given.concept_id
        if any(known.text == given.text for known in self.terminology.names(id_)):
            whose = f"a name of {id_} in the terminology itself"
        elif given.text in self.lookup.live.learned_texts(id_):
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

    def synonyms(self) -> tuple[Name, ...]:
        """Return the names that were added, in the order in which they came."""
        return self.lookup.live.overlay.read().synonyms

    # --- forbidden pairs ------------------------------------------------------------------------

    def forbid(self, mention: str, concept_id: str) -> bool:
        """Keep a concept from being found for a mention; all else stays as it is.

        Parameters
        ----------
        mention : str
            Stands for every mention of the same normal form, and for strings of that form that
            preparation makes of others: parts of composite mentions, corrected spellings, the long
            forms of abbreviations.
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
        return bool(self.teach(forbidden=[(mention, concept_id)])[1])

    def allow(self, mention: str, concept_id: str) -> None:
        """Take back what `forbid` did.

        Raises
        ------
        InvalidInput
            If it was not forbidden.
        """
        given = self.checked_name(mention, concept_id)
        pair = (given.text, given.concept_id)
        if not self.lookup.live.overlay.remove(OverlayContent(forbidden=(pair,))).forbidden:
            raise InvalidInput(
                f"{given.concept_id} is not forbidden for {given.text!r}: nothing is taken back; "
                "`canonym synonyms list` lists what is"
            )

    def forbidden(self) -> tuple[tuple[str, str], ...]:
        """Return what was forbidden: pairs of a mention and the id of a concept, in order."""
        return self.lookup.live.overlay.read().forbidden

    def checked_name(self, text: str, concept_id: str, language: str = "en") -> Name:
        """Return a name that can be added, with the concept's own id.

        Raises
        ------
        InvalidInput
            If there is no such concept, or the text has no letter or digit.
        """
        for what, value in (("name", text), ("id", concept_id), ("language", language)):
            if not isinstance(value, str):
                raise InvalidInput(f"the {what} is {value!r:.80}; a string is expected")
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text + language):
            raise InvalidInput(f"the name {text!r:.80} holds a character that is no text")
        if not normalise(text, STRONG):
            raise InvalidInput(f"the name {text!r:.80} has no letter and no digit to look up")
        id_ = self.terminology.concept(concept_id).id
        return Name(text.strip(), id_, language=language, source=ADDED)
