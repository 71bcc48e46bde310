"""The packaged index: ICD-10-CM, built at first use, and again where an upgrade changes it."""

from __future__ import annotations

import hashlib
import itertools
import logging
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from canonym.errors import CanonymError, InvalidInput
from canonym.indexes.ivf import silent
from canonym.indexes.phrase_filter import PHRASES
from canonym.io.files import MANIFEST, file_digest, n_cores, restored
from canonym.io.heap import no_collection
from canonym.linking.build import FORMAT, Progress, build_index
from canonym.linking.manifest import read_index_manifest
from canonym.linking.named import PACKAGED, indexes_folder
from canonym.linking.settings import SIEVES
from canonym.terminology import Terminology
from canonym.terminology.overlay import OVERLAY, Overlay, OverlayContent
from canonym.terminology.sqlite_file import FORMAT as TERMINOLOGY_FORMAT

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

MADE_FROM = "made-from"
"""File in the folder of a packaged index: a hash of everything that it depends on."""

_MODELS = Path(__file__).parents[1] / "models"

_OPENING, _READING = "opening ICD-10-CM", "reading ICD-10-CM"
_SHARES = {
    _OPENING: 10,
    _READING: 18,
    "counting": 9,
    "normal forms": 30,
    "subword vectors": 1,
}
"""Percent of the time that each stage takes on two cores, where names are encoded meanwhile.

Measured by `benchmarks/first_index.py`, in three rounds.
"""
_VECTORS_ON_ONE_CORE = 22
_RECORDS = 222_000  # of ICD-10-CM of 2026 with everyday names
_OPENING_SECONDS = 1.5
_TICK = 0.1  # seconds


def packaged_index(name: str, progress: Progress | None = None) -> Path:
    """Return the folder of a packaged index, by a name in `PACKAGED`.

    It is built where it is missing or damaged, and where it was made from another ICD-10-CM, other
    everyday names, another encoder or in other formats. Synonyms, forbidden pairs and their notes
    are carried over. An index of the user's in its place is left alone.

    Raises
    ------
    InvalidInput
        If the data folder cannot be written.
    ReadError
        If the file with the synonyms is damaged.
    """
    folder, everyday = restored(indexes_folder() / name), PACKAGED[name]
    if (folder / MANIFEST).is_file() and not (folder / MADE_FROM).is_file():
        return folder
    made_from = _fingerprint(everyday)
    if not _is_current(folder, made_from):
        whole = _Whole(progress or silent)

        def finish(place: Path) -> None:
            carry_over(folder, place)
            (place / MADE_FROM).write_text(f"{made_from}\n", encoding="ascii")

        there = folder.exists()
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            _build(folder, whole, finish, everyday=everyday, overwrite=there)
        except OSError as error:
            raise InvalidInput(
                f"the index of ICD-10-CM could not be kept in {folder.parent} ({error}); set "
                "CANONYM_DATA_HOME to a folder that can be written to"
            ) from error
        except InvalidInput:
            if there or not _is_current(folder, made_from):
                raise
            _log.info("another process has built %s meanwhile", folder)
    return folder


def _is_current(folder: Path, made_from: str) -> bool:
    """Whether an index is whole, as far as its sizes say, and made from what is installed now."""
    try:
        if (folder / MADE_FROM).read_text(encoding="ascii").strip() != made_from:
            return False
        read_index_manifest(folder, newest=FORMAT)
    except (CanonymError, OSError, ValueError):
        return False
    return True


def _build(
    folder: Path,
    whole: _Whole,
    finish: Callable[[Path], None],
    *,
    everyday: bool,
    overwrite: bool,
) -> None:
    from canonym.terminology.readers.icd10cm import read_icd10cm

    _log.info("build the index of ICD-10-CM in %s", folder)
    records = read_icd10cm(everyday=everyday)
    with no_collection(), tempfile.TemporaryDirectory(prefix="canonym-") as scratch:
        first = whole.waited(_OPENING, lambda: next(records), _OPENING_SECONDS)
        with Terminology.build(
            itertools.chain([first], records),
            Path(scratch) / "icd10cm.db",
            progress=lambda n: whole(_READING, n, max(n, _RECORDS)),
        ) as terminology:
            build_index(
                terminology,
                folder,
                encoders=["default"],
                overwrite=overwrite,
                progress=whole,
                settings={},
                finish=finish,
            )


def carry_over(old: Path, place: Path) -> None:
    """Add to a new index in `place` what was added to the one before, if there is one."""
    overlay = Overlay(old / OVERLAY)
    content = overlay.read()
    if content != OverlayContent():
        _log.info("take over %s synonyms of %s", len(content.synonyms), old)
        new = Overlay(place / OVERLAY)
        new.write(content)
        new.note(overlay.notes())


class _Whole:
    """Reports all stages of a first build as one, in thousandths of the time that they take."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._began = time.monotonic()
        self._stage = ""
        alone = {} if n_cores() > 1 else {"subword vectors": _VECTORS_ON_ONE_CORE}
        shares = {**_SHARES, **alone}
        n = sum(shares.values())
        self._shares = {stage: share / n for stage, share in shares.items()}
        self._begins = dict(
            zip(shares, itertools.accumulate(self._shares.values(), initial=0.0), strict=False)
        )
        self._report(0.0)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take the report of a stage."""
        self._move(stage, done / total if total else 1.0)

    def waited(self, stage: str, work: Callable[[], _T], seconds: float | None = None) -> _T:
        """Do work that reports nothing, and move on as fast as it usually goes.

        Without usual `seconds`, they follow from the pace of the stages before.
        """
        began, before = time.monotonic(), self._begins[stage]
        usual = seconds or (began - self._began) * self._shares[stage] / before or _TICK
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(work)
            while wait([future], timeout=_TICK).not_done:
                self._move(stage, min((time.monotonic() - began) / usual, 0.95))
            done = future.result()
        self._move(stage, 1.0)
        return done

    def _move(self, stage: str, part: float) -> None:
        if stage not in self._shares:
            return
        if stage != self._stage:
            _log.info("%s, after %.1f s", stage, time.monotonic() - self._began)
            self._stage = stage
        self._report(self._begins[stage] + self._shares[stage] * part)

    def _report(self, part: float) -> None:
        self._progress("Preparing ICD-10-CM", round(1000 * part), 1000)


def _fingerprint(everyday: bool) -> str:
    whole = hashlib.sha256()
    whole.update(f"{version('simple-icd-10-cm')} {FORMAT} {TERMINOLOGY_FORMAT}\n".encode())
    whole.update(f"{' '.join(sieve.name for sieve in SIEVES)}\n".encode())
    parts = "names, bare names and pairs; couples, short forms, brackets, contexts"
    whole.update(f"{PHRASES} of {parts}\n".encode())
    for name in ("default", *(("everyday",) if everyday else ())):
        for file in sorted((_MODELS / name).rglob("*")):
            if file.is_file() and file.suffix not in (".md", ".safetensors"):
                whole.update(f"{file.name} {file_digest(file)}\n".encode())
    return whole.hexdigest()
