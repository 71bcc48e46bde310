"""Cells that say one thing after another: *syncope - MI ruled out*, *CP r/o ACS*, *rash (flu neg)*.

Between such clauses stands what may stand in a name as well, so that only the terminology can tell
(`canonym.linking.division.divide`): a dash, an arrow, the end of a sentence, a bracket with words
of status in it, or a cue that speaks of what stands on the other side of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from canonym.mentions.composites import split_composite
from canonym.mentions.cues import STATES, Cue, find_cues
from canonym.mentions.lists import listing_of
from canonym.mentions.segments import LAST_BRACKET, segments
from canonym.mentions.sentences import FUNCTION_WORDS
from canonym.mentions.spread import cancer_and_sites
from canonym.regex import GAP, regex
from canonym.rules import Rule, any_of, current, once_a_book, phrase_expression
from canonym.text.shape import LETTERS, shape_of
from canonym.text.words import words_of_kind

_LONGEST = 300
_JOINT = regex(
    rf"{GAP}\s(?:-{{1,3}}>?|[\u2013\u2014\u2192*]|=>|//|>>)\s+|(?<=\w)(?://|>>)(?=\w)"
    r"|(?:\b(?P<word>[^\W\d_]{3,}|[A-Z][A-Z\d]+)|(?<=[\d)]))\.\s+(?=[^\W\d_])"
)
_WITHOUT_DASH = regex(r"\s[-\u2013]\Z")
_SIGNS = frozenset("-\u2013\u2014\u2192*>/.(")
_NAMELESS = FUNCTION_WORDS | words_of_kind("word of the present day")
_FURTHER = (("and",), ("also",), ("plus",), ("with",))
_AROUND = " \t\r\n,;&./"
_TRIMMED = f":{_AROUND}"


def clauses_of(text: str) -> tuple[str, ...]:
    """Cut a cell into its clauses; the text alone where it has one.

    >>> clauses_of("syncope - MI ruled out"), clauses_of("CP r/o ACS")
    (('syncope', 'MI ruled out'), ('CP', 'r/o ACS'))
    >>> clauses_of("croup (flu neg)"), clauses_of("flu neg COVID neg")
    (('croup', 'flu neg'), ('flu neg', 'COVID neg'))
    >>> clauses_of("migraine without aura"), clauses_of("trichomonas neg on smear")
    (('migraine without aura',), ('trichomonas neg on smear',))
    """
    if len(text) > _LONGEST or cancer_and_sites(text):
        return (text,)
    pieces = [text]
    if not _SIGNS.isdisjoint(shape_of(text).signs):
        pieces = [part for piece in _bracketed(text) for part in _joined(piece)]
    pieces = [part for piece in pieces for part in _at_cues(piece)]
    clauses = tuple(filter(LETTERS.search, (piece.strip(_TRIMMED) for piece in pieces)))
    answered = any("uncertain" in cue.rule.flags for cue in find_cues(pieces[0]))
    if len(clauses) < 2 or (answered and any(map(_is_result, clauses[1:]))):
        return (text,)  # "r/o PE - CT negative"
    return clauses


def all_clauses(text: str) -> tuple[str, ...]:
    """Cut a cell wherever a clause may end, at what may stand in a name too.

    A heading keeps its colon. Alternatives stay together, for what may be either is no list.

    >>> all_clauses("OCD with tics, no SI"), all_clauses("Triage: fall, wrist or hand pain")
    (('OCD', 'tics', 'no SI'), ('Triage:', 'fall', 'wrist or hand pain'))
    """
    listing = listing_of(text)
    pieces = (text,) if listing is None else listing.without_alternatives
    headed = (part for piece in pieces for part in _headed(piece))
    clauses = (clause for part in headed for clause in clauses_of(part))
    parts = [part for clause in clauses for part in related(clause)]
    parts = text.split(" not ", 1) if len(parts) < 2 else parts  # "eczema not psoriasis"
    return tuple(filter(LETTERS.search, (part.strip(_AROUND) for part in parts)))


def _headed(text: str) -> tuple[str, ...]:
    """Return a heading with its colon and what stands below it, or a text without any alone."""
    heading, colon, rest = text.partition(": ")
    return (f"{heading}:", rest) if colon and rest.strip() else (text,)


def _is_result(clause: str) -> bool:
    """Tell whether a clause has a test and its result alone, which speaks of the one before."""
    tests = words_of_kind("test")
    if tests.isdisjoint(shape_of(clause).there):
        return False
    cues = find_cues(clause)
    words = [word for word in LETTERS.finditer(clause) if word[0].lower() not in tests]
    return all(any(cue.start <= word.start() < cue.end for cue in cues) for word in words)


def related(text: str) -> tuple[str, ...]:
    """Cut a cell at the words that say how one thing came with another; the text alone without any.

    What has a status may have it for what came with it, too: "no sepsis from UTI" is left whole.

    >>> related("sepsis from UTI"), related("anemia secondary to GI bleed")
    (('sepsis', 'UTI'), ('anemia', 'GI bleed'))
    """
    words = words_of_kind("word of a relation")
    if len(text) > _LONGEST or shape_of(text).there.isdisjoint(words):
        return (text,)
    if "," in text or len(split_composite(text)) > 1:
        return (text,)
    pieces, begin = list[str](), 0
    said = min((cue.start for cue in find_cues(text) if cue.rule.flags), default=len(text))
    for match in _relation().finditer(text, 0, said):
        if text.count("(", 0, match.start()) == text.count(")", 0, match.start()):
            pieces.append(text[begin : match.start()])
            begin = match.end()
    if pieces and pieces[0].strip().lower() in words_of_kind("head of a relation"):
        return (text,)  # "infection with herpes virus" is one thing
    return tuple(piece for piece in (*pieces, text[begin:]) if piece.strip())


def secondary(clause: str, joint: str) -> str:
    """Return how a name may say that something caused a clause, "" where a joint tells of no cause.

    >>> secondary("HTN", "due to"), secondary("cough", "with")
    ('secondary HTN', '')
    """
    for rule, pattern in _causes():
        if pattern.fullmatch(joint):
            return rule.means.replace("X", clause)
    return ""


@once_a_book
def _causes() -> Sequence[tuple[Rule, re.Pattern[str]]]:
    """Return the relations that name what stands before them otherwise."""
    return [
        (rule, re.compile(rf"{phrase_expression(rule.form)}(?: an?| the)?", re.IGNORECASE))
        for rule in current().of_kind("relation")
        if rule.means
    ]


@once_a_book
def _relation() -> re.Pattern[str]:
    """Return what stands between things one of which came with the other."""
    return re.compile(rf"{GAP},?\s(?:{any_of('relation')})\s+(?:an?\s+|the\s+)?", re.IGNORECASE)


def _bracketed(text: str) -> Iterator[str]:
    """Yield what stands before a bracket at the end that says a status, and what is in it."""
    match = LAST_BRACKET.search(text)
    if match is None or not _says_more(match["inside"]):
        yield text
    else:
        yield text[: match.start()]
        yield match["inside"]


def _says_more(inside: str) -> bool:
    """Tell whether what is in a bracket says a status, or names a further thing."""
    names = words_of_kind("cue within a name")  # "(not cancer)" only says what is meant
    cues = [cue for cue in find_cues(inside) if cue.words not in names]
    of_kin = (cue.end for cue in cues if "family" in cue.rule.flags)
    said = any(STATES.intersection(cue.rule.flags) for cue in cues)
    return (
        said
        or any(_names_next(inside[end:]) for end in of_kin)
        or shape_of(inside).words[:1] in _FURTHER
        or segments(inside) != []
    )


def _joined(text: str) -> Iterator[str]:
    """Yield what stands between dashes, arrows and ends of sentences; no heading stands alone."""
    begin, clipped, cues = 0, words_of_kind("clipped word"), find_cues(text)
    for match in _JOINT.finditer(text):
        is_heading = any(cue.start <= begin and match.start() <= cue.end for cue in cues)
        is_said = any(
            cue.start == match.end() and cue.rule.after and _ends(text, cue) for cue in cues
        )
        if not (is_heading or is_said) and (match["word"] or "").lower() not in clipped:
            yield text[begin : match.end("word") if match["word"] else match.start()]
            begin = match.end()
    yield text[begin:]


def _ends(text: str, cue: Cue) -> bool:
    """Tell whether nothing stands behind a cue: *gout. asthma - resolved*."""
    return not text[cue.end :].strip(_AROUND)


def _at_cues(text: str) -> Iterator[str]:
    """Yield what stands on each side of the cues inside a text that speak of one side alone."""
    begin, end, names = 0, 0, words_of_kind("cue within a name")
    tests = words_of_kind("test")
    for cue in find_cues(text):
        is_led = LETTERS.search(text, end, cue.start) is not None
        if is_led and cue.words not in names and STATES.intersection(cue.rule.flags):
            looks_on = cue.rule.before not in ("", "next")
            is_listed = _is_listed(text[begin : cue.start], is_first=begin == 0)
            if not is_listed and (not cue.rule.after or _names_next(text[cue.end :])):
                place = cue.start if looks_on or not cue.rule.after else cue.end
                comma = text.rfind(",", begin, cue.start) + 1
                if comma and looks_on and tests.issuperset(shape_of(text[comma : cue.start]).words):
                    place = comma  # "gout, CT negative for cancer"
                yield _WITHOUT_DASH.sub("", text[begin:place])  # "gout -no fracture"
                begin = place
        end = cue.end
    yield text[begin:]


def _is_listed(before: str, *, is_first: bool) -> bool:
    """Tell whether a list goes on behind some words, or a heading stands before it."""
    before = before.strip().lower()
    is_heading = is_first and before.endswith(":") and before[:-1].isalnum()
    return is_heading or f" {before}".endswith((*",/&+", " and", " or"))


def _names_next(behind: str) -> bool:
    """Tell whether words go on with one that may name something."""
    word = LETTERS.match(behind.lstrip(" \t\n,;:/-\u2013"))
    return word is not None and len(word[0]) > 1 and word[0].lower() not in _NAMELESS
