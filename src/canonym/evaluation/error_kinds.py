"""What kind of error a wrong concept is: BioSyn's table of errors, assigned by rule.

BioSyn's authors sorted their errors by hand (§6.2). Here the first rule of these that applies
decides; all of them see the prepared string of the mention, the name that matched, the names of the
right concepts, and the hierarchy where the terminology has one.

==================  ================================================================================
kind                when
==================  ================================================================================
not in terminology  the terminology has none of the right concepts, so nothing could be found
no concept          no concept was given to a mention that has one, or one to a mention that has
                    none
wrong parts         every concept found is right, and yet they are not those of the mention one to
                    one; found by `canonym.evaluation.report.wrong_answers`
contextual entity   the string is the matched name, letter for letter: the same name, another
                    concept
abbreviation        the mention is one short word with two capitals or more, and was not written out
hypernym            the mention is more general than the annotation: the concept found is an
                    ancestor of a right one; or, where the hierarchy is silent, the words of the
                    mention are some of the words of a name of a right concept
hyponym             the mention is more specific: a descendant; or all words of such a name are
                    words of the mention, which has more
incomplete synset   the string shares no word with any name of the right concepts
overlapped entity   the string shares a word with the matched name
other               everything else
==================  ================================================================================

Words are those of BioSyn's normal form, a plural ``s`` taken off. Rules find other numbers than
people do: the annotators saw the text around a mention, the rules see names only.

References
----------
Sung, Jeon, Lee and Kang (2020), Biomedical Entity Representations with Synonym Marginalization,
section 6.2 and table 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from canonym.errors import InvalidInput
from canonym.text import biosyn_normal

__all__ = ["ERROR_KINDS", "PUBLISHED", "ErrorKinds"]

ERROR_KINDS: dict[str, str] = {
    "incomplete synset": "no name of the right concept shares a word with the mention",
    "contextual entity": "the matched name is the mention itself, of another concept",
    "overlapped entity": "the mention shares words with the matched name",
    "abbreviation": "a short form that nothing wrote out",
    "hypernym": "the mention is more general than the annotated concept",
    "hyponym": "the mention is more specific than the annotated concept",
    "other": "no rule applies",
    "no concept": "NIL was said of a mention with a concept, or a concept of one without",
    "wrong parts": "each concept found is right, but parts are missing or too many",
    "not in terminology": "the terminology does not have the right concept",
}
"""Every kind of error and its meaning, in the order of the published table; ours come last."""

PUBLISHED: tuple[str, ...] = tuple(ERROR_KINDS)[:7]
"""The kinds of the published table."""


class ErrorKinds:
    """Sorts wrong answers into kinds.

    Parameters
    ----------
    names : callable
        Takes the id of a concept and returns its names; none for an unknown concept.
    parents : callable, optional
        Takes the id of a concept and returns the ids of its parents. Without it, words decide what
        is more general.

    Examples
    --------
    >>> names = {"C1": ["campomelia cumming type"], "C2": ["campomelic syndrome"]}
    >>> kinds = ErrorKinds(lambda id: names.get(id, ()))
    >>> kinds.kind("campomelia", "campomelic syndrome", "C2", ["C1"])
    'hypernym'
    """

    def __init__(
        self,
        names: Callable[[str], Iterable[str]],
        parents: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        self._names = names
        self._parents = parents
        self._words_of: dict[str, tuple[frozenset[str], ...]] = {}
        self._above: dict[str, frozenset[str]] = {}

    def kind(
        self,
        searched: str,
        matched: str,
        predicted: str | None,
        gold: Iterable[str],
        *,
        mention: str = "",
    ) -> str:
        """Return the kind of one error.

        Parameters
        ----------
        searched : str
            The string that was looked up, after preparation.
        matched : str
            The name that it was nearest to.
        predicted : str or None
            The wrong concept; None is NIL.
        gold : iterable of str
            The right concepts; none for NIL.
        mention : str
            The mention as it stands in the text; by default `searched`.

        Returns
        -------
        str
            A key of `ERROR_KINDS`.

        Raises
        ------
        InvalidInput
            If `predicted` is one of `gold`, which is no error.
        """
        right = sorted(set(gold))
        if predicted in right or (predicted is None and not right):
            raise InvalidInput(f"{predicted!r} is right: there is no error to sort")
        known = [words for id_ in right for words in self._words(id_)]
        if right and not known:
            return "not in terminology"
        if predicted is None or not right:
            return "no concept"
        normal = biosyn_normal(searched)
        if normal == biosyn_normal(matched):
            return "contextual entity"
        mention = mention or searched
        if looks_short(mention) and normal == biosyn_normal(mention):
            return "abbreviation"
        words = _words(normal)
        relation = self._by_hierarchy(predicted, right) or _by_words(words, known)
        if relation:
            return relation
        if not any(words & name for name in known):
            return "incomplete synset"
        if words & _words(biosyn_normal(matched)):
            return "overlapped entity"
        return "other"

    def _words(self, id_: str) -> tuple[frozenset[str], ...]:
        if id_ not in self._words_of:
            found = dict.fromkeys(_words(biosyn_normal(name)) for name in self._names(id_))
            self._words_of[id_] = tuple(found)
        return self._words_of[id_]

    def _by_hierarchy(self, predicted: str, right: Iterable[str]) -> str:
        if any(predicted in self._ancestors(id_) for id_ in right):
            return "hypernym"
        return "hyponym" if self._ancestors(predicted).intersection(right) else ""

    def _ancestors(self, id_: str) -> frozenset[str]:
        if self._parents is None:
            return frozenset()
        if id_ not in self._above:
            found: set[str] = set()
            level = {id_}
            while level:
                level = {parent for child in level for parent in self._parents(child)} - found
                found |= level
            self._above[id_] = frozenset(found - {id_})
        return self._above[id_]


def looks_short(text: str) -> bool:
    """Tell whether a mention is one word of two to six characters, two or more of them capitals."""
    return 2 <= len(text) <= 6 and " " not in text and sum(letter.isupper() for letter in text) >= 2


def _words(normal: str) -> frozenset[str]:
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in normal.split()
    )


def _by_words(words: frozenset[str], names: Iterable[frozenset[str]]) -> str:
    found = set()
    for name in names:
        if words and words < name:
            found.add("hypernym")
        elif name and name < words:
            found.add("hyponym")
    return "hypernym" if "hypernym" in found else "hyponym" if found else ""
