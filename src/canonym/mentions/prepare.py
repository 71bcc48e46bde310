"""From a mention to the strings to look up: the steps of this package in order.

Abbreviations come first, because a part of a composite may be one. Trial fields come before
composites, because "Drug A 5 mg + placebo" is a list only once doses and arms are gone. Spelling
comes last, on the strings to look up, and so do clinicians' names of findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from canonym.mentions.abbreviations import expand
from canonym.mentions.composites import split_composite
from canonym.mentions.findings import finding_name
from canonym.mentions.spelling import Apart, Speller, ends_in_sign
from canonym.types import Step

LONGEST = 1_000
"""Characters of a mention that are read; a `Step` records that a longer one was cut."""

SHORT_FORM = "short form"
"""Name of the step back to a mention as it was before its abbreviations were written out."""

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
        self,
        text: str,
        *,
        abbreviations: Mapping[str, str] = _NONE,
        ordered: Mapping[str, str] = _NONE,
        gloss: str = "",
    ) -> Prepared:
        """Prepare one mention, cut at `LONGEST` before abbreviations are written out.

        `abbreviations` are the short forms of the document and their long forms; those that are
        `ordered` never stand for themselves. `gloss` is the document's explanation of a mention in
        one piece (`canonym.mentions.glosses`).

        >>> prepared = Preparation().prepare("BC and ovarian cancer", abbreviations={"BC": "BRCA"})
        >>> prepared.whole.text
        'BRCA and ovarian cancer'
        """
        steps: list[Step] = []
        if len(text) > LONGEST:
            steps.append(Step("cut", f"{len(text):,} characters", f"{LONGEST:,} characters"))
            text = text[:LONGEST]
        written = ""
        if abbreviations:
            expanded = expand(text, abbreviations)
            if expanded != text:
                steps.append(Step("abbreviation", text, expanded))
                written = "" if expand(text, ordered) != text else text
                text = expanded
        pieces: tuple[str, ...] = (text,)
        if self.trials:
            from canonym.mentions.trial_fields import clean_trial_field  # large expressions

            pieces = clean_trial_field(text) or (text,)
            if pieces != (text,):
                steps.append(Step("trial field", text, " | ".join(pieces)))
        whole = pieces[0] if len(pieces) == 1 else text
        if self.composites and len(pieces) == 1:
            pieces = split_composite(whole) or (whole,)
        if len(pieces) == 1:
            part = self._spelled(whole, tuple(steps), written)
            if gloss:
                explained = expand(gloss[:LONGEST], abbreviations)
                part = part._replace(glosses=(explained,) if explained != whole else ())
            return Prepared(part, (part,))
        split = Step("composite", whole, " | ".join(pieces))
        return Prepared(
            self._spelled(whole, tuple(steps), written),
            tuple(self._spelled(piece, (*steps, split)) for piece in pieces),
        )

    def known_share(self, text: str) -> float:
        """Return the share of a text in words of the terminology; 1 where they are not known."""
        return 1.0 if self.speller is None else self.speller.known_share(text)

    def _spelled(self, text: str, steps: tuple[Step, ...], written: str = "") -> Part:
        finding = finding_name(text)
        rewrites = (Step("finding", text, finding),) if finding else ()
        short = (Step(SHORT_FORM, text, written),) if written else ()
        if self.speller is None:
            return Part(text, (), steps, rewrites=(*rewrites, *short))
        apart = self.speller.take_apart(text)
        if apart.clear and ends_in_sign(text):  # it is no plural, which sieves would know
            steps = (*steps, Step("space", text, apart.clear))
            text, apart = apart.clear, Apart()
        clear = apart.clear or text
        corrected = self.speller.correct(clear)
        alternatives = (
            *((Step("space", text, clear),) if clear != text else ()),
            *((Step("spelling", text, corrected),) if corrected != clear else ()),
        )
        spaced = tuple(Step("space", text, other) for other in apart.texts)
        guesses = self.speller.guesses(corrected)
        return Part(
            text, alternatives, steps, guesses=guesses, rewrites=(*rewrites, *spaced, *short)
        )
