"""Words at either end of a text that say nothing about the concept, or only narrow it.

*Asthma (disorder)*, *asthma NOS* and *unspecified asthma* mean asthma. *Asthma without mention of
status asthmaticus* means asthma too, but less than all of it: the concept *asthma* is broader.
*Other asthma* is the rest of a classification, and stays as it is. What patients call *my asthma*
is asthma, and so is what a note has as *diagnosis: asthma* or *patient with asthma*.

Names of a terminology have the same words. There a bare *sepsis* stands for what is called "Sepsis,
unspecified organism". Brackets of optional words go as well: "(Pure) hypercholesterolemia NOS".
"""

from __future__ import annotations

import re
from typing import NamedTuple

from canonym.regex import regex
from canonym.rules import any_of, current, once_a_book, remembered
from canonym.text.shape import WORD
from canonym.text.short_forms import own_short_form
from canonym.text.words import forms_of, words_of_kind
from canonym.types import Step

QUALIFIERS = "qualifiers"
"""Name of the step that leaves words out and keeps the meaning."""

BROADER = "broader"
"""Name of the step that leaves words out which narrow the meaning."""

# --- what stands at the ends ----------------------------------------------------------------------

# What may be unspecified without another meaning: a site or a cause, but no femur.
_ASPECTS = (
    "(?:anatomical )?(?:location|locations|part|parts|region|regions|site|sites)|aetiology|agent|"
    "cause|chronicity|course|degree|duration|episode(?: of care)?|etiology|form|forms|kind|level|"
    "laterality|mechanism|nature|onset|organism|origin|pathogen|severity|side|sides|stage|subtype|"
    "trimester|type|types"
)
_UNSPECIFIED = (
    r"unspecified|unspec\.?|not (?:otherwise |further )?specified|not (?:otherwise )?stated"
)
_APART = r"(?<![ ,;:\-\u2013\u2014])[ ,;:\-\u2013\u2014]+"
_END = regex(
    rf"(?:{_APART}(?:{_UNSPECIFIED})"
    r"| ?[(\[](?:unspecified|not otherwise specified|n\.?o\.?s\.?)[)\]]"
    rf"|(?: ?, ?| (?:at|by|in|of|with) (?:an )?)(?:{_UNSPECIFIED}) (?:{_ASPECTS})"
    rf"| ?, ?(?:{_ASPECTS}) (?:{_UNSPECIFIED})"
    rf"|{_APART}without (?:further |other |additional )?specification)$",
    re.IGNORECASE,
)
_NOS = regex(rf"{_APART}n\.?o\.?s\.?$", re.IGNORECASE)
_FRONT = regex(r"^(?:(?:other (?:and|or) )?unspecified|unspec\.?) ", re.IGNORECASE)

_NOT_CLASSIFIED = r"not (?:elsewhere classified|classified elsewhere)"
_RESIDUAL = rf"{_APART}{_NOT_CLASSIFIED}| ?[(\[](?:{_NOT_CLASSIFIED}|nec)[)\]]| ?, ?nec"
_NOT_ELSEWHERE = regex(f"(?:{_RESIDUAL})$", re.IGNORECASE)
_ELSEWHERE = regex(
    rf"(?:{_RESIDUAL}"
    r"| ?,? (?:in|due to|associated with|with)(?: [\w\-]+){1,6}? classified elsewhere)$",
    re.IGNORECASE,
)
_NEC = regex(r"(?<=[a-z]) NEC$")
_NO_MENTION = regex(r" ?,? without mention of [^,;]+$", re.IGNORECASE)
_UNSAID = regex(rf"\b(?:{_UNSPECIFIED})\b|\bN\.?O\.?S\b", re.IGNORECASE)
_CLASSIFIED_END = ("elsewhere classified", "classified elsewhere")

