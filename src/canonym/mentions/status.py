"""The status of a mention in a list: *h/o breast cancer* is breast cancer, of the past.

A cell of a problem list has its words of status at its ends. `read_status` takes them off, by the
cues of running text (`canonym.mentions.cues`). What is left names the concept. A terminology may
have a name that says the status itself (*family history of breast cancer*): `wordings` are what
such a name would be, and the linker looks them up first.

Three kinds of mentions keep their words. *no appetite* is a finding, for what is absent belongs to
health. *no-reflow* and *triple negative* are no negations. *fever without rash* has its *without*
inside, and stays whole.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from canonym.mentions.clinical import usual_reading
from canonym.mentions.cues import STATES, Cue, find_cues, outer_words
from canonym.mentions.flags import consistent
from canonym.mentions.phrasings import phrasings
from canonym.mentions.segments import PRESENT, SIGN, Segment, segments
from canonym.regex import GAP, regex
from canonym.rules import any_of, current, once_a_book, phrase_expression, remembered, shipped
from canonym.text.codes import read_codes
from canonym.text.qualifiers import BROADER, is_finding, qualified, without_lead_in
from canonym.text.shape import ALNUM, BRACKETED, shape_of
from canonym.text.words import forms_of, words_of_kind

__all__ = [
    *("BREAK", "Status", "positive", "read_status", "said_by", "split_statuses", "spoken_of"),
    *("split_at_turn", "without_plus", "without_sign", "wordings"),
]

_ENCOUNTER = "encounter for "
_SUBJECTS = frozenset(
    rule.form for rule in shipped().of_kind("subject of a sentence") if rule.where == "patient"
)
_HEADINGS = words_of_kind("heading of a status")
_BEGIN = regex(
    rf"[\s\"'(\[]*(?:(?:{'|'.join(sorted(_SUBJECTS))})\s+(?:has(?: an?)?|with|w/)\s+"
    rf"|(?:{'|'.join(sorted(_HEADINGS))})\s*:\s*)?",
    re.IGNORECASE,
)
_DENYING = words_of_kind("word of a denial")
_LINK = regex(
    rf"(?:\s*:\s*|\s+[-\u2013]\s+|\s+|(?=\())(?:(?:{forms_of('word behind a cue')})\s+)*",
    re.IGNORECASE,
)
_APART = regex(rf"{GAP}(?<![,;:(\[\u2013\u2014-])[,;:(\[\u2013\u2014-]+\s*\Z")
_TAIL = 80  # characters; no sign at the end of a mention is longer
BREAK = regex(r"\w\s+[-\u2013\u2014]+\s+\w|\w\s*\([^()]*\Z")
"""Where what is said behind a name speaks of a part of it alone: a dash, a bracket."""

_REST = frozenset(" \t\n.)]!,;")
_CONJUNCTIONS = words_of_kind("conjunction of a turn")
_TURNS = _CONJUNCTIONS | words_of_kind("word of an exception")
_GRAFT = words_of_kind("side of a graft")  # versus the host
_VERSUS = regex(r"(?<!\s)\s+(?:vs\.?|versus)\s+", re.IGNORECASE)
_LEAD = regex(r"[,:]\s|\s[-\u2013\u2014]{1,3}\s|\s\(")  # "limp, Perthes vs SCFE"
_AFTER = regex(r"(?<=\w) (?=(?:s/p|status post) )", re.IGNORECASE)
_ENDS = regex(r"[;\n]|\s\d+[.)]\s")


class Status(NamedTuple):
    """A mention without its words of status: what is left of it, and what they said.

    `flags` are of `canonym.mentions.cues.FLAGS`; without any, `core` is the mention as it stands.
    """

    core: str
    flags: tuple[str, ...] = ()


@remembered(32)  # several readers ask about a text, one after the other
def read_status(text: str, signs: int = 3) -> Status:
    """Take the words of status off the ends of a mention, and a few `signs` one after the other.

    >>> read_status("no h/o asthma")
    Status(core='asthma', flags=('negated',))
    >>> read_status("pneumonia, resolved"), read_status("r/o PE")
    (Status(core='pneumonia', flags=('historical',)), Status(core='PE', flags=('uncertain',)))
    >>> read_status("no-reflow phenomenon"), read_status("no appetite")
    (Status(core='no-reflow phenomenon', flags=()), Status(core='no appetite', flags=()))
    """
    if not may_have_status(text) or _is_not_free(text) or len(split_at_turn(text)) > 1:
        return Status(text)
    if denied := _denied_result(text):
        return Status(denied, ("negated",))
    if signs and (sign := _own_sign(text)):
        core = sign.core(text)
        if not BREAK.search(core) and {"with", "w"}.isdisjoint(shape_of(core).words[1:-1]):
            inner = read_status(core, signs - 1)
            said = consistent((sign.means, *inner.flags))
            return Status(_unbracketed(inner.core), said) if said else Status(text)
    cues = find_cues(text)
    start, flags = _from_start(text, cues)
    end, more = _from_end(text, [cue for cue in cues if cue.start >= start], start)
    if more and "negated" in flags:  # "absence of the thumb, suspected" may hold a name
        start, flags = 0, []
    core = text[start:end].strip()
    flags += more
    if not flags or not _has_name(core):
        return Status(text)
    if _ends_inside(text, cues, start, end, flags):
        return Status(text)
    return Status(_unbracketed(core), consistent(flags))


def _is_not_free(text: str) -> bool:
    """Tell whether a text denies that someone is free of something: who is not pain free has it."""
    words, there, *_ = shape_of(text)
    return words[-1:] == ("free",) and not _DENYING.isdisjoint(there)


def split_statuses(text: str) -> tuple[str, ...]:
    """Split what a status cannot be read of as a whole: "no fever but cough", "PE vs pneumonia".

    Each part has its own words of status then. The text is returned alone where there is nothing
    to split.

    >>> split_statuses("no fever but cough"), split_statuses("PE vs pneumonia")
    (('no fever', 'cough'), ('? PE', '? pneumonia'))
    >>> split_statuses("limp, Perthes vs SCFE")
    ('limp', '? Perthes', '? SCFE')
    """
    text = " ".join(text.split()) if "  " in text else text  # long gaps cost seconds
    if (" v" in text or " V" in text) and _GRAFT.isdisjoint(shape_of(text).there):
        sides = [side for side in _VERSUS.split(text) if side.strip()]
        if len(sides) > 1:
            first, lead = without_lead_in(sides[0]), ""
            joints = [] if read_status(first).flags else [*_LEAD.finditer(first)]
            if joints:
                lead, first = first[: joints[-1].start()], first[joints[-1].end() :]
            sides[0] = first
            told = (side if read_status(side).flags else f"? {side}" for side in sides)
            return (lead, *told) if lead.strip() else tuple(told)
    if "," not in text and " s" in text.lower() and len(sides := _AFTER.split(text)) > 1:
        return tuple(sides)
    if not shape_of(text).there.isdisjoint(_CONJUNCTIONS):
        sides = [side for side in _joints()[1].split(text) if side.strip()]
        stated = (read_status(without_lead_in(side)).flags for side in sides)
        if len(sides) > 1 and (may_have_status(text) or any(stated)):
            return tuple(sides)
    return (text,)


def split_at_turn(text: str) -> tuple[str, ...]:
    """Split a text where it goes on to something else behind a status, or return it alone.

    >>> split_at_turn("negative for flu, positive for pneumonia")
    ('negative for flu', 'pneumonia')
    >>> split_at_turn("possible pneumonia, now resolved")
    ('possible pneumonia, now resolved',)
    """
    may_turn = any(sign in text for sign in (",", " -", " /", "->", "→"))
    may_turn = may_turn or not shape_of(text).there.isdisjoint(_CONJUNCTIONS)
    turn = _joints()[0].search(text) if may_turn else None
    if turn is None or _course().match(text, turn.end()):
        return (text,)
    is_kin = any("family" in cue.rule.flags for cue in find_cues(turn[0]))
    sides = (text[: turn.start()], (turn[0] if is_kin else "").lstrip(" ,") + text[turn.end() :])
    if not read_status(without_lead_in(sides[0])).flags:  # "CT negative for fracture"
        return (text,)
    return sides


@once_a_book
def _course() -> re.Pattern[str]:
    """Return what says only how something went on: *resolved*, *on warfarin*."""
    return re.compile(
        rf"{any_of('course')}[\s.]*\Z|{any_of('course', ['beginning'])}\s", re.IGNORECASE
    )


@once_a_book
def _joints() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what goes on to something else, *, has a*, *but has a*, and any conjunction: *but*."""
    conjunction = rf"(?:{GAP},|(?<!\s))\s+(?:{'|'.join(sorted(_CONJUNCTIONS))})\s+"
    rules = (rule for rule in current().of_kind("turn") if rule.where == "comma")
    forms = (phrase_expression(rule.form) for rule in rules if "uncertain" in rule.means)
    opening = rf"(?:{'|'.join(forms)})(?: an?)?\s+"
    return (
        re.compile(
            rf"(?:{GAP}(?:,| [-/])\s+|{conjunction}){opening}|{GAP}(?:->|\u2192)\s*", re.IGNORECASE
        ),
        re.compile(rf"{conjunction}(?:{opening}|an?\s+)?", re.IGNORECASE),
    )


