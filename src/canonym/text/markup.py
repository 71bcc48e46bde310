"""Entities, tags and misread UTF-8, which web pages and wrong encodings leave in a text.

Each function undoes one of them and does nothing where there is doubt: ``p<0.05 and q>3`` has no
tag, ``AT&T`` no entity, and ``MAÇÃ”`` is Portuguese in capitals before a quotation mark.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5, name2codepoint
from urllib.parse import unquote

from canonym.regex import regex
from canonym.types import Step

_SIGNS = frozenset("&<%")
_QUOTED = regex(r"%(?:2[0-9A-Fa-f]|C[2-9A-Fa-f]%[89ABab][0-9A-Fa-f])")
_ROUNDS = 3  # what was exported twice is written twice

# --- entities -------------------------------------------------------------------------------------

ENTITY = regex(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""What may be an entity of XML or HTML."""

_XML = frozenset(("apos", "quot", "amp", "lt", "gt", "nbsp"))


def named_characters(text: str) -> str:
    """Resolve the entities of XML and HTML, which end in a semicolon.

    >>> named_characters("Sj&ouml;gren, Gunther&apos;s, &#946;-cells, R&D; AT&T")
    "Sjögren, Gunther's, β-cells, R&D; AT&T"
    """
    for _ in range(_ROUNDS):
        before, text = text, ENTITY.sub(_character, text)
        if text == before or "&" not in text:
            break
    return text


def _character(match: re.Match[str]) -> str:
    whole, name = match[0], match[0][1:-1]
    if name[0] == "#":
        return html.unescape(whole.lower())
    if len(name) == 2 and name not in name2codepoint and name.lower() not in _XML:
        return whole  # HTML 5 has an entity for nearly all pairs of letters
    if f"{name};" in html5:
        return html5[f"{name};"]
    # An export in capitals has &EACUTE; but "HTN&CAP;" is no intersection.
    lower = html5.get(f"{name.lower()};", "")
    return lower if name.lower() in _XML or lower.isalpha() else whole


# --- tags -----------------------------------------------------------------------------------------

_JOINING = "sub|sup|i|b|em|strong|u|span|small|big|font|a|tt|italic|bold"
_PARTING = "br|p|div|li|ul|ol"
_TAG = regex(
    rf"<(?P<end>/?)(?P<name>{_JOINING}|{_PARTING})(?P<rest>\s[^<>]*|)(?P<empty>/?)>", re.IGNORECASE
)


@lru_cache(maxsize=32)  # several readers ask about a text, one after the other
def untagged(text: str) -> str:
    """Drop the tags of HTML that stand within a line; those that end one become its end.

    A tag of one letter needs its partner, so that the comparison ``a<b>c`` stays.

    >>> untagged("H<sub>2</sub>O<sub>2</sub>"), untagged("fever<br/>cough"), untagged("a<b>c")
    ('H2O2', 'fever\\ncough', 'a<b>c')
    """
    tags = list(_TAG.finditer(text))
    if not tags:
        return text
    # Where each name begins first, and ends last.
    begun = {tag["name"].lower(): tag.start() for tag in reversed(tags) if not tag["end"]}
    ended = {tag["name"].lower(): tag.start() for tag in tags if tag["end"]}
    pieces, place = [], 0
    for tag in tags:
        name = tag["name"].lower()
        if not _is_tag(tag, begun.get(name, len(text)), ended.get(name, -1)):
            continue
        pieces += [text[place : tag.start()], "\n" if name in _PARTING.split("|") else ""]
        place = tag.end()
    if not place:
        return text
    lines = "".join((*pieces, text[place:])).split("\n")
    return "\n".join(filter(None, map(str.strip, lines)))


def _is_tag(tag: re.Match[str], begun: int, ended: int) -> bool:
    name, start = tag["name"].lower(), tag.start()
    if len(name) > 1 or tag["rest"].strip() or tag["empty"]:
        return True
    if tag["end"]:
        return begun < start
    return ended > start or (name == "p" and not tag.string[max(start - 1, 0) : start].strip())


# --- misread UTF-8 --------------------------------------------------------------------------------


def _misread_bytes() -> dict[str, int]:
    """Return the byte behind each character that Windows-1252 or Latin-1 reads, from 0x80 on."""
    table = {bytes([byte]).decode("latin-1"): byte for byte in range(0x80, 0x100)}
    for byte in range(0x80, 0xA0):
        table[bytes([byte]).decode("cp1252", "replace")] = byte
    table.pop("\ufffd")
    return table


