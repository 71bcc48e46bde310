"""Terminologies of the catalogue, fetched, imported and indexed under their names.

The file that was fetched stays in the folder ``downloads`` of the user's data, with its checksum
beside it, so that an index is built again without a network. Such a folder is a mirror for other
machines, served over HTTP or as it is: ``CANONYM_MIRROR`` is its address.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import json
import logging
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote
from urllib.request import url2pathname

from canonym.errors import InvalidInput, ReadError
from canonym.io.downloads import (
    check_address,
    checksum_file,
    copy_download,
    download,
    fetch_checksum,
    verified_digest,
)
from canonym.io.files import MANIFEST, data_folder, restored
from canonym.io.locks import lock
from canonym.io.streams import ZIP_DAMAGE, check_expansion
from canonym.linking.build import FORMAT, build_index
from canonym.linking.default import MADE_FROM, carry_over
from canonym.linking.named import PACKAGED, indexes_folder
from canonym.terminology.catalogue import Entry
from canonym.terminology.formats import import_terminology
from canonym.terminology.sqlite_file import FORMAT as TERMINOLOGY_FORMAT

_log = logging.getLogger(__name__)

_FOLDER = "file:///"
MIRROR = "CANONYM_MIRROR"
"""Variable with the address of a mirror: ``ADDRESS/NAME/FILE`` is a file of the catalogue."""

FETCHING, IMPORTING = "Fetching", "Importing"
"""Stages that are reported before those of building: their units are bytes and records."""


class Progress(Protocol):
    """Called with a stage, how much is done, and of how much, None where that is not known."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


def downloads_folder() -> Path:
    """Return the folder of what was fetched; it may be missing."""
    return data_folder() / "downloads"


def download_of(entry: Entry) -> Path:
    """Return where the file of an entry is, or will be."""
    return downloads_folder() / entry.name / entry.file


def is_fetched(entry: Entry) -> bool:
    """Tell whether the file of an entry is there."""
    path = download_of(entry)
    return bool(entry.address) and checksum_file(path).is_file() and path.is_file()


def is_indexed(entry: Entry) -> bool:
    """Tell whether there is an index of the name of an entry."""
    return (restored(indexes_folder() / entry.name) / MANIFEST).is_file()


def address_of(entry: Entry) -> str:
    """Return where the file of an entry is fetched from: the mirror, if one is set."""
    mirror = os.environ.get(MIRROR, "").strip().rstrip("/")
    if not mirror:
        return entry.address
    try:
        if not mirror.startswith(_FOLDER):
            check_address(mirror)
    except InvalidInput as error:
        raise InvalidInput(f"{MIRROR}: {error}, or a folder: file:///PATH") from error
    return f"{mirror}/{entry.name}/{quote(entry.file)}"


def named_index(
    entry: Entry,
    *,
    source: str | Path | None = None,
    update: bool = False,
    accepted: bool = False,
    progress: Progress = lambda _stage, _done, _total: None,
) -> Path:
    """Fetch, import and index a terminology, as far as that is not done, and return the folder.

    It has the name of the entry. Synonyms and forbidden pairs that were added to an earlier index
    are kept. `source` is a file, or the folder of a release, to take instead of fetching one. With
    `update` it is fetched again. Some licences have to be `accepted` before anything is fetched.

    Raises
    ------
    InvalidInput
        If the terminology has to be fetched by hand, cannot be fetched or read, is not what was
        fetched before, or another process works on it; or if the name is that of another index.
    """
    if not entry.address and source is None:
        raise InvalidInput(_by_hand(entry))
    if entry.name in PACKAGED:
        raise InvalidInput(f"{entry.name} is the name of an index that comes with canonym")
    if not entry.format:
        raise InvalidInput(f"{entry.name} has no format in the catalogue, and cannot be imported")
    folder = restored(indexes_folder() / entry.name)
    if folder.exists() and not (folder / MADE_FROM).is_file():
        raise InvalidInput(
            f"{folder} is an index of yours, which `canonym get` has not made; rename it first"
        )
    with _alone(entry) as scratch:
        if source is None:
            if update or not is_fetched(entry):
                check_licence(entry, accepted=accepted)
                _fetch(entry, progress)
            path, made_from = download_of(entry), _made_from(entry)
        else:
            path, made_from = Path(source), ""
        if made_from and _content(folder / MADE_FROM) == made_from:
            return folder
        try:
            _build(entry, _unpacked(entry, path, scratch), folder, scratch, made_from, progress)
        except ReadError as error:
            if source is not None:
                raise
            raise ReadError(
                error.path,
                f"{error.problem}. The file is as it was fetched: `canonym get {entry.name} "
                "--update` fetches it again",
                line=error.line,
            ) from error
        except OSError as error:
            raise InvalidInput(
                f"the index {entry.name} could not be kept ({error}); make room, or set "
                "CANONYM_DATA_HOME to a folder that can be written to"
            ) from error
    return folder


