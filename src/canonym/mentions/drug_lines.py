"""Drug lines: mentions that show a dose, a form or a dictionary code beside the name of a drug.

Pharmacies, dictionaries and notes write *ibuprofen 600 mg tab*, *METFORMIN /00082702/* and
*0.4 ML Enoxaparin sodium 100 MG/ML Prefilled Syringe*. The name is what is left without them. A
bare number is no dose: *vitamin B12*, *type 2* and *5-HT* are no drug lines, nor is the value of a
laboratory test, such as *glucose 180 mg/dl*.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from canonym.regex import GAP, regex
from canonym.rules import any_of, current, once_a_book, remembered
from canonym.text.shape import DIGIT, DIGITS, LETTERS, shape_of
from canonym.text.words import forms_of, words_of_kind

# --- what is no name ------------------------------------------------------------------------------

# Doses, times, routes and codes are parts of expressions, for fields of trials too.
_NUMBER = r"(?<![\d.,-])(?:\d[\d,]*(?:[.·]\d+)?|[.·]\d+)"
# A number, a range, or the numbers of several drugs in one tablet: "875/125".
AMOUNT = rf"{_NUMBER}(?:\s*(?:-|–|/|\bto\b|x)\s*(?:\d[\d,]*(?:[.·]\d+)?|[.·]\d+)){{0,4}}"
# A lone capital at the number belongs to a name: "protein 4.1G".
_UNIT = f"(?:{forms_of('drug unit')})"
_MEASURE = rf"(?:{forms_of('per what')})\b"
_PER = rf"(?:\s*(?:/|\bper\b)\s*(?:\d[\d.,]*\s*)?{_MEASURE})*"
DOSE = (
    rf"{AMOUNT}[\s-]*(?:{_UNIT}\b{_PER}|%)(?:\s*\(?w/[wv]\)?)?"
    rf"|{AMOUNT}\s*(?:hr|hours?)\b|\b1 in \d[\d,]*"
)
CODE = r"[\[({/|]\s*(?:\d{8}(?:\d{3})?|\d{6}\.\d{2}\.\d{3})\s*[\])}/|]|\bNDA\d{6}\b"
"""A code of a drug dictionary, in brackets of any kind or between slashes."""

SCHEDULE = (
    rf"{forms_of('schedule')}"
    rf"|\b(?:every|for|x)\s+{AMOUNT}?\s*(?:days?|weeks?|months?|hours?|doses?)\b"
)
_MOUTH = forms_of("short route")
ROUTE = f"{_MOUTH}|{forms_of('route')}"
_FREE = rf"\b(?:{forms_of('free of')})[- ]free\b"
_BRAND = regex(rf"{GAP}\[\s*([^\W\d_][^\[\]]*?)(?<!\s)\s*\]")
_MAKER = rf"\([^()]*\b(?:{forms_of('maker of a drug')})\b[^()]*\)"
_QUANTITY = (
    rf"{CODE}|{DOSE}|{SCHEDULE}|{_FREE}|{_MAKER}|#\s?\d+"
    rf"|^\s*(?:{forms_of('verb of an order')})\s+(?:(?:\d+|one|two|half)\s+)?"
)

# --- what shows that it is one --------------------------------------------------------------------

_SHOWN = regex(
    rf"(?P<code>{CODE})|{AMOUNT}[\s-]*{_UNIT}\b(?!\s*(?:/|\bper\b)\s*(?:d?l|100\s*ml|g)\b)", re.I
)
_SIGNS = ("<", ">", "≤", "≥", "=", "~")
_COMPARED = words_of_kind("word of a comparison")
# Two drugs and the strength of each, or the number of a strength: *carbidopa-levodopa 25-100*.
_STRENGTH = r"(?:#\s?\d|\d+(?:\.\d+)?(?:[-/]\d+(?:\.\d+)?)+)"
_TAIL = rf"(?:\s*(?:[,;]|\[[^\[\]]*\]|\([^()]*\)|{ROUTE}))*\s*$"
_PACES = forms_of("pace of release")
_SCHEDULED = regex(
    r"(?<=[a-z\d] )(?:[btq]id|[btq]\.i\.d\.?|qhs|q\d+h|prn(?: [a-z]+){0,2})\s*$"
    rf"|[a-z]{{4}} (?:{_PACES.upper()}) \d{{1,4}}(?:\.\d+)?$"
)
_SCHEDULES = words_of_kind("pace of release") | words_of_kind("end of a schedule")
_OPEN = words_of_kind("word that needs another")
_LONGEST = 300

# --- salts ----------------------------------------------------------------------------------------

_LEAST_BASE = 5  # letters


@once_a_book
def _salt() -> re.Pattern[str]:
    """Return a salt at the end of a drug, a share or the way of a patch."""
    patch = rf"\d{{1,2}}(?:\.\d+)?\s?%|{any_of('salt', ['patch'])}"
    return re.compile(
        rf"(?<=[^\s,])\s+(?:(?P<patch>{patch})|{any_of('salt')}|(?-i:XL|XR))$", re.IGNORECASE
    )


@once_a_book
def _own_salt() -> re.Pattern[str]:
    """Return what is named by its salt: metals, simple groups, and sulfates of hormones."""
    ends = r"\w*thyronine|\w+ose|mangan\w+|mercur\w+|selen\w+|\w*yl|.*(?:one|an)(?= sul)"
    return re.compile(rf"(?:{any_of('named by its salt')}|{ends})\b", re.IGNORECASE)


def without_salt(text: str) -> str:
    """Return a drug without its salt, its water or the pace of its release.

    >>> without_salt("metformin HCl"), without_salt("amlodipine besylate")
    ('metformin', 'amlodipine')
    >>> without_salt("sodium chloride"), without_salt("estrone sulfate")
    ('sodium chloride', 'estrone sulfate')
    >>> without_salt("sodium chloride 0.9%"), without_salt("fentanyl patch")
    ('sodium chloride', 'fentanyl')
    """
    while match := _salt().search(text):
        is_own = match.start() < _LEAST_BASE or _own_salt().match(text)
        if is_own and not match["patch"]:
            return text
        text = text[: match.start()]
    return text


# --- taking one apart -----------------------------------------------------------------------------

_JOINT = regex(
    rf"{GAP}(?:[+&,;\n|]|/(?!\s*\d)|\b(?:and|with|plus)\b)\s*(?=[^\W\d_])(?!{_MEASURE})",
    re.IGNORECASE,
)
_PAIR = regex(rf"{GAP}(?:[/+&]|\band\b)\s*", re.IGNORECASE)
_AMOUNTS = regex(rf"{AMOUNT}(?=[\s-]*{_UNIT}\b)", re.IGNORECASE)
_DIGITS = regex(r"\d[\d,]*(?:[.·]\d+)?|[.·]\d+")
_HOLLOW = regex(r"\(\s*(?:[,;:/-]+\s*)?\)|\[\s*\]")
EDGES = " \t\r\n,;:/-–+&.="
"""Signs that are left at the edges of a name."""

_DANGLING = words_of_kind("word left behind a name")
_LEADING = words_of_kind("word left before a name")
_LEAST = 4  # letters of each of two names with a slash between
_LEAST_WORD = 3  # letters
_ROUNDS = 6


class DrugLine(NamedTuple):
    """The names of a drug line.

    `drugs` are in their order, `whole` is all of them in one piece. `formed` have a form as well,
    and `brand` is a name in square brackets.
    """

    drugs: tuple[str, ...]
    whole: str
    formed: tuple[str, ...] = ()
    brand: str = ""


# Large expressions are compiled where a text first needs them.


@functools.cache
def _quantities() -> re.Pattern[str]:
    """Return what is neither a name nor a form."""
    return re.compile(rf"{_QUANTITY}|{_MOUTH}|(?<=\w\s){_STRENGTH}(?=\s*$|\s+[a-z])", re.I)


@once_a_book
def _forms() -> re.Pattern[str]:
    """Return forms and routes."""
    release, site, form = map(form_of, ("release", "site", "alone behind dose"))
    return re.compile(
        rf"\b{form_of('device')}|\bfor (?:injection|infusion)\b"
        rf"|\b(?:{release}\b\s*)+(?:{site}\b\s*)*{form}?(?=\W|$)|\b(?:{site}\b\s+)*{form}(?=\W|$)"
        rf"|(?<=\w\s)(?:{_PACES})(?=\s*(?:$|[\d(,]|tab|cap|oral))"
        rf"|{ROUTE}|(?<=\w\s){form_of('strength')}$",
        re.IGNORECASE,
    )


@once_a_book
def _ending() -> re.Pattern[str]:
    """Return the form at the end of a line without quantities, and what may stand behind it."""
    release, site, alone = map(form_of, ("release", "site", "alone"))
    return re.compile(
        rf"\b(?:{form_of('device')}"
        rf"|{release}(?:\s+(?:{release}|{site}))*\s+{form_of('alone behind dose')}"
        rf"|{site}(?:\s+{site})*\s+{form_of('alone behind')}"
        rf"|(?:extended|sustained|controlled|modified|prolonged)[- ]release|{alone}){_TAIL}",
        re.IGNORECASE,
    )


@once_a_book
def _share() -> re.Pattern[str]:
    """Return a form beside a share in percent."""
    form = form_of("alone behind dose")
    return re.compile(rf"\d\s*%.*\b{form}\b|\b{form}\b.*\d\s*%", re.IGNORECASE)


@once_a_book
def _strong_pair() -> re.Pattern[str]:
    """Return two drugs with what tells their strengths."""
    strength = f"(?:{_STRENGTH}|{form_of('strength')})"
    return re.compile(rf"[a-z]{{4,}}(?:[-/][a-z]{{4,}})+ {strength}(?:\s|$)", re.IGNORECASE)


@once_a_book
def _hints() -> frozenset[str]:
    """Return the words with which forms end; few texts have any, and the expressions are long."""
    forms = (
        rule for rule in current().of_kind("drug form") if rule.where not in ("site", "strength")
    )
    return _SCHEDULES.union(*(LETTERS.findall(rule.form.split(" ")[-1]) for rule in forms))


def form_of(places: str) -> str:
    """Return the forms of drugs that count in some places, as part of an expression.

    Those that count alone hardly ever end the name of anything else: a capsule is of a joint, a
    patch of blood, a gel of a laboratory. Others stand behind a word such as *oral*.
    """
    return any_of("drug form", places.split())


@remembered(1_024)  # several readers ask about a text, one after the other
def drug_line(text: str) -> DrugLine | None:
    """Return the names of a drug line, None for anything else.

    Salts stay. Several drugs with a dose each are several; so are two names with a slash between
    them and their two amounts behind.

    >>> drug_line("Ibuprofen 600 mg tab").drugs
    ('Ibuprofen',)
    >>> drug_line("amoxicillin 875 MG / clavulanate 125 MG Oral Tablet [Augmentin]").drugs
    ('amoxicillin', 'clavulanate')
    >>> drug_line("vitamin B12"), drug_line("glucose 180 mg/dl"), drug_line("10 mg")
    (None, None, None)
    """
    if not is_drug_line(text):
        return None
    brand = _BRAND.search(text)
    bare = _BRAND.sub(" ", text)
    pieces = _dosed_pieces(bare)
    names = [name for piece in pieces for name in _names_in(piece)]
    drugs = tuple(dict.fromkeys(filter(_has_word, names)))
    if not drugs or drugs == (text.strip(),):
        return None
    whole = " / ".join(filter(None, map(_bare, pieces)))
    formed = _with_forms(bare) if len(pieces) == 1 else ()
    return DrugLine(drugs, whole, formed, brand[1] if brand else "")


def _with_forms(text: str) -> tuple[str, ...]:
    """Return the name with all forms, and with all but the last: "garlic powder tablets"."""
    text = _quantities().sub(" ", text)
    ending = _ending().search(text)
    texts = (text, text[: ending.start()] if ending else text)
    return tuple(dict.fromkeys(map(trimmed, texts)))


def is_same_line(left: str, right: str) -> bool:
    """Tell whether two drug lines have the same drugs in the same amounts.

    >>> is_same_line("ibuprofen 600mg tab", "Ibuprofen 600 MG Oral Tablet")
    True
    >>> is_same_line("ibuprofen 600mg tab", "Ibuprofen 800 MG Oral Tablet")
    False
    """
    lines = [drug_line(text) for text in (left, right)]
    if lines[0] is None or lines[1] is None:
        return False
    drugs = [sorted(map(str.casefold, line.drugs)) for line in lines if line]
    return drugs[0] == drugs[1] and _numbers(left) == _numbers(right)


def _numbers(text: str) -> set[float]:
    """Return the amounts of all doses."""
    return {
        float(number.replace(",", "").replace("·", "."))
        for amount in _AMOUNTS.findall(text)
        for number in _DIGITS.findall(amount)
    }


def is_drug_line(text: str) -> bool:
    """Tell whether a text shows a dose, a form or a dictionary code.

    >>> is_drug_line("PARACETAMOL (00020001)"), is_drug_line("joint capsule")
    (True, False)
    """
    if len(text) > _LONGEST:
        return False
    _, there, _, signs = shape_of(text)
    if not signs and DIGITS.isdisjoint(text) and _hints().isdisjoint(there):
        return False
    if (DIGIT.search(text) is not None and _shows_dose(text)) or _strong_pair().match(text):
        return True
    if _hints().isdisjoint(LETTERS.findall(text.lower())):
        return False
    ending = _SCHEDULED.search(text)
    if ending is None:
        text = _quantities().sub(" ", text)
        ending = _ending().search(text)
    return ending is not None and _last_word(text[: ending.start()]) not in _OPEN


def _last_word(text: str) -> str:
    return text.rstrip().rpartition(" ")[2].lower()


def _shows_dose(text: str) -> bool:
    if "%" in text and _share().search(text):
        return True
    doses = ((shown["code"], _last_word(text[: shown.start()])) for shown in _SHOWN.finditer(text))
    return any(code or not (word in _COMPARED or word.endswith(_SIGNS)) for code, word in doses)


def _dosed_pieces(text: str) -> list[str]:
    """Split where a dose stands before a joint and another behind it."""
    pieces, start = [], 0
    for joint in _JOINT.finditer(text):
        piece, rest = text[start : joint.start()], text[joint.end() :]
        if _is_dosed(piece) and _is_dosed(_JOINT.split(rest, maxsplit=1)[0]):
            pieces.append(piece)
            start = joint.end()
    return [*pieces, text[start:]]


def _is_dosed(piece: str) -> bool:
    """Tell whether a piece has a dose, or a code, and a name."""
    return _SHOWN.search(piece) is not None and _has_word(_bare(piece))


def _has_word(text: str) -> bool:
    return any(len(word) >= _LEAST_WORD for word in LETTERS.findall(text))


def _names_in(piece: str) -> list[str]:
    """Return the names of a piece: two where its dose has as many amounts as it has names."""
    name = _bare(piece)
    amounts = [len(dose.replace("-", "/").split("/")) for dose in _AMOUNTS.findall(piece)]
    pair = _PAIR.split(name)
    if len(pair) == 1 and (2 in amounts or not amounts):
        pair = name.split("-")  # losartan-hydrochlorothiazide 50-12.5 mg
    if len(pair) < 2 or any(len(part) < _LEAST or not part[0].isalpha() for part in pair):
        return [name]
    if "(" in name or not (len(pair) in amounts or not amounts or _PAIR.search(name)):
        return [name]
    return pair


def _bare(piece: str) -> str:
    """Return a piece without doses, forms, codes and schedules."""
    return trimmed(_forms().sub(" ", " ".join(_quantities().sub(" ", piece).split())))


def trimmed(bare: str) -> str:
    """Return a piece without signs and words that were left at its edges and in its brackets."""
    if bare.count("(") != bare.count(")"):
        bare = bare.replace("(", " ").replace(")", " ")
    for _ in range(_ROUNDS):  # removing one thing may leave another at the edge
        words = _HOLLOW.sub(" ", bare).strip(EDGES).split()
        while len(words) > 1 and words[-1].lower() in _DANGLING:
            words.pop()
        while len(words) > 1 and words[0].lower() in _LEADING:
            del words[0]
        bare = " ".join(words)
    return re.sub(r"(?<![\s,;])[\s,;]+\)", ")", bare)