# Most texts end and begin otherwise, and need no look at these patterns.
_SAYING = "unspecified specified stated unspec specification classified elsewhere nos n.o.s nec"
_LAST_WORDS = frozenset((*WORD.findall(_ASPECTS), *_SAYING.split(" ")))
_BEGINNINGS = ("unspec", "other ")
_AILS = regex(r"\w(?:ia|ism|psy|ures?)\b|\ballerg(?:y|ies)\b", re.IGNORECASE)
_STATED = r"(?:denies|likely|no|not|possible|probable|r/o|rule out|suspected|without)\b|\?"
# How bad or big it is, where, and how it goes on, which some names say. "Bad" alone is of a kind:
# *bad cholesterol*.
_DEGREES = (
    f"{any_of('degree')}|new(?:[- ]onset)?|(?:poorly |un|well[- ])controlled"
    "|(?:mild|moderate)(?:[- ]to[- ](?:moderate|severe))?"
    "|(?:clinical |pathologic )?(?:grade|stage) (?:[1-4]|I{1,3}|IV)[abc]?"
)
_SIDES = "bilateral|(?:left|right)(?:[- ]sided)?|unilateral"
_SIDED = regex(rf"\b(?:{_SIDES}|(?-i:[LR]))\b", re.IGNORECASE)
# Where each side is something of its own: left heart failure, right-sided colitis.
_TWO_SIDED = r"atri|bundle|colitis|colon|coronary|hearts?\b|main\b|ventric"
_DETAIL = regex(
    r"^(?:(?:feel(?:s|ing)?|i (?:am|feel|get)|i'm|a lot of|lots of|so much"
    rf"|{_SIDES}) (?!(?:and|or)\b|{_TWO_SIDED})"
    r"|(?:(?:extremely|quite|really|so|very) bad"
    r"|extremely|mildly|moderately|quite|really|severely|slightly|so|very"
    rf"|{_DEGREES})(?: ?, ?| (?:and )?))(?=[a-z]{{3}}|(?-i:[A-Z][A-Z\d]))",
    re.IGNORECASE,
)
_DETAIL_BEHIND = regex(
    rf"(?:,| [-\u2013]|(?= ?\()) ?\(?(?:{_DEGREES}|{_SIDES})\)?$"
    rf"| (?:{forms_of('circumstance')})$"
    r"| (?:grade|stage) (?:[1-4]|I{1,3}|IV)[abc]?$"
    rf"| (?:{_SIDES})$|(?<=[a-z]{{5}})(?<!group)(?<!factor)(?<!antigen)[ ,]+\(?(?-i:[RL])\)?$",
    re.IGNORECASE,
)
_NOTED = "without mention of "
_TAIL = 90  # letters; no end is longer
_UNIT = 12  # letters; no unit is longer, with what stands before it

_UNITS = r"(?:h|hrs?|hours?|d|days?|w|wks?|weeks?|mos?|months?|y|yrs?|years?|times?|episodes?)"
_LASTING = r"[ ,]+\d{1,3} ?(?:hours?|hrs?|days?|wks?|weeks?|months?|years?|yrs?|episodes?)"
_LASTED = regex(_LASTING, re.IGNORECASE)
# How long or how often, since when, and how much: a chief complaint says it, and no name does.
_MEASURED = regex(f"(?:{forms_of('measure')})$", re.IGNORECASE)
# There it is the age of a child: *preterm 28 weeks*.
_GESTATION = regex("birth|f[eo]?etal|f[eo]?etus|gestat|neonat|newborn|pregnan|premat|preterm", re.I)
_NONE = regex(r"(?<![\d.])0(?![\d.])")  # no days of cough are no cough
_MEASURES = regex(
    rf"(?:[\d%)\u00b0]|\b(?:[iv]+|[a-e])|[cm]m|degrees?|age|sds?|[ \d]{_UNITS}"
    r"|ago|ppd|yesterday|today|morning|week|night|day|couple|few|[\d\u00b0 ][fc])$",
    re.IGNORECASE,
)

