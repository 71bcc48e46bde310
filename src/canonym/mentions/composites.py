"""Mentions that name several concepts at once.

``breast and ovarian cancer`` stands for two concepts in four words. The phrase alone decides
whether to split: what is coordinated, and whether the parts can share what is written once.
Established names that happen to hold an *and* stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from string import ascii_lowercase

from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.mentions.shorthand import hide_shorthand
from canonym.mentions.spread import cancer_and_sites
from canonym.regex import GAP, regex
from canonym.rules import any_of, once_a_book
from canonym.text.shape import BRACKETED, HYPHENED, shape_of
from canonym.text.words import ROMAN, forms_of, words_of_kind

_COUNTED = words_of_kind("word before a number")
_BEFORE_NUMBERS = _COUNTED | {f"{word}s" for word in _COUNTED}
_ADJECTIVES = tuple(words_of_kind("ending of an adjective"))
_NOUNS = words_of_kind("noun like an adjective")  # *colic*, *withdrawal*
_NOUN_ENDINGS = tuple(words_of_kind("ending of such a noun"))  # *phenobarbital*
_JOINTS = regex(
    rf"(?i){GAP},?\s(?:and/or|and|or|as well as|&)\s+|{GAP}(?<!\band)(?<!\bor)/(?!or\b)\s*|,\s+"
)

_LONGEST = 300
_PLACES = (
    *("one thing", "adjective", "modifier", "quality", "head", "further head", "ending"),
    *("site", "object", "long head", "established", "primary", "metastatic site"),
)
"""Where a rule of the kind "part of a composite" counts.

