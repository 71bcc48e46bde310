"""``canonym synonyms``: what an index is taught after it was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from canonym.linker import Linker

__all__ = ["synonyms"]

_INDEX = click.option(
    "-i", "--index", type=click.Path(), required=True, help="A folder made by `canonym index`."
)
_LANGUAGE = click.option(
    "--language", default="en", show_default=True, metavar="TAG", help="Language of the name."
)
_COLUMNS = ("kind", "name", "id", "language", "label")


@click.group()
def synonyms() -> None:
    """Add names to an index, remove them, forbid concepts.

    What is changed counts at once, without training or indexing anything again, for all that have
    the index open. `canonym index --fold` makes it part of the next index.

    \b
      canonym synonyms add "widow maker" I21.02 --index my-index
      canonym synonyms import names.tsv --index my-index
      canonym synonyms forbid "cold" J00 --index my-index
      canonym synonyms list --index my-index > names.tsv
    """


@synonyms.command()
@click.argument("name")
@click.argument("id_", metavar="ID")
@_INDEX
@_LANGUAGE
def add(name: str, id_: str, index: str, language: str) -> None:
    """Make NAME stand for the concept ID.

    \b
      canonym synonyms add "widow maker" I21.02 --index my-index
    """
    from canonym.cli.progress import note

    if not _open(index).add_synonym(name, id_, language=language):
        note(f"{name!r} is a name of {id_} already.")


@synonyms.command()
@click.argument("name")
@click.argument("id_", metavar="ID")
@_INDEX
def remove(name: str, id_: str, index: str) -> None:
    """Remove NAME, which was added, from the concept ID.

    \b
      canonym synonyms remove "widow maker" I21.02 --index my-index
    """
    _open(index).remove_synonym(name, id_)


@synonyms.command()
@click.argument("mention")
@click.argument("id_", metavar="ID")
@_INDEX
def forbid(mention: str, id_: str, index: str) -> None:
    """Keep the concept ID from being found for MENTION, and for all of the same normal form.

    \b
      canonym synonyms forbid "cold" J00 --index my-index
    """
    from canonym.cli.progress import note

    if not _open(index).forbid(mention, id_):
        note(f"{id_} is forbidden for {mention!r} already.")


@synonyms.command()
@click.argument("mention")
@click.argument("id_", metavar="ID")
@_INDEX
def allow(mention: str, id_: str, index: str) -> None:
    """Take back that the concept ID is forbidden for MENTION.

    \b
      canonym synonyms allow "cold" J00 --index my-index
    """
    _open(index).allow(mention, id_)


@synonyms.command("list")
@_INDEX
def list_(index: str) -> None:
    """List what was added and what is forbidden, as TSV that `import` reads.

    The columns are kind (synonym or forbidden), name, id, language and label.

    \b
      canonym synonyms list --index my-index > names.tsv
    """
    from canonym.cli.failures import printable

    linker = _open(index)
    click.echo("\t".join(_COLUMNS))
    for kind, name, id_, language in _listed(linker):
        known = linker.terminology.resolve(id_)
        label = linker.terminology.concept(known).label if known else ""
        cells = (kind, name, id_, language, label)
        click.echo("\t".join(printable(_one_line(cell)) for cell in cells))


@synonyms.command("import")
@click.argument("file", type=click.Path(allow_dash=True))
@_INDEX
@_LANGUAGE
@click.option("-q", "--quiet", is_flag=True, help="No report.")
def import_(file: str, index: str, language: str, quiet: bool) -> None:
    """Add the names in FILE, all of them or none; - is standard input.

    A name and an id a line, separated by a tab; or, under a line that names them, the columns that
    `list` writes, of which kind, language and label may be missing.

    \b
      canonym synonyms import names.tsv --index my-index
    """
    from canonym.cli.progress import note
    from canonym.errors import CanonymError, ReadError

    linker = _open(index)
    names, pairs = [], []
    for line, kind, name, id_, tag in _read(file):
        try:
            checked = linker.checked_name(name, id_, tag or language)
        except CanonymError as error:
            raise ReadError(file, str(error), line=line) from error
        if kind == "forbidden":
            pairs.append((checked.text, checked.concept_id))
        else:
            names.append(checked)
    added, forbidden = linker.teach(names, pairs)
    note(
        f"{added:,} of {len(names):,} names and {forbidden:,} of {len(pairs):,} forbidden pairs "
        "are new.",
        quiet=quiet,
    )


def _open(index: str) -> Linker:
    from canonym.linker import Linker

    return Linker.load(index)


def _listed(linker: Linker) -> Iterator[tuple[str, str, str, str]]:
    for name in linker.synonyms():
        yield "synonym", name.text, name.concept_id, name.language
    for mention, id_ in linker.forbidden():
        yield "forbidden", mention, id_, ""


def _one_line(cell: str) -> str:
    return " ".join(cell.split())


def _read(file: str) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield line number, kind, name, id and language."""
    import contextlib
    import sys

    from canonym.errors import ReadError
    from canonym.io.streams import open_text

    columns: list[str] | None = None
    with contextlib.nullcontext(sys.stdin) if file == "-" else open_text(file) as lines:
        for number, line in enumerate(lines, start=1):
            cells = [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
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
            yield number, kind, row["name"], row["id"], row.get("language", "")
