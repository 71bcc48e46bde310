"""Reading any format: named, or recognised by its content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput
from canonym.terminology.build import build_temporary, build_terminology
from canonym.terminology.catalogue import FORMATS, Format
from canonym.terminology.recognition import is_sqlite, recognise_file, recognise_folder
from canonym.terminology.replaced import read_replaced, with_replaced
from canonym.terminology.store import Terminology
from canonym.types import Record

__all__ = [
    "FORMATS",
    "Format",
    "import_terminology",
    "read_records",
    "read_terminology",
    "recognise",
]

_PACKAGED = "icd10cm"
_TABLE_OPTIONS = ("id_column", "name_column", "label_column", "header", "delimiter")


def recognise(source: str | Path | None) -> str:
    """Tell the format of a source by its content.

    Parameters
    ----------
    source : str or Path, optional
        A file, which may be compressed, or the folder of a release. None and the word ``icd10cm``
        mean the packaged ICD-10-CM.

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    InvalidInput
        If the content is of no known format.
    ReadError
        If the file is missing or cannot be read.
    """
    return _recognise(source, ())


def _recognise(source: str | Path | None, options: Collection[str]) -> str:
    if source is None or _is_packaged(source):
        return _PACKAGED
    path = Path(source)
    if path.is_dir():
        found, looked_at = recognise_folder(path)
    else:
        found, looked_at = recognise_file(path)
    if found is None and path.is_file() and any(option in _TABLE_OPTIONS for option in options):
        found = "table"  # the caller says which columns it has
    if found is None:
        known = "; ".join(f"{each.name} ({each.title})" for each in FORMATS.values())
        raise InvalidInput(
            f"{path}: the format is not recognised ({looked_at}). Name it with format=... or "
            f"--format: {known}"
        )
    return found


def _is_packaged(source: str | Path) -> bool:
    word = str(source).lower().replace("-", "").replace("_", "")
    return word == _PACKAGED and not Path(source).exists()


def read_records(
    source: str | Path | None,
    /,
    *,
    format: str | None = None,
    replaced: str | Path | None = None,
    **options: Any,
) -> Iterator[Record]:
    """Read a terminology of any format as a stream of records.

    Parameters
    ----------
    source : str or Path, optional
        As of `recognise`.
    format : str, optional
        A key of `FORMATS`; recognised by the content where it is not given.
    replaced : str or Path, optional
        A table of ids that were given up and of those in their place, see `read_replaced`. The
        option ``prefix`` is put before them too.
    **options
        Options of that format's reader. Where one takes several strings, one alone will do.

    Returns
    -------
    iterator of Concept, Name, Relation or Xref
        What the source holds, read while it is asked for.

    Raises
    ------
    InvalidInput
        If the format is unknown or not recognised, or has no such option; while reading, if the
        content is not what it should be.

    Examples
    --------
    >>> from itertools import islice
    >>> [record.id for record in islice(read_records("icd10cm"), 1)]
    ['ICD10CM:1']
    """
    if replaced is not None:
        successors = read_replaced(replaced, prefix=options.get("prefix", ""))
        return with_replaced(read_records(source, format=format, **options), successors)
    if format is None:
        format = _recognise(source, options)
    found = FORMATS.get(format)
    if found is None:
        raise InvalidInput(f"format={format!r} is unknown; use one of {', '.join(FORMATS)}")
    known = found.options
    for name, value in options.items():
        if name not in known:
            raise InvalidInput(
                f"the format {found.name!r} has no option {name!r}; its options are "
                f"{', '.join(known)}"
            )
        several = str(known[name].annotation)
        if isinstance(value, str) and ("Collection[str]" in several or "Sequence[str]" in several):
            options[name] = (value,)
    if found.name == _PACKAGED:
        return found.load()(None if source is None or _is_packaged(source) else source, **options)
    if source is None:
        raise InvalidInput(f"the format {found.name!r} needs a source: {found.expects}")
    return found.load()(source, **options)


def import_terminology(
    source: str | Path | None,
    output: str | Path,
    /,
    *,
    format: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Terminology:
    """Import a terminology of any format into a file that opens at once.

    Parameters
    ----------
    source, format, **options
        As of `read_records`.
    output : str or Path
        The file to write, by custom ``*.db``. It appears whole or not at all.
    overwrite : bool
        Whether an existing file may be replaced.
    progress : callable, optional
        Called now and then with the number of records read so far.

    Returns
    -------
    Terminology
        Opened for reading.

    Raises
    ------
    InvalidInput
        If the source cannot be read (`ReadError`), or the output not be written.
    """
    if source is not None and _same(Path(source), Path(output)):
        raise InvalidInput(f"{output} is the source itself; choose another file to write")
    records = read_records(source, format=format, **options)
    return build_terminology(records, output, overwrite=overwrite, progress=progress)


def _same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def read_terminology(
    source: str | Path | None, /, *, format: str | None = None, **options: Any
) -> Terminology:
    """Read a terminology of any format; its file is temporary and goes when the object goes.

    A file that `import_terminology` wrote is opened as it is.

    Parameters
    ----------
    source, format, **options
        As of `read_records`.

    Returns
    -------
    Terminology
        Opened for reading.

    Raises
    ------
    InvalidInput
        If the source cannot be read.
    """
    if source is not None and format is None and not options and is_sqlite(Path(source)):
        return Terminology(source)
    return build_temporary(read_records(source, format=format, **options))