def status_beside_code(text: str) -> tuple[str, ...]:
    """Return what the label beside a code says but for a negation, which the code contradicts.

    >>> status_beside_code("R50.9 - h/o fever"), status_beside_code("R50.9 - no fever")
    (('historical',), ())
    """
    statuses = (read_status(reading.beside).flags for reading in read_codes(text))
    flags = next((flags for flags in statuses if flags), ())
    return tuple(flag for flag in flags if flag != "negated")


def unsaid_operation(text: str, name: str) -> str:
    """Return why a name that a search finds says nothing of an operation of the past, "" else.

    It may say what went wrong there. A mention may do so too: a wound infection after an operation.

    >>> unsaid_operation("left cholecystectomy", "Postcholecystectomy syndrome")
    'no name says what cholecystectomy leaves behind'
    >>> unsaid_operation("gastrectomy", "Partial gastrectomy")
    ''
    """
    match = None if _is_related(text) else _operation().fullmatch(text)
    if match is None:
        return ""
    if match["what"].lower() in name.lower().split() and not _is_related(name):
        return ""
    return f"no name says what {match['what'].lower()} leaves behind"


def _is_related(text: str) -> bool:
    """Tell whether a text says what an operation led to, or what went wrong."""
    stems = tuple(words_of_kind("stem of a complication"))
    return any(word.startswith(stems) for word in shape_of(text).words)


