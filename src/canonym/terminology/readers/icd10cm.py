"""ICD-10-CM from the package ``simple-icd-10-cm``, which contains the official files.

Other releases are read from their order file, which has the codes and their titles alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from canonym.errors import require
from canonym.io.streams import open_text
from canonym.regex import regex
from canonym.terminology.readers.everyday import read_everyday
from canonym.text.qualifiers import bare_name
from canonym.types import Concept, Name, Record, Relation

# Square brackets enclose another wording, of the whole name or of the word before them.
_WORDED = regex(r"([^\[\]]*\S) \[([a-z][a-z \-]+)\]([^\[\]]*)")
_EXPLAINED = {"any", "except", "from", "including", "normal", "of", "part", "stage", "unspecified"}
_UNSAID = regex(r"\bunspecified\b(?! e(?:ar|ye)\b)|\bNOS\b", re.IGNORECASE)
_CONTEXT = regex(r" in (?:[\w ]{1,99} )?diseases?(?: classified elsewhere)?$")
_JOINTS = {
    "and", "by", "due", "from", "in", "of", "on", "or", "other", "to", "unspecified", "with",
    "without",
}  # fmt: skip


def read_icd10cm(
    path: str | Path | None = None,
    *,
    version: str | None = None,
    includes: bool = True,
    everyday: bool = False,
) -> Iterator[Record]:
    """Read every chapter, block, category and code of ICD-10-CM.

    Parameters
    ----------
    path : str or Path, optional
        The order file of another release, ``icd10cm-order-2027.txt``: all categories and codes. By
        default the classification comes from an installed package, with chapters and blocks.
    version : str, optional
        The version to record; by default the release in the package (``"April 2026"``), or the year
        in the name of the file.
    includes : bool
        Whether "Includes" notes become names of scope ``narrow``: examples of a category or block
        ("Malta fever" of A23, brucellosis).
    everyday : bool
        Whether the everyday names that come with canonym are read too ("heart attack" of I21); see
        `canonym.terminology.readers.everyday.read_everyday`.

    Yields
    ------
    Concept, Name or Relation
        In the order of the classification; each concept, then its names, then ``is_a`` its parent.
        Everyday names come last.

    Raises
    ------
    ReadError
        If a line is not one of an order file.

    Notes
    -----
    Ids are ``ICD10CM:I21.9`` for codes, ``ICD10CM:A00-A09`` for blocks and ``ICD10CM:1`` for
    chapters. The classification writes a block of a single category like that category (``B20``);
    its id is ``ICD10CM:B20-B20``. Code ranges after the titles of chapters and blocks are cut off.
    A block of a single category keeps its range: without it the title would be ambiguous. The type
    is ``chapter``, ``block``, ``category``, ``subcategory`` or ``extended subcategory`` (with a
    seventh character). What square brackets enclose is another wording, which makes a name as well.

    References
    ----------
    National Center for Health Statistics. ICD-10-CM.
    https://www.cdc.gov/nchs/icd/icd-10-cm/
    """
    if path is not None:
        yield from _order_file(Path(path), version, everyday=everyday)
        return
    with warnings.catch_warnings():
        # It warns, at import, of empty notes in the official file; nothing a user could act on.
        warnings.simplefilter("ignore")
        package = require("simple_icd_10_cm", "reading ICD-10-CM", "all")
    if version is None:
        version = _find_release()
    previous = ""
    codes = package.get_all_codes(True)
    unspecified = _unspecified(package, codes)
    for place, code in enumerate(codes):
        # A single-category block comes right before the category of the same code.
        lone_block = code == (codes[place + 1] if place + 1 < len(codes) else "")
        yield from _item(package, code, version, includes, lone_block, previous, unspecified)
        previous = code
    if everyday:
        yield from read_everyday(known={f"ICD10CM:{code}" for code in codes})


def _find_release() -> str:
    for file in resources.files("simple_icd_10_cm.data").iterdir():
        if release := file.name.partition("code-list-")[2]:
            return release.removesuffix(".txt").replace("-", " ")
    return ""


def _item(
    package: Any,
    code: str,
    version: str,
    includes: bool,
    lone_block: bool,
    previous: str,
    unspecified: Mapping[str, str],
) -> Iterator[Record]:
    in_lone_block = code == previous
    id_ = f"ICD10CM:{code}-{code}" if lone_block else f"ICD10CM:{code}"
    kind = _kind(package, code, lone_block, in_lone_block)
    label = package.get_description(code, lone_block).strip()
    if kind in ("chapter", "block"):
        name, _, codes = label.rpartition(" (")
        label = name if name and len(codes) == 8 and codes[3] == "-" else label
    yield Concept(id_, label, types=(kind,), source="ICD-10-CM", version=version)
    yield from _reworded(label, id_)
    terms = package.get_inclusion_term(code, lone_block)
    for text in _in_context(terms, code, label, unspecified):
        yield Name(text, id_)
        yield from _reworded(text, id_)
    if includes:
        for text in package.get_includes(code, lone_block):
            yield Name(text, id_, "narrow")
    parent = package.get_parent(code, lone_block)
    if parent:
        yield Relation(
            id_, "is_a", f"ICD10CM:{parent}-{parent}" if in_lone_block else f"ICD10CM:{parent}"
        )


def _in_context(
    terms: Sequence[str], code: str, label: str, unspecified: Mapping[str, str]
) -> list[str]:
    """Return inclusion terms without those that are another code as they stand.

    "Polyneuropathy" below "Other neurologic disorders in Lyme disease" is one in Lyme disease.
    """

    def is_own(term: str) -> bool:
        general = unspecified.get(term.casefold(), code)
        return general.startswith(code) or code.startswith(general)

    own = list(filter(is_own, terms))
    context = _CONTEXT.search(label) if len(own) < len(terms) else None
    return own if context is None else [term + context[0] for term in terms]


def _unspecified(package: Any, codes: Sequence[str]) -> dict[str, str]:
    """Return codes by what they leave unspecified: "Polyneuropathy, unspecified"."""
    general: dict[str, str] = {}
    for code in codes:
        names = package.get_inclusion_term(code) + package.get_includes(code)
        for text in (package.get_description(code), *names):
            bare = bare_name(text) if _UNSAID.search(text) else None
            if bare is not None and not bare.is_narrower:
                general.setdefault(bare.text.casefold(), code)
    return general


def _reworded(text: str, id_: str) -> Iterator[Name]:
    """Yield a name with the wording in square brackets in its place.

    "Third [oculomotor] nerve palsy" is an oculomotor nerve palsy, and "Flat foot [pes planus]" a
    pes planus.
    """
    match = _WORDED.fullmatch(text)
    if match is None or _EXPLAINED & {*match[2].replace("-", " ").split()}:
        return
    before, words, after = match.groups()
    joints = [n for n, word in enumerate(before.split(), start=1) if word in _JOINTS]
    n_words, n_before = len(words.split()), len(before.split()) - max(joints, default=0)
    is_phrase = n_words > 1 or words[-2:] in ("is", "ss", "us") or words[-1] != "s"
    if not joints and is_phrase and (not after or after[:2] == " (" or after[0] == ","):
        yield Name(f"{words}{after}", id_)
    elif n_before == 1 or (
        after[:1] == " " and after[:4] != " of " and (n_words == 1 or n_before == 2)
    ):
        yield Name(f"{before.rpartition(' ')[0]} {words}{after}".lstrip(), id_)


def _kind(package: Any, code: str, lone_block: bool, in_lone_block: bool) -> str:
    if "." in code:  # nearly all of them, and each question takes its time
        return "extended subcategory" if package.is_extended_subcategory(code) else "subcategory"
    if package.is_chapter(code):
        return "chapter"
    if lone_block or (package.is_block(code) and not in_lone_block):
        return "block"
    return "category"


def _order_file(path: Path, version: str | None, *, everyday: bool) -> Iterator[Record]:
    """Read the fixed columns number, code, billable or not, short title, title."""
    if version is None:
        year = path.name.partition("order")[2][1:5]
        version = year if year.isdecimal() else ""
    known: set[str] = set()
    with open_text(path) as stream:
        for line in stream:
            code, billable, title = line[6:13].rstrip(), line[14:15], line[77:].strip()
            if not (line[:5].isdecimal() and code.isalnum() and billable.isdecimal() and title):
                raise stream.error(
                    f"{line.rstrip()[:60]!r} is no line of an order file: a number, a code, 0 or 1 "
                    "and two titles in fixed columns were expected"
                )
            known.add(code)
            kind = {3: "category", 7: "extended subcategory"}.get(len(code), "subcategory")
            id_ = f"ICD10CM:{_dotted(code)}"
            yield Concept(id_, title, types=(kind,), source="ICD-10-CM", version=version)
            yield from _reworded(title, id_)
            above = (code[:n] for n in range(len(code) - 1, 2, -1))
            parent = next((shorter for shorter in above if shorter in known), None)
            if parent:
                yield Relation(id_, "is_a", f"ICD10CM:{_dotted(parent)}")
    if everyday:
        yield from read_everyday(known={f"ICD10CM:{_dotted(code)}" for code in known})


def _dotted(code: str) -> str:
    return code if len(code) == 3 else f"{code[:3]}.{code[3:]}"
