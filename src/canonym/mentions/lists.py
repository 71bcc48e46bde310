"""Cells that hold several names: *HTN; DM2; CAD*, *1. pneumonia 2. sepsis*, *fever & cough*.

Some separators can hardly be anything else: semicolons, bars, line ends, numbers and bullets in
front of each item. `items_of` cuts there. Commas, slashes, plus signs and conjunctions stand within
names as well (*Carcinoma, Squamous Cell*, *hand, foot and mouth disease*), and only the terminology
can tell. `Listing.cut` asks which stretches of a cell are names, and cuts where all of them are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from canonym.mentions.composites import hide_one_things, is_adjective, is_quality, unhide
from canonym.mentions.english import is_english
from canonym.mentions.opposites import QUALIFIERS
from canonym.mentions.readings import readings_of
from canonym.mentions.segments import signed_items
from canonym.mentions.shorthand import parts_of_the_body
from canonym.regex import GAP, regex
from canonym.text import UNORDERED, normalise
from canonym.text.qualifiers import is_finding
from canonym.text.shape import LETTERS, shape_of
from canonym.text.words import words_of_kind

IsName = Callable[[str], bool]
"""Tells whether a string is a name of the terminology."""

_LONGEST = 1_000
_MOST_PIECES = 24
_NEVER = _MOST_PIECES**3
_MOST_TOGETHER = 4  # pieces of one name: "hand, foot and mouth disease" has three
_MOST_WORDS = 6  # of a piece that shares a word with others
_LEAST = 4  # letters of the second of two drugs with a hyphen between them
# Words of a name that holds others and says no more: "telmisartan amlodipine combination".
_COMBINED = words_of_kind("word of a combination")

# --- separators that say that a cell is a list ----------------------------------------------------

_ENTITY = regex(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[0-9a-fA-F]{1,6});")
_SEMICOLONS = frozenset(";\uff1b|")
_LINE_ENDS = frozenset("\r\n\t\v\f\x85\u2028\u2029")
_DOTS = "•◦‣▪▫●○■►➢"
_DASHES = "*\u2013\u2014-"
_SEPARATORS = frozenset(f"{_DOTS}·\uf0b7#:") | _SEMICOLONS | _LINE_ENDS
_BULLET = regex(rf"(?:^|(?<=\s))(?:[{_DOTS}·\uf0b7](?=\s*\w)|#(?=\s+(?![LR]\b)[^\W\d]))")
_TITLE = regex(r"[^\r\n;:]{1,40}:(?:[ \t]*[\r\n]+|\s+(?=[(\[#]?(?:1|a|i)[.):\]-]))")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_MARKER = regex(
    rf"(?:^|(?<=[\s;,.]))(?:(?P<circled>[{_CIRCLED}])|(?P<hash>\#)(?P<counted>\d{{1,2}})[.):]?(?=\s)"
    r"|(?P<open>[(\[]?)(?P<n>\d{1,2}|[ivx]{1,4}|[a-z]|[A-Z])(?P<close>[.):\]]|-(?=\s))"
    r"(?=\s|[^\W\d_]))\s*"
)
_SERIES = (
    *(_CIRCLED, ascii_lowercase, ascii_uppercase, [str(number) for number in range(100)]),
    ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
)
_COUNTED_ON = {pair for series in _SERIES for pair in itertools.pairwise(series)}
_FIRST = ("a", "i")
_OPENING = frozenset("([{")
_TRIMMED = " \t\r\n\v\f;,|&."
_CODE = regex(r"[A-Z]{2,4}s?|(?=.*\d)[A-Z][A-Z0-9]{1,5}")
_CONJUNCTIONS = words_of_kind("conjunction")
_ARROWS = regex(r"[\u2191\u2193]+")
_BEFORE_ARROW = regex(r"[,;]?\s(?=[\u2191\u2193])")
_BEHIND_ARROW = regex(r"(?<=[\u2191\u2193])[,;]?\s+(?=\w)")
_JOINING_SIGNS = frozenset(",，、/\\&+")


class Items(NamedTuple):
    """What a cell lists, and whether what separates the items can be nothing else.

    What the first says of itself ends where a cell `has_turned`: *PMH: gout, now has asthma*.
    """

    texts: tuple[str, ...]
    is_sure: bool
    has_turned: bool = False


def items_of(text: str) -> Items | None:
    """Cut a cell at its numbers, bullets, line ends or semicolons; None where it has none.

    >>> items_of("1. pneumonia 2. sepsis").texts
    ('pneumonia', 'sepsis')
    >>> items_of("HTN; DM2; CAD").texts, items_of("t(9;22)")
    (('HTN', 'DM2', 'CAD'), None)
    """
    if len(text) > _LONGEST:
        return None
    signs, text = shape_of(text).signs, text.strip()
    may_be_cut = signs and (
        not _SEPARATORS.isdisjoint(signs) or text[:1] in _DASHES or _MARKER.match(text)
    )
    if len(arrowed := _arrowed(text)) > 1:
        return Items(tuple(_tidied(arrowed)), True)
    if not may_be_cut and len(signed_items(text)) == 1:
        return None
    ways = (_numbered, _bulleted, _lines, _semicolons) if may_be_cut else ()
    if title := _TITLE.match(text):
        text = text[title.end() :]
    for pieces, is_sure in (*(way(text) for way in ways), (signed_items(text), True)):
        items = tuple(_tidied(pieces))
        if len(items) > 1:
            return None if any(map(is_quality, items)) else Items(items, is_sure)
    return None


def divided(text: str, separator: str) -> tuple[str, ...]:
    """Cut a cell at each separator, wherever it stands; without empty items.

    >>> divided("t(9;22) ; asthma;", ";")
    ('t(9', '22)', 'asthma')
    """
    items = (item.strip() for item in text.split(separator))
    return tuple(item for item in items if item)


def without_number(text: str) -> str:
    """Drop the number or bullet in front of a text: "1. pneumonia".

    >>> without_number("1. pneumonia"), without_number("#2 gout"), without_number("• fever")
    ('pneumonia', 'gout', 'fever')
    >>> without_number("5-HT")
    '5-HT'
    """
    marker = _ALONE.match(text) if shape_of(text).signs else None
    return text[marker.end() :] if marker else text


_ALONE = regex(
    r"\s*(?:[(\[#]?\d{1,2}[.)\]](?=\s)|# ?\d{1,2}:?(?=\s)"
    rf"|[{_CIRCLED}•◦‣▪▫●○■►➢])\s*(?=[^\W\d_])"
)

_Pieces = tuple[Sequence[str], bool]


def _numbered(text: str) -> _Pieces:
    """Cut "1. pneumonia 2. sepsis": numbers or letters that count up, from the beginning."""
    markers: list[re.Match[str]] = []
    for marker in _MARKER.finditer(text):
        if not markers and marker.start():
            break
        if not markers or _follows(markers[-1], marker):
            markers.append(marker)
    if len(markers) < 2:
        return (), False
    ends = [marker.start() for marker in markers[1:]] + [len(text)]
    letters = (markers[0]["n"] or "1").isalpha()
    if letters and markers[0]["n"].lower() not in _FIRST:
        return (), False
    is_sure = not (letters and markers[0]["close"] == "." and len(markers) < 3)  # "A. b. coli"
    return [text[marker.end() : end] for marker, end in zip(markers, ends, strict=True)], is_sure


def _follows(before: re.Match[str], marker: re.Match[str]) -> bool:
    """Tell whether a marker of the same kind counts on."""
    is_same_kind = all(before[kind] == marker[kind] for kind in ("hash", "open", "close"))
    return is_same_kind and (_label(before), _label(marker)) in _COUNTED_ON


def _label(marker: re.Match[str]) -> str:
    label = marker["circled"] or marker["counted"] or marker["n"]
    return str(int(label)) if label.isdecimal() else label


def _bulleted(text: str) -> _Pieces:
    """Cut at bullets; dashes and asterisks are bullets where the cell or a line begins with one."""
    if _BULLET.search(text) and not {"■", "□"} <= {*text}:  # which are boxes
        return _BULLET.split(text), True
    dash, lines = text[:1], _lines(text)[0]
    starts = {line.lstrip()[:1] for line in lines}
    if "+" in starts and not starts.isdisjoint(_DASHES):
        return signed_items(text), True
    if len(lines) > 1 and starts == {dash} <= {*_DASHES}:
        return [line.lstrip()[1:] for line in lines], True  # a sign would be another somewhere
    if dash not in _DASHES or not text[1:2].isspace():
        return (), False
    pieces = (re.split(rf"(?:^|(?<=\s)){re.escape(dash)}(?=\s+\w)", line) for line in lines)
    return [*itertools.chain.from_iterable(pieces)], len(lines) > 1


def _lines(text: str) -> _Pieces:
    lines = [line for line in text.replace("\t", "\n").splitlines() if line]
    return lines, len(lines) > 2  # two lines may be a name that was wrapped


def _arrowed(text: str) -> Sequence[str]:
    """Cut a cell at arrows that each item begins or ends with: *Hb ↓ plts ↓ WCC ↑*."""
    joint = _BEFORE_ARROW if text[:1] in ("↑", "↓") else _BEHIND_ARROW
    return joint.split(text) if len(_ARROWS.findall(text)) > 1 else (text,)


def _semicolons(text: str) -> _Pieces:
    plain = _ENTITY.sub(lambda match: "&" + " " * (len(match[0]) - 1), text)
    spans = _outside_brackets(_at(_SEMICOLONS, plain), plain)
    return [text[start:end] for start, end in spans], True


def _at(signs: Collection[str], text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of some characters."""
    return ((n, n + 1) for n, character in enumerate(text) if character in signs)