Names that hold a conjunction are *one thing*, or *established* as such where nothing is listed. A
*primary* is a cancer that spreads, to a *metastatic site*. *Adjectives* say how, when or where
something is, and name nothing alone. *Modifiers* are of degree, extent and inheritance, and hold
for every conjunct.
*Qualities* contrast with one another in front of a head of several words. *Heads* are words for a
disease, as words with such an *ending* are. They and those of a *site* take over the site of the
conjunct before them: "pancreatic cysts and tumors". A *further head* does not. Heads of an *object*
take one behind a preposition: "loss of …".
"""

_MOST_PARTS = 12
_MOST_WORDS = 5
_MOST_OF_A_TYPE = 2  # words in front of it
_LONGEST_NUMBER = 4
_LONGEST_CODE = 10

# Of these words and signs a mention of several concepts has one.
_JOINING = frozenset(("and", "or", "as", "/", "&"))
_PREPOSITIONS = f"{forms_of('preposition')}|{forms_of('preposition within a name')}"
_PREPOSITION = regex(rf"(?i)\s(?:{_PREPOSITIONS})\s")
_OBJECT = regex(r"(?i)^(?P<head>.+?)\s(?P<preposition>of|in|to)\s(?P<article>the\s)?(?P<list>.+)$")
_NUMBER = r"(?:\d+[a-z]?|[ivx]+[a-d]?)"
_NUMBERED = regex(
    rf"(?i)^(?P<before>.*?\b)(?P<counted>{forms_of('word before a number')})(?:e?s)?\s"
    rf"(?P<numbers>{_NUMBER}(?:\s*,\s*{_NUMBER})*(?:\s*,?\s(?:and/or|and|or|&)\s|\s*/\s*){_NUMBER})"
    r"(?P<after>\s.*|)$"
)
_PREFIX = forms_of("prefix that is shared")
# A prefix without its hyphen is one where another prefix follows: "hypo/hyperkalemia".
_HANGING = regex(
    rf"(?i)^(?P<before>.*?)(?:(?P<first>[a-z]+)-|\b(?P<bare>{_PREFIX}))"
    r"(?:\s*(?:,\s*)?(?:and/or|and|or)\s|\s*[/&]\s*)-?"
    rf"(?P<second>{_PREFIX})-?(?P<stem>[a-z]{{4,}})(?P<after>\s.*|)$"
)
# What stands before the last of several coordinated words: "breast, colon and ".
_BEFORE = regex(r"(?<![\w-])(?:[\w-]+ )?[\w-]+(?:(?:, [\w-]+)*,? (?:and/or|and|or|&) |/)\Z")
_LONGEST_START = 80
# Characters inside an established name, hidden while the phrase is taken apart.
_GUARD = str.maketrans(" /,", "\ue000\ue001\ue002")
_UNGUARD = str.maketrans("\ue000\ue001\ue002", " /,")


@once_a_book
def patterns() -> dict[str, re.Pattern[str]]:
    """Return the expression of each place, and of words for a disease and of established names."""
    words = {place: any_of("part of a composite", [place]) for place in _PLACES}
    head, thing = words["head"], words["one thing"]
    ends = rf"(?:\S*-)?(?:{head}|{words['further head']}|[a-z]*{words['ending']})"
    words |= {
        "one thing": rf"\b{thing}\b",
        "established": rf"\b(?:{thing}|{words['established']})\b",
        "modifier": f"(?:non-?)?{words['modifier']}",
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
    if len(text) > _LONGEST:
        return (text,)
    if sites := cancer_and_sites(text):
        return sites
    if _JOINING.isdisjoint(there) and _JOINING.isdisjoint(signs):
        return (text,)
    if not _last_joint(text):
        return (text,)
    phrase = _hide(patterns()["established"], " ".join(text.split()))
    if not _last_joint(phrase):
        return (text,)
    pieces = _split(phrase) or _split(" ".join(BRACKETED.sub("", phrase).split())) or ()
    parts = tuple(dict.fromkeys(unhide(" ".join(part.split())) for part in pieces))
    return parts if 2 <= len(parts) <= _MOST_PARTS else (text,)


def composites_ending(text: str, start: int) -> Iterator[int]:
    """Yield where a composite mention may start that ends with the name at `start`.

    >>> [*composites_ending("some breast and ovarian cancer", 16)]
    [5]
    """
    before = _BEFORE.search(text, max(0, start - _LONGEST_START), start)
    if before is not None:
        for word in HYPHENED.finditer(before[0]):
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
    *others, last = text.lower().split() or [""]
    is_numbered = len(last) <= _LONGEST_NUMBER and " ".join(others) in _BEFORE_NUMBERS
    is_type = last in ("type", "subtype") and "," not in text
    if is_numbered or (is_type and 1 <= len(others) <= _MOST_OF_A_TYPE):
        return True
    words = HYPHENED.findall(text)
    return all(_is("modifier", word) or _is("adjective", word) for word in words)


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
    if _last_joint(f"{subject} "):
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
    elif len(words) > 1 and all(map(_tells_kind, (*others, words[0]))):
        conjuncts = [*(f"{part} {' '.join(words[1:])}" for part in others), last]
    else:
        conjuncts = _split_shared_start(conjuncts) or conjuncts
    start = f"{match['head']} {match['preposition']} "
    return [start + _with_article(part, match["article"] or "") + tail for part in conjuncts]


def _tells_kind(part: str) -> bool:
    """Tell whether a part is an adjective, by its ending or because it is a quality."""
    return is_adjective(part.lower().rpartition("-")[2]) or _is("quality", part)


def _with_article(part: str, article: str) -> str:
    return part if part.lower().startswith(("the ", "a ", "an ")) else f"{article}{part}"


def _is_code(text: str) -> bool:
    """Tell whether a text is one gene symbol, abbreviation or the like: "FOXC1", "C6", "HIV"."""
    is_word = text[:1].isupper() and len(text) <= _LONGEST_CODE and text.replace("-", "").isalnum()
    return is_word and sum(letter.isupper() or letter.isdigit() for letter in text) > 1


def _is_disease(text: str) -> bool:
    """Tell whether a phrase ends in a word that can name a disease, as far as its shape shows."""
    *others, last = text.split() or [""]
    is_number = last.rstrip(ascii_lowercase).isdigit() or last.lower() in ROMAN
    return _is("disease", others[-1] if others and is_number else last)


def is_adjective(word: str) -> bool:
    """Tell whether a word in small letters ends as an adjective, and is no noun that does.

    >>> [is_adjective(word) for word in ("diabetic", "vascular", "colic", "phenobarbital")]
    [True, True, False, False]
    """
    is_noun = word in _NOUNS or word.endswith(_NOUN_ENDINGS)
    return word[2:].endswith(_ADJECTIVES) and not is_noun and word.isalpha()


def _count_head(words: Sequence[str]) -> int:
    """Count the words at the end of a phrase that name a kind of disease."""
    if not words or not _is("disease", words[-1]):
        return 0
    return 2 if patterns()["long head"].fullmatch(" ".join(words[-2:])) else 1


def _list_conjuncts(phrase: str) -> list[str]:
    """Cut a list at its commas, conjunctions and slashes.

    Commas alone make no list: "sudden, unexplained death".
    """
    end = _last_joint(phrase)
    *pieces, before = _JOINTS.split(phrase[:end]) if end else [""]
    pieces = [*map(str.strip, pieces), (before + phrase[end:]).strip()]
    return pieces if all(_is_conjunct(piece) for piece in pieces) else [phrase]


def _last_joint(phrase: str) -> int:
    """Return where the last conjunction or slash of a list ends, 0 where it has none."""
    joints = (joint.end() for joint in _JOINTS.finditer(phrase) if joint[0].strip() != ",")
    return max(joints, default=0)


def _is_conjunct(piece: str) -> bool:
    """Tell whether a piece can stand in a list: not empty, no lone letter, no dangling bracket."""
    return (
        piece[:1].isalnum()
        and (len(piece) > 1 or piece.isdigit() or piece.lower() in "ivx")
        and piece.count("(") == piece.count(")")
    )
