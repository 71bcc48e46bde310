"""The packaged index: ICD-10-CM with everyday names, built once and cached."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.io.files import cache_folder, file_digest
from canonym.linking.build import FORMAT, Progress, build_index
from canonym.linking.settings import SIEVES
from canonym.terminology import Terminology
from canonym.terminology.database import FORMAT as TERMINOLOGY_FORMAT

_log = logging.getLogger(__name__)

_MODELS = Path(__file__).parents[1] / "models"


def default_folder(*, everyday: bool = True) -> Path:
    """Return the place of the cached index of ICD-10-CM, with or without everyday names.

    Its name carries a hash of everything it depends on: the ICD-10-CM package, the everyday names,
    the embedded encoder and the formats. So an upgrade builds a new one. The manifest of the
    encoder has a checksum of its arrays, which need not be read for that.
    """
    return cache_folder() / f"icd10cm-{_fingerprint(everyday)[:16]}"


def build_default(folder: Path, progress: Progress | None = None, *, everyday: bool = True) -> None:
    """Build the index of ICD-10-CM.

    Raises
    ------
    InvalidInput
        If the cache folder cannot be written.
    """
    from canonym.terminology.readers.icd10cm import read_icd10cm

    _log.info("build the index of ICD-10-CM in %s", folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _no_collection(), tempfile.TemporaryDirectory(prefix="canonym-") as scratch:
            if progress is not None:
                progress("reading ICD-10-CM", 0, 1)
            records = read_icd10cm(everyday=everyday)
            with Terminology.build(records, Path(scratch) / "icd10cm.db") as terminology:
                build_index(
                    terminology,
                    folder,
                    encoders=["default"],
                    overwrite=True,
                    progress=progress,
                    settings={},
                )
    except OSError as error:
        raise InvalidInput(
            f"the index of ICD-10-CM could not be kept in {folder.parent} ({error}); set "
            "CANONYM_CACHE to a folder that can be written to"
        ) from error


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Switch garbage collection off while a million lasting objects are made: 12 % faster."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _fingerprint(everyday: bool) -> str:
    whole = hashlib.sha256()
    whole.update(f"{version('simple-icd-10-cm')} {FORMAT} {TERMINOLOGY_FORMAT}\n".encode())
    whole.update(f"{' '.join(sieve.name for sieve in SIEVES)}\n".encode())
    for name in ("default", *(("everyday",) if everyday else ())):
        for file in sorted((_MODELS / name).rglob("*")):
            if file.is_file() and file.suffix not in (".md", ".safetensors"):
                whole.update(f"{file.name} {file_digest(file)}\n".encode())
    return whole.hexdigest()
