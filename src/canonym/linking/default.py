"""The linker a newcomer gets: ICD-10-CM with everyday names, built once and kept."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from canonym.errors import CanonymError, InvalidInput
from canonym.io.files import cache_folder, file_digest
from canonym.linker import Linker
from canonym.linking.build import FORMAT, Progress
from canonym.terminology import Terminology
from canonym.terminology.database import FORMAT as TERMINOLOGY_FORMAT
from canonym.terminology.readers.everyday import read_everyday
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.types import Concept, Record

__all__ = ["open_default"]

_MODELS = Path(__file__).parents[1] / "models"


def open_default(progress: Progress | None = None, *, everyday: bool = True) -> Linker:
    """Open the linker of ICD-10-CM, building it first where it is not in the cache.

    Parameters
    ----------
    progress : Progress, optional
        Told how far it is built.
    everyday : bool
        Whether it knows everyday names, see `canonym.terminology.readers.everyday`.

    Raises
    ------
    InvalidInput
        If the cache folder cannot be written.

    Notes
    -----
    The name of the cached folder carries a hash of everything it depends on: the ICD-10-CM package,
    the everyday names, the embedded encoder and the formats. So an upgrade builds anew and nothing
    stale is opened.
    """
    folder = cache_folder() / f"icd10cm-{_fingerprint(everyday)[:16]}"
    if folder.exists():
        try:
            return Linker.load(folder)
        except CanonymError:
            pass  # damaged by something else than us: it can always be made again
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _no_collection(), tempfile.TemporaryDirectory(prefix="canonym-") as scratch:
            if progress is not None:
                progress("reading ICD-10-CM", 0, 1)
            terminology = Terminology.build(_records(everyday), Path(scratch) / "icd10cm.db")
            with terminology:
                return Linker.build(terminology, folder=folder, overwrite=True, progress=progress)
    except OSError as error:
        raise InvalidInput(
            f"the index of ICD-10-CM could not be kept in {folder.parent} ({error}); set "
            "CANONYM_CACHE to a folder that can be written to"
        ) from error


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep Python from looking for garbage among a million objects that all stay: 12 % faster."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _records(everyday: bool) -> Iterator[Record]:
    known = set()
    for record in read_icd10cm():
        if isinstance(record, Concept):
            known.add(record.id)
        yield record
    if everyday:
        yield from read_everyday(known=known)


def _fingerprint(everyday: bool) -> str:
    whole = hashlib.sha256()
    whole.update(f"{version('simple-icd-10-cm')} {FORMAT} {TERMINOLOGY_FORMAT}\n".encode())
    for name in ("default", *(("everyday",) if everyday else ())):
        for file in sorted((_MODELS / name).rglob("*")):
            if file.is_file() and file.suffix != ".md":
                whole.update(f"{file.name} {file_digest(file)}\n".encode())
    return whole.hexdigest()
