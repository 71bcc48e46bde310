"""Words of English that deny, join or qualify; those that exclude each other are rules."""

from __future__ import annotations

PRIVATIVE = frozenset(
    (
        *("non", "un", "in", "im", "ir", "dis", "an", "a", "anti", "de", "des"),  # a denial
        *("es", "lev", "levo", "dextro", "dex", "ar", "nor", "iso"),  # another molecule
        *("hemi", "para", "peri", "pre", "neo", "post"),  # half of it, beside, before, after it
        *("pseudo", "sub"),  # like or below it
    )
)
"""Prefixes that make another thing of the word behind them."""

_NUMBERS = (
    "zero one/first two/second three/third four/fourth five/fifth six/sixth seven/seventh "
    "eight/eighth nine/ninth ten/tenth eleven/eleventh twelve/twelfth"
)
NUMBER_WORDS = {
    word: str(number)
    for number, words in enumerate(_NUMBERS.split(" "))
    for word in words.split("/")
}
"""Numbers in words."""

_LETTERS = "alpha:a beta:b gamma:g delta:d epsilon:e zeta:z eta:h theta:t kappa:k lambda:l sigma:s"
GREEK = dict(pair.split(":") for pair in _LETTERS.split(" "))
"""Greek letters, and the Latin ones that stand for them."""

_NEGATIONS = "no not without nor never nil deny denied denying lack"
NEGATIONS = frozenset(_NEGATIONS.split(" "))
"""Words that deny what follows."""

_PRIVATION = (
    "absence absent agenesis aplasia atresia deficiency hypoplasia loss lack missing failure "
    "defect insufficiency negative"
)
PRIVATION = frozenset(_PRIVATION.split(" "))
"""Words by which a concept itself is that something is not there."""

_SMALL = "a an the of in on at to for by from and or with due"
SMALL = frozenset(_SMALL.split(" "))
"""Words that join others and say nothing themselves."""

UNSPECIFIED = frozenset({"unspecified", "nos", "nec"})
"""Words by which a terminology says that nothing more is known."""

_TAGS = (
    "finding procedure situation qualifier value morphologic abnormality organism substance "
    "structure disorder"
)
TAGS = UNSPECIFIED | frozenset(_TAGS.split(" "))
"""What a terminology adds to a name: these, and tags of SNOMED CT, which stand in brackets."""

IMPLIED = frozenset({"mellitus", "pectoris"})
"""Words that nobody says: *type 2 diabetes* is *type 2 diabetes mellitus*."""

KINDS = IMPLIED | {"disease", "disorder", "syndrome", "condition"}
"""Words that a name may have more than a mention: *Crohn* is *Crohn disease*."""

_QUALIFIERS = (
    "mild moderate severe profound slight marked extreme borderline acute chronic subacute "
    "recurrent persistent progressive intermittent transient episodic paroxysmal relapsing "
    "remitting refractory intractable early late onset advanced end stage terminal left right "
    "bilateral unilateral upper lower anterior posterior medial lateral proximal distal focal "
    "diffuse generalized localized local systemic multiple single isolated primary secondary new "
    "old recent past probable possible suspected confirmed known childhood juvenile infantile "
    "adult neonatal congenital acquired hereditary familial sporadic idiopathic symptomatic "
    "asymptomatic active inactive worsening stable controlled uncontrolled complicated "
    "uncomplicated bad terrible very"
)
QUALIFIERS = frozenset(_QUALIFIERS.split(" "))
"""Words of severity, course, side and origin: they say which kind of a concept it is."""

_ORDINARY = (
    "all and are can but did for had has his her him its may not now one our out set the was"
)
ORDINARY = frozenset(_ORDINARY.split(" "))
"""Words of every text that are spelt like symbols in capitals."""
