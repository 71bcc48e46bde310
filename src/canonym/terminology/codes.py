"""Ids as people write them: looked up in a terminology, many at once.

``ICD10CM:E11.9`` is also written *E11.9*, *e119* or *ICD-10 E11.9*; ``HP:0001250`` also
*HP_0001250*, *hp:0001250*, or as an address of the web. Prefixes, letters and dots are taken from
the ids that the terminology has, not from a list of code systems.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from canonym.io.curies import LOCAL, compact, family, split_id
from canonym.io.systems import FORMS
from canonym.regex import regex
from canonym.terminology.replaced import current_id
from canonym.text.codes import Reading, read_codes, whole_code

if TYPE_CHECKING:
    from canonym.terminology.store import Terminology

_SAMPLE = 20_000  # ids from which the forms of all are taken
_LEAST = 3  # characters of a code, where ids have a prefix
_LEAST_DISTINCT = 4  # letters and digits of a code that is hardly a word
_LEAST_NUMBER = 6  # digits of a number that is a code, where ids have a prefix
_LEAST_PADDED = 5  # the same where all are as long, or filled up with 0
_LONGEST_END = 4  # characters behind the dot of a code
_FEW_STEMS = 3  # beginnings of codes, from which on any letter may begin one
_PREFIXED = regex(r"([A-Za-z][^:#/]*?)(?<!\s)\s*[:#]\s*(\S.*)", re.DOTALL)
_UNDERSCORED = regex(r"([A-Za-z][A-Za-z0-9.]*)_(\w[\w.-]*)")
_SEPARATED = regex(r"([A-Za-z].*?[A-Za-z0-9])[ -]([A-Za-z]{0,4}\d[\w.]*)", re.DOTALL)
_GLUED = regex(r"([A-Za-z]{2,})(\d{4,})")
_ADDRESSES = ("http://", "https://", "www.")
_LAST_OF_ADDRESS = regex(
    r"[/#=?]((?:[A-Za-z][\w.]*:[A-Za-z]{0,4}|(?>[A-Za-z][\w.]*?_[A-Za-z]{0,4}(?=\d)))\d[\w.]*)$"
)
_PLAIN = regex(r"[A-Za-z]{1,4}([0-9]+|[0-9]{3,}[A-Za-z]{1,2})")  # no "H2O", no "C5D"
_CODE = regex(r"[A-Za-z]{0,4}\d{3}[\w.]*")
_NUMBERS = regex(r"\d{3,}\.\d+|\d{4,}[-/]\d+")  # of ICD-9, LOINC, ICD-O
_SHAPES = str.maketrans(
    {
        **{chr(code): "A" for code in (*range(65, 91), *range(97, 123))},
        **dict.fromkeys("0123456789", "9"),
    }
)
_CITED = r"[A-Z]{1,3}\d[A-Z0-9.]*-?"
_CITED += rf"(?:\s*(?:[-\u2013,;]|,?\s(?:and|or)\s)\s*{_CITED})*"
_CITATION = regex(
    rf"[(\[]\s*{_CITED}\s*[)\]]"
    rf"|\b(?:in|to|under|see|use of|codes?|category|categories|except)\s+{_CITED}(?!\w)",
    re.IGNORECASE,
)
_NO_DOTS = str.maketrans("", "", ".,")
_SHORT_WORD = regex(r"(?<![\w.])[A-Za-z]{1,3}\d{1,3}[A-Za-z]?(?!\.-|[\w.]*\w)")


class CodeHit(NamedTuple):
    """A code that was read in a text, and the concepts of which it is an id.

    `concepts` are their ordinals, of deprecated ones that in their place. Without any, `missing`
    says why. `prefixed` tells whether the code has its prefix, and `distinct` whether it has more
    than some three characters. `replaced` is an id that is deprecated.
    """

    reading: Reading
    concepts: tuple[int, ...] = ()
    prefixed: bool = False
    distinct: bool = False
    replaced: str = ""
    missing: str = ""


# --- the forms of ids -----------------------------------------------------------------------------


class IdPattern:
    """The form of all ids that begin with `head`, a prefix with its colon.

    `locals_` is what follows it in a sample of them.
    """

    def __init__(self, head: str, locals_: Sequence[str]) -> None:
        self.head = head
        self.shapes = {local.translate(_SHAPES) for local in locals_}
        self.stems: dict[str, set[str]] = {}
        for local in locals_:
            stem = _stem(local)
            self.stems.setdefault(stem.lower(), set()).add(stem)
        parted = [local.partition(".") for local in locals_ if "." in local]
        self.tops = sorted({top.translate(_SHAPES) for top, _, end in parted if top and end})
        self.widths = {len(local) for local in locals_ if local.isdecimal()}
        # Forms without a dot as well, to see at once what is none of these ids.
        self._bare_shapes = {shape.replace(".", "") for shape in self.shapes}

    def may_be(self, code: str) -> bool:
        """Tell whether a code has the form of a local id, but for a dot."""
        shape = code.translate(_SHAPES)
        return shape in self.shapes or shape.translate(_NO_DOTS) in self._bare_shapes

    def spellings(self, local: str) -> Iterator[tuple[int, str]]:
        """Yield the forms that a local id may have here, each with how far off it is."""
        for n, (off, form) in enumerate(self._dotted(local)):
            stem = _stem(form)
            end = form[len(stem) :]
            known = sorted(self.stems.get(stem.lower(), ()))
            cased = [form, *(letters + rest for letters in known for rest in (end, end.upper()))]
            cased += [] if known else [form.upper()]
            for place, spelling in enumerate(dict.fromkeys(cased)):
                yield 2 * off + bool(place), spelling
            if n > _LONGEST_END:
                return

    def _dotted(self, local: str) -> Iterator[tuple[int, str]]:
        """Yield a local id, and the same with a dot put in or left out."""
        yield 0, local
        if "." in local:
            yield 1, local.replace(".", "")
        elif "," in local:
            yield 1, local.replace(",", ".")
        else:
            shape = local.translate(_SHAPES)
            for top in self.tops:
                if shape.startswith(top) and len(shape) > len(top):
                    yield 1, f"{local[: len(top)]}.{local[len(top) :]}"

    def fits(self, local: str) -> bool:
        """Tell whether a local id has the form of one of these."""
        return local.translate(_SHAPES) in self.shapes

    def reads_as_code(self, local: str) -> bool:
        """Tell whether one of these local ids, without its prefix, can hardly be anything else."""
        if local.isdecimal():
            return self._is_more_than_number(local)
        if not any(map(str.isalpha, local)):
            return _NUMBERS.fullmatch(local) is not None
        return _has_digit(local) and (not self.head or len(local) >= _LEAST)

    def _is_more_than_number(self, number: str) -> bool:
        """Tell whether a number is hardly a dose, a count or a year."""
        n = len(number)
        if self.widths == {n} or (number[0] == "0" and n > 1):
            return n >= (_LEAST_PADDED if self.head else _LEAST)
        if self.head:
            return n >= _LEAST_NUMBER
        return n > _LEAST and not (n == 4 and number.startswith(("19", "20")))

    def is_own(self, code: str) -> bool:
        """Tell whether a text is nothing but a code of this form, also if there is no such id."""
        if code.isdecimal():
            among = bool(self.widths) and min(self.widths) <= len(code) <= max(self.widths)
            return among and len(code) >= _LEAST_PADDED and self._is_more_than_number(code)
        stem = _stem(code)
        if len(code) < _LEAST or not stem:
            return False
        alike = [letters for letters in self.stems if len(letters) == len(stem)]
        if stem.lower() not in self.stems and len(alike) < _FEW_STEMS:
            return False
        top, dot, end = code.partition(".")
        shape = top.translate(_SHAPES)
        if dot:
            is_sound = set(shape) == {"A", "9"} and end.isascii() and end.isalnum()
            return is_sound and shape in self.tops and len(end) <= _LONGEST_END
        if not _PLAIN.fullmatch(code):
            return False
        longer = (len(shape) - len(start) for start in self.tops if shape.startswith(start))
        return self.fits(code) or any(0 < n <= _LONGEST_END for n in longer)


class IdPatterns:
    """The forms of all ids of a terminology, alternative ones among them."""

    def __init__(self, terminology: Terminology) -> None:
        ids: dict[str, list[str]] = {head: [] for head in _heads(terminology)}
        for id_ in _sampled(terminology):
            head, local = split_head(id_)
            ids.setdefault(head, []).append(local)
        self.all = [IdPattern(head, locals_) for head, locals_ in sorted(ids.items())]
        self.by_family: dict[str, list[IdPattern]] = {}
        for pattern in self.all:
            self.by_family.setdefault(_family_of(pattern.head), []).append(pattern)
        bare = self.by_family.get("", [])
        for system in _systems_of_bare(terminology, ids.get("", ())):
            self.by_family.setdefault(system, []).extend(bare)
        self.example = terminology.concepts_at([0])[0].id


def split_head(id_: str) -> tuple[str, str]:
    """Split an id into what it begins with, as others do, and the rest.

    >>> split_head("HP:0001250"), split_head("HP_0001250"), split_head("I10")
    (('HP:', '0001250'), ('HP_', '0001250'), ('', 'I10'))
    """
    if "://" in id_:
        n = max(id_.rfind(mark) for mark in "/#_=") + 1
        return id_[:n], id_[n:]
    prefix, local = split_id(id_)
    if prefix:
        return f"{prefix}:", local
    parts = _UNDERSCORED.fullmatch(id_)
    return (f"{parts[1]}_", parts[2]) if parts else ("", id_)


def _family_of(head: str) -> str:
    short = compact(f"{head}0000001") if "://" in head else head
    return head if "://" in short else family(split_head(short)[0] or head)


def _heads(terminology: Terminology) -> list[str]:
    """Return the prefixes of all ids with their colons: a sample may lack a rare one."""
    rows = terminology._database.rows(
        "SELECT substr(id, 1, instr(id, ':')) FROM concepts UNION "
        "SELECT substr(target, 1, instr(target, ':')) FROM xrefs WHERE kind = 'alternative'"
    )
    return [head for (head,) in rows if head not in ("http:", "https:") and split_id(f"{head}1")[0]]


def _sampled(terminology: Terminology) -> Iterator[str]:
    step = max(1, terminology.n_concepts // _SAMPLE)
    for sql, number in (
        ("SELECT id FROM concepts WHERE ordinal % ? = 0", step),
        ("SELECT target FROM xrefs WHERE kind = 'alternative' LIMIT ?", _SAMPLE),
    ):
        for (id_,) in terminology._database.rows(sql, (number,)):
            yield id_


def _systems_of_bare(terminology: Terminology, ids: Sequence[str]) -> set[str]:
    """Return the systems that ids without a prefix are of: by their source, or their form."""
    if not ids:
        return set()
    systems = {family(source) for source, _ in terminology.sources() if source} | {family(LOCAL)}
    systems |= {
        system
        for system, pattern in FORMS.items()
        if not any(map(str.isdecimal, ids)) and all(map(pattern.fullmatch, ids))
    }
    return systems - {""}


def _stem(local: str) -> str:
    """Return the letters that an id begins with."""
    return local[: len(local) - len(local.lstrip(string.ascii_letters))]


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


# --- the spellings of a code ----------------------------------------------------------------------


class _Spelling(NamedTuple):
    """An id that a code may stand for: how far `off` the code is, and what it has of an id."""

    id: str
    off: int
    prefixed: bool = True
    sound: bool = True
    distinct: bool = True


def _spellings(code: str, patterns: IdPatterns) -> list[_Spelling]:
    """Return the ids that a code may stand for, the nearest first; only those that look alike."""
    exact = [_Spelling(code, 0)] if split_head(code)[0] else []
    prefixed = [
        _Spelling(pattern.head + form, 1 + off)
        for prefix, local in _split(code)
        for pattern in patterns.by_family.get(family(prefix), ())
        for off, form in pattern.spellings(local)
    ]
    bare = [
        _Spelling(pattern.head + form, 1 + off, False, pattern.reads_as_code(form), _distinct(form))
        for pattern in patterns.all
        if pattern.may_be(code) and _has_digit(code)
        for off, form in pattern.spellings(code)
        if pattern.fits(form)
    ]
    return sorted([*exact, *prefixed, *bare], key=lambda spelling: spelling.off)


def _distinct(local: str) -> bool:
    if local.isdecimal():
        return len(local) >= _LEAST_PADDED
    return sum(map(str.isalnum, local)) >= _LEAST_DISTINCT


def _split(code: str, *, surely: bool = False) -> Iterator[tuple[str, str]]:
    """Yield a code as a prefix and the rest; with a space or less between them unless `surely`."""
    address = code.removeprefix("<").removesuffix(">").removesuffix("/")
    if address.startswith(_ADDRESSES) and not any(map(str.isspace, address)):
        short = compact(address)
        named = _LAST_OF_ADDRESS.search(address)
        code = short if "://" not in short else named[1] if named else ""
    if (":" in code or "#" in code) and (parts := _PREFIXED.fullmatch(code)):
        yield parts[1], parts[2]
        yield from _split(parts[2], surely=surely)  # "hp/HP:0001250", "obo:HP_0001250"
    elif "_" in code and (parts := _UNDERSCORED.fullmatch(code)):
        yield parts[1], parts[2]
    elif not surely:
        parts = _SEPARATED.fullmatch(code) or _GLUED.fullmatch(code)
        if parts is not None and len(parts[1]) > 1 and len(parts[2]) >= _LEAST:
            yield parts[1], parts[2]


# --- the look-up ----------------------------------------------------------------------------------


class KnownId(NamedTuple):
    """An id that the terminology has, itself or as an alternative of a concept."""

    ordinal: int
    id: str
    deprecated: bool


def find_codes(
    terminology: Terminology, patterns: IdPatterns, texts: Iterable[str]
) -> dict[str, CodeHit]:
    """Read texts as codes, and look all of them up at once; texts without any are left out.

    A code without its prefix has to look like one: a number that may be a dose or a year does not.
    """
    read: dict[str, list[tuple[Reading, list[_Spelling]]]] = {}
    for text in texts:
        for reading in read_codes(text):
            code = reading.code
            if len(code) in (3, 4) and code[0] == "p" and code[1:].isdecimal():
                continue  # a protein, named by its mass: p53
            forms = [form for form in _spellings(code, patterns) if form.sound]
            if forms or not reading.beside:
                read.setdefault(text, []).append((reading, forms))
    ids = dict.fromkeys(
        form.id for readings in read.values() for _, forms in readings for form in forms
    )
    known = known_ids(terminology, list(ids))
    hits: dict[str, CodeHit] = {}
    for text, readings in read.items():
        codes = [hit for pair in readings if (hit := _hit(terminology, *pair, known)) is not None]
        # With its prefix a code is more than without: "gout, ICD-10 M10.9".
        hit = next((code for code in codes if code.prefixed), codes[0] if codes else None)
        hit = hit or _missing(readings[0][0], patterns)
        if hit is not None:
            hits[text] = hit
    return hits


def find_ids(terminology: Terminology, patterns: IdPatterns, text: str) -> tuple[str, ...]:
    """Return the ids of the concepts that a text names, which is meant to be an id.

    A deprecated concept is among them; what the text may be beside an id does not count.
    """
    forms = _spellings(whole_code(text), patterns)
    known = known_ids(terminology, list(dict.fromkeys(form.id for form in forms)))
    return tuple(concept.id for concept in _nearest(forms, known)[0])


def known_ids(terminology: Terminology, ids: Sequence[str]) -> dict[str, list[KnownId]]:
    """Return the concepts of ids: that with the id, or all that have it as an alternative.

    Ids that the terminology does not have as they are written are left out.
    """
    known: dict[str, list[KnownId]] = {}
    for sql in (
        "SELECT id, ordinal, id, deprecated FROM concepts WHERE id IN ({})",
        "SELECT x.target, c.ordinal, c.id, c.deprecated FROM xrefs x JOIN concepts c "
        "ON c.id = x.concept_id WHERE x.target IN ({}) AND x.kind = 'alternative' "
        "ORDER BY c.ordinal",
    ):
        left = [id_ for id_ in ids if id_ not in known]
        for target, *rest in terminology._database.rows_with(sql, left):
            known.setdefault(target, []).append(KnownId(*rest))
    return known


def _nearest(
    forms: Sequence[_Spelling], known: Mapping[str, list[KnownId]]
) -> tuple[list[KnownId], list[_Spelling]]:
    """Return the concepts of the nearest spellings that are known, and these spellings."""
    least = min((form.off for form in forms if form.id in known), default=None)
    nearest = [form for form in forms if form.off == least and form.id in known]
    return list(dict.fromkeys(concept for form in nearest for concept in known[form.id])), nearest


def _hit(
    terminology: Terminology,
    reading: Reading,
    forms: Sequence[_Spelling],
    known: Mapping[str, list[KnownId]],
) -> CodeHit | None:
    ids, nearest = _nearest(forms, known)
    if not ids:
        return None
    prefixed, distinct = (
        all(flags) for flags in zip(*(form[2::2] for form in nearest), strict=True)
    )
    in_use = [concept.ordinal for concept in ids if not concept.deprecated]
    replaced = ""
    if not in_use:
        replaced = ids[0].id
        instead = current_id(terminology, replaced)
        ordinal = None if instead is None else terminology.ordinal(instead)
        in_use = [] if ordinal is None else [ordinal]
    missing = "" if in_use else _gone(terminology, replaced)
    return CodeHit(reading, tuple(in_use), prefixed, distinct, replaced, missing)


def _gone(terminology: Terminology, id_: str) -> str:
    """Say why a deprecated concept has no successor."""
    several = terminology.concept(id_).replaced_by
    if len(several) > 1:
        return f"{id_} is deprecated, and {' and '.join(several)} take its place"
    return f"{id_} is deprecated, and nothing takes its place"


def _missing(reading: Reading, patterns: IdPatterns) -> CodeHit | None:
    """Return why a text that is nothing but a code has no concept, None where it is no code."""
    code = reading.code
    if reading.beside:
        return None
    for prefix, local in _split(code, surely=True):
        own = patterns.by_family.get(family(prefix), ())
        if any(
            pattern.fits(local) or pattern.is_own(local) or _CODE.fullmatch(local)
            for pattern in own
        ):
            return CodeHit(reading, prefixed=True, missing=f"no concept has the id {code}")
        known = FORMS.get(family(prefix))
        if known is not None and known.fullmatch(local):  # no name, whatever a terminology has
            problem = f"no concept has the id {code}; ids look like {patterns.example} here"
            return CodeHit(reading, prefixed=True, missing=problem)
    if any(pattern.is_own(code) for pattern in patterns.all):
        return CodeHit(reading, missing=f"no concept has the code {code}")
    return None


def short_words(terminology: Terminology) -> dict[str, int]:
    """Return the short words of names that look like codes, such as "B12", in small letters.

    Each with the ordinal of the concept, −1 where several concepts have it in their names. Codes
    that names refer to are no words: "conditions in I10", "Hypertensive diseases (I10-I16)".
    """
    words: dict[str, int] = {}
    rows = terminology._database.rows(
        "SELECT concept, text FROM names WHERE text GLOB '*[A-Za-z][0-9]*'"
    )
    for concept, text in rows:
        for word in _SHORT_WORD.findall(_CITATION.sub(" ", text)):
            if words.setdefault(word.lower(), concept) != concept:
                words[word.lower()] = -1
    return words
