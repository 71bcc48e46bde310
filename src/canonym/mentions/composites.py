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
from canonym.rules import any_of, once_a_book
from canonym.text.shape import shape_of

_PREPOSITIONS = (
    "of|in|to|with|without|by|from|for|on|at|due to|during|after|before|following|caused by|"
    "associated with|secondary to|among|than|between|versus"
)

_GRADED = "type|subtype|stage|grade|class|group|phase|category|factor"
"""Words that are followed by a number."""

_ADJECTIVE = regex(r"(?i)[a-z-]{2,}(?:[aei]al|[^aeiou]al|ic|ous|ive|[iu]lar|[ln]ary)")
_LAST_NUMBER = regex(r"(?i)\s(?:\d+[a-z]?|[ivx]+)$")
_JOINTS = regex(
    rf"(?i){GAP},?\s(?:and/or|and|or|as well as|&)\s+|{GAP}(?<!\band)(?<!\bor)/(?!or\b)\s*|,\s+"
)
_CODE = regex(r"(?=[^A-Z0-9]*[A-Z0-9][^A-Z0-9]*[A-Z0-9])[A-Z][A-Za-z0-9-]{1,9}")

_LONGEST = 300
_PLACES = (
    *("one thing", "adjective", "modifier", "quality", "head", "further head", "ending"),
    *("site", "object", "long head"),
)
"""Where a rule of the kind "part of a composite" counts.

Names that hold a conjunction are *one thing*. *Adjectives* say how, when or where something is, and
name nothing alone. *Modifiers* are of degree, extent and inheritance, and hold for every conjunct.
*Qualities* contrast with one another in front of a head of several words. *Heads* are words for a
disease, as words with such an *ending* are. They and those of a *site* take over the site of the
conjunct before them: "pancreatic cysts and tumors". A *further head* does not. Heads of an *object*
take one behind a preposition: "loss of …".
"""

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
# Of these words and signs a mention of several concepts has one.
_JOINING = frozenset(
    ["metastasis", "metastases", "mets", "metastatic", "spread", "and", "or", "as", "/", "&"]
)
_SITES_JOINT = regex(rf"{GAP}(?:,\s*and|,|/|&|\band)\s+(?:the )?|/", re.IGNORECASE)
_COORDINATED = regex(r"(?i)\s(?:and|or|and/or|as well as|&)\s|[^\s/]/[^\s/]|\s/\s|-\s(?:and|or)")
_GLOSS = regex(rf"{GAP}\([^()]*\)")
_PREPOSITION = regex(rf"(?i)\s(?:{_PREPOSITIONS})\s")
_OBJECT = regex(r"(?i)^(?P<head>.+?)\s(?P<preposition>of|in|to)\s(?P<article>the\s)?(?P<list>.+)$")
_KIND = regex(rf"(?i)(?:{_GRADED})s?\s+\w{{1,4}}|(?:[\w'-]+\s){{1,2}}(?:sub)?type")
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


@once_a_book
def patterns() -> dict[str, re.Pattern[str]]:
    """Return the expression of each place, and of words for a disease and of established names."""
    words = {place: any_of("part of a composite", [place]) for place in _PLACES}
    head, thing = words["head"], words["one thing"]
    contrasts = (
        "(?:intra|extra|sub|supra|non-?|pre|post|uni|bi|inter|peri|epi|endo|hypo|hyper)-?[a-z]{4,}"
    )
    ends = rf"(?:\S*-)?(?:{head}|{words['further head']}|[a-z]*{words['ending']})"
    words |= {
        "one thing": rf"\b{thing}\b",
        "established": rf"\b(?:{thing}|nausea(?:, |/| (?:and|&|or) )vomiting)\b",
        "adjective": f"{words['adjective']}|[ivx]+",
        "modifier": f"(?:non-?)?{words['modifier']}",
        "quality": f"{words['quality']}|{contrasts}",
        "disease": ends,
        "site": f"{head}|{words['site']}",
        "object": rf"\b{words['object']}$",
    }
    return {place: re.compile(form, re.IGNORECASE) for place, form in words.items()}


def _is(place: str, word: str) -> bool:
    """Tell whether a word is of a place of `patterns`."""
    return patterns()[place].fullmatch(word) is not None


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
    _, there, _, signs = shape_of(text)
    if _JOINING.isdisjoint(there) and _JOINING.isdisjoint(signs):
        return (text,)
    spread = _SPREAD.fullmatch(text) if len(text) <= _LONGEST else None
    if spread and (spread["how"] or not spread["to"] or text.lower().startswith("metastatic ")):
        sites = _SITES_JOINT.split(spread["to"] or spread["with"] or spread["of"])
        return spread["primary"] or spread["from"], *(f"{site} metastasis" for site in sites)
    if len(text) > _LONGEST or _COORDINATED.search(text) is None:
        return (text,)
    phrase = _hide(patterns()["established"], " ".join(text.split()))
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
    return _hide(patterns()["one thing"], text)


def unhide(text: str) -> str:
    """Show again what is hidden."""
    return text.translate(_UNGUARD)


def is_quality(text: str) -> bool:
    """Tell whether a text only says how or where something is: no item of a list.

    >>> is_quality("chronic"), is_quality("left, unspecified"), is_quality("Alzheimer's type")
    (True, True, True)
    >>> is_quality("stroke")
    False
    """
    return _KIND.fullmatch(text) is not None or all(
        _is("modifier", word) or _is("adjective", word) for word in _WORD.findall(text)
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
    if all(_is("quality", part) for part in (*others, words[0])):
        return 1  # male and female breast cancer
    return longest


def _says_how(part: str) -> bool:
    """Tell whether a conjunct has only words of degree or inheritance: it is no other concept."""
    return all(_is("modifier", word) for word in part.split())


def _shared_start(part: str, contrast: str) -> str:
    """Return the start of the first conjunct, with its space, that holds for the others as well.

    `contrast` is the first word of the last conjunct.
    """
    words = part.split()
    if _is("quality", words[-1]) and _is("quality", contrast):
        n_shared = len(words) - 1  # left ventricular systolic and diastolic dysfunction
    elif _is("modifier", contrast):
        n_shared = 0
    else:
        says_how = [_is("modifier", word) for word in words]
        n_shared = says_how.index(False) if False in says_how else 0
    return "".join(f"{word} " for word in words[:n_shared])


def _share_site(others: list[str], last: str) -> list[str]:
    """Split conjuncts with a head each: "fever and rash", "pancreatic cysts and tumors"."""
    words = others[0].split()
    site = words[: len(words) - _count_head(words)]
    if " " not in last and _is("site", last) and site and len(others) == 1:
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
    if match is None or not (
        _is_disease(match["head"]) or patterns()["object"].search(match["head"])
    ):
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
    return bool(words) and _is("disease", words[-1])


def _is_adjective(word: str) -> bool:
    """Tell whether a word is an adjective, by its ending or because it is a quality."""
    return _ADJECTIVE.fullmatch(word) is not None or _is("quality", word)


def _count_head(words: Sequence[str]) -> int:
    """Count the words at the end of a phrase that name a kind of disease."""
    if not words or not _is("disease", words[-1]):
        return 0
    return 2 if patterns()["long head"].fullmatch(" ".join(words[-2:])) else 1


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
