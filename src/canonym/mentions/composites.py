"""Mentions that name several concepts at once.

``breast and ovarian cancer`` stands for two concepts in four words. The phrase alone decides
whether to split: what is coordinated, and whether the parts can share what is written once.
Established names that happen to hold an *and* stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.mentions.shorthand import hide_shorthand
from canonym.regex import GAP, regex

_ONE_THING = (
    r"head (?:and|&) neck|hand,? foot,? and mouth|foot (?:and|&) mouth"
    r"|ear,? nose,? and throat|skin and soft[- ]tissue|skin and skin structure"
    r"|skin and subcutaneous(?: tissue)?|mental and behaviou?ral|signs? (?:and|or) symptoms?"
    r"|bone and joint|graft[- ]v(?:ersus|s\.?)[- ]host"
    r"|attention[- ]deficit(?:/|-| and | or )hyperactivity"
    r"|ischa?emia(?:/| and |-)reperfusion|hiv/aids|brain and spinal cord|oral and maxillofacial"
    r"|glucose[/-]galactose|tremor(?:/| and )ataxia"
)
_ONE_THINGS = regex(rf"(?i)\b(?:{_ONE_THING})\b")
_ESTABLISHED = regex(
    rf"(?i)\b(?:{_ONE_THING}|nausea (?:and|&|or) vomiting|nausea/vomiting|nausea, vomiting)\b"
)
"""Names, or starts of names, that hold a conjunction and stand for one thing."""

_PREPOSITIONS = (
    "of|in|to|with|without|by|from|for|on|at|due to|during|after|before|following|caused by|"
    "associated with|secondary to|among|than|between|versus"
)

_ADJECTIVES = regex(
    r"(?i)(?:fe)?male|acute|chronic|subacute|early|late|primary|secondary|upper|lower|left|right|"
    r"anterior|posterior|benign|malignant|invasive|congenital|acquired|central|peripheral|juvenile|"
    r"adult|proximal|distal|superficial|deep|simple|unspecified|specified|nos|nec|other|both|open|"
    r"closed|initial|subsequent|encounter|sequela|controlled|uncontrolled|stable|unstable|"
    r"intermittent|persistent|transient|resolved|active|inactive|new|old|onset|site|sites|side|"
    r"primarily|not|elsewhere|classified|childhood|infantile|neonatal|maternal|paternal|profound|"
    r"spastic|included|formerly|regular|multiple|single|premature|[ivx]+"
)
"""Words that say how, when or where something is, and name nothing alone."""

_GRADED = "type|subtype|stage|grade|class|group|phase|category|factor"
"""Words that are followed by a number."""

_MODIFIERS = regex(
    r"(?i)(?:non-?)?(?:inherited|hereditary|familial|sporadic|human|early-onset|late-onset|progressive|"
    r"advanced|metastatic|severe|mild|moderate|partial|complete|total|sub-?total|unilateral|bilateral|"
    r"multifocal|multi-centric|multicentric|isolated|combined|syndromic|recurrent|refractory|non|"
    r"autosomal|dominant|recessive|x-linked)"
)
"""Words of degree, extent and inheritance: they hold for every conjunct."""

_QUALITIES = regex(
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
_DISEASE = regex(rf"(?i)(?:\S*-)?(?:{_GENERIC}|{_NEEDS_MORE}|[a-z]*(?:{_SUFFIXES}))")

_TAKES_SITE = regex(
    rf"(?i){_GENERIC}|lymphomas?|leuk(?:a)?emias?|carcinomas?|sarcomas?|hyperplasia|"
    r"stenosis|fibrosis|necrosis"
)
"""Heads that take over the site of the conjunct before them: "pancreatic cysts and tumors"."""

_TAKES_OBJECT = regex(
    r"(?i)\b(?:loss|lack|absence|decreases?|increases?|reductions?|declines?|function|contractures?|"
    r"overgrowth|enlargement|weakness|swelling|rupture|agenesis|haploinsufficiency|syndactyly|"
    r"involvement|death|forms?|swelling|tightness|numbness|tingling|stiffness|calcification)$"
)
"""Heads that take an object after a preposition: "loss of …"."""

_LONG_HEADS = (
    "muscular dystrophy|muscular dystrophies|hearing loss|mental retardation|memory loss|"
    "growth failure|growth retardation|developmental delay|blood pressure|weight loss|"
    "intellectual disability|sensory loss|vision loss|lipid accumulation|pain syndrome|"
    "cancer syndrome"
)
_ADJECTIVE = regex(r"(?i)[a-z-]{2,}(?:[aei]al|[^aeiou]al|ic|ous|ive|[iu]lar|[ln]ary)")
_LAST_NUMBER = regex(r"(?i)\s(?:\d+[a-z]?|[ivx]+)$")
_JOINTS = regex(
    rf"(?i){GAP},?\s(?:and/or|and|or|as well as|&)\s+|{GAP}(?<!\band)(?<!\bor)/(?!or\b)\s*|,\s+"
)
_CODE = regex(r"(?=[^A-Z0-9]*[A-Z0-9][^A-Z0-9]*[A-Z0-9])[A-Z][A-Za-z0-9-]{1,9}")

_LONGEST = 300
_MOST_PARTS = 12
_MOST_WORDS = 5

_METASTASES = r"(?:metastas[ei]s|mets)"
_PRIMARY = (
    r"(?:[^,;]*\b)?(?:cancer|ca|carcinoma|melanoma|sarcoma|hcc|rcc|nsclc|sclc)"
    r"|(?:cancer|ca|carcinoma) [^,;]+?"
)
_PLACE = r"(?:the )?(?!distant|multiple|\w+spread)(?P<{}>(?:[^,;]+(?:, [^,;]+)*,? and )?[^,;]+)"
_SPREAD = regex(
    rf"(?P<primary>{_PRIMARY}),? (?:"
    rf"(?P<how>(?:now |with |w/? ?)?(?:metastatic|spread|{_METASTASES}) )?to {_PLACE.format('to')}"
    rf"|(?:and|with|w/?) (?:known )?{_PLACE.format('with')} {_METASTASES})"
    rf"|{_PLACE.format('of')} {_METASTASES} (?:from|due to|secondary to) (?P<from>{_PRIMARY})",
    re.IGNORECASE,
)
_SITES_JOINT = regex(rf"{GAP}(?:,\s*and|,|/|&|\band)\s+(?:the )?|/", re.IGNORECASE)
_COORDINATED = regex(r"(?i)\s(?:and|or|and/or|as well as|&)\s|[^\s/]/[^\s/]|\s/\s|-\s(?:and|or)")
_GLOSS = regex(rf"{GAP}\([^()]*\)")
_PREPOSITION = regex(rf"(?i)\s(?:{_PREPOSITIONS})\s")
_OBJECT = regex(r"(?i)^(?P<head>.+?)\s(?P<preposition>of|in|to)\s(?P<article>the\s)?(?P<list>.+)$")
_KIND = regex(rf"(?i)(?:{_GRADED})s?\s+\w{{1,4}}")
_NUMBER = r"(?:\d+[a-z]?|[ivx]+[a-d]?)"
_NUMBERED = regex(
    rf"(?i)^(?P<before>.*?\b)(?P<counted>{_GRADED})(?P<s>s|es)?\s(?P<numbers>{_NUMBER}"
    rf"(?:\s*,\s*{_NUMBER})*(?:\s*,?\s(?:and/or|and|or|&)\s|\s*/\s*){_NUMBER})(?P<after>\s.*|)$"
)
_PREFIX = (
    "pre|post|hyper|hypo|intra|extra|inter|micro|macro|uni|bi|mono|poly|endo|exo|ante|peri|sub|supra|"
    "infra|para|normo|neo|ortho|photo|over|under"
)
# A prefix without its hyphen is one where another prefix follows: "hypo/hyperkalemia".
_HANGING = regex(
    rf"(?i)^(?P<before>.*?)(?:(?P<first>[a-z]+)-|\b(?P<bare>{_PREFIX}))"
    r"(?:\s*(?:,\s*)?(?:and/or|and|or)\s|\s*[/&]\s*)-?"
    rf"(?P<second>{_PREFIX})-?(?P<stem>[a-z]{{4,}})(?P<after>\s.*|)$"
)
# What stands before the last of several coordinated words: "breast, colon and ".
_BEFORE = regex(r"(?<![\w-])(?:[\w-]+ )?[\w-]+(?:(?:, [\w-]+)*,? (?:and/or|and|or|&) |/)\Z")
_LONGEST_START = 80
_WORD = regex(r"[\w-]+")
# Characters inside an established name, hidden while the phrase is taken apart.
_GUARD = str.maketrans(" /,", "\ue000\ue001\ue002")
_UNGUARD = str.maketrans("\ue000\ue001\ue002", " /,")


def split_composite(text: str) -> tuple[str, ...]:
    """Split a mention of several concepts into one mention per concept, in the order of the text.

    Precision comes first: where the syntax leaves doubt, the text itself is returned, alone and
    unchanged. It pays to try the whole mention against the terminology before its parts. The idea
    is that of D'Souza and Ng (2015), Sieve-Based Entity Linking for the Biomedical Domain.

    >>> split_composite("breast and ovarian cancer")
    ('breast cancer', 'ovarian cancer')
    >>> split_composite("C6/C7 deficiency")
    ('C6 deficiency', 'C7 deficiency')
    >>> split_composite("breast cancer metastatic to the liver")
    ('breast cancer', 'liver metastasis')
    >>> split_composite("lung cancer metastatic to bone, liver and brain")[1:]
    ('bone metastasis', 'liver metastasis', 'brain metastasis')
    >>> split_composite("head and neck cancer")
    ('head and neck cancer',)
    """
    spread = _SPREAD.fullmatch(text) if len(text) <= _LONGEST else None
    if spread and (spread["how"] or not spread["to"] or text.lower().startswith("metastatic ")):
        sites = _SITES_JOINT.split(spread["to"] or spread["with"] or spread["of"])
        return spread["primary"] or spread["from"], *(f"{site} metastasis" for site in sites)
    if len(text) > _LONGEST or _COORDINATED.search(text) is None:
        return (text,)
    phrase = _hide(_ESTABLISHED, " ".join(text.split()))
    if _COORDINATED.search(phrase) is None:
        return (text,)
    pieces = _split(phrase) or _split(_GLOSS.sub("", phrase)) or ()
    parts = tuple(dict.fromkeys(unhide(" ".join(part.split())) for part in pieces))
    return parts if 2 <= len(parts) <= _MOST_PARTS else (text,)


def composites_ending(text: str, start: int) -> Iterator[int]:
    """Yield where a composite mention may start that ends with the name at `start`.

    >>> [*composites_ending("some breast and ovarian cancer", 16)]
    [5]
    """
    before = _BEFORE.search(text, max(0, start - _LONGEST_START), start)
    if before is not None:
        for word in _WORD.finditer(before[0]):
            if word[0].lower() not in FUNCTION_WORDS:
                yield before.start() + word.start()


def hide_one_things(text: str) -> str:
    """Hide what joins the words of established names and of shorthand, so that they stay whole."""
    return _hide(_ONE_THINGS, text)


def unhide(text: str) -> str:
    """Show again what is hidden."""
    return text.translate(_UNGUARD)


def is_quality(text: str) -> bool:
    """Tell whether a text only says how or where something is: no item of a list.

    >>> is_quality("chronic"), is_quality("left, unspecified"), is_quality("type 2")
    (True, True, True)
    >>> is_quality("stroke")
    False
    """
    return _KIND.fullmatch(text) is not None or all(
        (_MODIFIERS.fullmatch(word) or _ADJECTIVES.fullmatch(word)) is not None
        for word in _WORD.findall(text)
    )


def _hide(established: re.Pattern[str], text: str) -> str:
    hidden = established.sub(lambda match: match[0].translate(_GUARD), text)
    return hide_shorthand(hidden, _GUARD)


def _split(phrase: str) -> list[str] | None:
    return _split_numbers(phrase) or _split_hanging(phrase) or _split_phrase(phrase)


def _split_numbers(phrase: str) -> list[str] | None:
    """Split "type 1 and 2 diabetes"."""
    match = _NUMBERED.match(phrase)
    if match is None:
        return None
    before, counted, after = match["before"], match["counted"], match["after"]
    return [f"{before}{counted} {number}{after}" for number in _list_conjuncts(match["numbers"])]


def _split_hanging(phrase: str) -> list[str] | None:
    """Split "pre- and postnatal growth failure"."""
    match = _HANGING.match(phrase)
    if match is None:
        return None
    before, stem, after = match["before"], match["stem"], match["after"]
    return [
        f"{before}{prefix}{stem}{after}"
        for prefix in (match["first"] or match["bare"], match["second"])
    ]


def _split_phrase(phrase: str) -> list[str] | None:
    preposition = _PREPOSITION.search(phrase)
    if preposition is None:
        return _split_subject(phrase)
    subject, tail = phrase[: preposition.start()], phrase[preposition.start() :]
    if _COORDINATED.search(f"{subject} "):
        parts = _split_subject(subject)
        return [part + tail for part in parts] if parts else None
    return _split_object(phrase)


def _split_subject(phrase: str) -> list[str] | None:
    conjuncts = _list_conjuncts(phrase)
    if len(conjuncts) < 2 or any(len(part.split()) > _MOST_WORDS for part in conjuncts[:-1]):
        return None
    if all(_is_code(part) for part in conjuncts):
        return conjuncts
    *others, last = conjuncts
    n_head = _count_head(last.split())
    if not n_head:
        return _split_shared_start(conjuncts)
    complete = [_is_disease(part) for part in others]
    if all(complete):
        return _share_site(others, last)
    n_words = len(last.split())
    if n_words == 1:
        return None
    return _share_head(others, complete, last, min(n_head, n_words - 1))


def _share_head(
    others: list[str], complete: list[bool], last: str, n_head: int
) -> list[str] | None:
    """Split "breast and ovarian cancer": the head is written once, at the end."""
    words = last.split()
    incomplete = [part for part, done in zip(others, complete, strict=True) if not done]
    n_modifiers = _count_modifiers(incomplete, words, len(words) - n_head)
    head = " ".join(words[n_modifiers:])
    if head.lower() == "syndrome" and not words[0][0].isupper():
        return None  # "hair and nail syndrome" is one
    if all(_says_how(part) for part in (*incomplete, words[0])):
        return None  # "unilateral and bilateral retinoblastoma" is one
    shared = _shared_start(others[0], words[0])
    rest = others[0][len(shared) :]
    parts = [
        part if done else f"{part} {head}" for part, done in zip(others, complete, strict=True)
    ]
    if shared and rest and not complete[0]:
        parts = [parts[0], *(f"{shared}{part}" for part in parts[1:])]
        return [*parts, f"{shared}{last}"]
    return [*parts, last]


def _count_modifiers(others: list[str], words: list[str], longest: int) -> int:
    """Count the words of the last conjunct that contrast with the other conjuncts."""
    before = others[-1].split()
    if before[0].lower() == words[0].lower() and len(before) < len(words):
        return len(before)  # type 1 and type 2 diabetes
    capitals = [word[0].isupper() or word[0].isdigit() for word in words]
    n_capitals = capitals.index(False) if False in capitals else len(words)
    if 0 < n_capitals <= longest and all(part[0].isupper() for part in others):
        return n_capitals  # Duchenne and Becker muscular dystrophy
    if all(_QUALITIES.fullmatch(part) for part in others) and _QUALITIES.fullmatch(words[0]):
        return 1  # male and female breast cancer
    return longest


def _says_how(part: str) -> bool:
    """Tell whether a conjunct has only words of degree or inheritance: it is no other concept."""
    return all(_MODIFIERS.fullmatch(word) for word in part.split())


def _shared_start(part: str, contrast: str) -> str:
    """Return the start of the first conjunct, with its space, that holds for the others as well.

    `contrast` is the first word of the last conjunct.
    """
    words = part.split()
    if _QUALITIES.fullmatch(words[-1]) and _QUALITIES.fullmatch(contrast):
        n_shared = len(words) - 1  # left ventricular systolic and diastolic dysfunction
    elif _MODIFIERS.fullmatch(contrast):
        n_shared = 0
    else:
        says_how = [_MODIFIERS.fullmatch(word) is not None for word in words]
        n_shared = says_how.index(False) if False in says_how else 0
    return "".join(f"{word} " for word in words[:n_shared])


def _share_site(others: list[str], last: str) -> list[str]:
    """Split conjuncts with a head each: "fever and rash", "pancreatic cysts and tumors"."""
    words = others[0].split()
    site = words[: len(words) - _count_head(words)]
    if " " not in last and _TAKES_SITE.fullmatch(last) and site and len(others) == 1:
        return [others[0], " ".join([*site, last])]
    return [*others, last]


def _split_shared_start(conjuncts: list[str]) -> list[str] | None:
    """Split "cleft lip/palate": the start is written once."""
    *others, last = conjuncts
    words = others[0].split()
    if len(words) == 2 and words[0].lower() in ("cleft", "clefts") and " " not in last:
        return [*others, f"{words[0]} {last}"]
    return None


def _split_object(phrase: str) -> list[str] | None:
    """Split "cancers of the breast and ovary": the affected sites are coordinated."""
    match = _OBJECT.match(phrase)
    if match is None or not (_is_disease(match["head"]) or _TAKES_OBJECT.search(match["head"])):
        return None
    listed, tail = match["list"], ""
    after = _PREPOSITION.search(listed)
    if after is not None:
        listed, tail = listed[: after.start()], listed[after.start() :]
    conjuncts = _list_conjuncts(listed)
    if len(conjuncts) < 2 or any(len(part.split()) > _MOST_WORDS for part in conjuncts):
        return None
    *others, last = conjuncts
    words = last.split()
    first = others[0].split()
    if _is_code(last) and len(first) > 1 and _is_code(first[-1]):
        named = " ".join(first[:-1])  # the transcription factors FOXC1 and FOXC2
        conjuncts = [others[0], *(f"{named} {part}" for part in conjuncts[1:])]
    elif len(words) > 1 and all(_is_adjective(part) for part in (*others, words[0])):
        conjuncts = [*(f"{part} {' '.join(words[1:])}" for part in others), last]
    else:
        conjuncts = _split_shared_start(conjuncts) or conjuncts
    start = f"{match['head']} {match['preposition']} "
    return [start + _with_article(part, match["article"] or "") + tail for part in conjuncts]


def _with_article(part: str, article: str) -> str:
    return part if part.lower().startswith(("the ", "a ", "an ")) else f"{article}{part}"


def _is_code(text: str) -> bool:
    """Tell whether a text is one gene symbol, abbreviation or the like: "FOXC1", "C6", "HIV"."""
    return _CODE.fullmatch(text) is not None


def _is_disease(text: str) -> bool:
    """Tell whether a phrase ends in a word that can name a disease, as far as its shape shows."""
    words = _LAST_NUMBER.sub("", text).split()
    return bool(words) and _DISEASE.fullmatch(words[-1]) is not None


def _is_adjective(word: str) -> bool:
    """Tell whether a word is an adjective, by its ending or because it is one of `_QUALITIES`."""
    return (_ADJECTIVE.fullmatch(word) or _QUALITIES.fullmatch(word)) is not None


def _count_head(words: Sequence[str]) -> int:
    """Count the words at the end of a phrase that name a kind of disease."""
    if not words or _DISEASE.fullmatch(words[-1]) is None:
        return 0
    return 2 if re.fullmatch(_LONG_HEADS, " ".join(words[-2:]), re.IGNORECASE) else 1


def _list_conjuncts(phrase: str) -> list[str]:
    """Cut a list at its commas, conjunctions and slashes.

    Commas alone make no list: "sudden, unexplained death".
    """
    pieces: list[str] = []
    place = 0
    joints = (joint.start() for joint in _JOINTS.finditer(phrase) if joint[0].strip() != ",")
    last_joint = max(joints, default=-1)
    for joint in _JOINTS.finditer(phrase):
        if joint.start() > last_joint:
            break
        pieces.append(phrase[place : joint.start()])
        place = joint.end()
    pieces.append(phrase[place:])
    pieces = [piece.strip() for piece in pieces]
    return pieces if all(_is_conjunct(piece) for piece in pieces) else [phrase]


def _is_conjunct(piece: str) -> bool:
    """Tell whether a piece can stand in a list: not empty, no lone letter, no dangling bracket."""
    return (
        bool(re.match(r"\w", piece))
        and (len(piece) > 1 or piece.isdigit() or piece.lower() in "ivx")
        and piece.count("(") == piece.count(")")
    )