def check_licence(entry: Entry, *, accepted: bool) -> None:
    """Refuse to fetch what has a licence that must be accepted, and is not."""
    if entry.accept and not accepted:
        raise InvalidInput(
            f"the licence of {entry.name} must be accepted before anything is fetched: "
            f"{entry.licence} ({entry.terms}). Read it, and run the command again with "
            "--accept-licence"
        )


def _by_hand(entry: Entry) -> str:
    lines = [f"nothing is fetched for {entry.name}. {entry.by_hand.strip()}"]
    if entry.take:
        lines.append(f"Then: canonym get {entry.name} --from {entry.take}")
    return "\n".join(lines)


@contextlib.contextmanager
def _alone(entry: Entry) -> Iterator[Path]:
    """Keep other processes from an entry; yield a folder for what is needed meanwhile."""
    folder = downloads_folder() / entry.name
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / ".scratch"
    with (folder / ".lock").open("ab") as stream:
        lock(stream, folder)
        shutil.rmtree(scratch, ignore_errors=True)  # of a process that was killed
        scratch.mkdir()
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _fetch(entry: Entry, progress: Progress) -> None:
    address, path = address_of(entry), download_of(entry)
    checksums = {"the catalogue": entry.digest} if entry.digest else {}
    if address.startswith(_FOLDER):
        local = Path(url2pathname(address.removeprefix("file://")))
        copy_download(local, path, limit=entry.limit, checksums=checksums)
        return
    mirrored = address != entry.address
    place = f"{address}.sha256" if mirrored else entry.checksum
    if place:
        digits = fetch_checksum(place, entry.file, optional=mirrored)
        checksums |= {place: digits} if digits else {}
    download(
        address,
        path,
        limit=entry.limit,
        checksums=checksums,
        progress=lambda done, total: progress(FETCHING, done, total),
    )
    _log.info("%s is in %s", address, path)


def _made_from(entry: Entry) -> str:
    """Return a hash of all that an index depends on; raise where the file was changed."""
    try:
        digest = verified_digest(download_of(entry))
    except ReadError as error:
        raise ReadError(
            error.path,
            f"{error.problem}. `canonym get {entry.name} --update` fetches it again",
        ) from error
    parts = [digest, entry.format, entry.options, entry.unpack, FORMAT, TERMINOLOGY_FORMAT]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _unpacked(entry: Entry, path: Path, scratch: Path) -> Path:
    """Return what the reader takes: the file, a file of the archive, or a folder with several."""
    if not entry.unpack or not zipfile.is_zipfile(path):
        return path
    folder = scratch / "unpacked"
    folder.mkdir()
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [m for m in archive.infolist() if not m.is_dir()]
            members = [m for m in inside if fnmatch.fnmatchcase(m.filename, entry.unpack)]
            check_expansion(
                path, sum(m.file_size for m in members), sum(m.compress_size for m in members)
            )
            for member in members:
                target = folder / Path(member.filename).name
                with archive.open(member) as packed, target.open("wb") as stream:
                    shutil.copyfileobj(packed, stream)
    except ZIP_DAMAGE as error:
        raise ReadError(path, f"is a damaged zip archive ({error})") from error
    if not members:
        names = ", ".join(member.filename for member in inside[:8])
        raise ReadError(path, f"has nothing that fits {entry.unpack!r}; it has {names}")
    return folder if len(members) > 1 else target


def _build(
    entry: Entry,
    source: Path,
    folder: Path,
    scratch: Path,
    made_from: str,
    progress: Progress,
) -> None:
    options: dict[str, Any] = dict(entry.options)
    folder.parent.mkdir(parents=True, exist_ok=True)

    def finish(place: Path) -> None:
        carry_over(folder, place)
        (place / MADE_FROM).write_text(f"{made_from}\n", encoding="ascii")

    with import_terminology(
        source,
        scratch / "terminology.db",
        format=entry.format,
        progress=lambda done: progress(IMPORTING, done, None),
        **options,
    ) as terminology:
        if not terminology.n_concepts:
            raise ReadError(source, f"holds no concept, read as {entry.format}")
        build_index(
            terminology,
            folder,
            encoders=["default"],
            overwrite=folder.exists(),
            progress=progress,
            settings={},
            finish=finish,
        )
