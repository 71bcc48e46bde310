"""The output of commands: tables to read, and links on standard output or in a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from canonym.cli.failures import printable
from canonym.cli.progress import note
from canonym.errors import InvalidInput
from canonym.jobs import output as jobs
from canonym.jobs.output import BINARY, NOT_RESUMABLE, Layout, Output
from canonym.types import Link, Mention

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_BLOCK = 100  # mentions in one table, whose columns are as wide as its cells
_WIDTH = 120  # characters in a line where the output is no terminal
_LONGEST = 200  # characters of a cell

# --- where links go -------------------------------------------------------------------------------


def choose_format(named: str | None, output: str | None, *, rows: bool = False) -> str:
    """Return the format: as named, by the suffix of the file, or as suits standard output.

    A terminal has a table to read, unless `rows` are wanted.
    """
    if output == "-":
        raise InvalidInput("-o - names no file: links go to standard output without -o")
    if named is None:
        if output is None:
            return "table" if sys.stdout.isatty() and not rows else "tsv"
        if output.lower().endswith(".sssom.tsv"):
            return "sssom"
        is_pubtator = Path(output).suffix.lower() == ".pubtator"
        return "pubtator" if is_pubtator else jobs.format_for(output)
    if named in BINARY and output is None and sys.stdout.isatty():
        raise InvalidInput(f"--format {named} is binary: name a file with -o")
    return named


@contextlib.contextmanager
def open_output(
    path: str | None,
    layout: Layout,
    settings: Mapping[str, Any],
    *,
    overwrite: bool,
    resume: bool,
    places: bool = False,
) -> Iterator[Output]:
    """Open a file as `canonym.jobs.output.open_output` does, or standard output.

    With `places` a table to read tells where mentions stand.
    """
    if layout.format == "table":
        writer = partial(_TableWriter, k=layout.k, explain=layout.explain, places=places)
        layout = layout._replace(opener=writer)
    if path is not None:
        with jobs.open_output(
            path, layout, settings, overwrite=overwrite, resume=resume, tell=note
        ) as output:
            yield output
        return
    if resume:
        raise InvalidInput(NOT_RESUMABLE)
    binary = layout.format in BINARY
    stream: IO[Any] = sys.stdout.buffer if binary else _encoded(sys.stdout, layout.style.encoding)
    output = Output(stream, layout)
    yield output
    output.close()
    sys.stdout.flush()


def _encoded(stream: IO[str], encoding: str) -> IO[str]:
    # A pipe gets the same bytes everywhere; a terminal knows best what it can show.
    if not stream.isatty() and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding=encoding, newline="")
    return stream


# --- tables to read -------------------------------------------------------------------------------


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Sequence[str] = (),
    title: str = "",
) -> None:
    """Print a table to standard output, with the columns in `right` aligned to the right."""
    from rich.text import Text

    screen = _console(sys.stdout)
    shown = _table(*columns, right=right)
    for cells in rows:
        shown.add_row(*(Text(printable(cell)) for cell in cells))
    if title:
        screen.print(Text(printable(title), style="bold"))
    screen.print(shown)
    screen.print()


def _console(stream: IO[str]) -> Console:
    """Return a console that writes to `stream`, in colour where it is a terminal."""
    from rich.console import Console

    return Console(file=stream, width=None if stream.isatty() else _WIDTH, highlight=False)


def _table(*columns: str, right: Sequence[str] = ()) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


class _TableWriter:
    """Writes links as tables of a hundred mentions, or, with explanations, one table each."""

    def __init__(
        self, stream: IO[str], *, k: int, explain: bool = False, places: bool = False
    ) -> None:
        self._console = _console(stream)
        self._places = places
        self._k = k
        self._most = 1 if explain else _BLOCK
        self._pending: list[Link] = []

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; the table is printed when it is full."""
        from rich.text import Text

        self._pending.append(link)
        if len(self._pending) >= self._most:
            self.close()
        if explanation:
            for line in explanation.split("\n"):
                # Not wrapped: the terminal does that, and a pipe needs whole lines.
                self._console.print(Text(f"    {printable(line)}", style="dim"), soft_wrap=True)
            self._console.print()

    def close(self) -> None:
        """Print what is pending."""
        from rich.text import Text

        if not self._pending:
            return
        columns = ["mention", "id", "label", "score", "matched name"]
        said = any(link.status for link in self._pending)
        if said:
            columns.insert(1, "status")
        first = ("place",) if self._places else ()
        table = _table(*first, *columns, right=("score",))
        for link in self._pending:
            for number, cells in enumerate(_rows(link, self._k)):
                style = "" if cells[0] else "dim"
                if said:
                    cells = (cells[0], "" if number else ", ".join(link.status), *cells[1:])
                if self._places:
                    cells = ("" if number else _place(link.mention), *cells)
                table.add_row(*(Text(printable(_short(cell)), style=style) for cell in cells))
        self._console.print(table)
        self._pending = []


def _place(mention: Mention) -> str:
    """Return the document and the offsets of a mention."""
    return f"{mention.document_id} {mention.start}–{mention.end}".strip()


def _rows(link: Link, k: int) -> Iterator[tuple[str, ...]]:
    text = " ".join(link.mention.text.split()) or "(empty)"
    if link.parts:
        yield (text, "", f"({len(link.parts)} parts)", "", "")
        for part in link.parts:
            yield from _candidate_rows(f"  + {part.mention.text}", part, k)
    else:
        yield from _candidate_rows(text, link, k)


def _candidate_rows(text: str, link: Link, k: int) -> Iterator[tuple[str, ...]]:
    if link.nil or not link.candidates:
        yield (text, "NIL", link.reason, "", "")
        return
    for candidate in link.candidates[:k]:
        name = "" if candidate.name == candidate.label else candidate.name
        if kinds := dict.fromkeys(kind for kind, *_ in candidate.against.contradictions):
            name = f"{candidate.name} (contradicts: {', '.join(kinds)})"
        yield (text, candidate.id, candidate.label, f"{candidate.score:.3f}", name)
        text = ""


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
