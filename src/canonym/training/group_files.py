"""Names by high-level concept, and relations, read from files."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

from canonym.errors import InvalidInput, ReadError
from canonym.streams import open_text
from canonym.types import Relation

__all__ = ["largest_groups", "read_groups", "read_relations", "read_tree_groups"]


def read_groups(path: str | Path) -> dict[str, list[str]]:
    """Read lists of names by concept from JSON, in gzip or not.

    Raises
    ------
    ReadError
        If the file is missing or holds something else.
    """
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8")
        found = json.loads(text)
        if not isinstance(found, dict) or not all(
            isinstance(names, list) and all(isinstance(name, str) for name in names)
            for names in found.values()
        ):
            raise ValueError("something else")
    except (OSError, EOFError, ValueError) as error:
        raise ReadError(
            path, f"an object of lists of names by concept is expected, found {error}"
        ) from error
    return found


def read_tree_groups(
    path: str | Path, *, letters: str, name: str = "descriptor_name", number: str = "tree_number"
) -> dict[str, list[str]]:
    """Group names by the category that their tree number begins with, such as ``C14``.

    Parameters
    ----------
    path : str or Path
        A tab-separated table with a header, a row per tree number.
    letters : str
        Only categories that begin so: ``"C"`` for diseases in MeSH.
    name, number : str
        Its columns.

    Returns
    -------
    dict of str to list of str
        Each name once; the name of a category itself is none of its names.

    Raises
    ------
    ReadError
        If a column is missing, or no tree number begins so.

    References
    ----------
    Fivez et al. (2021), section 2.3, have the first children of a concept of SNOMED CT; MeSH is
    what can be had without a licence.
    """
    groups: dict[str, dict[str, None]] = {}
    with open_text(path) as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = [column for column in (name, number) if column not in (rows.fieldnames or ())]
        if missing:
            raise ReadError(path, f"there is no column {missing[0]!r}", line=1)
        for row in rows:
            category, point, _ = (row[number] or "").strip().partition(".")
            if point and category.startswith(letters):
                groups.setdefault(category, {})[row[name]] = None
    if not groups:
        raise ReadError(path, f"no tree number begins with {letters!r}")
    return {category: list(names) for category, names in sorted(groups.items())}


def largest_groups(
    groups: dict[str, list[str]], n: int | None, *, least: int
) -> dict[str, list[str]]:
    """Keep the groups with the most names, and of these the names that are in one only.

    Parameters
    ----------
    groups : dict of str to list of str
        Names by concept.
    n : int, optional
        How many groups; all by default.
    least : int
        Names that a group has to have left.

    Raises
    ------
    InvalidInput
        If fewer than two groups are left.
    """
    chosen = sorted(groups, key=lambda name: -len(set(groups[name])))[:n]
    owners: dict[str, set[str]] = {}
    for concept in chosen:
        for name in groups[concept]:
            owners.setdefault(name.lower(), set()).add(concept)
    kept = {
        concept: [name for name in groups[concept] if len(owners[name.lower()]) == 1]
        for concept in groups
        if concept in chosen
    }
    found = {concept: names for concept, names in kept.items() if len(set(names)) >= least}
    if len(found) < 2:
        raise InvalidInput(
            f"{len(found)} of {len(groups)} concepts have {least} names of their own; at least two "
            "are needed to tell one from another"
        )
    return found


def read_relations(path: str | Path) -> list[Relation]:
    """Read relations, ``head<tab>relation<tab>tail`` a line.

    Raises
    ------
    ReadError
        If the file is missing, empty, or a line has another number of columns.
    """
    found = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.rstrip("\r\n").split("\t")
            if not line.strip():
                continue
            if len(cells) != 3 or not all(cell.strip() for cell in cells):
                raise ReadError(
                    path,
                    f"head, relation and tail are expected with tabs between, found {line[:60]!r}",
                    line=number,
                )
            found.append(Relation(*(cell.strip() for cell in cells)))
    if not found:
        raise ReadError(path, "holds no relation; head<tab>relation<tab>tail lines are expected")
    return found