# *NOS* and *NEC* are an enzyme and two diseases too.
_ISOFORM = regex(f"(?:{forms_of('isoform')})$", re.IGNORECASE)
_CLASSIFIED = regex(f"(?:{forms_of('classified')})$")
_NEGATIONS = words_of_kind("negation")
_SEVERAL = frozenset(",;/&+")
_LITTLE_WORDS = ("other", "not", "and", "or", "by", "of", "in", "an", "the")


@once_a_book
def _tag() -> re.Pattern[str]:
    """Return a semantic tag of SNOMED CT, or of another source, at the end of a name."""
    return re.compile(rf" ?[(\[]{any_of('tag')}[)\]]$", re.IGNORECASE)


@once_a_book
def _no_concept() -> frozenset[str]:
    return frozenset((*_LAST_WORDS, *_LITTLE_WORDS, *WORD.findall(any_of("tag"))))


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
def _lead_in() -> re.Pattern[str]:
    """Return what a note says before it says what somebody has.

    What was looked at is not a finding: *CT: abdomen*, *MRI: hippocampus*. So the heading of a test
    is left out before a word that tells of a finding, or of its absence; else a link is in doubt.
    """
    places = ("of a patient", "", "before a heading", "heading", "test", "site of a test", "report")
    has, of, kind, heading, test, site, says = (any_of("lead-in", [place]) for place in places)
    return re.compile(
        rf"^(?:(?:(?:the )?(?:patient|pt\.?)|he|she) {has}(?: an?)? |{of}(?: an?)? "
        rf"|(?:{kind} )?{heading} ?(?:#? ?\d\d?)?(?: ?[:=] ?| [-\u2013] )"
        rf"|(?:(?:{site} )?{test}|us(?= (?:abdomen|pelvis)))(?: {site})?(?: {says}(?: an?)? "
        rf"| (?:was )?(?=negative for |d(?:id|oes)(?: not|n't) )|(?: ?[:=] ?| [-\u2013] )"
        rf"(?={_STATED}|.*(?:{_finding().pattern})))"
        r"(?!(?:ab)?normal\b|clear\b|negative\b(?! for )|positive\b|unremarkable\b))(?=[\w?])",
        re.IGNORECASE,
    )


@once_a_book
def _leads() -> tuple[str, ...]:
    """Return the first letters of lead-ins, six at most."""
    inner = ("of a patient", "report", "system")
    rules = (rule for rule in current().of_kind("lead-in") if rule.where not in inner)
    own = ("patien", "pt ", "pt.", "the pa", "the pt", "he ", "she ", "us abd", "us pel", "a ")
    forms = dict.fromkeys(rule.form.partition("(")[0][:6] for rule in rules)
    return (*own, *"123456789", *filter(None, forms))


class _Stripped(NamedTuple):
    text: str
    is_broader: bool = False


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
    if not (_may_have(text) or text.lstrip()[:6].lower().startswith(_leads())):
        return None
    whole = " ".join(text.split())
    stripped = _stripped(whole)
    if stripped.text == whole:
        return None
    return Step(BROADER if stripped.is_broader else QUALIFIERS, text, stripped.text)


def is_rest(text: str) -> bool:
    """Tell whether a text names the rest of a classification: *X NEC*, *X classified elsewhere*."""
    return bool(_without_rest(text)) or _ELSEWHERE.search(text[-_TAIL:]) is not None


def is_finding(text: str) -> bool:
    """Tell whether a text names something that is wrong, and not how or where something is.

    >>> [is_finding(text) for text in ("infections", "hypotonia", "left lung", "febrile")]
    [True, True, False, False]
    """
    return _finding().search(text) is not None or _AILS.search(text) is not None


def names_side(text: str) -> bool:
    """Tell whether a text says on which side something is.

    >>> [names_side(text) for text in ("L knee pain", "right-sided sciatica", "otitis media")]
    [True, True, False]
    """
    return _SIDED.search(text) is not None


def is_unspecified(name: str) -> bool:
    """Tell whether a name says that something is not specified: "Myopathy, unspecified"."""
    return _UNSAID.search(name) is not None


