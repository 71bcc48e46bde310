"""Specimens of laboratory tests: *glucose, urine* is not *glucose in blood*.

Names of two specimens are names of two tests, whatever else they share.
"""

from __future__ import annotations

import re
from itertools import pairwise

from canonym.rules import current, once_a_book, phrase_expression, remembered
from canonym.text.shape import shape_of

_BLOOD = "blood"
# What a name says of a specimen by its ending. Acids are left out: an acidemia is an aciduria, too.
_ENDINGS = {
    _BLOOD: r"(?:hyper|hypo|normo)(?!\w*acid)\w{3,}a?emia|(?:bacter|fung|vir|ur|azot|keton)a?emia",
    "urine": r"(?:hyper|hypo)(?!\w*acid)\w{3,}uria|(?:micro)?(?:albumin|bacteri|bilirubin|calci|"
    r"glucos|glycos|h(?:a?e)mat|hemoglobin|haemoglobin|keton|myoglobin|phosphat|protein|py)uria",
}
_FLUIDS, _JOINTS = frozenset(("serum", "plasma")), frozenset(("/", "&", "and", "or"))


@once_a_book
def _specimens() -> dict[str, re.Pattern[str]]:
    """Return the words of each specimen.

    Beside some words they mean something else: a blood pressure, a plasma cell, G-CSF.
    """
    words = {specimen: [ending] for specimen, ending in _ENDINGS.items()}
    for rule in current().of_kind("specimen"):
        before = "".join(rf"(?<!\b{word[:-1]} )" for word in rule.unless.split() if word[-1] == "-")
        behind = "|".join(word for word in rule.unless.split() if word[-1] != "-")
        form = before + phrase_expression(rule.form) + (rf"(?! (?:{behind}))" if behind else "")
        words.setdefault(rule.means, []).append(form)
    return {name: re.compile(rf"\b(?:{'|'.join(forms)})\b") for name, forms in words.items()}


@once_a_book
def _hint() -> re.Pattern[str]:
    """Return letters of which some are in every text with a specimen."""
    words = (word for rule in current().of_kind("specimen") for word in shape_of(rule.form).words)
    starts = {word[:4] for word in words if len(word) > 2}
    return re.compile("|".join(sorted({"emia", "uria", *starts})))


@remembered(1_024)  # asked for a mention beside each of its hits
def specimen_of(text: str) -> str:
    """Return the specimen that a name speaks of, "blood" for serum and plasma; "" for none.

    Blood is what is measured where it is in another specimen. Of several specimens none is meant.

    >>> [specimen_of(text) for text in ("Glucose, urine", "serum potassium", "Blood in stool")]
    ['urine', 'blood', 'stool']
    >>> [specimen_of(text) for text in ("blood pressure", "serum or urine protein", "G-CSF")]
    ['', '', '']
    """
    lower = text.lower()
    if _hint().search(lower) is None:
        return ""
    letters = "".join(letter if letter.isalnum() or letter in "_/&" else " " for letter in lower)
    plain = " ".join(letters.split())
    specimens = [name for name, words in _specimens().items() if words.search(plain)]
    if len(specimens) == 2 and specimens[0] == _BLOOD and _is_other(plain):
        return specimens[1]
    return specimens[0] if len(specimens) == 1 else ""


def _is_other(text: str) -> bool:
    """Tell whether blood in another specimen is what is measured, and not the blood itself.

    Nothing else is measured in serum or plasma: of them and another specimen both are meant.
    """
    words = text.replace("/", " / ").replace("&", " & ").split()
    joined = {word for pair in pairwise(words) if _BLOOD in pair for word in pair}
    return _BLOOD in words and _FLUIDS.isdisjoint(words) and _JOINTS.isdisjoint(joined)
