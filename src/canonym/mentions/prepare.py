"""From a mention to the strings to look up: the steps of this package in order.

What web pages and wrong encodings left in a mention is undone before all else. Abbreviations come
next, because a part of a composite may be one. Trial fields come before
composites, because "Drug A 5 mg + placebo" is a list only once doses and arms are gone. Spelling
comes last, on the strings to look up without their qualifiers, and so do clinicians' names of
findings.

Words that say the status of a mention ("no", "h/o", "possible") are taken off before a mention is
split, and again off each part: "no fever, possible asthma".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.mentions.abbreviations import expand
from canonym.mentions.binomials import Binomials, organism_steps, organisms_in
from canonym.mentions.composites import split_composite
from canonym.mentions.drug_lines import DrugLine, drug_line
from canonym.mentions.findings import finding_name
from canonym.mentions.flags import consistent
from canonym.mentions.spelling import Speller
from canonym.mentions.status import (
    Stated,
    Status,
    may_have_status,
    read_status,
    split_statuses,
    wordings,
)
from canonym.text import normalise
from canonym.text.characters import greek
from canonym.text.markup import repairs
from canonym.text.qualifiers import BROADER, QUALIFIERS, qualified
from canonym.types import Step

LONGEST = 1_000
"""Characters of a mention that are read; a `Step` records that a longer one was cut."""

DRUG_LINE = "drug line"
"""Name of the step from a drug line to the names in it."""

_NONE: Mapping[str, str] = {}


class Part(NamedTuple):
    """A string to look up.

    `text` is tried first and `alternatives` after it (the text without its qualifiers, a corrected
    spelling), then `glosses`, by which the document explains it. Other writings count only where a
    sieve knows them: `rewrites` in their order, such as what clinicians call a finding, and
    `guesses` at a misspelt text. `steps` tell how the mention became `text`; each alternative and
    rewrite is the step to it, from `text` or from an alternative before.

    `status` is what words said that `text` no longer has. `stated` is then the text with them, and
    other wordings of it. Where one of these is a name that says the same, it is meant, and what it
    says is no status.
    """

    text: str
    alternatives: tuple[Step, ...] = ()
    steps: tuple[Step, ...] = ()
    glosses: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    rewrites: tuple[Step, ...] = ()
    status: tuple[str, ...] = ()
    stated: tuple[Stated, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every string that is looked up and searched."""
        after = (step.after for step in self.alternatives)
        return (self.text, *after, *self.glosses, *(one.text for one in self.stated[:1]))

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Every string that is looked up and not searched."""
        after = (step.after for step in self.rewrites)
        return (*after, *self.guesses, *(one.text for one in self.stated[1:]))


class Prepared(NamedTuple):
    """A mention ready to be looked up.

    `whole` is the mention in one piece; `parts` are its pieces if it looks composite, else the
    whole alone. The look-up decides whether to split.
    """

    whole: Part
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Preparation:
    """Prepares mentions, always the same way.

    `speller` corrects words that the terminology does not know; `composites` gives composite
    mentions parts; `trials` cleans off doses, forms and arms, as for fields of clinical trials;
    `binomials` are the organisms in the names of the terminology.
    """

    speller: Speller | None = None
    composites: bool = True
    trials: bool = False
    binomials: Binomials | None = None

    def prepare(
        self,
        text: str,
        *,
        abbreviations: Mapping[str, str] = _NONE,
        gloss: str = "",
        around: Sequence[str] = (),
    ) -> Prepared:
        """Prepare one mention, cut at `LONGEST` before abbreviations are written out.

        `abbreviations` are the short forms of the document and their long forms, `gloss` is its
        explanation of a mention in one piece (`canonym.mentions.glosses`), and `around` are the
        texts around it, which may write the genus of an organism out.

        >>> prepared = Preparation().prepare("BC and ovarian cancer", abbreviations={"BC": "BRCA"})
        >>> prepared.whole.text
        'BRCA and ovarian cancer'
        """
        text, steps = _cleaned(text, abbreviations)
        pieces: tuple[str, ...] = (text,)
        if self.trials:
            from canonym.mentions.trial_fields import clean_trial_field  # large expressions

            pieces = clean_trial_field(text) or (text,)
            if pieces != (text,):
                steps.append(Step("trial field", text, " | ".join(pieces)))
        whole = pieces[0] if len(pieces) == 1 else text
        part = self._part(whole, tuple(steps), around)
        if part.status:
            steps.append(Step("status", whole, part.text))
        if self.composites and len(pieces) == 1:
            pieces, lines = _split(part.text)
            steps += lines
        if len(pieces) == 1:
            if gloss:
                explained = expand(gloss[:LONGEST], abbreviations)
                part = part._replace(glosses=(explained,) if explained != whole else ())
            return Prepared(part, (part,))
        is_split = steps and steps[-1].name in (DRUG_LINE, QUALIFIERS, BROADER)
        split_from = steps[-1].after if is_split else part.text
        steps.append(Step("composite", split_from, " | ".join(pieces)))
        parts = (self._part(piece, tuple(steps), around, part.status) for piece in pieces)
        return Prepared(part, tuple(parts))

    def known_share(self, text: str) -> float:
        """Return the share of a text in words of the terminology; 1 where they are not known."""
        return 1.0 if self.speller is None else self.speller.known_share(text)

    def _part(
        self,
        text: str,
        steps: tuple[Step, ...],
        around: Sequence[str],
        status: tuple[str, ...] = (),
    ) -> Part:
        """Prepare a piece of a mention; `status` is that of the whole, if it says none itself."""
        if not may_have_status(text):
            return self._qualified(text, steps, around, status)
        own = read_status(text)
        if not own.flags:
            return self._qualified(text, steps, around, status)
        stated, core = wordings(text, own), own
        if inner := read_status(own.core).flags:  # "r/o absence of the thumb"
            core = Status(read_status(own.core).core, consistent((*own.flags, *inner)))
            stated += (Stated(own.core, inner, own.flags),)
        return self._qualified(core.core, steps, around, core.flags)._replace(stated=stated)

    def _qualified(
        self,
        text: str,
        steps: tuple[Step, ...],
        around: Sequence[str],
        status: tuple[str, ...],
    ) -> Part:
        """Return a string to look up, and what it is without its qualifiers.

        The string itself goes first: a name may have the same qualifiers.
        """
        bare = qualified(text)
        part = self._rewritten(text if bare is None else bare.after, steps, around, status)
        if not part.text.isascii() and (letters := _greek(part.text)):
            part = part._replace(alternatives=(letters, *part.alternatives))
        if bare is None:
            return part
        return part._replace(text=bare.before, alternatives=(bare, *part.alternatives))

    def _rewritten(
        self,
        text: str,
        steps: tuple[Step, ...],
        around: Sequence[str],
        status: tuple[str, ...],
    ) -> Part:
        """Return a string to look up, with all that it may be written as instead."""
        finding = finding_name(text)
        rewrites = (Step("finding", text, finding),) if finding else ()
        alternatives, guesses = self._spelled(text)
        genera, initials = organism_steps(text, self.binomials, around)
        alternatives, rewrites = (*alternatives, *genera), (*rewrites, *initials)
        line = drug_line(text)
        if line is not None:
            further, rewritten = self._of_line(text, line)
            alternatives, rewrites = (*alternatives, *further), (*rewrites, *rewritten)
        return Part(text, alternatives, steps, guesses=guesses, rewrites=rewrites, status=status)

    def _spelled(self, text: str) -> tuple[tuple[Step, ...], tuple[str, ...]]:
        """Return the corrected spelling of a text, and guesses at it."""
        if self.speller is None:
            return (), ()
        corrected = self.speller.correct(text)
        spelling = () if corrected == text else (Step("spelling", text, corrected),)
        return spelling, self.speller.guesses(corrected)

    def _of_line(self, text: str, line: DrugLine) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """Return the names in a drug line to search with, and those that only a sieve may know."""
        # The form may belong to the name: "lactated Ringer's solution 500 ml".
        whole = dict.fromkeys(filter(None, (*line.formed, line.whole)))
        names = tuple(Step(DRUG_LINE, text, name) for name in whole if name != text)
        brand = (Step(DRUG_LINE, text, line.brand),) if line.brand else ()
        if len(line.drugs) > 1:
            return (), (*names, *brand)
        spelling, _ = self._spelled(line.whole)
        return (*names, *spelling), brand


def _cleaned(text: str, abbreviations: Mapping[str, str]) -> tuple[str, list[Step]]:
    """Cut a mention, undo markup and wrong encodings, and write abbreviations out."""
    steps: list[Step] = []
    if len(text) > LONGEST:
        steps.append(Step("cut", f"{len(text):,} characters", f"{LONGEST:,} characters"))
        text = text[:LONGEST]
    for step in repairs(text):
        steps.append(step)
        text = step.after
    if abbreviations:
        expanded = expand(text, abbreviations)
        if expanded != text:
            steps.append(Step("abbreviation", text, expanded))
            text = expanded
    return text, steps


def _split(text: str) -> tuple[tuple[str, ...], list[Step]]:
    """Return the pieces of a composite mention, or the text alone, and the steps before.

    Its qualifiers are off: "other and unspecified" is no list.
    """
    line = drug_line(text)
    if line is not None and len(line.drugs) > 1:
        return line.drugs, [Step(DRUG_LINE, text, line.whole)]
    bare = qualified(text)
    plain = text if bare is None else bare.after
    pieces = organisms_in(plain) or split_composite(plain) or (plain,)
    if len(pieces) > 1:
        return pieces, [] if bare is None else [bare]
    return split_statuses(text), []


def _greek(text: str) -> Step | None:
    """Return the step to Greek letters in words, where there are any.

    Sieves read them in both ways, an encoder reads them as names are written.
    """
    spelt = " ".join(greek(text).split()).replace(" -", "-").replace("- ", "-")
    return None if normalise(spelt) == normalise(text) else Step("greek", text, spelt)
