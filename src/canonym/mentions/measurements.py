"""Findings in plain words: *low potassium* is hypokalemia.

Similarity knows that both speak of a laboratory, and hardly which way a value went. Here the words
of a direction and of what is measured make the name that clinicians have for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from canonym.regex import regex

_Value = TypeVar("_Value")

_BLOOD = {
    "potassium": "kal",
    "sodium": "natr",
    "calcium": "calc",
    "magnesium": "magnes",
    "phosphate|phosphorus": "phosphat",
    "chloride": "chlor",
    "glucose|sugar": "glyc",
    "cholesterol": "cholesterol",
    "triglyceride": "triglycerid",
    "lipid|fat": "lipid",
    "albumin": "albumin",
    "protein": "protein",
    "fibrinogen": "fibrinogen",
    "gamma globulin|gammaglobulin": "gammaglobulin",
    "insulin": "insulin",
    "prolactin": "prolactin",
    "uric acid|urate": "uric",
    "ammonia": "ammon",
    "bilirubin": "bilirubin",
    "homocysteine": "homocystein",
    "amylase": "amylas",
    "volume": "vol",
}
# What is measured in the blood, and the stem between hypo- or hyper- and -emia.

_NAMED = {
    "platelet|thrombocyte": ("thrombocytopenia", "thrombocytosis"),
    "white blood cell|white cell|wbc|leukocyte|leucocyte": ("leukopenia", "leukocytosis"),
    "neutrophil": ("neutropenia", "neutrophilia"),
    "lymphocyte": ("lymphopenia", "lymphocytosis"),
    "eosinophil": ("eosinopenia", "eosinophilia"),
    "monocyte": ("monocytopenia", "monocytosis"),
    "granulocyte": ("granulocytopenia", "granulocytosis"),
    "reticulocyte": ("reticulocytopenia", "reticulocytosis"),
    "hemoglobin|haemoglobin": ("anemia", ""),
    "red blood cell|red cell|rbc|erythrocyte": ("anemia", "erythrocytosis"),
    "oxygen": ("hypoxemia", ""),
    "carbon dioxide|co2": ("hypocapnia", "hypercapnia"),
    "pressure|bp": ("hypotension", "hypertension"),
    "heart rate|pulse rate": ("bradycardia", "tachycardia"),
    "body temperature": ("hypothermia", "fever"),
    "respiratory rate|breathing rate": ("bradypnea", "tachypnea"),
    "thyroid hormone": ("hypothyroidism", "hyperthyroidism"),
    "cortisol": ("hypocortisolism", "hypercortisolism"),
    "muscle tone": ("hypotonia", "hypertonia"),
    "sweating": ("hypohidrosis", "hyperhidrosis"),
    "intracranial pressure": ("intracranial hypotension", "intracranial hypertension"),
    "intraocular pressure|eye pressure": ("ocular hypotony", "ocular hypertension"),
}
# Names for too little and too much of it; "" where clinicians have none.

_URINE = {
    "protein": "proteinuria",
    "albumin": "albuminuria",
    "sugar|glucose": "glycosuria",
    "ketone": "ketonuria",
    "blood|red blood cell|red cell": "hematuria",
    "white blood cell|white cell|pus": "pyuria",
    "hemoglobin|haemoglobin": "hemoglobinuria",
    "bacteria": "bacteriuria",
}

_OF_BLOOD = frozenset(["pressure", "bp", "volume", "sugar", "fat"])  # where the text says so

_DIRECTION = (
    r"(?:(?P<low>low|lower|lowered|decreased?|reduced|reduction|diminished|fall(?:ing)?|drop)"
    r"|high|higher|elevated|elevation|increased?|raised|rise|rising|excess|excessive)"
)
_AMOUNT = "levels?|concentrations?|counts?|numbers?|amounts?"


def _any_of(table: Mapping[str, object]) -> str:
    """Return an expression for all that is measured, the longest first."""
    return "|".join(sorted("|".join(table).split("|"), key=len, reverse=True))


_FINDING = regex(
    rf"(?:(?:finding|observation) of )?(?:(?:abnormally|very|too) )?{_DIRECTION}(?: in| of)?"
    rf"(?: (?:{_AMOUNT}) of)?"
    rf"(?P<fluid> blood| serum| plasma| circulating)? (?P<what>{_any_of({**_BLOOD, **_NAMED})})s?"
    rf"(?: (?:{_AMOUNT}))?(?P<place>(?: in (?:the )?|, )(?:blood|serum|plasma))?"
)
_HIGH = r"(?:(?:abnormally|very|too) )?(?:high|elevated|increased|raised|excess|excessive)"
_MEASURED = rf"(?P<what>{_any_of(_URINE)})s?(?: (?:{_AMOUNT}))?"
_IN_URINE = regex(rf"(?:{_HIGH} )?{_MEASURED} in (?:the )?urine")
# Without a direction this is a test, and no finding.
_HIGH_IN_URINE = regex(
    rf"{_HIGH} (?:{_MEASURED}(?:,)? urine|(?:urine|urinary) {_MEASURED.replace('what', 'of')})"
)


def measurement_name(text: str) -> str:
    """Return what clinicians call a value that is too low or too high; "" for any other text.

    >>> measurement_name("low plasma glucose"), measurement_name("Elevated platelet count")
    ('hypoglycemia', 'thrombocytosis')
    >>> measurement_name("blood in the urine"), measurement_name("low back pain")
    ('hematuria', '')
    >>> measurement_name("high glucose, urine"), measurement_name("low sodium in urine")
    ('glycosuria', '')
    """
    plain = " ".join(text.lower().replace("-", " ").split())
    if match := _IN_URINE.fullmatch(plain) or _HIGH_IN_URINE.fullmatch(plain):
        return _value(_URINE, match.groupdict().get("of") or match["what"]) or ""
    match = _FINDING.fullmatch(plain)
    if match is None:
        return ""
    what, is_low = match["what"], match["low"] is not None
    if what in _OF_BLOOD and not (match["fluid"] or match["place"]):
        return ""
    if names := _value(_NAMED, what):
        return names[0 if is_low else 1]
    return f"{'hypo' if is_low else 'hyper'}{_value(_BLOOD, what)}emia"


def _value(table: Mapping[str, _Value], what: str) -> _Value | None:
    return next((value for words, value in table.items() if what in words.split("|")), None)
