"""From a mention to the strings to look up: the steps of this package in order.

Abbreviations come first, because a part of a composite may be one. Trial fields come before
composites, because "Drug A 5 mg + placebo" is a list only once doses and arms are gone. Spelling
comes last, on the strings to look up, and so do clinicians' names of findings.

Words that say the status of a mention ("no", "h/o", "possible") are taken off before a mention is
split, and again off each part: "no fever, possible asthma".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from canonym.mentions.abbreviations import expand
from canonym.mentions.composites import split_composite
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
    mentions parts; `trials` cleans off doses, forms and arms, as for fields of clinical trials.
    """

    speller: Speller | None = None
    composites: bool = True
    trials: bool = False

    def prepare(
        self, text: str, *, abbreviations: Mapping[str, str] = _NONE, gloss: str = ""
    ) -> Prepared:
        """Prepare one mention, cut at `LONGEST` before abbreviations are written out.

        `abbreviations` are the short forms of the document and their long forms, `gloss` is its
        explanation of a mention in one piece (`canonym.mentions.glosses`).

        >>> prepared = Preparation().prepare("BC and ovarian cancer", abbreviations={"BC": "BRCA"})
        >>> prepared.whole.text
        'BRCA and ovarian cancer'
        """
        steps: list[Step] = []
        if len(text) > LONGEST:
            steps.append(Step("cut", f"{len(text):,} characters", f"{LONGEST:,} characters"))
            text = text[:LONGEST]
        if abbreviations:
            expanded = expand(text, abbreviations)
            if expanded != text:
                steps.append(Step("abbreviation", text, expanded))
                text = expanded
        pieces: tuple[str, ...] = (text,)
        if self.trials:
            from canonym.mentions.trial_fields import clean_trial_field  # large expressions

            pieces = clean_trial_field(text) or (text,)
            if pieces != (text,):
                steps.append(Step("trial field", text, " | ".join(pieces)))
        whole = pieces[0] if len(pieces) == 1 else text
        part = self._part(whole, tuple(steps))
        if self.composites and len(pieces) == 1:
            pieces = split_composite(part.text)
            if len(pieces) == 1:
                pieces = split_statuses(part.text)
        if len(pieces) == 1:
            if gloss:
                explained = expand(gloss[:LONGEST], abbreviations)
                part = part._replace(glosses=(explained,) if explained != whole else ())
            return Prepared(part, (part,))
        if part.status:
            steps.append(Step("status", whole, part.text))
        steps.append(Step("composite", part.text, " | ".join(pieces)))
        parts = (self._part(piece, tuple(steps), part.status) for piece in pieces)
        return Prepared(part, tuple(parts))

    def known_share(self, text: str) -> float:
        """Return the share of a text in words of the terminology; 1 where they are not known."""
        return 1.0 if self.speller is None else self.speller.known_share(text)

    def _part(self, text: str, steps: tuple[Step, ...], status: tuple[str, ...] = ()) -> Part:
        """Prepare a piece of a mention; `status` is that of the whole, if it says none itself."""
        if not may_have_status(text):
            return self._spelled(text, steps, status)
        own = read_status(text)
        if not own.flags:
            return self._spelled(text, steps, status)
        stated, core = wordings(text, own), own
        if inner := read_status(own.core).flags:  # "r/o absence of the thumb"
            core = Status(read_status(own.core).core, consistent((*own.flags, *inner)))
            stated += (Stated(own.core, inner, own.flags),)
        return self._spelled(core.core, steps, core.flags)._replace(stated=stated)

    def _spelled(self, text: str, steps: tuple[Step, ...], status: tuple[str, ...] = ()) -> Part:
        finding = finding_name(text)
        rewrites = (Step("finding", text, finding),) if finding else ()
        if self.speller is None:
            return Part(text, (), steps, rewrites=rewrites, status=status)
        corrected = self.speller.correct(text)
        alternatives = () if corrected == text else (Step("spelling", text, corrected),)
        guesses = self.speller.guesses(corrected)
        return Part(text, alternatives, steps, guesses=guesses, rewrites=rewrites, status=status)
