"""The words that tell how a disease phrase is built.

Which words name a disease by themselves, which need to be told where, which only say how much: the
lists behind the syntax of composite mentions. They hold word classes, not concepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = [
    "ESTABLISHED",
    "GRADED",
    "MODIFIERS",
    "PREPOSITIONS",
    "QUALITIES",
    "TAKES_OBJECT",
    "TAKES_SITE",
    "count_head",
    "is_adjective",
    "is_code",
    "is_disease",
    "list_conjuncts",
]

ESTABLISHED = re.compile(
    r"(?i)\b(?:head (?:and|&) neck|hand,? foot,? and mouth|foot (?:and|&) mouth"
    r"|ear,? nose,? and throat|skin and soft[- ]tissue|skin and skin structure"
    r"|skin and subcutaneous(?: tissue)?|mental and behaviou?ral|signs? (?:and|or) symptoms?"
    r"|nausea (?:and|&|or) vomiting|nausea/vomiting|nausea, vomiting|bone and joint"
    r"|graft[- ]v(?:ersus|s\.?)[- ]host|attention[- ]deficit(?:/|-| and | or )hyperactivity"
    r"|ischa?emia(?:/| and |-)reperfusion|hiv/aids|brain and spinal cord|oral and maxillofacial"
    r"|glucose[/-]galactose|tremor(?:/| and )ataxia)\b"
)
"""Names, or starts of names, that hold a conjunction and stand for one thing."""

PREPOSITIONS = (
    "of|in|to|with|without|by|from|for|on|at|due to|during|after|before|following|caused by|"
    "associated with|secondary to|among|than|between|versus"
)

GRADED = "type|subtype|stage|grade|class|group|phase|category|factor"
"""Words that are followed by a number."""

MODIFIERS = re.compile(
    r"(?i)(?:non-?)?(?:inherited|hereditary|familial|sporadic|human|early-onset|late-onset|progressive|"
    r"advanced|metastatic|severe|mild|moderate|partial|complete|total|sub-?total|unilateral|bilateral|"
    r"multifocal|multi-centric|multicentric|isolated|combined|syndromic|recurrent|refractory|non|"
    r"autosomal|dominant|recessive|x-linked)"
)
"""Words that say how much, how far, how inherited: they hold for every conjunct."""

QUALITIES = re.compile(
    r"(?i)(?:fe)?male|acute|chronic|early|late|primary|secondary|upper|lower|left|right|anterior|"
    r"posterior|benign|malignant|invasive|congenital|acquired|central|peripheral|juvenile|adult|"
    r"systolic|diastolic|small-cell|proximal|distal|superficial|deep|simple|sustained|working|"
    r"(?:intra|extra|sub|supra|non-?|pre|post|uni|bi|inter|peri|epi|endo|hypo|hyper)-?[a-z]{4,}"
)
"""Adjectives that contrast with one another in front of a head of several words."""

_GENERIC = (
    "cancers?|tumou?rs?|cysts?|polyps?|lesions?|neoplasms?|neoplasias?|malignanc(?:y|ies)|"
    "atroph(?:y|ies)|hypertrophy|injur(?:y|ies)|damage|defects?|abnormalit(?:y|ies)|anomal(?:y|ies)|"
    "malformations?|dysfunctions?|diseases?|disorders?|infections?|h(?:a)?emorrhages?|"
    "insufficienc(?:y|ies)|failures?|ulcers?|ulcerations?|dystroph(?:y|ies)|fractures?|toxicit(?:y|ies)"
)
_NEEDS_MORE = (
    "syndromes?|deficienc(?:y|ies)|deficits?|impairments?|disturbances?|disabilit(?:y|ies)|"
    "complications?|accumulation|pigmentation|depression|apn(?:o)?ea|effusions?|problems?|reactions?|"
    "symptoms?|degeneration|inflammation|irritation|bleeding|pains?|aches?|loss(?:es)?|"
    "retardation|delays?|palsy|palsies|paralysis|seizures?|infarcts?|infarctions?|aneurysms?|"
    "block(?:s|ade)?|rupture|perforation|obstruction|occlusion|thrombus|thrombi|embolism|spasms?|"
    "cramps?|involvement|cataracts?|dependence|abuse|withdrawal|poisoning|overdose|intoxication|"
    "addiction|variants?|phenotypes?|instability|resistance|deformit(?:y|ies)|allerg(?:y|ies)|"
    "contractures?|dislocations?|sprains?|burns?|wounds?|clefts?|pits|sinuses|diabetes|stroke|asthma"
)
_SUFFIXES = (
    "itis|itides|omas?|omata|oses|osis|iasis|iases|(?:a)?emias?|path(?:y|ies)|algias?|plegias?|pares[ie]s|"
    "trophy|plasias?|megaly|urias?|penias?|rrh(?:o)?ea|rrhage|scleros[ie]s|ectas[ie]s|(?:o)?edemas?|"
    "ataxias?|celes?|tensions?|cardias?|rhythmias?|lepsy|lepsies|kinesias?|tonias?|phasias?|stenos[ie]s|"
    "plasms?|ysplasia|cytosis|lys[ie]s|spasms?|stasis|psychos[ie]s|chorea|phobias?|manias?|"
    "toxicity|toxicities|anopsia|opias?"
)
_DISEASE = re.compile(rf"(?i)(?:\S*-)?(?:{_GENERIC}|{_NEEDS_MORE}|[a-z-]*(?:{_SUFFIXES}))")

TAKES_SITE = re.compile(
    rf"(?i){_GENERIC}|lymphomas?|leuk(?:a)?emias?|carcinomas?|sarcomas?|hyperplasia|"
    r"stenosis|fibrosis|necrosis"
)
"""Heads that take over the site of the conjunct before them: "pancreatic cysts and tumors"."""

TAKES_OBJECT = re.compile(
    r"(?i)\b(?:loss|lack|absence|decreases?|increases?|reductions?|declines?|function|contractures?|"
    r"overgrowth|enlargement|weakness|swelling|rupture|agenesis|haploinsufficiency|syndactyly|"
    r"involvement|death|forms?|swelling|tightness|numbness|tingling|stiffness|calcification)$"
)
"""Words that say what happens to something named after a preposition."""

_LONG_HEADS = (
    "muscular dystrophy|muscular dystrophies|hearing loss|mental retardation|memory loss|"
    "growth failure|growth retardation|developmental delay|blood pressure|weight loss|"
    "intellectual disability|sensory loss|vision loss|lipid accumulation|pain syndrome|"
    "cancer syndrome"
)
_ADJECTIVE = re.compile(r"(?i)[a-z-]{2,}(?:[aei]al|[^aeiou]al|ic|ous|ive|[iu]lar|[ln]ary)")
_NUMBER = re.compile(r"(?i)\s(?:\d+[a-z]?|[ivx]+)$")
_JOINTS = re.compile(
    r"(?i)\s*,?\s(?:and/or|and|or|as well as|&)\s+|\s*(?<!\band)(?<!\bor)/(?!or\b)\s*|,\s+"
)
_CODE = re.compile(r"(?=\S*[A-Z0-9]\S*[A-Z0-9])[A-Z][A-Za-z0-9-]{1,9}")


def is_code(text: str) -> bool:
    """Tell whether a text is one gene symbol, abbreviation or the like: "FOXC1", "C6", "HIV"."""
    return _CODE.fullmatch(text) is not None


def is_disease(text: str) -> bool:
    """Tell whether a phrase ends in a word that can name a disease, as far as its shape shows."""
    words = _NUMBER.sub("", text).split()
    return bool(words) and _DISEASE.fullmatch(words[-1]) is not None


def is_adjective(word: str) -> bool:
    """Tell whether a word is an adjective, by its ending or because it is one of `QUALITIES`."""
    return (_ADJECTIVE.fullmatch(word) or QUALITIES.fullmatch(word)) is not None


def count_head(words: Sequence[str]) -> int:
    """Count the words at the end of a phrase that name what kind of disease it is; 0 if none do."""
    if not words or _DISEASE.fullmatch(words[-1]) is None:
        return 0
    return 2 if re.fullmatch(_LONG_HEADS, " ".join(words[-2:]), re.IGNORECASE) else 1


def list_conjuncts(phrase: str) -> list[str]:
    """Cut a list at its commas, conjunctions and slashes.

    Commas alone make no list: "sudden, unexplained death".
    """
    pieces: list[str] = []
    place = 0
    last_joint = max((match.start() for match in _real_joints(phrase)), default=-1)
    for joint in _JOINTS.finditer(phrase):
        if joint.start() > last_joint:
            break
        pieces.append(phrase[place : joint.start()])
        place = joint.end()
    pieces.append(phrase[place:])
    pieces = [piece.strip() for piece in pieces]
    return pieces if all(_is_conjunct(piece) for piece in pieces) else [phrase]


def _real_joints(phrase: str) -> Iterable[re.Match[str]]:
    return (joint for joint in _JOINTS.finditer(phrase) if joint[0].strip() != ",")


def _is_conjunct(piece: str) -> bool:
    """Tell whether a piece can stand in a list: not empty, no lone letter, no dangling bracket."""
    return (
        bool(re.match(r"\w", piece))
        and (len(piece) > 1 or piece.isdigit() or piece.lower() in "ivx")
        and piece.count("(") == piece.count(")")
    )