_BYTES = _misread_bytes()
_NEXT = "[" + "".join(re.escape(c) for c, byte in _BYTES.items() if byte < 0xC0) + "]"
# Of the characters that begin a sequence those are looked for that hardly ever stand before such
# a sign in a text: "é" does, before the ellipsis and the quotation mark of "at the café…”".
_MISREAD = regex(
    f"(?P<latin>[ÂÃ]{_NEXT})|(?P<twice>Æ’|Ë[†œ])|(?P<letter>[ÄÅÌ]{_NEXT})|(?P<greek>[ÎÏ]{_NEXT})"
    f"|(?P<run>(?:[ÐÑ]{_NEXT}){{2,}}|(?:[ã-é]{_NEXT}{{2}}){{2,}})"
    f"|(?P<sign>â[€‚„…†ˆ‰\x80\x82\x84-\x86\x88\x89]{_NEXT}|ï(?:»¿|¬[\x80-\x86€‚ƒ„…†]))"
    f"|(?P<viet>á[º»]{_NEXT})"
)
_MADE = ("Ã", "Â", "â€", "â‚¬")
_TELLTALE = frozenset("ÂÃÄÅÌÎÏÐÑâïáãäåæçèé")


def unquoted(text: str) -> str:
    """Decode the signs of an address, where a text without spaces has such.

    >>> unquoted("heart%20attack"), unquoted("5%20mg of 40%"), unquoted("95%CI")
    ('heart attack', '5%20mg of 40%', '95%CI')
    """
    if _QUOTED.search(text) is None or any(map(str.isspace, text)):
        return text
    return unquote(text, errors="ignore")


def well_read(text: str) -> str:
    """Decode what is UTF-8 that was read as Windows-1252 or Latin-1, once or several times.

    >>> well_read("MÃ©niÃ¨re, SjÃ¶gren, Î²-cell, Crohnâ€™s, naïve, Ångström")
    'Ménière, Sjögren, β-cell, Crohn’s, naïve, Ångström'
    """
    for _ in range(_ROUNDS):
        if text.isascii() or _TELLTALE.isdisjoint(text):
            break
        before, text = text, _MISREAD.sub(_decoded, text)
        if text == before:
            break
    return text


def _decoded(match: re.Match[str]) -> str:
    whole = match[0]
    try:
        decoded = bytes(map(_BYTES.__getitem__, whole)).decode()
    except UnicodeDecodeError:
        return whole
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    kind = match.lastgroup
    if kind in ("sign", "run"):
        return decoded
    # Signs beside no letter are of a misreading only where there is more of it.
    beside = kind != "twice" and (before.isalpha() or after.isalpha())
    is_misread = beside or any(sign in match.string for sign in _MADE)
    if kind in ("twice", "letter", "viet") and not is_misread:
        return whole
    if kind == "twice":
        return decoded
    # "MAÇÃ”" and "NOVA Â–": capitals, and then a mark of the text around.
    if before.isupper() and not after.isalpha() and unicodedata.category(whole[1])[0] in "PZ":
        return whole
    # Control characters wait for the second round.
    if whole[0] == "Â":
        return decoded if decoded >= "\xa0" or whole[1] < "\xa0" else whole
    return decoded if unicodedata.category(decoded)[0] in "LM" else whole


# --- all of them ----------------------------------------------------------------------------------

_REPAIRS = (
    *(("entities", named_characters), ("markup", untagged)),
    *(("encoding", unquoted), ("encoding", well_read)),
)


def entities(text: str) -> str:
    """Undo what an export left in a name: entities and tags of HTML, and misread UTF-8.

    >>> entities("Gunther&apos;s disease"), entities("&lt;i&gt;SjÃ¶gren&lt;/i&gt;")
    ("Gunther's disease", 'Sjögren')
    """
    for step in repairs(text):
        text = step.after
    return text


def repairs(text: str) -> Iterator[Step]:
    """Yield the steps that undo entities, tags and misread UTF-8, where they change the text."""
    if text.isascii() and _SIGNS.isdisjoint(text):
        return
    for name, undo in _REPAIRS:
        after = undo(text)
        if after != text:
            yield Step(name, text, after)
            text = after
