"""Links, and anything else with rows, as a table for people to read."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from canonym.cli.failures import printable
from canonym.types import Candidate, Link

__all__ = ["TableWriter", "console", "make_table", "print_table"]

_BLOCK = 100  # mentions in one table: its columns fit what is in it
_WIDTH = 120  # columns where the output is no terminal


def console(stream: IO[str]) -> Any:
    """Return a rich console that writes to `stream`, in colour where it is a terminal."""
    from rich.console import Console

    terminal = stream.isatty()
    return Console(file=stream, width=None if terminal else _WIDTH, highlight=False)


def make_table(*columns: str, right: tuple[str, ...] = ()) -> Any:
    """Return a plain rich table; the columns in `right` are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    title: str = "",
) -> None:
    """Print a table of strings to standard output, the columns in `right` aligned to the right."""
    from rich.text import Text

    screen = console(sys.stdout)
    shown = make_table(*columns, right=tuple(right))
    for cells in rows:
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    if title:
        screen.print(Text(printable(title), style="bold"))
    screen.print(shown)
    screen.print()


class TableWriter:
    """Writes links as tables of a hundred mentions; the counterpart of the writers of export.

    Parameters
    ----------
    stream : text stream
        Where to write to.
    k : int
        Most candidates of a mention.
    explain : bool
        Whether the explanation stands below each mention.
    """

    def __init__(self, stream: IO[str], *, k: int, explain: bool = False) -> None:
        self._console = console(stream)
        self._k = k
        self._explain = explain
        self._pending: list[tuple[Link, str]] = []

    def write(self, link: Link, cells: Any = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; tables are printed a hundred mentions at a time."""
        self._pending.append((link, explanation))
        if len(self._pending) >= _BLOCK:
            self._flush()

    def close(self) -> None:
        """Print what is left."""
        if self._pending:
            self._flush()

    def _flush(self) -> None:
        from rich.text import Text

        if self._explain:
            for link, explanation in self._pending:
                table = _table([link], self._k)
                self._console.print(table)
                for line in explanation.split("\n"):
                    # Not wrapped: the terminal does that, and a pipe needs whole lines.
                    self._console.print(Text(f"    {printable(line)}", style="dim"), soft_wrap=True)
                self._console.print()
        else:
            self._console.print(_table([link for link, _ in self._pending], self._k))
        self._pending = []


def _table(links: list[Link], k: int) -> Any:
    from rich.text import Text

    table = make_table("mention", "id", "label", "score", "matched name", right=("score",))
    for link in links:
        for cells in _cells(link, k):
            style = "" if cells[0] else "dim"
            table.add_row(*(Text(printable(_short(cell)), style=style) for cell in cells))
    return table


def _cells(link: Link, k: int) -> Iterator[tuple[str, ...]]:
    text = link.mention.text or "(empty)"
    if link.parts:
        yield (text, "", f"({len(link.parts)} parts)", "", "")
        for part in link.parts:
            yield from _result(f"  + {part.mention.text}", part, k)
    else:
        yield from _result(text, link, k)


def _result(text: str, link: Link, k: int) -> Iterator[tuple[str, ...]]:
    if link.nil or not link.candidates:
        yield (text, "NIL", link.reason, "", "")
        return
    for place, candidate in enumerate(link.candidates[:k]):
        yield (
            text if place == 0 else "",
            candidate.id,
            candidate.label,
            f"{candidate.score:.3f}",
            _name(candidate),
        )


def _name(candidate: Candidate) -> str:
    return "" if candidate.name == candidate.label else candidate.name


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
