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

# --- what is no name ------------------------------------------------------------------------------

_NUMBER = r"(?<![\d.,-])(?:\d[\d,]*(?:[.·]\d+)?|[.·]\d+)"
# A number, a range, or the numbers of several drugs in one tablet: "875/125".
_AMOUNT = rf"{_NUMBER}(?:\s*(?:-|–|/|\bto\b|x)\s*(?:\d[\d,]*(?:[.·]\d+)?|[.·]\d+))*"
# A lone capital at the number belongs to a name: "protein 4.1G".
_UNIT = (
    r"(?:(?:milli|micro|nano)?grams?|mgs?|mcgs?|[µμu]g|gms?|(?-i:g|u)|(?<=\s)[gu]|i\.?u\.?|units?|unt"
    r"|[mk]iu|mu|meq|mmol|m?ci|[mk]?bq|c?gy|actuat|m(?:illi)?l(?:it(?:er|re)s?)?|cc"
    r"|(?:million|billion|thousand)(?:\s+(?:units?|iu|u|cfu|cells))?)"
)
_MEASURE = (
    r"(?:ml|actuat|actuation|hours?|hrs?|h|days?|d|kg|m2|m²|m\^2|min|dose|tab(?:let)?|cap(?:sule)?"
    r"|spray|puff|vial|patch|sachet|inhalation|application|drop|week|wk|mg|mcg|g)\b"
)
_PER = rf"(?:\s*(?:/|\bper\b)\s*(?:\d[\d.,]*\s*)?{_MEASURE})*"
_DOSE = (
    rf"{_AMOUNT}[\s-]*(?:{_UNIT}\b{_PER}|%)(?:\s*\(?w/[wv]\)?)?"
    rf"|{_AMOUNT}\s*(?:hr|hours?)\b|\b1 in \d[\d,]*"
)
CODE = r"[\[({/|]\s*(?:\d{8}(?:\d{3})?|\d{6}\.\d{2}\.\d{3})\s*[\])}/|]|\bNDA\d{6}\b"
"""A code of a drug dictionary, in brackets of any kind or between slashes."""

