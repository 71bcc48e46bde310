"""Specimens of laboratory tests: *glucose, urine* is not *glucose in blood*.

Names of two specimens are names of two tests, whatever else they share.
"""

from __future__ import annotations

from canonym.regex import regex

_BLOOD = "blood"

# Words of a specimen that are none before some others: blood pressure, a plasma cell, the urinary
# tract, a sweat gland.
_WORDS = {
    _BLOOD: (
        r"blood(?! (?:brain|cancer|clot|dis(?:ease|order)|dono|dyscrasia|flow|group|loss|pressure|"
        r"product|relative|stain|stream|supply|thinn|transfus|typ(?:e|ing)|vessel|volume))",
        r"ser(?:um|a)(?! sickness)|(?<!seminal )plasma(?! (?:cell|exchange|membrane))",
        r"serpl|bld",
    ),
    "urine": (
        r"urines?(?! (?:flow|leak|output|retention|stream|volume))",
        r"urinary(?! (?:bladder|calcul|catheter|diver|fistula|frequen|hesita|incontinen|infect|"
        r"lithia|meatus|obstruct|organ|output|reflux|retention|sphincter|stone|stream|symptom|"
        r"system|tract|urgen|volume))",
    ),
    "csf": (
        r"(?<!\bg )(?<!\bm )(?<!\bgm )(?:csf|cerebro ?spinal fluid|spinal fluid)"
        r"(?! (?:drain|fistula|flow|leak|obstruct|otorrh|pressure|rhinorrh|shunt|volume))",
    ),
    "stool": (
        r"stools?(?! (?:impact|incontinen|soften))|fa?eces",
        r"fa?ecal(?! (?:impact|incontinen|continen|microbiota|soil|transplant|urgen))",
    ),
    "saliva": (r"saliva", r"salivary(?! (?:calcul|duct|gland|stone))"),
    "sputum": (r"sputum|sputa",),
    "sweat": (r"sweat(?! (?:duct|gland))",),
    "semen": (r"semen|seminal (?:fluid|plasma)",),
    "breast milk": (r"(?:breast|human|mother s) milk",),
    "amniotic fluid": (r"amniotic fluid",),
    "synovial fluid": (r"(?:synovial|joint) fluid",),
    "pleural fluid": (r"pleural fluid",),
    "peritoneal fluid": (r"(?:peritoneal|ascitic) fluid",),
    "bronchial fluid": (r"(?:bronchial|bronchoalveolar) (?:fluid|lavage)",),
}
# What a name says of a specimen by its ending. Acids are left out: an acidemia is an aciduria, too.
_ENDINGS = {
    _BLOOD: r"(?:hyper|hypo|normo)(?!\w*acid)\w{3,}a?emia|(?:bacter|fung|vir|ur|azot|keton)a?emia",
    "urine": r"(?:hyper|hypo)(?!\w*acid)\w{3,}uria|(?:micro)?(?:albumin|bacteri|bilirubin|calci|"
    r"glucos|glycos|h(?:a?e)mat|hemoglobin|haemoglobin|keton|myoglobin|phosphat|protein|py)uria",
}
_SPECIMENS = {
    specimen: regex(
        rf"\b(?:{'|'.join(words)})\b"
        if specimen not in _ENDINGS
        else rf"\b(?:{'|'.join(words)}|{_ENDINGS[specimen]})\b"
    )
    for specimen, words in _WORDS.items()
}
# One of these is in every text with a specimen.
_HINTS = (
    *("blood", "bld", "seru", "sera", "serp", "plasma", "urin", "csf", "spinal", "stool", "fec"),
    *("faec", "saliv", "sput", "sweat", "semen", "seminal", "milk", "fluid", "lavage"),
    *("emia", "uria"),
)
_SIGNS = regex(r"[^\w/&]+")
_BOTH = regex(r"\b(?:serum|plasma|blood ?(?:/|&|and|or))\b|(?:/|&|\band|\bor) ?blood\b")


def specimen_of(text: str) -> str:
    """Return the specimen that a name speaks of, "blood" for serum and plasma; "" for none.

    Blood is what is measured where it is in another specimen. Of several specimens none is meant.

    >>> [specimen_of(text) for text in ("Glucose, urine", "serum potassium", "Blood in stool")]
    ['urine', 'blood', 'stool']
    >>> [specimen_of(text) for text in ("blood pressure", "serum or urine protein", "G-CSF")]
    ['', '', '']
    """
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return ""
    plain = " ".join(_SIGNS.sub(" ", lower).split())
    specimens = [name for name, words in _SPECIMENS.items() if words.search(plain)]
    # Nothing else is measured in serum or plasma: of them and another specimen both are meant.
    is_measured = len(specimens) == 2 and specimens[0] == _BLOOD and not _BOTH.search(plain)
    if is_measured and _BLOOD in plain.split():
        return specimens[1]
    return specimens[0] if len(specimens) == 1 else ""
