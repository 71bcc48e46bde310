"""From a mention to the strings to look up: the steps of this package in order.

Abbreviations come first, because a part of a composite may be one. Trial fields come before
composites, because "Drug A 5 mg + placebo" is a list only once doses and arms are gone. Shorthand
has slashes that part nothing, and is written out before anything is taken apart. Spelling comes
last, on the strings to look up, and so do clinicians' names of findings.

A cell with semicolons or numbers is a list, whose items go through all of this one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.mentions.abbreviations import expand
from canonym.mentions.composites import split_composite
from canonym.mentions.findings import finding_name
from canonym.mentions.lists import (
    Items,
    Listing,
    divided,
    items_of,
    listing_of,
    may_hold_joints,
    without_number,
)
from canonym.mentions.shorthand import write_out
from canonym.mentions.spelling import Speller
from canonym.types import Step

LONGEST = 1_000
"""Characters of a mention that are read; a `Step` records that a longer one was cut."""

_NONE: Mapping[str, str] = {}


class Part(NamedTuple):
    """A string to look up.

    `text` is tried first and `alternatives` after it (a corrected spelling), then `glosses`, by
    which the document explains it. Other writings count only where a sieve knows them: `rewrites`
    in their order, such as what clinicians call a finding, and `guesses` at a misspelt text.
    `steps` tell how the mention became `text`; each alternative and rewrite is the step to it.
    """

    text: str
    alternatives: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    glosses: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    rewrites: tuple[Step, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every string that is looked up and searched."""
        return (self.text, *(step.after for step in self.alternatives), *self.glosses)

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Every string that is looked up and not searched."""
        return (*(step.after for step in self.rewrites), *self.guesses)


class Prepared(NamedTuple):
    """A mention ready to be looked up.

    `whole` is the mention in one piece; `parts` are its pieces if it looks composite, else the
    whole alone. The look-up decides whether to split.

    `items` are what the mention lists between separators that stand in no name. With `is_cut` they
    are the answer whatever is found, with `is_sure` where no sieve knows the whole. `listing` is
    what it may list between others, and `names` its candidates, looked up in the sieves alone. The
    look-up takes `listed` from them; with `is_near` not all of these are names. `text` is the
    mention as it stands in its list.
    """

    whole: Part
    parts: tuple[Part, ...]
    items: tuple[Prepared, ...] = ()
    is_sure: bool = False
    is_cut: bool = False
    listing: Listing | None = None
    names: Mapping[str, Part] = {}  # never changed
    listed: tuple[Part, ...] = ()
    is_near: bool = False
    text: str = ""

    @property
    def may_list(self) -> bool:
        """Whether the look-up has to tell what the mention lists."""
        return bool(self.items) or self.listing is not None


@dataclass(frozen=True)
class Preparation:
    """Prepares mentions, always the same way.

    `speller` corrects words that the terminology does not know; `composites` gives composite
    mentions parts; `trials` cleans off doses, forms and arms, as for fields of clinical trials.
    """

    speller: Speller | None = None
    composites: bool = True
    trials: bool = False

    def prepare(
        self,
        text: str,
        *,
        abbreviations: Mapping[str, str] = _NONE,
        gloss: str = "",
        separator: str | None = None,
    ) -> Prepared:
        """Prepare one mention, cut at `LONGEST` before abbreviations are written out.

        `abbreviations` are the short forms of the document and their long forms, `gloss` is its
        explanation of a mention in one piece (`canonym.mentions.glosses`). A `separator` parts what
        the mention lists, in the place of semicolons, line ends, numbers and bullets.

        >>> prepared = Preparation().prepare("BC and ovarian cancer", abbreviations={"BC": "BRCA"})
        >>> prepared.whole.text
        'BRCA and ovarian cancer'
        """
        steps: tuple[Step, ...] = ()
        if len(text) > LONGEST:
            steps = (Step("cut", f"{len(text):,} characters", f"{LONGEST:,} characters"),)
            text = text[:LONGEST]
        return self._prepare_cell(text, steps, abbreviations, gloss, separator)

    def _prepare_cell(
        self,
        text: str,
        steps: tuple[Step, ...],
        abbreviations: Mapping[str, str],
        gloss: str,
        separator: str | None,
    ) -> Prepared:
        """Prepare a mention, and its items where it is a list."""
        items = self._items(text, separator)
        if len(items.texts) == 1:
            return self._prepare_one(items.texts[0], steps, abbreviations, gloss)
        if items.is_sure:
            part = self._spelled(text, steps)
            whole = Prepared(part, (part,))
        else:
            whole = self._prepare_one(text, steps, abbreviations)
        steps = (*steps, Step("list", text, " | ".join(items.texts)))
        listed = tuple(
            self._prepare_cell(item, steps, abbreviations, "", None)
            if separator is None
            else self._prepare_one(item, steps, abbreviations)
            for item in items.texts
        )
        is_cut = separator is not None
        return whole._replace(items=listed, is_sure=items.is_sure, is_cut=is_cut)

    def _items(self, text: str, separator: str | None) -> Items:
        """Return what a cell lists; the text alone where it is no list."""
        if separator is not None:
            return Items(divided(text, separator) or (text,), True)
        return (items_of(text) if self.composites else None) or Items((text,), True)

    def _prepare_one(
        self,
        given: str,
        steps: tuple[Step, ...],
        abbreviations: Mapping[str, str],
        gloss: str = "",
    ) -> Prepared:
        """Prepare a mention that no separator of its own divides."""
        may_list = self.composites
        text = expand(given, abbreviations) if abbreviations else given
        if text != given:
            steps = (*steps, Step("abbreviation", given, text))
            may_list = may_list and may_hold_joints(given)  # a long form is one thing
        pieces = self._trial_pieces(text)
        if pieces != (text,):
            steps = (*steps, Step("trial field", text, " | ".join(pieces)))
        if len(pieces) > 1:
            return self._composite(self._spelled(text, steps), pieces, given)
        (as_written,) = pieces
        text = write_out(as_written)
        rewrites: tuple[Step, ...] = ()
        if text != as_written:
            steps = (*steps, Step("shorthand", as_written, text))
            rewrites = (Step("as written", text, as_written),)
        listing = listing_of(text) if may_list else None
        whole = self._spelled(text, steps, (*rewrites, *_other_forms(text, listing)))
        pieces = split_composite(text) if self.composites else (text,)
        if len(pieces) > 1:
            prepared = self._composite(whole, pieces, given)
        else:
            if gloss and (explained := expand(gloss[:LONGEST], abbreviations)) != text:
                whole = whole._replace(glosses=(explained,))
            prepared = Prepared(whole, (whole,), text=given)
        return prepared if listing is None else self._with_names(prepared, listing)

    def _trial_pieces(self, text: str) -> tuple[str, ...]:
        if not self.trials:
            return (text,)
        from canonym.mentions.trial_fields import clean_trial_field  # large expressions

        return clean_trial_field(text) or (text,)

    def _composite(self, whole: Part, pieces: Sequence[str], given: str) -> Prepared:
        """Return a mention with what its syntax says that its parts are."""
        steps = (*whole.steps, Step("composite", whole.text, " | ".join(pieces)))
        return Prepared(whole, tuple(self._spelled(piece, steps) for piece in pieces), text=given)

    def _with_names(self, prepared: Prepared, listing: Listing) -> Prepared:
        """Add what a mention may list; only what stands in one piece may be misspelt."""
        pieces = set(listing.pieces)
        names = {
            name: self._spelled(name, ()) if name in pieces else Part(name)
            for name in listing.candidates
        }
        return prepared._replace(listing=listing, names=names)

    def known_share(self, text: str) -> float:
        """Return the share of a text in words of the terminology; 1 where they are not known."""
        return 1.0 if self.speller is None else self.speller.known_share(text)

    def _spelled(self, text: str, steps: tuple[Step, ...], rewrites: tuple[Step, ...] = ()) -> Part:
        if finding := finding_name(text):
            rewrites = (*rewrites, Step("finding", text, finding))
        if self.speller is None:
            return Part(text, (), steps, rewrites=rewrites)
        corrected = self.speller.correct(text)
        alternatives = () if corrected == text else (Step("spelling", text, corrected),)
        guesses = self.speller.guesses(corrected)
        return Part(text, alternatives, steps, guesses=guesses, rewrites=rewrites)


def _other_forms(text: str, listing: Listing | None) -> tuple[Step, ...]:
    """Return how a name may write what a mention writes: without its number, with an *and*."""
    bare = without_number(text)
    number = () if bare == text else (Step("number", text, bare),)
    forms = () if listing is None else listing.as_one
    return (*number, *(Step("conjunction", text, form) for form in forms))