_RELEASE = (
    r"(?:(?:extended|sustained|controlled|immediate|modified|delayed|prolonged|slow)[- ]release"
    r"|(?:gastro|tamper)[- ]resistant|(?:film|enteric|sugar)[- ]coated"
    r"|(?:or(?:ally|o-?)\s*)?(?:disintegrating|dispersible)|effervescent|chewable|soluble"
    r"|metered[- ]dose|dry[- ]powder|breath[- ]actuated)"
)
_SITE = (
    r"(?:oral|vaginal|rectal|topical|ophthalmic|otic|nasal|sublingual|buccal|transdermal|injectable"
    r"|inhalation|inhalant|intravenous|subcutaneous|intramuscular|mucosal|medicated|irrigation)"
)
# Words that hardly ever end the name of anything else: a capsule is of a joint, a patch of blood,
# a gel of a laboratory.
_ALONE = (
    r"tabs?|tablets?|caplets?|suppositor(?:y|ies)|pessar(?:y|ies)|ointments?|lozenges?|inhalers?"
)
# What is a form behind a word such as "oral"; an injection may be a procedure.
_BEHIND = (
    rf"(?:{_ALONE}|cap(?:sule)?s?|pills?|pastilles?|syrups?|elixirs?|suspensions?|solutions?"
    r"|emulsions?|liquids?|concentrates?|creams?|gels?|lotions?|foams?|pastes?|sprays?|aerosols?"
    r"|drops|powders?|granules|sachets?)"
)
_FORM = (
    rf"(?:{_BEHIND}|injections?|infusions?|shampoos?|patch(?:es)?|systems?|nebules?|ampoules?|vials?"
    r"|cartridges?|syringes?|pellets?|implants?|inserts?|films?|strips?|enemas?|sprinkles?)"
)
_DEVICE = (
    r"(?:(?:pre-?filled|disposable|single[- ]dose|multi[- ]?dose)\s+(?:disposable\s+)?(?:syringes?"
    r"|pens?|devices?|cartridges?|inhalers?|vials?)|(?:pen|auto-?|jet)[- ]?injectors?"
    r"|(?:eye|ear|nose|nasal)\s*drops|transdermal\s+(?:patch(?:es)?|systems?)"
    r"|(?:hard|soft)\s+(?:gelatin\s+)?capsules?|solutions? for (?:injection|infusion)"
    r"|powders? (?:and solvent )?for (?:oral )?(?:solution|suspension)"
    r"(?: for (?:injection|infusion))?|nebuliser liquid)"
)
_SCHEDULE = (
    r"\b(?:once|twice|(?:one|two|three|four|\d+)\s+times?)(?:\s+(?:a|per|every))?\s*"
    r"(?:daily|weekly|monthly|day|week|month)\b"
    r"|\b(?:b\.?i\.?d|t\.?i\.?d|q\.?i\.?d|q\.?d|q\.?o\.?d|p\.?r\.?n|qhs|q[ap]m|qday)\b\.?"
    r"|\bq\s?\d+(?:-\d+)?\s?(?:h|hrs?|hours?|w|d)\b"
    r"|\b(?:daily|weekly|monthly|nightly|(?:at )?bedtime|as needed)\b"
    rf"|\b(?:every|for|x)\s+{_AMOUNT}?\s*(?:days?|weeks?|months?|hours?|doses?)\b"
)
_MOUTH = r"\b(?:by\s+mouth|p\.?o|s\.?l|i\.?v|i\.?m|s\.?c|s\.?q)\b\.?"
_ROUTE = (
    rf"{_MOUTH}|\b(?:oral(?:ly)?|intravenous(?:ly)?|subcutaneous(?:ly)?|intramuscular(?:ly)?"
    r"|topical(?:ly)?|transdermal|sublingual)\b"
)
_FREE = r"\b(?:sugar|preservative|cfc|alcohol|gluten|latex)[- ]free\b"
_BRAND = regex(rf"{GAP}\[\s*([^\W\d_][^\[\]]*?)(?<!\s)\s*\]")
_MAKER = regex(
    rf"{GAP}\([^()]*\b(?:ltd|limited|inc|gmbh|pharma\w*|laboratories|labs|plc|llc)\b[^()]*\)",
    re.IGNORECASE,
)
_QUANTITY = (
    rf"{CODE}|{_DOSE}|{_SCHEDULE}|{_FREE}|#\s?\d+"
    r"|^\s*(?:take|give|inject|apply|use)\s+(?:(?:\d+|one|two|half)\s+)?"
)
_FORMED = (
    rf"\b{_DEVICE}|\bfor (?:injection|infusion)\b"
    rf"|\b(?:{_RELEASE}\b\s*)+(?:{_SITE}\b\s*)*{_FORM}?(?=\W|$)|\b(?:{_SITE}\b\s+)*{_FORM}(?=\W|$)"
    r"|(?<=\w\s)(?:er|xr|sr|cr|xl|la|ec|mr|dr|ir)(?=\s*(?:$|[\d(,]|tab|cap|oral))"
)

# --- what shows that it is one --------------------------------------------------------------------

_DICTIONARY = regex(CODE)
_SHOWN = regex(
    rf"{_AMOUNT}[\s-]*{_UNIT}\b(?!\s*(?:/|\bper\b)\s*(?:d?l|100\s*ml|g)\b)", re.IGNORECASE
)
_COMPARED = regex(
    r"(?:[<>≤≥=~]|\b(?:than|over|above|below|under|least|most|exceeding))\s*\Z", re.IGNORECASE
)
_TAIL = rf"(?:\s*(?:[,;]|\[[^\[\]]*\]|\([^()]*\)|{_ROUTE}))*\s*$"
_SCHEDULED = regex(r"(?<=[a-z] )(?:bid|tid|qid|b\.i\.d\.?|t\.i\.d\.?|q\.i\.d\.?|prn|q\d+h)\s*$")
# Few texts have any of these words: the expressions above are long.
_FORM_WORDS = (
    "tab tabs tablet tablets caplet caplets suppository suppositories pessary pessaries ointment "
    "ointments lozenge lozenges inhaler inhalers cap caps capsule capsules pill pills pastille "
    "pastilles syrup syrups elixir elixirs suspension suspensions solution solutions emulsion "
    "emulsions liquid liquids concentrate concentrates cream creams gel gels lotion lotions foam "
    "foams paste pastes spray sprays aerosol aerosols drops powder powders granules sachet sachets "
    "injection injections infusion infusions shampoo shampoos patch patches system systems nebules "
    "nebule ampoule ampoules vial vials cartridge cartridges syringe syringes pellet pellets "
    "implant implants insert inserts film films strip strips enema enemas sprinkle sprinkles pen "
    "pens device devices injector injectors autoinjector autoinjectors release bid tid qid prn d "
    "h"
)
_HINTS = frozenset(_FORM_WORDS.split())
_LETTERS = regex("[a-z]+")
_UNIT_FOLLOWS = regex(r"\d[\s-]*[a-zA-Zµμ]")
_WITH_SHARE = regex(rf"\d\s*%.*\b{_FORM}\b|\b{_FORM}\b.*\d\s*%", re.IGNORECASE)
_OPEN = regex(r"\b(?:to|of|by|from|with|after|due|in|on|and|or|for|no|the|an?)\s*$", re.IGNORECASE)
_DIGIT = regex(r"\d")
_NAME = regex(r"[^\W\d_]{3}")
_LONGEST = 300