def _outside_brackets(joints: Iterable[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Return the spans between the joints that stand in no bracket."""
    spans, start = [], 0
    depth = [*itertools.accumulate(text, _deeper, initial=0)] if _OPENING & {*text} else None
    for before, behind in joints:
        if depth is None or not depth[before]:
            spans.append((start, before))
            start = behind
    return [*spans, (start, len(text))]


def _deeper(depth: int, character: str) -> int:
    return max(0, depth + (character in _OPENING) - (character in ")]}"))


def _tidied(pieces: Iterable[str]) -> list[str]:
    """Return items without what separated them, each once; headings and bare signs go."""
    tidy = map(_without_conjunctions, pieces)
    return [*dict.fromkeys(item for item in tidy if LETTERS.search(item) and item[-1] != ":")]


def _without_conjunctions(piece: str) -> str:
    """Return a piece without separators at its ends, nor a conjunction to the item beside it."""
    item = piece.strip(_TRIMMED)
    first, _, rest = item.partition(" ")
    item = rest if rest and first.lower() in _CONJUNCTIONS else item
    rest, _, last = item.rpartition(" ")
    return (rest if rest and last.lower() in _CONJUNCTIONS else item).strip(_TRIMMED)


def is_code(text: str) -> bool:
    """Tell whether an item is a short form such as HTN or DM2, which a list may hold unknown."""
    return _CODE.fullmatch(text) is not None


# --- separators that stand in names as well -------------------------------------------------------

_JOINT = regex(
    rf"(?i){GAP}(?:[,，、]\s*(?:and/or|and|or|&|plus)\s+|&(?:amp;)?\s*|,\s+|(?<!\d),(?=\S)"
    r"|(?<=\d),(?=[^\W\d_])|[，、]\s*|[/\\]\s*)"
    r"|(?<!\s)\s+(?:and/or|and|n?or|as well as|plus|\+)\s+|(?<=[^\W\d_]{4})\+(?=[^\W\d_]{4})"
    r"|(?-i:(?<=[A-Z]{2})\+(?=[A-Z]{2}))"
)
_LIKE_ID = regex(r"(?:[A-Za-z][\w.]*:)?[A-Za-z]{0,5}\d[\w.]+")
_COMMAS = " ,，、"
_PREPOSITIONS = words_of_kind("preposition")
_COUNT = regex(r"(?:[A-Za-z]|\d{1,2}[A-Za-z]?|[A-Za-z]\d{1,2}|[IVX]{1,4})$")
_COUNTED = regex(r"(.*[^\W\d_])\d+[a-z]?")


class Listing:
    """A cell that may list names: its pieces, and what stands between them.

    `candidates` are all strings that may be names; `as_one` are other ways to write the whole.
    """

    def __init__(self, text: str, spans: Sequence[tuple[int, int]]) -> None:
        self._text = text
        self._spans = spans
        self.pieces = tuple(text[start:end] for start, end in spans)
        self.joints = tuple(
            text[end:start].strip() for (_, end), (start, _) in itertools.pairwise(spans)
        )
        n = len(spans)
        self._stretches = {
            (i, j): self._forms(i, j)
            for i in range(n)
            for j in range(i, min(i + _MOST_TOGETHER, n))
            if j - i < n - 1
        }
        self._has_conjunction = _has_conjunction(self.joints[-1])
        self.as_one = self._forms(0, n - 1)[1:] if n <= _MOST_TOGETHER else ()
        self._shared_ends = tuple(self._with_ends())
        self._shared_starts = tuple(self._with_starts())

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every string that may be a name, once."""
        shared = (name for way in (*self._shared_ends, *self._shared_starts) for name in way)
        stretches = (form for forms in self._stretches.values() for form in forms)
        return tuple(dict.fromkeys([*stretches, *shared]))

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """Where each string stands that is written in one, a form of pieces or a piece."""
        return {
            form: (self._spans[first][0], self._spans[last][1])
            for (first, last), forms in self._stretches.items()
            for form in forms
        }

    @property
    def without_alternatives(self) -> list[str]:
        """The pieces, those with *or* or a slash before a number between them in one."""
        pieces = [self.pieces[0]]
        spans = zip(itertools.pairwise(self._spans), self.joints, strict=True)
        for ((_, end), (start, stop)), joint in spans:
            if "or" in joint.lower().split() or (joint == "/" and self._text[start].isdigit()):
                pieces[-1] += self._text[end:stop]
            else:
                pieces.append(self._text[start:stop])
        return pieces

    @property
    def is_pair(self) -> bool:
        """Whether a comma and nothing else parts two pieces, as it does in an inverted name."""
        return len(self.pieces) == 2 and self.has_commas_alone

    @property
    def has_commas_alone(self) -> bool:
        """Whether commas and nothing else part the pieces."""
        return all(joint in _COMMAS for joint in self.joints)

    @property
    def is_inverted(self) -> bool:
        """Whether the second of two pieces only qualifies the first: *abortion, septic*."""
        denied = self.pieces[-1].partition(" ")[0].lower() in words_of_kind("negation")
        return self.is_pair and not denied and qualifies(self.pieces[1])

    def cut(self, is_name: IsName) -> tuple[str, ...] | None:
        """Return the names that the cell lists, None where it is no list.

        Short forms in capitals may be unknown, as long as names or other such forms stand beside.
        """
        if self.is_inverted:
            return None
        known = cache(lambda text: _may_be_a_name(text) and is_name(text))
        ends = self._shared(self._shared_ends, known)
        if ends is not None and len(ends) == 2:
            return ends  # "sodium and potassium chloride"
        plain = self._cover(known, self._may_be_code)
        if plain is not None and self._is_a_list(plain, [known(name) for name in plain]):
            return plain
        return ends or self._shared(self._shared_starts, known)

    def _forms(self, first: int, last: int) -> tuple[str, ...]:
        """Return the ways to write the pieces from one to another in one name."""
        start, end = self._spans[first][0], self._spans[last][1]
        as_written = self._text[start:end]
        if first == last:
            return (as_written,)
        *others, final = self.pieces[first : last + 1]
        ways = [as_written, f"{', '.join(others)} and {final}"]
        if len(others) > 1:
            ways.append(" and ".join([*others, final]))
        return tuple(dict.fromkeys(ways))

    def _cover(self, is_name: IsName, may_be_unknown: IsName) -> tuple[str, ...] | None:
        """Cover the cell with as few names as can be; no number of names costs as much as another.

        Some pieces need be no name.
        """
        n = len(self.pieces)
        costs = [0, *[_NEVER] * n]
        covers: list[tuple[str, ...]] = [()] * (n + 1)
        for (first, last), forms in sorted(self._stretches.items(), key=lambda item: item[0][1]):
            name, cost = next(filter(is_name, forms), None), costs[first] + 1
            if name is None and first == last and may_be_unknown(forms[0]):
                name, cost = forms[0], cost + _MOST_PIECES
            if name is not None and cost < costs[last + 1]:
                costs[last + 1], covers[last + 1] = cost, (*covers[first], name)
        return covers[n] or None

    def _may_be_code(self, piece: str) -> bool:
        """Tell whether a piece is a short form, where not all is in capitals."""
        if not is_code(piece) or is_quality(piece):
            return False
        return self._text != self._text.upper() or all(map(is_code, self.pieces))

    def _is_a_list(self, names: Sequence[str], known: Sequence[bool]) -> bool:
        """Tell whether unknown codes may stand here: behind one name they may qualify it."""
        if all(known):
            return True
        if all(map(is_code, names)):  # TP53/MDM2 may be one thing, HTN/DM is two
            slashed = any("/" in joint for joint in self.joints)
            return not slashed or all(map(_is_short_finding, names))
        return any(known) and (not self.has_commas_alone or not known[0] or sum(known) > 1)

    def _shared(self, ways: Sequence[Sequence[str]], is_name: IsName) -> tuple[str, ...] | None:
        """Return the first way to share words in which all are names, and one shares them."""
        for way in ways:
            names = [
                name if is_name(name) else piece
                for name, piece in zip(way, self.pieces, strict=True)
            ]
            new = [name for name in names if name not in self.pieces]
            if new and len({*names}) == len(names) and all(map(is_name, names)):
                return tuple(names)
        return None

    def _with_ends(self) -> Iterator[tuple[str, ...]]:
        """Yield ways to give the end of the last piece to those before: "left and right lung"."""
        *others, last = self.pieces
        words = last.split()
        if not 1 < len(words) <= _MOST_WORDS or len(self.pieces) > _MOST_TOGETHER:
            return
        if not self._has_conjunction or any(len(piece.split()) > 3 for piece in others):
            return
        for n in range(1, len(words)):
            end = " ".join(words[n:])
            yield (*(f"{piece} {end}" for piece in others), last)

    def _with_starts(self) -> Iterator[tuple[str, ...]]:
        """Yield ways to give the start of the first piece to those behind: "hepatitis B and C"."""
        first, *others = self.pieces
        counted_on = all(map(_COUNT.fullmatch, others)) and first[-1].isalnum()
        if not (counted_on or self._has_conjunction) or len(first.split()) > _MOST_WORDS:
            return
        if any(len(piece.split()) > 3 for piece in others):
            return
        ends = zip(range(1, len(first)), itertools.pairwise(first), strict=True)
        starts = [first[:end] for end, (gap, word) in ends if gap in " -" and word not in " -"]
        starts.reverse()
        if (counted := _COUNTED.fullmatch(first)) and others[0][0].isdigit():
            starts = [counted[1], *starts]  # "GLUT1/4"
        for start in starts[:_MOST_WORDS]:
            yield (first, *(start + piece for piece in others))


def listing_of(text: str) -> Listing | None:
    """Return what a cell may list by commas, slashes, plus signs and conjunctions, or None.

    >>> listing = listing_of("hepatitis B and C")
    >>> listing.cut({"hepatitis B", "hepatitis C"}.__contains__)
    ('hepatitis B', 'hepatitis C')
    >>> listing_of("1,2-dichloroethane"), listing_of("diabetes w/o complications")
    (None, None)
    >>> listing_of("E11.65 I10").pieces, listing_of("HTN HLD DM2, gout").pieces
    (('E11.65', 'I10'), ('HTN', 'HLD', 'DM2', 'gout'))
    """
    if len(text) > _LONGEST:
        return None
    codes = text.split()
    are_codes = len(codes) > 1 and (
        all(map(_LIKE_ID.fullmatch, codes)) or all(map(_is_short_finding, codes))
    )
    if not (are_codes or may_hold_joints(text)):
        return None
    phrase = hide_one_things(" ".join(text.split()))
    joints = _at(" ", phrase) if are_codes else map(re.Match.span, _JOINT.finditer(phrase))
    spans = _outside_brackets(joints, phrase)
    spans = [part for span in spans for part in _short_forms_in(phrase, *span)]
    if pair := _hyphened(phrase):
        is_list = not any(is_english(word) or is_finding(word) for word in pair)
        spans = [(0, len(pair[0])), (len(pair[0]) + 1, len(phrase))] if is_list else []
    phrase = unhide(phrase)
    spans = [span for span in (_trimmed(phrase, *span) for span in spans) if span[0] < span[1]]
    are_whole = all(
        any(map(str.isalnum, piece)) and "-" not in (piece[0], piece[-1])  # "pre- and postnatal"
        for piece in (phrase[start:end] for start, end in spans)
    )
    return Listing(phrase, spans) if are_whole and 2 <= len(spans) <= _MOST_PIECES else None


def _short_forms_in(phrase: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of short forms in a row, or that of a piece of other words."""
    spans = _outside_brackets(_at(" ", phrase[start:end]), phrase[start:end])
    words = [(start + a, start + b) for a, b in spans]
    in_a_row = len(words) > 1 and all(_is_short_finding(phrase[a:b]) for a, b in words)
    return words if in_a_row else [(start, end)]


def _is_short_finding(word: str) -> bool:
    return sum(map(str.isupper, word)) > 1 and any(map(is_finding, readings_of(word)[:1]))


def may_hold_joints(text: str) -> bool:
    """Tell whether a text has a sign or word that may stand between names."""
    is_joined = not _JOINING_SIGNS.isdisjoint(text) or _has_conjunction(text)
    return is_joined or _hyphened(text) is not None


def _has_conjunction(text: str) -> bool:
    there = shape_of(text).there
    return "&" in text or not _CONJUNCTIONS.isdisjoint(there) or {"as", "well"} <= there


def _hyphened(text: str) -> tuple[str, str] | None:
    """Return the words of what may be two drugs: *carbidopa-levodopa*."""
    first, _, second = text.partition("-")
    are_long = len(first) >= _LEAST + 1 and len(second) >= _LEAST
    return (first, second) if are_long and first.isalpha() and second.isalpha() else None


def may_stand_alone(text: str) -> bool:
    """Tell whether an unknown piece may be an item, and no detail of the one before it.

    >>> [may_stand_alone(text) for text in ("right leg numbness", "SI", "mature left", "left eye")]
    [True, True, False, False]
    """
    whole, _, times = text.lower().rpartition(" x")
    if whole and times.strip().isdigit():  # "vomited x2"
        text = text[: len(whole)]
    last = text.split()[-1].lower()
    if is_code(text):
        return any(map(is_finding, readings_of(text)))  # SI, and not CNS
    if "-" in text or last in QUALIFIERS or last in parts_of_the_body():
        return False
    is_counted = len(last) == 1 or any(map(str.isdigit, last))  # "type 2b", "group B"
    return not (is_counted or qualifies(last) or last in _PREPOSITIONS)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, in normal form, without those that join names."""
    return frozenset(normalise(text, UNORDERED).split()) - {"and", "or"}


def holds_all(names: Iterable[str], of_parts: Iterable[Iterable[str]]) -> bool:
    """Tell whether a name of a concept holds a name of each part of a list, and says no more.

    >>> parts = [["L-DOPA", "levodopa"], ["benserazide"]]
    >>> holds_all(["benserazide, levodopa drug combination"], parts), holds_all(["levodopa"], parts)
    (True, False)
    """
    known = [[words for words in map(words_of, part) if words] for part in of_parts]
    for name in names:
        words = words_of(name)
        if not (may_hold_joints(name) or "-" in name or words & _COMBINED):
            continue  # "lung cancer" does not hold "lung and cancer"
        held = [[own for own in of_part if own <= words] for of_part in known]
        if all(held) and words <= _COMBINED.union(*itertools.chain.from_iterable(held)):
            return True
    return False


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the spaces and separators at its ends."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip(_TRIMMED))
    return start, start + len(piece.strip(_TRIMMED))


def qualifies(text: str) -> bool:
    """Tell whether a piece behind a comma says how, when or of what the one before it is."""
    words = text.lower().split()
    if words[:1] and words[0] in words_of_kind("beginning of a detail"):
        return True
    is_open = len(words) > 1 and words[-1] in _PREPOSITIONS
    if words[-1:] and words[-1] in words_of_kind("adjective of a patient"):
        return False  # "constipated" says what somebody has
    return is_open or all(is_adjective(word) or is_quality(word) for word in words)


def _may_be_a_name(text: str) -> bool:
    """Tell whether a string says enough to be an item: no lone letter, number or adjective."""
    return len(text) > 1 and LETTERS.search(text) is not None and not is_quality(text)
