"""A list of 300 rows as wards write them: 12 kinds of mess, 25 rows each, with the right codes."""

from __future__ import annotations

from itertools import cycle
from typing import NamedTuple


class MessyRow(NamedTuple):
    """What somebody wrote, the kind of mess, and how the code of a right concept begins.

    The code is one of ICD-10-CM; it is empty where there is no concept.
    """

    text: str
    kind: str
    code: str


NAMES = {
    "asthma": "J45", "pneumonia": "J18", "migraine": "G43", "gout": "M10", "psoriasis": "L40",
    "epilepsy": "G40", "hypothyroidism": "E03", "sepsis": "A41", "obesity": "E66",
    "headache": "R51",
    "chest pain": "R07", "heart failure": "I50", "kidney stone": "N20", "cough": "R05",
    "urinary tract infection": "N39.0", "hypertension": "I10", "atrial fibrillation": "I48",
    "osteoporosis": "M81", "cholelithiasis": "K80", "hip fracture": "S72", "constipation": "K59.0",
    "seizure": "R56", "aortic stenosis": "I35", "sleep apnea": "G47.3", "fever": "R50",
}  # fmt: skip
_ABBREVIATIONS = {
    "HTN": "I10", "T2DM": "E11", "COPD": "J44", "CHF": "I50", "CAD": "I25", "AFib": "I48",
    "GERD": "K21", "UTI": "N39.0", "DVT": "I82", "CKD": "N18", "BPH": "N40", "OSA": "G47.33",
    "MI": "I21", "PE": "I26", "RA": "M06", "htn": "I10", "dm2": "E11", "copd": "J44",
    "a-fib": "I48",
    "gerd": "K21", "u.t.i.": "N39.0", "H.T.N.": "I10", "AF": "I48", "ckd 3": "N18",
    "DM type 2": "E11",
}  # fmt: skip
_PLURALS = {
    "migraines": "G43", "seizures": "R56", "headaches": "R51", "kidney stones": "N20",
    "gallstones": "K80", "urinary tract infections": "N39.0", "hemorrhoids": "K64",
    "hernias": "K46",
    "varicose veins": "I83", "hip fractures": "S72", "skin ulcers": "L98.4", "pneumonias": "J18",
    "nosebleeds": "R04.0", "cataracts": "H26", "convulsions": "R56", "heart failures": "I50",
    "UTIs": "N39.0", "hot flashes": "R23.2", "night sweats": "R61", "palpitations": "R00.2",
    "panic attacks": "F41.0", "muscle cramps": "R25.2", "chest pains": "R07", "coughs": "R05",
    "bed sores": "L89",
}  # fmt: skip
_ORDER = {
    "infarction, myocardial, acute": "I21", "failure, heart": "I50", "pain, chest": "R07",
    "disease, chronic kidney": "N18", "stenosis, aortic": "I35", "apnea, sleep": "G47.3",
    "reflux, gastroesophageal": "K21", "fibrillation, atrial": "I48", "palsy, Bell's": "G51.0",
    "deficiency, vitamin D": "E55", "infection, urinary tract": "N39.0", "fracture, hip": "S72",
    "stone, kidney": "N20", "embolism, pulmonary": "I26", "arthritis, rheumatoid": "M06",
    "anemia, iron deficiency": "D50", "edema, pulmonary": "J81", "disease, Parkinson's": "G20",
    "ulcer, gastric": "K25", "pain, low back": "M54.5", "sclerosis, multiple": "G35",
    "heart failure, congestive": "I50", "diabetes, type 2": "E11",
    "carpal tunnel, syndrome": "G56.0",
    "depression, major": "F32",
}  # fmt: skip
_SIDES = {
    "hip fracture": "S72", "knee pain": "M25.5", "shoulder pain": "M25.5", "breast cancer": "C50",
    "knee osteoarthritis": "M17",
}  # fmt: skip
_BLANK = "|||||-|--|---|?|??|???|.|..|!|/|//|_|*|**|+|;|:|#|##|()"
_NIL = (
    "see chart|see notes|see letter|will review with team|call daughter back|room 12B|"
    "bed 7|Dr. Smith|"
    "lab results pending|labs pending|transferred from ward 7|insurance form|form signed|tbd|n/a|"
    "none|N/A|not applicable|test test|xxx|xx|as above|as before|ditto|same"
)


def _misspelled(name: str) -> str:
    """Swap two letters in the middle of the longest word."""
    word = max(name.split(), key=len)
    at = len(word) // 2
    return name.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def rows() -> list[MessyRow]:
    """Return the list, mixed."""
    names = list(NAMES.items())
    marks = cycle(
        ['"{}"', "“{}”", "{}…", "*{}*", "<b>{}</b>", "{}!!!", "{};", "({})", "{}\u00a0", "- {}"]
    )
    no = cycle(["no {}", "denies {}", "no evidence of {}", "without {}", "negative for {}"])
    doses = [(name, f"{name} {n} mg daily") for name, _ in names[:5] for n in (5, 10, 20, 50, 100)]
    sides = ["left {}", "right {}", "{}, left", "{} (R)", "{} L"]
    kinds: dict[str, list[tuple[str, str]]] = {
        "spelling": [(_misspelled(name), code) for name, code in names],
        "case": [(name.upper(), code) for name, code in names],
        "abbreviation": [*_ABBREVIATIONS.items()],
        "dose": [(text, NAMES[name]) for name, text in doses],
        "copy": names[:5] * 5,
        "plural": [*_PLURALS.items()],
        "order": [*_ORDER.items()],
        "negated": [(next(no).format(name), "") for name, _ in names],
        "blank": [(text, "") for text in _BLANK.split("|")],
        "nil": [(text, "") for text in _NIL.split("|")],
        "odd": [(next(marks).format(name), code) for name, code in names],
        "side": [(side.format(name), code) for name, code in _SIDES.items() for side in sides],
    }
    by_kind = [
        [MessyRow(text, kind, code) for text, code in pairs] for kind, pairs in kinds.items()
    ]
    return [row for mixed in zip(*by_kind, strict=True) for row in mixed]