# --- salts ----------------------------------------------------------------------------------------

_SALT = regex(
    r"(?<=[^\s,])\s+(?:(?:di|mono|hemi|sesqui|tri)?(?:hydrate|hydrochloride|sodium)|hcl|hydrobromide|hbr|acetate"
    r"|anhydrous|be[sz][yi]late|bisul(?:f|ph)ate|bitartrate|bromide|calcium|chloride|citrate|decanoate"
    r"|enanthate|fumarate|furoate|gluconate|hyclate|lactate|magnesium|malate|maleate|mes[iy]late"
    r"|oxalate|phosphate"
    r"|pamoate|potassium|(?:di)?propionate|succinate|sul(?:f|ph)ate|tartrate|tosylate|tromethamine"
    r"|valerate|xinafoate|(?-i:XL|XR)|drip|gtts?|taper)$",
    re.IGNORECASE,
)
_SHARE_OR_PATCH = regex(
    r"(?<!\s)\s+(?:\d{1,2}(?:\.\d+)?\s?%|(?:transdermal )?patch(?:es)?|transdermal)$", re.I
)
# What is named by its salt: metals and simple groups, and hormones that the body bears as sulfates.
_NO_BASE = regex(
    r"(?:antimony|arsenic|beryllium|bismuth|boron|cadmium|carbon|cerium|c(?:a)?esium|chromium|cobalt"
    r"|gadolinium|gallium|gold|indium|lanthanum|palladium|phosphorus|platinum|rubidium|strontium"
    r"|sul(?:f|ph)ur|thallium|tin|titanium|tungsten|uranium|vanadium|zirconium"
    r"|acetaminophen|chloral|cholesterol|cortisol|coumarin|dopamine|estradiol|ethanol|eugenol|glycerol"
    r"|serotonin|\w*thyronine|thyroxine|vitamin|xylitol|\w+ose|alumin(?:i)?um|ammonium|barium|calcium|copper|cupric|ferric|ferrous|hydrogen|iron|lead|lithium"
    r"|magnesium|mangan\w+|mercur\w+|nickel|potassium|selen\w+|silver|sodium|stannous|zinc|\w*yl"
    r"|acid|.*(?:one|an)(?= sul))\b",
    re.IGNORECASE,
)
_LEAST_BASE = 5  # letters


def without_salt(text: str) -> str:
    """Return a drug without its salt, its water or the pace of its release.

    >>> without_salt("metformin HCl"), without_salt("amlodipine besylate")
    ('metformin', 'amlodipine')
    >>> without_salt("sodium chloride"), without_salt("estrone sulfate")
    ('sodium chloride', 'estrone sulfate')
    >>> without_salt("sodium chloride 0.9%"), without_salt("fentanyl patch")
    ('sodium chloride', 'fentanyl')
    """
    text = _SHARE_OR_PATCH.sub("", text)
    while match := _SALT.search(text):
        if match.start() < _LEAST_BASE or _NO_BASE.match(text):
            return text
        text = text[: match.start()]
    return text


# --- taking one apart -----------------------------------------------------------------------------

_JOINT = regex(
    rf"{GAP}(?:[+&,;\n|]|/(?!\s*\d)|\b(?:and|with|plus)\b)\s*(?=[^\W\d_])", re.IGNORECASE
)
_PAIR = regex(rf"{GAP}(?:[/+&]|\band\b)\s*", re.IGNORECASE)
_AMOUNTS = regex(rf"{_AMOUNT}(?=[\s-]*{_UNIT}\b)", re.IGNORECASE)
_DIGITS = regex(r"\d[\d,]*(?:[.·]\d+)?|[.·]\d+")
_IS_MEASURE = regex(_MEASURE, re.IGNORECASE)
_HOLLOW = regex(r"[(\[]\s*(?:[,;:/+&.-]+\s*)?[)\]]")
_EDGES = " \t\r\n,;:/-–+&.=|#"
_DANGLING = frozenset("of at with and or in the as for to by per a".split())  # noqa: SIM905
_LEADING = regex(r"^(?:(?:of|at|with|and|or|the|by|as|in)\s+)+", re.IGNORECASE)
_LEAST = 4  # letters of each of two names with a slash between
_ROUNDS = 4


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
    return re.compile(f"{_QUANTITY}|{_MOUTH}", re.IGNORECASE)