@once_a_book
def _operation() -> re.Pattern[str]:
    """Return an operation, and what is said before and behind it."""
    ends = any_of("operation", ["ending"])
    return re.compile(
        rf"(?:[\w'-]+ ){{0,4}}?(?P<what>(?![\w-]*anatomy)[\w-]*{ends}|{any_of('operation')})"
        r"(?: (?:for|of) .+)?",
        re.IGNORECASE,
    )


class Stated(NamedTuple):
    """A name that would say a status: its text, what it has to say, and what is left to say."""

    text: str
    says: tuple[str, ...]
    left: tuple[str, ...] = ()


def wordings(text: str, status: Status) -> tuple[Stated, ...]:
    """Return the names that would say the status of a mention, the mention itself first.

    >>> [one.text for one in wordings("FHx: gout", Status("gout", ("family",)))]
    ['FHx: gout', 'family history of gout']
    """
    bare = qualified(status.core)
    cores = (status.core,) if bare is None or bare.name == BROADER else (status.core, bare.after)
    asked = {row.form: row.means for row in shipped().of_kind("opening of a status")}
    pairs = map(" ".join, itertools.pairwise(shape_of(text).words))
    says = next(filter(None, map(asked.get, pairs)), " ".join(status.flags))
    rows = [rule for rule in shipped().of_kind("name of a status") if rule.means == says]
    others = [row.form.replace("X", core) for core in cores for row in rows]
    # No name says "old MI", and hardly any "history of embolus".
    others += [reading for words in others if (reading := usual_reading(words))]
    stated = [Stated(wording, status.flags) for wording in (text, *others)]
    if status.flags == ("historical",):
        # What is left of an operation may be there: "Acquired absence of spleen".
        said = dict.fromkeys(step.after for words in others for step in phrasings(words))
        stated += [Stated(wording, said_by(wording)) for wording in said]
    return tuple(stated)


def without_plus(text: str) -> str:
    """Return what a plus in front says is there, "" where no mention has one.

    >>> without_plus("+PPD"), without_plus("(+) fever"), without_plus("+2 edema")
    ('PPD', 'fever', '')
    """
    sign = _own_sign(text)
    return sign.core(text) if sign and sign.means == PRESENT else ""


