"""Names of high-level concepts for the rows of few-shot names."""

from __future__ import annotations

import csv
from pathlib import Path

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text


def read_tree_groups(
    path: str | Path, *, letters: str, name: str = "descriptor_name", number: str = "tree_number"
) -> dict[str, list[str]]:
    """Group names by the category that their tree number begins with, such as ``C14``.

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
    """Keep the groups with the most names, and of these the names that are in one only."""
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
