"""The rules of an institution, kept in the folder of its index."""

from __future__ import annotations

import functools
from pathlib import Path

from canonym.errors import ReadError
from canonym.mentions.effects import acts
from canonym.rules import OFF, Book, Rule, read_rules, shipped

RULES = "rules.tsv"
"""Table of rules in the folder of an index, where it has any of its own."""


def check_rules(path: str | Path) -> list[Rule]:
    """Read a table of rules, and refuse one that no linker could use.

    Raises
    ------
    ReadError
        If the file cannot be read, or a rule contradicts itself; see `canonym.rules.read_rules`.
    """
    if not Path(path).is_file():
        raise ReadError(path, "no such file; expected a table of rules, with tabs between columns")
    return read_rules(Path(path), acts)


def keep_rules(path: str | Path | None, folder: Path) -> None:
    """Copy a table of rules, if there is one, to the folder of an index."""
    if path is not None:
        (folder / RULES).write_bytes(Path(path).read_bytes())


@functools.lru_cache(maxsize=8)
def _book(path: Path, _state: tuple[int, int]) -> Book:
    book = shipped().with_rules(check_rules(path))
    book.opening = open_book, (path.parent,)
    return book


def open_book(folder: Path) -> Book:
    """Return the rules that count for an index: those of canonym, and its own before them."""
    path = folder / RULES
    if not path.is_file():
        return shipped()
    status = path.stat()
    return _book(path, (status.st_ino, status.st_mtime_ns))


def describe_rules(folder: Path) -> dict[str, object]:
    """Return the ids of the rules that an index has of its own, and of those it switches off."""
    if not (folder / RULES).is_file():
        return {}
    rules = check_rules(folder / RULES)
    own = [rule.id for rule in rules if rule.kind != OFF]
    off = [rule.form for rule in rules if rule.kind == OFF]
    return {"rules": {"own": own, "switched off": off}}