def without_sign(text: str) -> str:
    """Return an item of a list without the sign that speaks of it.

    >>> without_sign("cough (-)"), without_sign("no cough")
    ('cough', 'no cough')
    """
    sign = _own_sign(text)
    return text if sign is None else sign.core(text)


def _own_sign(text: str) -> Segment | None:
    """Return what the sign of a mention says, None where it has none or several.

    What is said of a part of it is none: the receptor is negative in *cancer, HER2 negative*.
    """
    parts = segments(text)
    around = (text[: parts[0].start] + text[parts[0].end :]).strip(" .()[]\"'?~") if parts else "-"
    if around or len(parts) > 1:
        return None
    sign = parts[0].sign[0]
    return None if any(cue.start < sign < cue.end for cue in find_cues(text)) else parts[0]


def positive(text: str, core: str) -> tuple[Stated, ...]:
    """Return the names of a positive test that has a plus in front, the mention itself first.

    That a symptom is there no name says, so the mention itself is none.
    """
    others = (Stated(f"positive {core}", ()), Stated(f"{core} positive", ()))
    return (Stated(text, ("positive",)), *others)


def said_by(name: str) -> tuple[str, ...]:
    """Return the flags that a name says; it may do so as no mention in a list does.

    >>> said_by("Absent thumb"), said_by("Absence seizures")
    (('negated',), ())
    """
    if flags := read_status(name).flags:
        return flags
    if not shape_of(name).there.isdisjoint(words_of_kind("word of a status that may come")):
        return ("hypothetical",)
    return ("negated",) if name.lower().startswith("absent ") else ()


@remembered(1_024)  # several readers ask about a text, one after the other
def may_have_status(text: str) -> bool:
    """Tell at once of most mentions that they have no words of status at their ends."""
    starts, ends = _outer()
    if not (text[:1].isalnum() and text.rstrip(" .")[-1:].isalnum()):
        return True
    words, there, *_ = shape_of(text)
    last = "0" * len(words[-1]) if words[-1].isdecimal() else words[-1]
    if words[0] in starts or last in ends:
        return True
    return not _DENYING.isdisjoint(there) and _denied_result(text) != ""


def _denied_result(text: str) -> str:
    """Return what a mention says was not found, "" where it says no such thing.

    *LFTs not elevated* says what *no elevated LFTs* says, *vision isn't blurred* what *no blurred
    vision* does. A lump that is not painful is a lump.
    """
    match = _not_result().fullmatch(text)
    if match is None:
        return ""
    test, comma, result, altered = match.group("test", "comma", "result", "altered")
    if result is None and (comma or is_finding(test)):
        return ""
    return f"{result or altered} {test}"


@once_a_book
def _not_result() -> re.Pattern[str]:
    """Return a test or a part of the body, and what was not found of it."""
    return re.compile(
        r"(?:(?:the|my|his|her|their)\s+)?(?P<test>\w[^.;\n]*?)(?P<comma>,?)(?<!\s)\s+"
        r"(?:(?:is|are|was|were)(?:n't|\s+not|\s+never)|not|never)\s+"
        rf"(?:\w+ly\s+)?(?:(?P<result>{any_of('result')})|(?P<altered>{any_of('altered')}))[\s.]*",
        re.IGNORECASE,
    )


