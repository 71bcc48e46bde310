"""Write a stream of records into a terminology file.

Memory does not grow with the terminology, but for a cache of ids and a byte per concept.
"""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.io.files import write_file
from canonym.terminology.database import BATCH, Database
from canonym.terminology.store import Terminology
from canonym.terminology.writer import Writer
from canonym.types import Record

__all__ = ["build_temporary", "build_terminology"]


def build_terminology(
    records: Iterable[Record],
    path: str | Path,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Terminology:
    """Write records to a terminology file and open it.

    Parameters
    ----------
    records : iterable of Concept, Name, Relation or Xref
        In any order; names keep theirs. A concept's label becomes a name row of its own. Equal
        names of a concept (same text and language) are stored once. A concept met twice is merged.
    path : str or Path
        The file to write. It appears whole or not at all.
    overwrite : bool
        Whether an existing file may be replaced.
    progress : callable, optional
        Called now and then with the number of records read so far, and once at the end.

    Returns
    -------
    Terminology
        Opened for reading; its `remarks` say what was merged or left out.

    Raises
    ------
    InvalidInput
        If a record cannot be used, there are no names at all, or the file cannot be written.
    """
    path = Path(path)
    with write_file(path, overwrite=overwrite) as partial:
        try:
            writer = Writer(partial, path)
        except sqlite3.OperationalError as error:
            raise InvalidInput(f"{path} could not be created ({error})") from error
        try:
            count, source = 0, iter(records)
            while added := writer.add(itertools.islice(source, BATCH)):
                count += added
                if progress is not None:
                    progress(count)
            writer.finish()
        finally:
            writer.connection.close()
    return Terminology(path)


def build_temporary(records: Iterable[Record]) -> Terminology:
    """Write records to a temporary terminology that goes when the object goes."""
    folder = tempfile.mkdtemp(prefix="canonym-")
    try:
        terminology = build_terminology(records, Path(folder) / "terminology.db")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    terminology._finalizer = weakref.finalize(terminology, _discard, terminology._database, folder)
    return terminology


def _discard(database: Database, folder: str) -> None:
    database.close()  # some systems do not remove open files
    shutil.rmtree(folder, ignore_errors=True)