def _without_rest(text: str) -> str:
    match = _NOT_ELSEWHERE.search(text[-_TAIL:]) or _nec(text[-_TAIL:]) if _may_end(text) else None
    return "" if match is None else _trimmed(text[: len(text) - len(match[0])])


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
    return text


def without_lead_in(text: str) -> str:
    """Return a text without what a note says before a name: *patient with gout*."""
    return _lead_in().sub("", text) if text.lower().startswith(_leads()) else text


def without_heading(text: str) -> str:
    """Return a list without the heading in front of it; a single name keeps that of a system.

    >>> without_heading("A/P: gout, asthma"), without_heading("Neuro: seizures, headache")
    ('gout, asthma', 'seizures, headache')
    >>> without_heading("Neuro: seizures"), without_heading("gout, asthma: stable")
    ('Neuro: seizures', 'gout, asthma: stable')
    """
    head, colon, rest = text.partition(":")
    if not colon or len(head) > _TAIL or _SEVERAL.isdisjoint(rest) or not rest.strip():
        return text
    is_system = _systems().fullmatch(head.strip()) is not None
    return rest.strip() if is_system else without_lead_in(text)


@once_a_book
def _systems() -> re.Pattern[str]:
    """Return a system of the body as it heads its findings in a note."""
    return re.compile(any_of("lead-in", ["system"]), re.IGNORECASE)


def _may_have(text: str) -> bool:
    """Tell in a microsecond whether it is worth looking for qualifiers."""
    if text.lstrip()[:6].lower().startswith((*_BEGINNINGS, "my ")) or _may_end(text):
        return True
    return _MEASURES.search(text.rstrip()[-_UNIT:]) is not None or _NOTED in text.lower()


def _may_end(text: str) -> bool:
    words = text[-_TAIL:].split()
    if not words:
        return False
    last = words[-1]
    return last[-1] in ")]" or last.rpartition(",")[2].rstrip(".").lower() in _LAST_WORDS


def _stripped(text: str, *, is_name: bool = False) -> _Stripped:
    """Return a text without its qualifiers, and whether some of them narrow it.

    A name keeps "in diseases classified elsewhere": the concept is no more than that.
    """
    is_broader = False
    while True:
        shorter, narrows = _once(text, is_name)
        if shorter == text or _is_empty(shorter):
            return _Stripped(text, is_broader)
        text, is_broader = shorter, is_broader or narrows


def _is_empty(text: str) -> bool:
    """Tell whether nothing is left that could be a concept."""
    return all(word[0] in _no_concept() for word in WORD.finditer(text.lower()))


def _once(text: str, is_name: bool) -> _Stripped:
    """Take a qualifier off the end of a text, or the first."""
    begins = text[:6].lower()
    if _may_end(text):
        tail = text[-_TAIL:]
        length = len(text) - len(tail)
        if match := _tag().search(tail) or _END.search(tail) or _nos(tail):
            return _Stripped(_trimmed(text[: length + match.start()]))
        if not is_name and begins == "other " and text.lower().endswith(_CLASSIFIED_END):
            return _Stripped(text[len(begins) :], True)
        narrow = _NOT_ELSEWHERE if is_name else _ELSEWHERE
        if match := narrow.search(tail) or _nec(tail):
            return _Stripped(_trimmed(text[: length + match.start()]), True)
    match = None if is_name else _MEASURED.search(text[-_TAIL:])
    is_age = match is not None and _LASTED.fullmatch(match[0]) and _GESTATION.search(text)
    if match and not is_age and not _NONE.search(match[0]):
        return _Stripped(_trimmed(text[: len(text) - len(match[0])]), True)
    if not is_name and text[1:3] == "y " and text[0] in "mM" and "a" <= text[3:4] <= "z":
        return _Stripped(text[3:])  # MY 42445 is a substance
    if not is_name and (match := _lead_in().search(text)):
        return _Stripped(text[match.end() :])
    if begins in _BEGINNINGS and (match := _FRONT.search(text)):
        return _Stripped(text[match.end() :], begins == "other ")
    if _NOTED in text.lower() and (match := _NO_MENTION.search(text)):
        return _Stripped(_trimmed(text[: match.start()]), True)
    return _Stripped(text)