@once_a_book
def _outer() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words and signs with which a mention with a status begins, and ends."""
    begin, end = outer_words()
    return begin | _SUBJECTS | _HEADINGS, end | {
        row.form.lstrip("+-") for row in current().of_kind(SIGN)
    }


def spoken_of(name: str) -> tuple[str, ...]:
    """Return what a name speaks of that says a status, with its brackets and without.

    >>> spoken_of("Personal history of (healed) stress fracture")
    ('(healed) stress fracture', 'stress fracture')
    >>> spoken_of("Family history of gout and other joint disorders")[-1]
    'gout'
    """
    is_encounter = name.lower().startswith(_ENCOUNTER)
    core = read_status(name[len(_ENCOUNTER) :] if is_encounter else name).core
    plain = " ".join(BRACKETED.sub(" ", core).split())
    words = itertools.takewhile(lambda word: word.lower() not in ("and", "or"), plain.split())
    return tuple(dict.fromkeys((core, plain, " ".join(words) or plain)))


@once_a_book
def _lasting() -> re.Pattern[str]:
    """Return what stays, so that it may be old; *old yellow enzyme* is a name."""
    return re.compile(rf"\b{any_of('lasting')}\b", re.IGNORECASE)


def _is_healthy(text: str) -> bool:
    is_ill = not words_of_kind("word of ill health").isdisjoint(shape_of(text).there)
    return not is_ill and _healthy().fullmatch(text) is not None


@once_a_book
def _healthy() -> re.Pattern[str]:
    """Return what belongs to health: that it is absent is a finding."""
    return re.compile(
        rf"(?:an? |any |of |the )*+(?:{any_of('health', ['with more'])}(?: .*)?"
        rf"|{any_of('health')}(?: (?:{forms_of('preposition')}|x) .*)?"
        rf"|.*\b{any_of('health', ['ending'])})",
        re.IGNORECASE,
    )


def _from_start(text: str, cues: Iterable[Cue]) -> tuple[int, list[str]]:
    """Return where a mention goes on behind the words of status at its start, and their flags."""
    start, flags = 0, list[str]()
    at = {cue.start: cue for cue in cues}
    while True:
        begin = _BEGIN.match(text, start)
        cue = at.get(begin.end() if begin else start)
        if cue is None or not _counts_before(text, cue) or ("negated" in cue.rule.flags and flags):
            return start, flags
        link = _LINK.match(text, cue.end)
        if link is None or not _has_name(text[link.end() :]):
            return start, flags
        start, flags = link.end(), [*flags, *cue.rule.flags]


def _counts_before(text: str, cue: Cue) -> bool:
    """Tell whether a cue at the start of a mention is one in a list."""
    rule, behind = cue.rule, text[cue.end :].lstrip()
    if rule.flags and behind.startswith(":") and behind[1:2].isspace():
        return True  # "Consider: PE"
    if not (rule.before and rule.flags):
        return False
    if "before" not in rule.in_lists:  # "mother: diabetes"
        return rule.flags == ("family",) and behind.startswith((":", "- ", "\u2013 "))
    if cue.words == "old":
        return _lasting().search(behind) is not None
    is_absence = cue.words in words_of_kind("cue of an absence")
    return not (is_absence and _is_healthy(behind.rstrip(" .,;")))


def _from_end(text: str, cues: list[Cue], start: int) -> tuple[int, list[str]]:
    """Return where a mention ends before the words of status at its end, and their flags."""
    end, flags = len(text), list[str]()
    while True:
        last = next((cue for cue in reversed(cues) if cue.end <= end), None)
        if last is None or not _counts_after(text, last):
            return end, flags
        if not _REST.issuperset(text[last.end : end]) or not text[start : last.start].strip():
            return end, flags
        apart = _APART.search(text[: last.start], max(start, last.start - _TAIL))
        stop = last.start if apart is None else apart.start()
        begin = max(start, stop - _TAIL)
        if STATES.intersection(last.rule.flags) and BREAK.search(text, begin, stop):
            return end, flags  # "croup (flu neg)", "croup - flu neg"
        if apart is None and last.words in words_of_kind("cue that stands apart"):
            return end, flags
        end = stop
        flags = [*flags, *last.rule.flags]


def _counts_after(text: str, cue: Cue) -> bool:
    """Tell whether a cue at the end of a mention is one in a list."""
    rule = cue.rule
    if rule.after and rule.flags:
        return "after" in rule.in_lists
    around = text[max(cue.start - 1, 0) : cue.start] + text[cue.end : cue.end + 1]
    return rule.flags == ("family",) and around in ("()", "[]")  # "lupus (mother)"


def _ends_inside(text: str, cues: Iterable[Cue], start: int, end: int, flags: list[str]) -> bool:
    """Tell whether something inside a mention ends what its words of status speak of."""
    if _ENDS.search(html.unescape(text[start:end])):
        return True
    inside = (cue for cue in cues if start < cue.start and cue.end < end)
    return any(not {*cue.rule.ends}.isdisjoint(flags) and cue.words in _TURNS for cue in inside)


def _unbracketed(core: str) -> str:
    """Take off a bracket or a quote that has no partner any more."""
    for marks in ("()", "[]", '"'):
        if sum(map(core.count, marks)) % 2:
            core = core.strip(marks)
    return core.strip(" ,;:")


def _has_name(text: str) -> bool:
    """Tell whether a text has a word of two letters, or of one that is a word in Asia."""
    return any(len(word) > 1 or "\u3040" <= word <= "\u9fff" for word in ALNUM.findall(text))
