"""Every file of an index, or of a saved encoder, compared with what was written."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from canonym.errors import CanonymError
from canonym.io.files import (
    CHECKSUMS,
    MANIFEST,
    file_digest,
    read_checksums,
    read_sizes,
    wrong_size,
)
from canonym.linking.build import FORMAT
from canonym.linking.default import MADE_FROM
from canonym.linking.judge import JUDGE, Judge
from canonym.linking.manifest import check_index_manifest
from canonym.terminology import Terminology
from canonym.terminology.overlay import MARK, OVERLAY, Overlay
from canonym.terminology.writer import content_digest

_log = logging.getLogger(__name__)

_TERMINOLOGY = "terminology.db"
_BESIDE = (JUDGE, OVERLAY, f"{OVERLAY}-journal", f"{OVERLAY}{MARK}", MADE_FROM)


class Finding(NamedTuple):
    """A file of an index that is damaged, missing or unknown: its path in the folder, and how."""

    file: str
    problem: str


class Verified(NamedTuple):
    """What was found; `checksums` is false for a folder that lacks them."""

    findings: tuple[Finding, ...]
    n_files: int
    checksums: bool


def verify_index(folder: str | Path) -> Verified:
    """Compare every file of an index with its checksum, and find files that do not belong there.

    The terminology is compared with its own digest too. The judge and what was added may change
    after building: they are read, and checked by themselves.

    Parameters
    ----------
    folder : str or Path
        Made by ``canonym index`` or `canonym.Linker.build`.

    Returns
    -------
    Verified
        Every damaged, missing or unknown file.

    Raises
    ------
    ReadError
        If the folder or its manifest is missing, or the manifest cannot be read at all.
    Mismatch
        If it is no index, or was written by a newer canonym.
    """
    folder = Path(folder)
    content, sizes = read_sizes(folder, kind="linker", newest=FORMAT)
    findings, digests = _compare(folder, sizes)
    damaged = {finding.file for finding in findings}
    with _noted(MANIFEST, findings):
        check_index_manifest(folder / MANIFEST, content)
        if _TERMINOLOGY in sizes and not damaged & {MANIFEST, _TERMINOLOGY}:
            findings += _check_terminology(folder, content["terminology"]["digest"])
    with _noted(JUDGE, findings):
        Judge.load(folder / JUDGE)
    with _noted(OVERLAY, findings):
        Overlay(folder / OVERLAY).check()
    known = {MANIFEST, *sizes, *_BESIDE}
    findings += [Finding(name, "is no file of this index") for name in _others(folder, known)]
    return Verified(tuple(findings), len(sizes) + 1, bool(digests) or CHECKSUMS in damaged)


def verify_encoder(folder: str | Path) -> Verified:
    """Compare every file of a saved encoder with its checksum; see `verify_index`."""
    folder = Path(folder)
    _, sizes = read_sizes(folder, kind="encoder", newest=1)
    findings, digests = _compare(folder, sizes)
    checksums = bool(digests) or any(finding.file == CHECKSUMS for finding in findings)
    others = _others(folder, {MANIFEST, *sizes})
    findings += [Finding(name, "is no file of this encoder") for name in others]
    return Verified(tuple(findings), len(sizes) + 1, checksums)


def _compare(folder: Path, sizes: Mapping[str, int]) -> tuple[list[Finding], dict[str, str]]:
    """Compare the files of a manifest with the checksums beside it, and return these too."""
    findings: list[Finding] = []
    digests: dict[str, str] = {}
    with _noted(CHECKSUMS, findings):
        digests = read_checksums(folder)
    for name in (MANIFEST, *sizes):
        problem = _problem(folder / name, sizes.get(name), digests, name)
        if problem:
            findings.append(Finding(name, problem))
    return findings, digests


def _problem(file: Path, size: int | None, digests: dict[str, str], name: str) -> str:
    """Say what is wrong with a file, "" if nothing is."""
    problem = wrong_size(file, size) if size is not None else ""
    if problem or not digests:
        return problem
    if name not in digests:
        return "has no checksum"
    _log.debug("compare %s", file)
    try:
        same = file_digest(file) == digests[name]
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if same else "is damaged: its content is not what its checksum says"


def _check_terminology(folder: Path, digest: str) -> Iterator[Finding]:
    """Compare the content of the terminology with the digest that the index was built for."""
    path = folder / _TERMINOLOGY
    try:
        Terminology(path).close()
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            same = content_digest(connection) == digest
    except (CanonymError, sqlite3.Error, TypeError, AttributeError, ValueError) as error:
        yield Finding(_TERMINOLOGY, f"is damaged ({error})")
        return
    if not same:
        yield Finding(_TERMINOLOGY, "holds something else than what the index was built for")


@contextlib.contextmanager
def _noted(name: str, findings: list[Finding]) -> Iterator[None]:
    """Turn an error about a file into a finding."""
    try:
        yield
    except (CanonymError, OSError) as error:
        findings.append(Finding(name, getattr(error, "problem", str(error))))


def _others(folder: Path, known: set[str]) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if not file.is_dir() and file.name != CHECKSUMS and name not in known:
            yield name
