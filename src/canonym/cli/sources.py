"""Terminologies and linkers named on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canonym.cli.device import check_device, encoders_of
from canonym.cli.progress import activity, counter, note, stages
from canonym.errors import InvalidInput, ReadError
from canonym.io.files import restored

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology


def open_terminology(path: str) -> Terminology:
    """Open a terminology file or that of an index, or import any other source temporarily."""
    from canonym.terminology import Terminology
    from canonym.terminology.database import is_sqlite

    of_index = Path(path) / "terminology.db"
    if of_index.with_name("canonym.json").is_file() and of_index.is_file():
        return Terminology(of_index)
    if is_sqlite(Path(path)) or Path(path).suffix == ".db":
        return Terminology(path)
    import tempfile
    import weakref

    from canonym.terminology.formats import import_terminology

    scratch = tempfile.TemporaryDirectory(prefix="canonym-")
    try:
        with counter("Reading", unit="records") as report:
            terminology = import_terminology(
                path, Path(scratch.name) / "terminology.db", progress=report
            )
    except BaseException:
        scratch.cleanup()
        raise
    weakref.finalize(terminology, scratch.cleanup)
    return terminology


def open_linker(
    index: str | None,
    *,
    everyday: bool = True,
    device: str | None = None,
    min_confidence: float | None = None,
) -> Linker:
    """Open the linker that ``--index`` names, and check that ``--device`` goes with it.

    `index` is a folder made by ``canonym index``, a terminology, for which an index is built, or
    None for the linker of ICD-10-CM, with `everyday` names or without. For a `min_confidence` the
    linker learns how sure its links are, unless it has.
    """
    linker = _open_linker(index, everyday=everyday)
    check_device(device, encoders_of(linker), linker)
    if min_confidence is not None and linker.confidence is None:
        with activity("Learning how sure links are"):
            n = int(linker.fit_confidence()["links"])
        note(
            f"The index learned how sure its links are, from {n:,} questions about its own names; "
            "`canonym fit-confidence CORPUS` learns it from annotated mentions."
        )
    return linker


def open_chosen(index: str | None, options: Mapping[str, Any], *, everyday: bool) -> Linker:
    """Open a linker as the options of a command say, see `open_linker`."""
    chosen = {name: options[name] for name in ("device", "min_confidence")}
    return open_linker(index, everyday=everyday, **chosen)


def _open_linker(index: str | None, *, everyday: bool) -> Linker:
    from canonym.linker import Linker

    if index is None:
        with stages() as report:
            return Linker.default(everyday=everyday, progress=report)
    if not everyday:
        raise InvalidInput(
            "--no-everyday is about the names that come with ICD-10-CM; leave it out where --index "
            "names something else"
        )
    path = restored(Path(index))
    if path.is_dir() and (path / "canonym.json").is_file():
        return Linker.load(path)
    if not path.exists():
        raise ReadError(index, "no such index; `canonym index TERMINOLOGY -o FOLDER` makes one")
    content = open_terminology(index)
    note(
        f"Indexing {path.name} for this run; `canonym index {index} -o FOLDER` keeps the index.",
    )
    with stages() as report:
        return Linker.build(content, progress=report)
