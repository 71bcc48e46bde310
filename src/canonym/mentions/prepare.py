"""From a mention to the strings to look up: the steps of this package in order.

What web pages and wrong encodings left in a mention is undone before all else. Abbreviations come
next, because a part of a composite may be one. Trial fields come before
composites, because "Drug A 5 mg + placebo" is a list only once doses and arms are gone. Shorthand
has slashes that part nothing, and is written out before anything is taken apart. Spelling
comes last, on the strings to look up without their qualifiers, and so do clinicians' names of
findings.

Words that say the status of a mention ("no", "h/o", "possible") are taken off before a mention is
split, and again off each part: "no fever, possible asthma". A cell with semicolons or numbers is a
list, whose items go through all of this one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from canonym.io.time_limit import check_time
from canonym.mentions.abbreviations import expand, without_own_short_forms
from canonym.mentions.binomials import Binomials, genus_steps, organisms_in
from canonym.mentions.clauses import clauses_of
from canonym.mentions.clinical import cell_of, usual_reading
from canonym.mentions.composites import split_composite
from canonym.mentions.cues import find_cues
from canonym.mentions.drug_lines import DrugLine, drug_line, without_salt
from canonym.mentions.english import is_ordinary
from canonym.mentions.flags import consistent
from canonym.mentions.headings import completed, sections
from canonym.mentions.lists import (
    Items,
    Listing,
    divided,
    items_of,
    listing_of,
    may_hold_joints,
    without_number,
)
from canonym.mentions.marks import DECIMAL
from canonym.mentions.measurements import finding_name
from canonym.mentions.phrasings import phrasings
from canonym.mentions.prepared import (
    ABBREVIATION,
    DRUG_LINE,
    SHORT_FORM,
    TOLD,
    Part,
    Prepared,
    Reading,
    Use,
)
from canonym.mentions.readings import readings_in, readings_of
from canonym.mentions.shorthand import diabetes_name, with_side, write_out
from canonym.mentions.spelling import Speller
from canonym.mentions.spread import cancer_and_sites
from canonym.mentions.status import (
    Stated,
    Status,
    may_have_status,
    positive,
    read_status,
    split_at_turn,
    split_statuses,
    without_plus,
    wordings,
)
from canonym.mentions.terse import in_full, unclipped
from canonym.mentions.told import Told, result_of, told_of
from canonym.text import normalise
from canonym.text.characters import greek
from canonym.text.markup import repairs
from canonym.text.qualifiers import (
    BROADER,
    QUALIFIERS,
    qualified,
    without_details,
    without_heading,
    without_lead_in,
)
from canonym.text.spaces import with_prefixes_joined
from canonym.types import CORRECTION, ONE_OF_SEVERAL, USUAL_READING, Step

LONGEST = 1_000
"""Characters of a mention that are read; a `Step` records that a longer one was cut."""

_NONE: Mapping[str, str] = {}


class _Context(NamedTuple):
    """What the document of a mention says: its abbreviations, and the texts around the mention.

    Abbreviations that are `ordered` never stand for themselves. Short forms of several readings
    have the `readings` that words of the mention and its context choose, or words of the `cell`.
    `status` is what a cell says of the clause that is prepared. What is left of a text without some
    of its words `is_rest`.
    """

    abbreviations: Mapping[str, str]
    around: Sequence[str]
    ordered: Mapping[str, str]
    readings: Mapping[str, str] = _NONE
    cell: Sequence[str] = ()
    status: tuple[str, ...] = ()
    is_rest: bool = False


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
        ordered: Mapping[str, str] = _NONE,
        alias: str = "",
        around: Sequence[str] = (),
        separator: str | None = None,
    ) -> Prepared:
        """Prepare one mention, cut at `LONGEST` before abbreviations are written out.

        `abbreviations` are the short forms of the document and their long forms; those that are
        `ordered` never stand for themselves. `alias` is its explanation of a mention in one piece
        (`canonym.mentions.aliases`), and `around` are the texts around it, which may write the
        genus of an organism out. A `separator` parts what the mention lists, in the place of
        semicolons, line ends, numbers and bullets.

        >>> prepared = Preparation().prepare("BC and ovarian cancer", abbreviations={"BC": "BRCA"})
        >>> prepared.whole.text
        'BRCA and ovarian cancer'
        """
        check_time()
        text, steps = _cleaned(text)
        is_alone = self.speller is None or text.isalnum()  # its text chooses the concept
        readings = _NONE if is_alone else readings_in(text, *around[1:])
        cell = () if is_alone else cell_of(text)
        context = _Context(abbreviations, around, ordered, readings, cell)
        return self._prepare_cell(text, steps, context, alias, separator)

    def _prepare_cell(
        self,
        text: str,
        steps: tuple[Step, ...],
        context: _Context,
        alias: str,
        separator: str | None,
    ) -> Prepared:
        """Prepare a mention, and its items where it is a list."""
        is_one = self.composites and len(sections(text)) == 1
        if is_one and (rest := without_heading(text)) != text:
            steps, text = (*steps, Step(QUALIFIERS, text, rest)), rest
        items = self._items(text, separator)
        if len(items.texts) == 1:
            (item,) = items.texts
            below = separator is None and item != text  # "Allergies: latex"
            steps = (*steps, Step("list", text, item)) if below else steps
            return self._prepare_one(item, steps, context, alias)
        if items.is_sure:
            part = self._part(text, steps, context)
            whole = Prepared(part, (part,), text=text)
        else:
            whole = self._prepare_one(text, steps, context)
        steps = (*steps, Step("list", text, " | ".join(items.texts)))
        under = context._replace(status=() if items.has_turned else _under_heading(items.texts[0]))
        contexts = (context if ":" in item or _turns(item) else under for item in items.texts)
        listed = tuple(
            self._prepare_cell(item, steps, own, "", None)
            if separator is None
            else self._prepare_one(item, steps, own)
            for item, own in zip(items.texts, contexts, strict=True)
        )
        return whole._replace(items=listed, is_sure=items.is_sure, is_cut=separator is not None)

    def _items(self, text: str, separator: str | None) -> Items:
        """Return what a cell lists; the text alone where it is no list."""
        if separator is not None:
            return Items(divided(text, separator) or (text,), True)
        if not self.composites:
            return Items((text,), True)
        if len(headed := sections(text)) > 1:
            return Items(headed, True, has_turned=True)
        if below := completed(text):
            return Items(below, True)
        if items := items_of(text):
            return items
        turned = split_at_turn(text)
        if len(turned) < 2 and " but " in text and may_hold_joints(text):
            turned = split_statuses(text)  # "no gout or asthma but headache"
        if len(turned) > 1:
            return Items(turned, True, has_turned=True)
        return Items(clauses_of(text), False)

    def _prepare_one(
        self, written: str, steps: tuple[Step, ...], context: _Context, alias: str = ""
    ) -> Prepared:
        """Prepare a mention that no separator of its own divides."""
        may_list = self.composites
        text = expand(written, context.abbreviations) if context.abbreviations else written
        short = ""
        if text != written:
            short = written if expand(written, context.ordered) == written else ""
            steps = (*steps, Step(ABBREVIATION, written, text))
            may_list = may_list and may_hold_joints(written)  # a long form is one thing
        unread, text = text, expand(text, context.readings)
        forms = list[Step]()
        if text != unread:
            steps = (*steps, Step(USUAL_READING, unread, text))
            forms.append(Step("as written", text, unread))
        pieces = self._trial_pieces(text)
        if pieces != (text,):
            steps = (*steps, Step("trial field", text, " | ".join(pieces)))
        if len(pieces) > 1:
            return self._composite(self._part(text, steps, context), pieces, written, context)
        (as_written,) = pieces
        # "h/o" at the beginning is a status, which is read as it is written.
        has_status = may_have_status(as_written) and bool(read_status(as_written).flags)
        text = as_written if has_status else write_out(as_written)
        if text != as_written:
            steps = (*steps, Step("shorthand", as_written, text))
            forms.append(Step("as written", text, as_written))
        whole = self._part(text, steps, context)
        listing = listing_of(whole.text) if may_list else None
        readings = (*_read(Use.KNOWN, *forms, *_other_forms(whole.text, listing)), *whole.readings)
        if short:
            readings = (*readings, *_read(Use.KNOWN, Step(SHORT_FORM, whole.text, short)))
        whole = whole._replace(readings=readings)
        pieces, lines = _split(whole.text) if self.composites else ((whole.text,), [])
        told = split_statuses(text) if whole.stated and text.startswith(whole.text) else ()
        if len(told) == len(pieces) > 2:  # "limp, A vs B excluded" says it of what is behind
            whole, pieces = whole._replace(status=context.status, stated=()), told
        if len(pieces) > 1:
            prepared = self._composite(whole, pieces, written, context, lines)
            if pieces[-1].startswith("? ") and not whole.status and "?" not in text:
                prepared = prepared._replace(whole=whole._replace(status=("uncertain",)))
        else:
            if alias and (explained := expand(alias[:LONGEST], context.abbreviations)) != text:
                gloss = Reading(Step("gloss", whole.text, explained), Use.GLOSS)
                whole = whole._replace(readings=(*whole.readings, gloss))
            prepared = Prepared(whole, (whole,), text=written)
        return prepared if listing is None else self._with_names(prepared, listing, context)

    def _trial_pieces(self, text: str) -> tuple[str, ...]:
        if not self.trials:
            return (text,)
        from canonym.mentions.trial_fields import clean_trial_field  # large expressions

        return clean_trial_field(text) or (text,)

    def _composite(
        self,
        whole: Part,
        pieces: Sequence[str],
        written: str,
        context: _Context,
        lines: Sequence[Step] = (),
    ) -> Prepared:
        """Return a mention with what its syntax says that its parts are."""
        status = (Step("status", whole.stated[0].text, whole.text),) if whole.stated else ()
        split_from = lines[-1].after if lines else whole.text
        split = Step("composite", split_from, " | ".join(pieces))
        steps = (*whole.steps, *status, *lines, split)
        # What stands behind speaks of the sites: "breast ca mets to liver excluded".
        is_led = not whole.stated or not whole.stated[0].text.startswith(pieces[0])
        first = whole.status if is_led or not cancer_and_sites(whole.text) else ()
        status_of = (first, *[whole.status] * (len(pieces) - 1))
        parts = tuple(
            self._part(piece, steps, context, status)
            for piece, status in zip(pieces, status_of, strict=True)
        )
        return Prepared(whole, parts, text=written)

    def _with_names(self, prepared: Prepared, listing: Listing, context: _Context) -> Prepared:
        """Add what a mention may list; only what stands in one piece may be misspelt."""
        pieces, status = set(listing.pieces), prepared.whole.status
        names = {
            name: self._part(name, (), context, status)
            if name in pieces
            else Part(name, status=status)
            for name in listing.candidates
        }
        return prepared._replace(listing=listing, names=names)

    def vocabulary_coverage(self, text: str) -> float:
        """Return the share of a text in words of the terminology; 1 where they are not known."""
        return 1.0 if self.speller is None else self.speller.vocabulary_coverage(text)

    def _part(
        self,
        text: str,
        steps: tuple[Step, ...],
        context: _Context,
        status: tuple[str, ...] = (),
    ) -> Part:
        """Prepare a piece of a mention; `status` is that of the whole, if it says none itself."""
        status = status or context.status
        if "historical" in status and _turns(text):
            status = tuple(flag for flag in status if flag != "historical")
        if result := result_of(text):
            return self._part(result, (*steps, Step("sign", text, result)), context, status)
        own = read_status(text) if may_have_status(text) else Status(text)
        reading = "" if own.flags else usual_reading(text)
        if reading and not may_hold_joints(text) and read_status(reading).flags:
            step = Step(USUAL_READING, text, reading)  # "NKDA"
            return self._part(reading, (*steps, step), context, status)
        rest = text if own.flags else without_lead_in(text)
        if rest != text and may_have_status(rest) and read_status(rest).flags:
            # "MRI brain: no stroke"
            return self._part(rest, (*steps, Step(QUALIFIERS, text, rest)), context, status)
        if not own.flags:
            there = without_plus(text)
            if not there:
                return self._qualified(text, steps, context, status)
            part = self._part(there, steps, context, status)
            return part if part.stated else part._replace(stated=positive(text, there))
        stated, core = wordings(text, own), own
        if inner := read_status(own.core).flags:  # "r/o absence of the thumb"
            core = Status(read_status(own.core).core, consistent((*own.flags, *inner)))
            stated += (Stated(own.core, inner, own.flags),)
        tested = told_of(core.core, core.flags) if "negated" in core.flags else None
        if tested and core.core.startswith(tested.name):  # "COVID test negative" denies COVID
            core = core._replace(core=tested.name)
        plain = write_out(core.core)
        if plain != core.core:
            steps = (*steps, Step("shorthand", core.core, plain))
        return self._qualified(plain, steps, context, core.flags)._replace(stated=stated)

    def _qualified(
        self,
        text: str,
        steps: tuple[Step, ...],
        context: _Context,
        status: tuple[str, ...],
    ) -> Part:
        """Return a string to look up, and what it is without its qualifiers.

        The string itself goes first: a name may have the same qualifiers.
        """
        bare = qualified(text)
        part = self._rewritten(text if bare is None else bare.after, steps, context, status)
        if not part.text.isascii() and (letters := _greek(part.text)):
            part = part._replace(readings=(*_read(Use.NEAR, letters), *part.readings))
        if bare is None:
            return part
        # A short form that is read beside other words may stand alone without them: "DM HbA1c 85".
        is_less = bare.name == BROADER and not usual_reading(bare.after)
        whole = usual_reading(bare.before) if is_less else ""
        less = qualified(whole) if whole else None
        read = () if less is None else (Step(USUAL_READING, bare.before, whole), less)
        readings = (*_read(Use.NEAR, *read, *phrasings(text), bare), *part.readings)
        return part._replace(text=bare.before, readings=readings)

    def _rewritten(
        self,
        text: str,
        steps: tuple[Step, ...],
        context: _Context,
        status: tuple[str, ...],
    ) -> Part:
        """Return a string to look up, with all that it may be written as instead."""
        plain, short = (text, "") if self.speller is None else without_own_short_forms(text)
        if plain != text:
            part = self._rewritten(plain, steps, context, status)
            readings = (*_read(Use.NEAR, Step(ABBREVIATION, text, plain)), *part.readings)
            if short:
                readings = (*readings, *_read(Use.KNOWN, Step(SHORT_FORM, plain, short)))
            return part._replace(text=text, readings=readings)
        speller = None if self.speller is None or self.speller.knows_all(text) else self.speller
        near, guesses = _spelled(text, speller)
        spelt = near[-1].after if near else text
        told: Told | None = None
        known = [Step("finding", text, finding)] if (finding := finding_name(text)) else []
        if diabetes := diabetes_name(text):
            known.append(Step(USUAL_READING, text, diabetes))
        if self.speller is not None:  # a search without any help is what a paper describes
            together = with_prefixes_joined(text, self.speller.__contains__)
            near += [Step("space", text, together)] if together != text else []
            usual = ((name, usual_reading(name, context.cell)) for name in (text, spelt))
            near += [Step(USUAL_READING, *reading) for reading in usual if reading[1]]
            read = (step.after for step in near if step.name == USUAL_READING)
            names = dict.fromkeys((text, spelt, *read))
            worded = [step for name in names for step in phrasings(name)]
            whole = () if speller is None else unclipped(text, speller.completions)
            full = (Step(USUAL_READING, text, phrase) for phrase in (*in_full(text), *whole))
            known += [*worded, *full]
        near += genus_steps(text, self.binomials, context.around)
        line = drug_line(text)
        if line is not None:
            further, brand = self._of_line(text, line)
            near, known = [*near, *further], [*known, *brand]
        if self.speller is not None:
            told = None if context.is_rest else told_of(text, status)
            if told is not None:
                known += (Step(TOLD, text, told.name), *self._of_rest(told.name, context))
            less = [step.after for step in worded if text.startswith(f"{step.after} ")]
            known += self._broader(text, near, less, context)
            bare = without_details(with_side(text))
            several = next(filter(None, map(readings_of, (text, *bare))), ())
            guesses += [Step(ONE_OF_SEVERAL, text, reading) for reading in several]
        readings = (*_read(Use.NEAR, *near), *_read(Use.KNOWN, *known), *_read(Use.SOLE, *guesses))
        return Part(text, readings, steps, status, told=told.flags if told else ())

    def _broader(
        self, text: str, near: Sequence[Step], less: Sequence[str], context: _Context
    ) -> Iterator[Step]:
        """Return what a text is a case of, which sieves have to know: without details or salt.

        `less` are its beginnings without the remarks behind.
        """
        read = [step.after for step in near if step.name in (USUAL_READING, DRUG_LINE)]
        # A short form may be read by the very detail: *OD daily* is no case of an overdose.
        is_read = any(step.name == USUAL_READING for step in near)
        names = dict.fromkeys(read if is_read else (text, *read))
        for name, sided in ((name, with_side(name)) for name in names):
            if sided != name:
                yield Step("shorthand", name, sided)
            for plain in (*without_details(sided), without_salt(sided)):
                # "cold feet" is no cold
                if plain != sided and not (sided.startswith(f"{plain} ") and is_ordinary(plain)):
                    yield Step(BROADER, sided, plain)
        for plain in (*without_details(with_side(next(iter(names))))[-1:], *less):
            # A name may say how much in the same words: "Mildly elevated creatine kinase".
            yield from self._of_rest(plain, context)

    def _of_rest(self, text: str, context: _Context) -> Iterator[Step]:
        """Yield the steps to the readings of what is left of a text, but for guesses."""
        rest = self._qualified(text, (), context._replace(is_rest=True), ())
        return (step for step, use in rest.readings if use != Use.SOLE)

    def _of_line(self, text: str, line: DrugLine) -> tuple[Sequence[Step], Sequence[Step]]:
        """Return the steps to the names in a drug line, and to one that only a sieve may know."""
        # The form may belong to the name: "lactated Ringer's solution 500 ml".
        whole = dict.fromkeys(filter(None, (*line.formed, line.whole)))
        names = tuple(Step(DRUG_LINE, text, name) for name in whole if name != text)
        brand = (Step(DRUG_LINE, text, line.brand),) if line.brand else ()
        if len(line.drugs) > 1:
            return (), (*names, *brand)
        spelling, _ = _spelled(line.whole, self.speller)
        return (*names, *spelling), brand


def _spelled(text: str, speller: Speller | None) -> tuple[list[Step], list[Step]]:
    """Return the step to corrected spelling, and those to guesses."""
    if speller is None:
        return [], []
    corrected = speller.correct(text)
    spelled = [Step(CORRECTION, text, corrected)] if corrected != text else []
    guesses = [Step(CORRECTION, text, guess) for guess in speller.guesses(corrected)]
    return spelled, guesses


def _under_heading(item: str) -> tuple[str, ...]:
    """Return what the heading before the first item of a list says of all: *FHx: gout; asthma*."""
    head, mark, _ = item.partition(":" if ":" in item else " - ")
    if not mark:
        return ()
    cues = (cue for cue in find_cues(head) if cue.end == len(head.rstrip()) and cue.rule.before)
    lasting = ("historical", "family") if mark == ":" else ("historical",)
    return next((tuple(f for f in cue.rule.flags if f in lasting) for cue in cues), ())


def _turns(item: str) -> bool:
    """Tell whether an item says that the past has ended: *now has asthma*, *asthma today*."""
    ends = (cue for cue in find_cues(item) if "historical" in cue.rule.ends)
    return any(cue.start == 0 or cue.end == len(item) for cue in ends)


def _read(use: Use, *steps: Step) -> Iterator[Reading]:
    return (Reading(step, use) for step in steps)


def _cleaned(text: str) -> tuple[str, tuple[Step, ...]]:
    """Cut a mention, and undo markup and wrong encodings."""
    steps: list[Step] = []
    if len(text) > LONGEST:
        steps.append(Step("cut", f"{len(text):,} characters", f"{LONGEST:,} characters"))
        text = text[:LONGEST]
    for step in repairs(text):
        steps.append(step)
        text = step.after
    # ".5 mg" is half a milligram.
    if "." in text and (whole := DECIMAL.sub(_with_zero, text)) != text:
        steps.append(Step("number", text, whole))
        text = whole
    return text, tuple(steps)


def _with_zero(number: re.Match[str]) -> str:
    return number[0] if number[0][0] != "." else f"0{number[0]}"


def _split(text: str) -> tuple[tuple[str, ...], list[Step]]:
    """Return the pieces of a composite mention, or the text alone, and the steps before.

    Its qualifiers are off: "other and unspecified" is no list.
    """
    line = drug_line(text)
    if line is not None and len(line.drugs) > 1:
        return line.drugs, [Step(DRUG_LINE, text, line.whole)]
    bare = qualified(text)
    plain = text if bare is None else bare.after
    pieces = organisms_in(plain) or (not _has_ended(plain) and split_composite(plain)) or (plain,)
    if len(pieces) > 1:
        return pieces, [] if bare is None else [bare]
    return split_statuses(text), []


def _has_ended(text: str) -> bool:
    """Tell whether a sentence ends before the last word: "no caries. Gingivitis and halitosis"."""
    ends = (word[:-1] for word in text.split()[:-1] if word[-1] == ".")
    return any(len(word) > 3 and word.isalpha() and word.islower() for word in ends)


def _greek(text: str) -> Step | None:
    """Return the step to Greek letters in words, where there are any.

    Sieves read them in both ways, an encoder reads them as names are written.
    """
    spelt = " ".join(greek(text).split()).replace(" -", "-").replace("- ", "-")
    return None if normalise(spelt) == normalise(text) else Step("greek", text, spelt)


def _other_forms(text: str, listing: Listing | None) -> tuple[Step, ...]:
    """Return how a name may write what a mention writes: without its number, with an *and*."""
    bare = without_number(text)
    number = () if bare == text else (Step("number", text, bare),)
    forms = () if listing is None else listing.as_one
    return (*number, *(Step("conjunction", text, form) for form in forms))
