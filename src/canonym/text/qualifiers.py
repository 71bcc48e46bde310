"""Words at either end of a text that say nothing about the concept, or only narrow it.

*Asthma (disorder)*, *asthma NOS* and *unspecified asthma* mean asthma. *Asthma without mention of
status asthmaticus* means asthma too, but less than all of it: the concept *asthma* is broader.
*Other asthma* is the rest of a classification, and stays as it is. What patients call *my asthma*
is asthma, and so is what a note has as *diagnosis: asthma* or *patient with asthma*.

Names of a terminology have the same words. There a bare *sepsis* stands for what is called "Sepsis,
unspecified organism". Brackets of optional words go as well: "(Pure) hypercholesterolemia NOS".
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from canonym.regex import regex
from canonym.rules import any_of, once_a_book, remembered
from canonym.text.shape import WORD
from canonym.text.short_forms import own_short_form
from canonym.text.words import forms_of, words_of_kind
from canonym.types import Step

QUALIFIERS = "qualifiers"
"""Name of the step that leaves words out and keeps the meaning."""

BROADER = "broader"
"""Name of the step that leaves words out which narrow the meaning."""

# --- what stands at the ends ----------------------------------------------------------------------

_APART = r"(?<![ ,;:\-\u2013\u2014])[ ,;:\-\u2013\u2014]+"
_CLASSIFIED_END = ("elsewhere classified", "classified elsewhere")

_FRONTS = tuple(f"{words} " for words in words_of_kind("unspecified in front"))
_STATED = r"(?:denies|likely|no|not|possible|probable|r/o|rule out|suspected|without)\b|\?"
# How bad or big it is, where, and how it goes on, which some names say. "Bad" alone is of a kind:
# *bad cholesterol*.
_DEGREES = (
    f"{any_of('degree')}|(?:clinical |pathologic )?(?:grade|stage) (?:[1-4]|I{{1,3}}|IV)[abc]?"
)
_SIDE_WORDS = words_of_kind("side")
_SIDES = f"(?:{forms_of('side')})(?:[- ]sided)?"
_DETAIL = regex(
    rf"^(?:(?:{any_of('degree', ['of a patient'])}|{_SIDES})"
    # Where each side is something of its own: left heart failure, right-sided colitis.
    rf" (?!(?:and|or)\b|{forms_of('differs by its side')})"
    rf"|(?:{any_of('degree', ['adverb'])}(?: bad)?|{_DEGREES})(?: ?, ?| (?:and )?))"
    r"(?=[a-z]{3}|(?-i:[A-Z][A-Z\d]))",
    re.IGNORECASE,
)
_DETAIL_BEHIND = regex(
    rf"(?:,| [-\u2013]|(?= ?\()) ?\(?(?:{_DEGREES}|{_SIDES})\)?$"
    rf"| (?:{forms_of('circumstance')})$"
    r"| (?:grade|stage) (?:[1-4]|I{1,3}|IV)[abc]?$"
    rf"| {_SIDES}$|(?<=[a-z]{{5}})(?<!group)(?<!factor)(?<!antigen)[ ,]+\(?(?-i:[RL])\)?$",
    re.IGNORECASE,
)
_NOTED = " without mention of "
_SITES, _PLACES = words_of_kind("site"), words_of_kind("place of a site")
_LETTERS = frozenset(("L", "R"))
_OWN_SITES = words_of_kind("differs by its site")
_ADJECTIVES = tuple(words_of_kind("ending of an adjective"))  # "the femoral neck"
_TAIL = 90  # letters; no end is longer

# How long or how often, since when, and how much: a chief complaint says it, and no name does.
_MEASURED = regex(f"(?:{forms_of('measure')})$", re.IGNORECASE)
_MEASURE_ENDS = words_of_kind("end of a measure")
# There it is the age of a child: *preterm 28 weeks*.
_BIRTHS = words_of_kind("word of a birth")
_TO_SPACE = str.maketrans(",()/-", "     ")
_NONE = frozenset(("0", "x0"))  # no days of cough are no cough

# *NOS* and *NEC* are an enzyme and two diseases too.
_ISOFORMS = words_of_kind("isoform")
_SPECIES = words_of_kind("species")
_CLASSIFIED = tuple(words_of_kind("classified"))
_NEGATIONS = words_of_kind("negation")
_SEVERAL = frozenset(",;/&+")
_LITTLE_WORDS = ("other", "not", "and", "or", "by", "of", "in", "an", "the")


class _Ends(NamedTuple):
    """What a classification adds at the end: that more is not known, and what else is meant."""

    unsaid: re.Pattern[str]
    unspecified: re.Pattern[str]
    rest: re.Pattern[str]
    words: frozenset[str]


@once_a_book
def _ends() -> _Ends:
    tag, unsaid, aspect, rest, end = (
        any_of("tag", [place]) for place in ("", "unspecified", "aspect", "rest", "end")
    )
    return _Ends(
        re.compile(rf"\b(?:{unsaid}|n\.?o\.?s)\b", re.IGNORECASE),
        re.compile(
            rf"(?: ?[(\[](?:{tag}|{unsaid}|n\.?o\.?s\.?)[)\]]|{_APART}(?:{unsaid}|{end})"
            rf"|(?: ?, ?| (?:at|by|in|of|with) (?:an )?){unsaid} {aspect}| ?, ?{aspect} {unsaid}"
            rf"|{_APART}(?P<nos>n\.?o\.?s\.?))$",
            re.IGNORECASE,
        ),
        re.compile(
            rf"(?:{_APART}{rest}| ?[(\[](?:{rest}|nec)[)\]]| ?, ?nec|(?-i:(?<=[a-z]) (?P<nec>NEC))"
            r"|(?P<context> ?,? (?:in|due to|associated with|with)(?: (?!not )[\w\-]+){1,6}?"
            r" classified elsewhere))$",
            re.IGNORECASE,
        ),
        frozenset(("nos", "n.o.s", "nec", *WORD.findall(f"{unsaid} {aspect} {rest} {end}"))),
    )


@once_a_book
def _no_concept() -> frozenset[str]:
    return frozenset((*_ends().words, *_LITTLE_WORDS, *WORD.findall(any_of("tag"))))


@once_a_book
def _finding() -> re.Pattern[str]:
    """Return a word that tells of a finding."""
    ends, begins = any_of("finding", ["ending"]), any_of("finding", ["beginning"])
    return re.compile(
        rf"\w(?:{ends}|(?<!st)oma(?:s|ta)?)\b|\b(?:{begins}|{any_of('finding')}\b)"
        r"|(?:ache|stone)s?\b",
        re.IGNORECASE,
    )


@once_a_book
def _ill() -> re.Pattern[str]:
    """Return a word of a finding, or one that may name a part of the body as well: *tibia*."""
    ends, words = any_of("finding", ["ending of an ill"]), any_of("finding", ["ill"])
    return re.compile(rf"{_finding().pattern}|\w{ends}\b|\b{words}\b", re.IGNORECASE)


@once_a_book
def _lead_in() -> re.Pattern[str]:
    """Return what a note says before it says what somebody has.

    What was looked at is not a finding: *CT: abdomen*, *MRI: hippocampus*. So the heading of a test
    is left out before a word that tells of a finding, or of its absence; else a link is in doubt.
    That of a system is before words of a status alone: *abd: no peritonitis*.
    """
    places = ("of a patient", "", "before a heading", "heading", "test", "site of a test", "report")
    has, of, kind, heading, test, site, says = (any_of("lead-in", [place]) for place in places)
    system = any_of("lead-in", ["system"])
    return re.compile(
        rf"^(?:(?:(?:the )?(?:patient|pt\.?)|he|she) {has}(?: an?)? |{of}(?: an?)? "
        rf"|(?:{kind} )?{heading} ?(?:#? ?\d\d?)?(?: ?[:=] ?| [-\u2013] )"
        rf"|{system} ?: ?(?={_STATED})"
        rf"|(?:(?:{site} )?{test}|us(?= (?:abdomen|pelvis)))(?: {site})?(?: {says}(?: an?)? "
        rf"| (?:was )?(?=negative for |d(?:id|oes)(?: not|n't) )|(?: ?[:=] ?| [-\u2013] )"
        rf"(?={_STATED}|.*(?:{_finding().pattern})))"
        r"(?!(?:ab)?normal\b|clear\b|negative\b(?! for )|positive\b|unremarkable\b))(?=[\w?])",
        re.IGNORECASE,
    )


@remembered(1_024)  # several readers ask about a text, one after the other
def qualified(text: str) -> Step | None:
    """Return the step to a mention without its qualifiers, or None where it has none.

    The step is called `QUALIFIERS` where both mean the same, and `BROADER` where what is left means
    more than the mention. Something always is left.

    >>> qualified("Asthma, unspecified (disorder)")
    Step(name='qualifiers', before='Asthma, unspecified (disorder)', after='Asthma')
    >>> qualified("diabetes mellitus without mention of complication").name
    'broader'
    >>> qualified("cough x3 days").after, qualified("fever 39.2").after
    ('cough', 'fever')
    >>> qualified("Diagnosis: asthma").after, qualified("patient with gout").after
    ('asthma', 'gout')
    >>> qualified("Other asthma")
    """
    whole = " ".join(text.split())
    left, is_broader = _stripped(whole)
    return None if left == whole else Step(BROADER if is_broader else QUALIFIERS, text, left)


def is_rest(text: str) -> bool:
    """Tell whether a text names the rest of a classification: *X NEC*, *X classified elsewhere*."""
    return _may_end(text) and _rest(text[-_TAIL:]) is not None


def is_finding(text: str) -> bool:
    """Tell whether a text names something that is wrong, and not how or where something is.

    >>> [is_finding(text) for text in ("infections", "hypotonia", "left lung", "febrile")]
    [True, True, False, False]
    """
    return _ill().search(text) is not None


def names_side(text: str) -> bool:
    """Tell whether a text says on which side something is.

    >>> [names_side(text) for text in ("L knee pain", "right-sided sciatica", "otitis media")]
    [True, True, False]
    """
    return any(word in _LETTERS or word.lower() in _SIDE_WORDS for word in WORD.findall(text))


def is_unspecified(name: str) -> bool:
    """Tell whether a name says that something is not specified: "Myopathy, unspecified"."""
    return _ends().unsaid.search(name) is not None


@remembered(64)  # asked for one mention several times
def without_details(text: str) -> tuple[str, ...]:
    """Return a text without the words at its ends that say how bad it is, where, and when.

    First without those in front, then without those behind, and without both.

    >>> without_details("really bad, constant leg cramps"), without_details("scoliosis (mild)")
    (('leg cramps',), ('scoliosis',))
    >>> without_details("recurrent pneumonia, left")
    ('pneumonia, left', 'recurrent pneumonia', 'pneumonia')
    """
    front, back = _without_front(text), _without_back(text)
    both = front if back == text else _without_front(back)
    return tuple(other for other in dict.fromkeys((front, back, both)) if other != text)


def _without_front(text: str) -> str:
    while (match := _DETAIL.match(text)) and not _is_empty(text[match.end() :]):
        text = text[match.end() :]
    return text


def _without_back(text: str) -> str:
    while (match := _DETAIL_BEHIND.search(text)) and not _is_empty(text[: match.start()]):
        rest = text[: match.start()].rstrip()
        if rest.rpartition(" ")[2].lower() in _NEGATIONS:
            return text  # "pneumonia not seen on CXR"
        text = rest
    return _without_site(text)


def _without_site(text: str) -> str:
    """Return a text without the site behind it, but for what is another thing at each site."""
    words = text.split()
    where = (word in _LETTERS or word.lower() in _SITES | _PLACES for word in reversed(words))
    end = len(words) - sum(itertools.takewhile(bool, where))
    rest, name = " ".join(words[:end]), ["", *(word.lower().strip(":,") for word in words[:end])]
    is_own = name[-1].endswith(_ADJECTIVES) or any(
        word in _OWN_SITES and before not in _SITES for before, word in itertools.pairwise(name)
    )
    is_site = any(word.lower() in _SITES or word in _LETTERS for word in words[end:])
    return text if not is_site or is_own or _is_empty(rest) else rest


def without_lead_in(text: str) -> str:
    """Return a text without what a note says before a name: *patient with gout*."""
    return _lead_in().sub("", text)


def without_heading(text: str) -> str:
    """Return a list without the heading in front of it; a single name keeps that of a system.

    A heading under which there is nothing goes with its denial: *PMH nil. Asthma*.

    >>> without_heading("A/P: gout, asthma"), without_heading("Neuro: seizures, headache")
    ('gout, asthma', 'seizures, headache')
    >>> without_heading("Neuro: seizures"), without_heading("gout, asthma: stable")
    ('Neuro: seizures', 'gout, asthma: stable')
    """
    text = text if {*".,;"}.isdisjoint(text) else _nothing().sub("", text)
    head, colon, rest = text.partition(":")
    if not colon or len(head) > _TAIL or _SEVERAL.isdisjoint(rest) or not rest.strip():
        return text
    is_system = _systems().fullmatch(head.strip()) is not None
    return rest.strip() if is_system else without_lead_in(text)


@once_a_book
def _nothing() -> re.Pattern[str]:
    """Return a heading that has nothing under it, and what goes on behind it."""
    return re.compile(rf"^{any_of('lead-in', ['nothing'])}[.,;]\s+(?=\w)", re.IGNORECASE)


@once_a_book
def _systems() -> re.Pattern[str]:
    """Return a system of the body as it heads its findings in a note."""
    return re.compile(any_of("lead-in", ["system"]), re.IGNORECASE)


def _may_end(text: str) -> bool:
    last = text[-_TAIL:].rstrip().rpartition(" ")[2]
    is_tag = last.endswith((")", "]"))
    return is_tag or last.rpartition(",")[2].rstrip(".").lower() in _ends().words


def _stripped(text: str, *, is_name: bool = False) -> tuple[str, bool]:
    """Return a text without its qualifiers, and whether some of them narrow it."""
    is_broader = False
    while True:
        shorter, narrows = _once(text, is_name)
        if shorter == text or _is_empty(shorter):
            return text, is_broader
        text, is_broader = shorter, is_broader or narrows


def _is_empty(text: str) -> bool:
    """Tell whether nothing is left that could be a concept."""
    return all(word[0] in _no_concept() for word in WORD.finditer(text.lower()))


def _once(text: str, is_name: bool) -> tuple[str, bool]:
    """Take a qualifier off the end of a text, or the first."""
    small = text.lower()
    is_other = small.startswith("other ")
    if _may_end(text):
        tail = text[-_TAIL:]
        length = len(text) - len(tail)
        if match := _unspecified(tail):
            return _trimmed(text[: length + match.start()]), False
        if not is_name and is_other and small.endswith(_CLASSIFIED_END):
            return text[len("other ") :], True
        if match := _rest(tail, is_name=is_name):
            return _trimmed(text[: length + match.start()]), True
    if not is_name:
        if measure := _measure(text):
            return _trimmed(text[: -len(measure)]), True
        if text[1:3] == "y " and text[0] in "mM" and "a" <= text[3:4] <= "z":
            return text[3:], False  # MY 42445 is a substance
        if match := _lead_in().search(text):
            return text[match.end() :], False
    if small.startswith(_FRONTS):
        front = next(form for form in _FRONTS if small.startswith(form))
        return text[len(front) :], is_other
    about = small.rpartition(_NOTED)[2]
    if about != small and about and not {",", ";"}.intersection(about):
        return _trimmed(text[: -len(_NOTED + about)]), True
    return text, False


def _unspecified(text: str) -> re.Match[str] | None:
    """Return where a text ends in a tag, or says that more is not known."""
    match = _ends().unspecified.search(text)
    return None if match and match["nos"] and _is_isoform(text[: match.start()]) else match


def _is_isoform(text: str) -> bool:
    """Tell whether a text says which synthase of nitric oxide a NOS behind it is."""
    *others, last = WORD.findall(text.lower()) or [""]
    return last in _ISOFORMS or (not others and (len(last) == 1 or last in _SPECIES))


def _rest(text: str, *, is_name: bool = False) -> re.Match[str] | None:
    """Return where a text says that it is the rest of a class, or that another class is meant.

    A name keeps "in diseases classified elsewhere": the concept is no more than that.
    """
    match = _ends().rest.search(text)
    if match is None or (is_name and match["context"]):
        return None
    is_disease = match["nec"] and not text[: match.start()].endswith(_CLASSIFIED)
    return None if is_disease else match


def _measure(text: str) -> str:
    """Return how long, how often or how much a text says at its end, "" where it does not."""
    last = text.rpartition(" ")[2].lower()
    is_number = last[-1:].isdigit() or last.endswith(("%", ")", "\u00b0"))
    if not is_number and last.lstrip("0123456789.x/-") not in _MEASURE_ENDS:
        return ""
    match = _MEASURED.search(text[-_TAIL:])
    if match is None or not _NONE.isdisjoint(match[0].lower().translate(_TO_SPACE).split()):
        return ""
    is_age = match["lasting"] and any(word in text.lower() for word in _BIRTHS)
    return "" if is_age else match[0]


def _trimmed(text: str) -> str:
    return text.rstrip(" ,;:-\u2013\u2014")


# --- names ----------------------------------------------------------------------------------------

_WORDED = r"\([a-z]{3,}(?:[ ,\-]+[a-z]{3,})*[ ,\-]*\)"
_OPTIONAL = regex(rf" ?{_WORDED}", re.IGNORECASE)
_SEVERITIES = words_of_kind("severity")
_PAIRED = words_of_kind("part of a pair")
_NOTHING_FURTHER = words_of_kind("nothing further")
_LONGEST = 80  # letters; longer names are descriptions, whose bare form nobody writes
_LEAST = 5  # letters of each of two words for one class

# Square brackets of a classification enclose another wording, or an explanation.
_DESIGNATED = r"[^\[\]]*(?:\d|\b[ivx]+\b|\b[a-z]\b)"  # a layer, a type or a letter tells two apart
_BRACKETED = regex(rf"(?<=[^\W\d_]) \[(?!{_DESIGNATED})[^\[\]]{{2,40}}\](?=[ ,]|$)", re.IGNORECASE)


def without_brackets(name: str, text: str) -> str:
    """Return a name without the square brackets whose words a text does not say.

    >>> without_brackets("Third [oculomotor] nerve palsy", "third nerve palsy")
    'Third nerve palsy'
    """
    said = text.lower()
    return _BRACKETED.sub(
        lambda match: match[0] if any(w in said for w in match[0].lower()[2:-1].split()) else "",
        name,
    )


class Bare(NamedTuple):
    """A name without its qualifiers, and whether some of them narrow it; or its short form."""

    text: str
    is_narrower: bool = False


@remembered(4_096)  # the same names are near to many mentions
def bare_name(name: str) -> Bare | None:
    """Return what a name of a terminology is without its qualifiers; None where it has none.

    >>> bare_name("(Pure) hypercholesterolemia NOS").text, bare_name("Syncope and collapse").text
    ('hypercholesterolemia', 'Syncope')
    >>> bare_name("Chronic kidney disease, stage 4 (severe)").text
    'Chronic kidney disease, stage 4'
    >>> bare_name("Third [oculomotor] nerve palsy, unspecified eye").text
    'Third nerve palsy'
    >>> bare_name("Latent tuberculosis infection (LTBI)").text, bare_name("Other sepsis")
    ('LTBI', None)
    """
    first, _, second = name.partition(" and ")
    is_couple = (first + second).isalpha() and (first[1:] + second).islower()
    if is_couple and min(len(first), len(second)) >= _LEAST:
        return Bare(first, is_narrower=True)  # two words for one class, each a name of it
    if short := own_short_form(name):
        return Bare(short)
    whole = " ".join(name.split())
    bare = Bare(_BRACKETED.sub("", whole) if " [" in whole else whole)
    if len(bare.text) <= _LONGEST:
        bare = _barer(bare.text)
    return None if bare.text == whole or _is_empty(bare.text) else bare


def _barer(name: str) -> Bare:
    text, _, what = name.rpartition(" without ")
    text = text.removesuffix(",")
    is_narrower = text.lower().endswith("unspecified") or what.lower() in _NOTHING_FURTHER
    text = text if is_narrower else name
    head, unsaid, part = text.rpartition(", unspecified ")
    if unsaid and part.lower() in {*_PAIRED, *WORD.findall(head.lower())}:
        text = head.rstrip()
    bare, is_broader = _stripped(text, is_name=True)
    head, _, word = bare.rpartition(" (")
    if word.lower().removesuffix(")") in _SEVERITIES and not _is_empty(head):
        bare, is_narrower = head, True
    elif "(" in bare:
        pieces = _OPTIONAL.split(bare)
        if bare != name or pieces[-2:] == ["", ""]:  # a single bracket may tell two things apart
            bare = "".join(pieces).strip()
    return Bare(bare, is_narrower or is_broader)