@functools.cache
def _forms() -> re.Pattern[str]:
    """Return forms and routes."""
    return re.compile(f"{_FORMED}|{_ROUTE}", re.IGNORECASE)


@functools.cache
def _ending() -> re.Pattern[str]:
    """Return the form at the end of a line without quantities, and what may stand behind it."""
    return re.compile(
        rf"\b(?:{_DEVICE}|{_RELEASE}(?:\s+(?:{_RELEASE}|{_SITE}))*\s+{_FORM}"
        rf"|{_SITE}(?:\s+{_SITE})*\s+{_BEHIND}"
        rf"|(?:extended|sustained|controlled|modified|prolonged)[- ]release|{_ALONE}){_TAIL}",
        re.IGNORECASE,
    )


@functools.lru_cache(maxsize=1_024)  # several readers ask about a text, one after the other
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
    bare = _MAKER.sub(" ", _BRAND.sub(" ", text))
    pieces = _dosed_pieces(bare)
    names = [name for piece in pieces for name in _names_in(piece)]
    drugs = tuple(dict.fromkeys(name for name in names if _NAME.search(name)))
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
    return tuple(dict.fromkeys(map(_trimmed, texts)))


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
    if _DIGIT.search(text) is not None and _shows_dose(text):
        return True
    if _HINTS.isdisjoint(_LETTERS.findall(text.lower())):
        return False
    ending = _SCHEDULED.search(text)
    if ending is None:
        text = _quantities().sub(" ", text)
        ending = _ending().search(text)
    return ending is not None and not _OPEN.search(text[: ending.start()])


def _shows_dose(text: str) -> bool:
    if _DICTIONARY.search(text) or ("%" in text and _WITH_SHARE.search(text)):
        return True
    if _UNIT_FOLLOWS.search(text) is None:
        return False
    doses = _SHOWN.finditer(text)
    return any(not _COMPARED.search(text, 0, dose.start()) for dose in doses)


def _dosed_pieces(text: str) -> list[str]:
    """Split where a dose stands before a joint and another behind it."""
    pieces, start = [], 0
    for joint in _JOINT.finditer(text):
        piece, rest = text[start : joint.start()], text[joint.end() :]
        if _IS_MEASURE.match(rest) or not _is_dosed(piece) or not _NAME.search(_bare(piece)):
            continue
        following = _JOINT.split(rest, maxsplit=1)[0]
        if _is_dosed(following) and _NAME.search(_bare(following)):
            pieces.append(piece)
            start = joint.end()
    return [*pieces, text[start:]]


def _is_dosed(piece: str) -> bool:
    return _SHOWN.search(piece) is not None or _DICTIONARY.search(piece) is not None


def _names_in(piece: str) -> list[str]:
    """Return the names of a piece: two where its dose has as many amounts as it has names."""
    name = _bare(piece)
    amounts = [len(re.split(rf"{GAP}[/-]\s*", dose)) for dose in _AMOUNTS.findall(piece)]
    pair = _PAIR.split(name)
    if len(pair) == 1 and 2 in amounts:
        pair = name.split("-")  # losartan-hydrochlorothiazide 50-12.5 mg
    if len(pair) < 2 or any(len(part) < _LEAST or not part[0].isalpha() for part in pair):
        return [name]
    if "(" in name or not (len(pair) in amounts or _PAIR.search(name)):
        return [name]
    return pair


def _bare(piece: str) -> str:
    """Return a piece without doses, forms, codes and schedules."""
    return _trimmed(_forms().sub(" ", _quantities().sub(" ", piece)))


def _trimmed(bare: str) -> str:
    """Return a piece without what was left at its edges and in its brackets."""
    if bare.count("(") != bare.count(")"):
        bare = bare.replace("(", " ").replace(")", " ")
    for _ in range(_ROUNDS):  # removing one thing may leave another at the edge
        bare = " ".join(_HOLLOW.sub(" ", bare).split()).strip(_EDGES)
        words = bare.split(" ")
        while len(words) > 1 and words[-1].lower() in _DANGLING:
            words.pop()
        bare = _LEADING.sub("", " ".join(words))
    return re.sub(r"(?<![\s,;])[\s,;]+\)", ")", bare)
