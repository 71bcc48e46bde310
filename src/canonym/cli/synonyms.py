"""``canonym synonyms``: names and forbidden concepts, added to a finished index."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from canonym.cli.failures import printable
from canonym.cli.input_encoding import found_encoding
from canonym.cli.named_indexes import open_index
from canonym.cli.options import Decorator, built_index_option, with_options
from canonym.cli.progress import note
from canonym.errors import CanonymError, ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator


def _of_pair(text: str) -> Decorator:
    """Return the arguments of a text and a concept of an index."""
    return with_options(
        click.argument(text), click.argument("id_", metavar="ID"), built_index_option
    )


_LANGUAGE = click.option("--language", default="en", metavar="TAG", help="Language of the name.")
_COLUMNS = ("kind", "name", "id", "language", "label", "note")


@click.group()
def synonyms() -> None:
    """Add names to an index, remove them, forbid concepts.

    A change counts at once, without new training or indexing, for every process that has the index
    open. `canonym index --fold` makes it part of the next index.

    \b
      canonym synonyms add "widow maker" I21.02 --index my-index
      canonym synonyms import names.tsv --index my-index
      canonym synonyms forbid "cold" J00 --index my-index
      canonym synonyms list --index my-index > names.tsv
    """


@synonyms.command()
@_of_pair("name")
@_LANGUAGE
def add(name: str, id_: str, index: str, language: str) -> None:
    """Make NAME stand for the concept ID.

    \b
      canonym synonyms add "widow maker" I21.02 --index my-index
    """
    if not open_index(index).synonyms.add(name, id_, language=language):
        note(f"{name!r} is a name of {id_} already.")


@synonyms.command()
@_of_pair("name")
def remove(name: str, id_: str, index: str) -> None:
    """Remove NAME, an added name, from the concept ID.

    \b
      canonym synonyms remove "widow maker" I21.02 --index my-index
    """
    open_index(index).synonyms.remove(name, id_)


@synonyms.command()
@_of_pair("mention")
def forbid(mention: str, id_: str, index: str) -> None:
    """Never find the concept ID for MENTION, nor for mentions of the same normal form.

    \b
      canonym synonyms forbid "cold" J00 --index my-index
    """
    if not open_index(index).synonyms.forbid(mention, id_):
        note(f"{id_} is forbidden for {mention!r} already.")


@synonyms.command()
@_of_pair("mention")
def allow(mention: str, id_: str, index: str) -> None:
    """Allow the forbidden concept ID for MENTION again.

    \b
      canonym synonyms allow "cold" J00 --index my-index
    """
    open_index(index).synonyms.allow(mention, id_)


@synonyms.command("list")
@built_index_option
def list_(index: str) -> None:
    """List added names and forbidden concepts, as TSV that `import` reads.

    The columns are kind (synonym or forbidden), name, id, language, label and note, which says
    where a decision comes from that was imported.

    \b
      canonym synonyms list --index my-index > names.tsv
    """
    linker = open_index(index)
    click.echo("\t".join(_COLUMNS))
    notes = linker.pipeline.names.overlay.notes()
    names = [("synonym", name.text, name.concept_id, name.language) for name in linker.synonyms]
    pairs = [("forbidden", mention, id_, "") for mention, id_ in linker.synonyms.forbidden]
    for kind, name, id_, language in (*names, *pairs):
        known = linker.terminology.resolve(id_)
        label = linker.terminology.concept(known).label if known else ""
        cells = (kind, name, id_, language, label, notes.get((name, id_), ""))
        click.echo("\t".join(printable(" ".join(cell.split())) for cell in cells))


@synonyms.command("import")
@click.argument("file", type=click.Path(allow_dash=True))
@built_index_option
@_LANGUAGE
def import_(file: str, index: str, language: str) -> None:
    """Add the names in FILE, all of them or none; - is standard input.

    A line is a name and an id, separated by a tab. With a first line that names the columns, it has
    those that `list` writes; kind, language, label and note may be missing.

    \b
      canonym synonyms import names.tsv --index my-index
    """
    from canonym.terminology.overlay import checked_name

    linker = open_index(index)
    names, pairs = [], []
    notes: dict[tuple[str, str], str] = {}
    for line, kind, name, id_, tag, remark in _read(file):
        try:
            checked = checked_name(linker.terminology, name, id_, tag or language)
        except CanonymError as error:
            raise ReadError(file, str(error), line=line) from error
        if kind == "forbidden":
            pairs.append((checked.text, checked.concept_id))
        else:
            names.append(checked)
        if remark:
            notes[checked.text, checked.concept_id] = remark
    added, forbidden = linker.synonyms.update(names, pairs)
    linker.pipeline.names.overlay.note(notes)
    note(
        f"{added:,} of {len(names):,} names and {forbidden:,} of {len(pairs):,} forbidden pairs "
        "are new."
    )


def _read(file: str) -> Iterator[tuple[int, str, str, str, str, str]]:
    """Yield line number, kind, name, id, language and note."""
    from canonym.io.streams import open_text
    from canonym.io.tables import announced_delimiter

    columns: list[str] | None = None
    delimiter = "\t"
    encoding = "utf-8" if file == "-" else found_encoding(Path(file))
    piped = contextlib.nullcontext(sys.stdin)
    with piped if file == "-" else open_text(file, encoding=encoding) as lines:
        for number, line in enumerate(lines, start=1):
            if number == 1 and (named := announced_delimiter(line)):
                delimiter = named
                continue
            cells = [cell.strip() for cell in line.rstrip("\r\n").split(delimiter)]
            if not any(cells):
                continue
            if columns is None:
                columns = [cell.lower() for cell in cells]
                if {"name", "id"} <= set(columns):
                    continue
                columns = ["name", "id"]
            row = dict(zip(columns, cells, strict=False))
            kind = row.get("kind") or "synonym"
            if kind not in ("synonym", "forbidden"):
                raise ReadError(
                    file, f"the kind is {kind!r}; synonym or forbidden is expected", line=number
                )
            if not row.get("name") or not row.get("id") or len(cells) > len(columns):
                raise ReadError(
                    file,
                    f"{len(columns)} cells are expected ({', '.join(columns)}), separated by tabs, "
                    f"with a name and an id; the line is {line.rstrip()[:60]!r}",
                    line=number,
                )
            rest = row.get("language", ""), row.get("note", "")
            yield number, kind, row["name"], row["id"], *rest
