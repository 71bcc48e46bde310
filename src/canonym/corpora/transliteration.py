"""Copies of a text in ASCII, as annotation tools write them.

The text of a document has "TNF-α" and "asthma‐like"; the annotation of it, whose offsets are right,
has "TNF-a" and "asthma-like". Only characters beyond ASCII may differ, each in the ways in which
programs write it: without its accent, by its name, by letters that look or sound like it, as an
entity, or lost.
"""

from __future__ import annotations

import functools
import html.entities
import re
import unicodedata
from collections.abc import Iterator

from canonym.io.packaged import packaged_rows

# Ways to write a character, and a Greek letter by its name in capitals.
_WAYS = {letter: ways.split(" ") for letter, ways in packaged_rows(__file__)}
_SINGLE_QUOTES = "‘’‚‛′‵ʹʼʻˈ´`＇"
_DOUBLE_QUOTES = "“”„‟″‶＂"
_SPACES = ((" ", ""), ("", " "), (" ", " "))
_LOST = ("?", "??", "???", "????", " ", "_", "*", "\ufffd", "")
_LONGEST = 300  # characters of a mention; longer ones have to be equal


def is_transliteration(text: str, other: str) -> bool:
    """Tell whether two strings differ only in how characters beyond ASCII are written.

    White space counts as one space, wherever it is.

    >>> is_transliteration("TNF-α", "TNF-alpha"), is_transliteration("Sjögren’s", "Sjogren's")
    (True, True)
    >>> is_transliteration("TNF-α", "TNF-b"), is_transliteration("IL-1", "IL-2")
    (False, False)
    """
    if text.isascii() and other.isascii():
        return text.split() == other.split()
    text, other = " ".join(text.split()), " ".join(other.split())
    if text == other or max(len(text), len(other)) > _LONGEST:
        return text == other
    return _may_be(text, other) or _may_be(other, text)


def _may_be(text: str, copy: str) -> bool:
    """Tell whether `copy` is `text`, each character as it is or in one of its ways."""
    return any(_follows(text, variant) for variant in {copy, "".join(map(_first, copy))})


def _follows(text: str, copy: str) -> bool:
    places = {0}  # how far in the copy the characters so far may reach
    for character in text:
        places = {
            place + len(way)
            for way in _all_ways(character)
            for place in places
            if copy.startswith(way, place)
        }
        if not places:
            return False
    return len(copy) in places


@functools.lru_cache(maxsize=4096)
def _all_ways(character: str) -> tuple[str, ...]:
    if character.isascii():
        return (character,)
    number = ord(character)
    ways = [character, *_ways(character)]
    if character in _SINGLE_QUOTES:
        ways += "'`‘’′"
    elif character in _DOUBLE_QUOTES:
        ways += ['"', "''", "``", *"“”″"]
    elif _is_dash(character):
        ways += ["-", "--"]
    ways += [f"&{name};" for name in (f"#{number}", f"#x{number:x}", f"#x{number:X}")]
    if number in html.entities.codepoint2name:
        ways.append(f"&{html.entities.codepoint2name[number]};")
    words = [way for way in ways if len(way) > 1 and way.isalpha()]
    spaced = [f"{before}{way}{after}" for way in words for before, after in _SPACES]
    return tuple(dict.fromkeys((*ways, *spaced, *_LOST)))


def _is_dash(character: str) -> bool:
    return unicodedata.category(character) == "Pd" or character == "−"


@functools.lru_cache(maxsize=4096)
def _first(character: str) -> str:
    """Return the first way to write a character, itself in ASCII."""
    if character.isascii():
        return character
    if _is_dash(character):
        return "-"
    if character in _SINGLE_QUOTES:
        return "'"
    if character in _DOUBLE_QUOTES:
        return '"'
    return next((way for way in _ways(character) if way.isascii()), character)


def _ways(character: str) -> Iterator[str]:
    """Yield ways to write a character, the most usual first."""
    wide = unicodedata.normalize("NFKC", character)
    if wide != character:
        yield wide
        yield wide.replace("⁄", "/").replace("µ", "u")
        if len(wide) == 1 and not wide.isascii():
            yield from _ways(wide)
    bare = "".join(
        part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part)
    )
    yield from (bare, bare.replace("⁄", "/"))
    if len(bare) == 1 and bare != character and not bare.isascii():
        yield from _ways(bare)
    like = _WAYS.get(character.lower(), [])
    match = re.search(r"GREEK (?:\w+ )*?LETTER (?:FINAL )?(\w+)", unicodedata.name(character, ""))
    if match and match[1] in _WAYS:
        like = [*_WAYS[match[1]][:1], match[1].lower(), *_WAYS[match[1]][1:]]
    for way in like:
        yield from (way, way.upper(), way.capitalize())
        if len(way) > 1 and way.isalpha():
            yield from (f"{open_}{way}{close}" for open_, close in ("()", "[]", "{}", "&;"))
            yield f"-{way}-"
