"""Names of which a cell tells in a few words: *doppler neg for DVT*, *twin sister with lupus*.

The words of status at the ends of a mention are taken off by `canonym.mentions.status`, where a
list has them. Others stand as they do in a text, among small words and those of tests. What is left
between them is looked up, and counts only where a sieve knows it; its status is that of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from canonym.mentions.cues import find_cues
from canonym.mentions.flags import consistent, with_flags
from canonym.mentions.prepared import Part
from canonym.mentions.status import BREAK, read_status, without_plus
from canonym.regex import regex
from canonym.text.shape import shape_of
from canonym.text.words import words_of_kind
from canonym.types import Mention

_LONGEST = 150
_WORD = regex(r"[^\s,;:()\[\]\"]+")
_APART = (",", ";", "(", " - ", " \u2013 ", " \u2014 ")


def flags_around(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
    """Return what a text says of each of its stretches, without what one says of itself.

    A cue at the start of a stretch speaks of what comes behind it too, and one at the end of what
    stands before it. A cue within one belongs to a name: *small to absent fibula, gout*.

    >>> flags_around("no cough, c/o fever", [(3, 8), (10, 19)])
    [('negated',), ()]
    >>> flags_around("gout or sepsis?", [(0, 4), (8, 14)])
    [('uncertain',), ('uncertain',)]
    """
    cues = find_cues(text)
    flags = list[tuple[str, ...]]()
    for start, end in spans if cues or "?" in text else ():
        sentence, begin = text, start
        for cue in cues:
            if start <= cue.start < end:
                begin = cue.end if cue.start == begin and cue.rule.ends else begin
                continue
            inside = [span for span in spans if span[0] <= cue.start < span[1]]
            if not inside:
                continue
            first, last = min(inside, key=lambda span: span[1] - span[0])
            leads = cue.start == first and cue.start < start
            leads = leads and (not cue.rule.after or text.startswith(":", cue.end))
            leads = leads and cue.words not in words_of_kind("cue within a name")
            if not leads and not (cue.end == last and cue.start >= end and not cue.rule.before):
                hidden = "x" * (cue.end - cue.start)
                sentence = sentence[: cue.start] + hidden + sentence[cue.end :]
        name = text[begin:end].lstrip(" ,:")
        (mention,) = with_flags(sentence, [Mention(name, end - len(name), end)])
        flags.append(mention.flags or ())
    return flags or [() for _ in spans]


def status_of_listed(whole: Part, spans: Sequence[tuple[int, int] | None]) -> list[tuple[str, ...]]:
    """Return what words of status say of each stretch of a mention that it lists.

    What shares a word with others has no stretch of its own, and the status of the whole. What a
    heading says holds for all, as what reaches on does anyway: *Resolved: pneumonia, UTI*.
    """
    written = whole.stated[0].text if whole.stated else whole.text
    core = read_status(written).core
    before, core, behind = written.partition(read_status(core).core)
    if None in spans or not core:
        return [whole.status] * len(spans)
    at = len(before)
    shifted = [(at + span[0], at + span[1]) for span in spans if span is not None]
    reaches = any(cue.rule.before == "sentence" for cue in find_cues(before))
    heading = whole.status if before.rstrip().endswith(":") and not reaches else ()
    flags = flags_around(before + whole.text + behind, shifted)
    return [consistent((*heading, *own)) for own in flags]


def result_of(text: str) -> str:
    """Return a test with its result in words: *HIV test positive* for "HIV test +", else ""."""
    bare = text.rstrip(" )")
    is_behind = bare[-2:-1] in (" ", "(") and bare[-1:] in "+-\u2212"
    name = bare[:-1].rstrip("( ") if is_behind else without_plus(text) if "+" in text else ""
    result = f"{name} {'negative' if is_behind and bare[-1] != '+' else 'positive'}"
    return result if name and "?" not in text and told_of(f"{name} positive") else ""


class Told(NamedTuple):
    """The name in a text, and what the words around it say of it."""

    name: str
    flags: tuple[str, ...]


def told_of(text: str, status: tuple[str, ...] = ()) -> Told | None:
    """Return the name between words that tell of it, None where all words belong to it.

    A test is told of only beside its result, which may be part of a `status` that was taken off.

    >>> told_of("neg doppler for DVT"), told_of("twin sister has lupus")
    (Told(name='DVT', flags=('negated',)), Told(name='lupus', flags=('family',)))
    >>> told_of("HIV test"), told_of("lupus nephritis")
    (None, None)
    """
    small, tests = words_of_kind("small word of a cell"), words_of_kind("test")
    results = words_of_kind("positive result")
    ends = (shape := shape_of(text)).words[:1] + shape.words[-1:]
    if len(text) > _LONGEST or len(shape.words) < 2:
        return None
    cues = [cue for cue in find_cues(text) if cue.rule.flags or cue.rule.ends]
    cues = [cue for cue in cues if cue.words not in tests]
    cues = [cue for cue in cues if cue.rule.after or text[cue.end :].strip(" .,;:)")]
    is_result = not results.isdisjoint(ends) and not tests.isdisjoint(shape.words)
    if not cues and (small | tests).isdisjoint(ends) and not is_result:
        return None
    words = [*_WORD.finditer(text)]
    cued = {at for cue in cues for at in range(cue.start, cue.end)}
    forms = [word[0].strip(".'").lower() for word in words]
    around = [
        form in small
        or form in tests
        or form in results
        or ("x" in form and form.strip("x").isdecimal())  # "x3", "2x"
        or all(at in cued or text[at] in ".'/" for at in range(*word.span()))
        for word, form in zip(words, forms, strict=True)
    ]
    if all(around) or not (around[0] or around[-1]):
        return None
    first, last = around.index(False), len(around) - around[::-1].index(False)
    start, end = words[first].start(), len(text[: words[last - 1].end()].rstrip(" -\u2013\u2014"))
    in_names = words_of_kind("cue within a name")
    beside = (cue for cue in cues if cue.end in (start, start - 1) or cue.start in (end, end + 1))
    if any(start <= cue.start < end for cue in cues) or any(c.words in in_names for c in beside):
        return None
    if any(cue.rule.flags and not cue.rule.after for cue in cues if cue.start >= end):
        return None
    if "negated" in status and any("negated" in cue.rule.ends for cue in cues):
        return None  # "except heartburn" of what is denied
    with_test = not tests.isdisjoint((*forms[:first], *forms[last:]))
    is_apart = with_test and any(mark in text[end:] for mark in _APART)
    if is_apart or BREAK.search(text, start, end):
        return None  # "rash (flu neg)", "chest pain - troponin neg"
    flags = with_flags(text, [Mention(text[start:end], start, end)])[0].flags or ()
    said = {*flags, *status}
    if any(cue.rule.flags and said.isdisjoint(cue.rule.flags) for cue in cues):
        return None  # "Consider: PE", where the cue does not reach the name
    is_proven = words_of_kind("test of immunity").isdisjoint(forms) and results & shape.there
    if with_test and "negated" not in said and not is_proven:
        return None
    # A screen that was negative is none that may come.
    return Told(text[start:end], tuple(f for f in flags if f != "hypothetical" or not with_test))