def _nos(text: str) -> re.Match[str] | None:
    match = _NOS.search(text)
    return None if match is None or _ISOFORM.search(text[: match.start()]) else match


def _nec(text: str) -> re.Match[str] | None:
    match = _NEC.search(text)
    return match if match and _CLASSIFIED.search(text[: match.start()]) else None


def _trimmed(text: str) -> str:
    return text.rstrip(" ,;:-\u2013\u2014")


# --- names ----------------------------------------------------------------------------------------

_WORDED = r"\([a-z]{3,}(?:[ ,\-]+[a-z]{3,})*[ ,\-]*\)"
_OPTIONAL = regex(rf" ?{_WORDED}", re.IGNORECASE)
_OPTIONAL_END = regex(rf"(?: {_WORDED}){{2,}}$")
_SEVERITY = regex(r" \((?:mild|moderate|severe)\)$", re.IGNORECASE)
_LONGEST = 80  # letters; longer names are descriptions, whose bare form nobody writes
_PAIRED = regex(r" ?, ?unspecified (?:ear|eye)$", re.IGNORECASE)
_SAID_BEFORE = regex(r", unspecified (\w{3,})$", re.IGNORECASE)
_UNCOMPLICATED = regex(r",? without (?:other )?(?:complications?|obstruction)$", re.IGNORECASE)
# Two words for one class; each is a name of it.
_COUPLE = regex(r"([A-Za-z][a-z]{4,}) and [a-z]{5,}")
_WITHOUT = regex(r"(?<=unspecified),? without .+$", re.IGNORECASE)

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

    >>> bare_name("Sepsis, unspecified organism").text
    'Sepsis'
    >>> bare_name("(Pure) hypercholesterolemia NOS").text
    'hypercholesterolemia'
    >>> bare_name("Chronic kidney disease, stage 4 (severe)").text
    'Chronic kidney disease, stage 4'
    >>> bare_name("Syncope and collapse").text
    'Syncope'
    >>> bare_name("Third [oculomotor] nerve palsy, unspecified eye").text
    'Third nerve palsy'
    >>> bare_name("Wrist drop, unspecified wrist").text
    'Wrist drop'
    >>> bare_name("Latent tuberculosis infection (LTBI)").text
    'LTBI'
    >>> bare_name("Other sepsis")
    """
    if couple := _COUPLE.fullmatch(name):
        return Bare(couple[1], is_narrower=True)
    if short := own_short_form(name):
        return Bare(short)
    whole = " ".join(name.split())
    bare = Bare(_BRACKETED.sub("", whole) if " [" in whole else whole)
    if len(bare.text) <= _LONGEST and (
        _may_have(bare.text) or "without" in bare.text or ", unspecified " in bare.text
    ):
        bare = _barer(bare.text)
    return None if bare.text == whole or _is_empty(bare.text) else bare


def _barer(name: str) -> Bare:
    text = name
    if "without" in name:
        text = _UNCOMPLICATED.sub("", _WITHOUT.sub("", name))
    is_narrower = text != name
    if ", unspecified " in text:
        text = _PAIRED.sub("", text)
        said = _SAID_BEFORE.search(text)
        if said and said[1].lower() in WORD.findall(text[: said.start()].lower()):
            text = text[: said.start()]
    stripped = _stripped(text, is_name=True)
    bare = stripped.text
    if (severity := _SEVERITY.search(bare)) and not _is_empty(bare[: severity.start()]):
        bare, is_narrower = bare[: severity.start()], True
    elif "(" in bare:
        bare = (_OPTIONAL_END if bare == name else _OPTIONAL).sub("", bare).strip()
    return Bare(bare, is_narrower or stripped.is_broader)
