"""Files and folders that are whole or absent: atomic writing, manifests, digests.

A saved thing is a folder of plain files with a manifest, ``canonym.json``. It is written to a
hidden sibling, synced and renamed, so a reader sees the old folder or the new one and never half of
one. Nothing is ever unpickled.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import itertools
import json
import logging
import os
import secrets
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import hexdigits
from typing import Any

from canonym.errors import CanonymError, InvalidInput, Mismatch, ReadError

_log = logging.getLogger(__name__)

MANIFEST = "canonym.json"
CHECKSUMS = "checksums.sha256"
"""The SHA-256 of every file of a saved folder, as ``sha256sum --check`` reads it."""

_SEAL = "sha256"  # key in a JSON file
_SMALL = 4096  # bytes: content that is compared whenever a folder is opened
_CLOCKS_APART = 2.0  # seconds that the clocks of files and of processes may differ by
_HINDERED = {errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EFBIG, None}  # NumPy gives no number
_SQLITE_HINDERED = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}


def file_digest(path: str | Path, kind: str = "sha256") -> str:
    """Hash a file, with SHA-256 by default, and return the digest in hexadecimal."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def format_by_suffix(path: str | Path, formats: Mapping[str, tuple[str, ...]]) -> str:
    """Return which of the formats, by name with their suffixes, the suffix of a file stands for."""
    suffix = Path(path).suffix.lower()
    for name, suffixes in formats.items():
        if suffix in suffixes:
            return name
    known = ", ".join(itertools.chain.from_iterable(formats.values()))
    raise InvalidInput(
        f"{path}: the suffix names no format; use one of {known}, or name the format"
    )


def check_regular(path: Path) -> None:
    """Refuse a pipe, a socket or a device, on which reading may wait for ever."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ReadError(path, "is a pipe, a socket or a device: save it as a file first")


def cache_folder() -> Path:
    """Return the folder for things that can be made again (``$XDG_CACHE_HOME/canonym``).

    ``CANONYM_CACHE`` overrides it. The folder is not created.
    """
    return _user_folder("CANONYM_CACHE", os.environ.get("XDG_CACHE_HOME"), ".cache")


def data_folder() -> Path:
    """Return the folder for what people made and would miss (``$XDG_DATA_HOME/canonym``).

    ``CANONYM_DATA_HOME`` overrides it. The folder is not created.
    """
    base = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA")
    return _user_folder("CANONYM_DATA_HOME", base, ".local/share")


def _user_folder(variable: str, base: str | None, usual: str) -> Path:
    named = os.environ.get(variable)
    return Path(named) if named else (Path(base) if base else Path.home() / usual) / "canonym"


def _sibling(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}-{os.getpid()}-{secrets.token_hex(4)}")


def _abandoned(folder: Path, name: str, kind: str) -> Iterator[Path]:
    """Yield the hidden siblings, whose process has ended, of what fits a pattern of names."""
    for sibling in folder.glob(f".{name}.{kind}-*"):
        process, _, token = sibling.name.rpartition(f".{kind}-")[2].partition("-")
        is_sibling = process.isdecimal() and token and set(hexdigits).issuperset(token)
        if is_sibling and not (_alive(int(process)) and _is_of(int(process), sibling)):
            yield sibling


def restored(path: Path) -> Path:
    """Bring back a folder whose writer was killed between moving it away and moving its own in.

    Whoever asks whether a saved folder is there asks it of the path that is returned.
    """
    if not path.exists() and path.parent.is_dir():
        for old in _abandoned(path.parent, glob.escape(path.name), "replaced"):
            with contextlib.suppress(OSError):
                old.rename(path)
                break
    return path


def _alive(process: int) -> bool:
    if os.name == "nt":  # signal 0 would interrupt the process there: leave the sibling alone
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _is_of(process: int, sibling: Path) -> bool:
    """Tell whether a sibling may be of a process that lives: it was not written before that began.

    In a container, the process after a killed one often has the same number.
    """
    with contextlib.suppress(OSError, ValueError, IndexError, AttributeError):
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(ticks) / os.sysconf("SC_CLK_TCK")
        return sibling.lstat().st_mtime > time.time() - age - _CLOCKS_APART
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove the hidden siblings of `path` that a killed process left behind."""
    remove_leftovers_in(path.parent, glob.escape(path.name))


def remove_leftovers_in(folder: Path, name: str = "*") -> None:
    """Remove what killed processes left behind in a folder, of all files that fit a pattern."""
    if not folder.is_dir():
        return
    for kind in ("partial", "replaced"):
        for sibling in _abandoned(folder, name, kind):
            _remove(sibling)


def remove_folder(path: Path) -> None:
    """Remove a folder so that a reader finds it whole or not at all; leave what cannot be."""
    hidden = _sibling(path, "partial")
    with contextlib.suppress(OSError):
        path.rename(hidden)
        _remove(hidden)


def _sync(path: Path) -> None:
    # Directories cannot be opened for syncing everywhere; there the rename alone has to do.
    with contextlib.suppress(PermissionError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def failures_name(path: Path, partial: Path) -> Iterator[None]:
    """Let the errors of a full or read-only disk name `path`, and not what it is called meanwhile.

    An error of another file, such as the one that is read meanwhile, keeps its name.
    """
    try:
        yield
    except CanonymError:  # it names the file, and may be an OSError
        raise
    except OSError as error:
        named = error.filename
        if error.errno in _HINDERED if named is None else str(named).startswith(str(partial)):
            error.filename = str(path)
            del error.filename2  # set to None it would be shown
        raise
    except sqlite3.OperationalError as error:
        number = _SQLITE_HINDERED.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
        if number is None:
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def _exists(path: Path, what: str, *, meanwhile: bool = False) -> InvalidInput:
    since = "was written by another process meanwhile" if meanwhile else "exists already"
    return InvalidInput(f"{path} {since}; choose another {what} or replace it with overwrite=True")


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise InvalidInput(f"{path}: the folder {path.parent} does not exist; create it first")


def check_file(path: Path, *, overwrite: bool) -> None:
    """Refuse a path where `write_file` could not write a file."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; a file name is expected")
    _check_parent(path)
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path} is a device or a pipe; a file name is expected")
    if os.path.lexists(path) and not overwrite:
        raise _exists(path, "file name")


def check_folder(path: Path, *, overwrite: bool) -> None:
    """Refuse a path where `write_folder` could not write a folder.

    Only a folder with a manifest of canonym, or an empty one, is ever replaced.
    """
    _check_parent(path)
    if os.path.lexists(path) and not overwrite:
        raise _exists(path, "folder name")
    if path.is_symlink() and not path.exists():
        raise InvalidInput(f"{path} is a link that leads nowhere; choose another folder name")
    if path.exists() and not _is_replaceable(path):
        raise InvalidInput(
            f"{path} was not written by canonym (no {MANIFEST} in it) and is left alone; "
            "choose another folder name"
        )


def _is_replaceable(path: Path) -> bool:
    try:
        # Listed once: between two looks at the path another process may put its folder there.
        names = os.listdir(path)  # noqa: PTH208
    except FileNotFoundError:  # another process has just moved it away, to replace it
        return True
    except NotADirectoryError:
        return False
    return not names or MANIFEST in names


@contextlib.contextmanager
def write_file(path: str | Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Write a file so that it appears whole or not at all.

    Yields the path of a temporary sibling; on leaving the block it is synced and renamed to `path`.
    If the block raises, the sibling is removed and `path` is unchanged. Without `overwrite`, a file
    that appears meanwhile is left alone, and the block's is refused.
    """
    path = Path(path)
    check_file(path, overwrite=overwrite)
    remove_leftovers(path)
    partial = _sibling(path, "partial")
    with failures_name(path, partial):
        try:
            yield partial
            _sync(partial)
            put_file(partial, path, overwrite=overwrite)
            _sync(path.parent)
        finally:
            _remove(partial)


def put_file(partial: Path, path: Path, *, overwrite: bool) -> None:
    """Rename a file; without `overwrite`, only to a name that no other process has taken."""
    if overwrite:
        partial.replace(path)
        return
    try:
        os.link(partial, path)
    except FileExistsError as error:
        raise _exists(path, "file name", meanwhile=True) from error
    except OSError:  # a file system without links: an empty file takes the name
        try:
            path.open("xb").close()
        except FileExistsError as error:
            raise _exists(path, "file name", meanwhile=True) from error
        partial.replace(path)
    else:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def write_folder(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Write a folder so that it appears whole or not at all, as `write_file` does for a file."""
    path = restored(Path(path))
    check_folder(path, overwrite=overwrite)
    remove_leftovers(path)
    partial = _sibling(path, "partial")
    with failures_name(path, partial):
        try:  # a signal may come right behind the first line
            partial.mkdir()
            yield partial
            for file in sorted(partial.rglob("*")):
                if file.is_file():
                    _sync(file)
            _sync(partial)
            while not _put_folder(partial, path, overwrite=overwrite):
                pass  # another process has put its folder there between the two renames
            _sync(path.parent)
        finally:
            _remove(partial)


def _put_folder(partial: Path, path: Path, *, overwrite: bool) -> bool:
    """Rename a folder, which fails where there is another; tell whether it is in place."""
    old = _sibling(path, "replaced")
    if overwrite and path.exists():
        check_folder(path, overwrite=True)
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            path.rename(old)
    try:
        partial.rename(path)
    except BaseException as error:
        taken = isinstance(error, OSError) and path.exists()
        if taken and not overwrite:
            raise _exists(path, "folder name", meanwhile=True) from error
        if taken:
            _remove(old)
            return False
        with contextlib.suppress(FileNotFoundError):
            old.rename(path)
        raise
    _remove(old)
    return True


def write_manifest(
    folder: Path, *, kind: str, format_number: int, content: dict[str, Any], checksums: bool = True
) -> None:
    """Write ``canonym.json``: kind of folder, its format, and the size of every other file.

    The bytes depend on the arguments and the files alone: no time, no machine, no path. With
    `checksums`, ``checksums.sha256`` is written beside it.
    """
    sizes = {
        file.relative_to(folder).as_posix(): file.stat().st_size
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file != folder / MANIFEST and file.name != CHECKSUMS
    }
    whole = {"kind": kind, "format": format_number, **content, "files": sizes}
    text = json.dumps(whole, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    if checksums:
        lines = [f"{file_digest(folder / name)}  {name}\n" for name in (MANIFEST, *sizes)]
        (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a saved folder; empty where there are none."""
    path = folder / CHECKSUMS
    check_regular(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ReadError(path, f"cannot be read ({error}); build the folder again") from error
    pairs = [line.partition("  ") for line in lines]
    digits = set("0123456789abcdef")
    sound = all(mark and len(part) == 64 and digits.issuperset(part) for part, mark, _ in pairs)
    if not pairs or not sound:
        raise ReadError(
            path, "is damaged: a line is no checksum and file name; build the folder again"
        )
    return {name: digest for digest, _, name in pairs}


def read_manifest(folder: str | Path, *, kind: str, newest: int) -> dict[str, Any]:
    """Read the manifest of a saved folder, and check kind, format and the size of every file.

    `newest` is the newest format number that this version of canonym can read. Where there are
    checksums, the manifest and the small files are compared with them.
    """
    folder = Path(folder)
    content, sizes = read_sizes(folder, kind=kind, newest=newest)
    for name, size in sizes.items():
        problem = wrong_size(f"{folder}/{name}", size)
        if problem:
            raise ReadError(folder / name, f"{problem}; build it again")
    _compare_small(folder, sizes)
    return content


def read_sizes(folder: Path, *, kind: str, newest: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Read a manifest and the sizes of the files in it, which are yet to be compared."""
    manifest = restored(folder) / MANIFEST
    if not folder.exists():
        raise ReadError(folder, f"no such folder; expected a saved {kind}")
    if not manifest.is_file():
        raise ReadError(
            folder, f"not a saved {kind}: there is no {MANIFEST} in it; was the right path given?"
        )
    try:
        content = parse_json(manifest.read_text(encoding="utf-8"))
        found_kind, found_format = content["kind"], int(content["format"])
        sizes = {str(name): int(size) for name, size in content["files"].items()}
        if not isinstance(found_kind, str):
            raise TypeError("the kind is no text")
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ReadError(manifest, f"the manifest is damaged ({error}); build it again") from error
    if found_kind != kind:
        raise Mismatch(f"{folder} holds a {found_kind}, a {kind} is expected")
    if found_format > newest:
        raise Mismatch(
            f"{folder} was written by a newer canonym (format {found_format}, this version reads "
            f"up to {newest}); upgrade canonym or build it again"
        )
    return dict(content), sizes


def wrong_size(file: str | Path, size: int) -> str:
    """Say what is wrong with the size of a file, "" if nothing is."""
    try:
        status = os.stat(file)  # noqa: PTH116  # opening is as quick as this loop
    except (OSError, ValueError):
        return "this file of the saved folder is missing"
    if not stat.S_ISREG(status.st_mode):
        return "this is no file, and one of the saved folder is expected here"
    if status.st_size != size:
        return f"has {status.st_size:,} bytes where {size:,} were written; it is damaged"
    return ""


def load_json(path: Path) -> Any:
    """Parse a small file of JSON, as `parse_json` does."""
    check_regular(path)
    return parse_json(path.read_text(encoding="utf-8"))


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; what is nested too deeply is a ValueError too, as all other damage is."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Add the SHA-256 of its content to what is written as a JSON file that may change."""
    return {**content, _SEAL: _seal(json.loads(json.dumps(content)))}


def open_sealed(text: str) -> Any:
    """Read JSON, and raise ValueError where it is not what its SHA-256 says, if it has one."""
    content = parse_json(text)
    if isinstance(content, dict) and _SEAL in content:
        seal = content.pop(_SEAL)
        if seal != _seal(content):
            raise ValueError("it is not what its checksum says")
    return content


def _seal(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


def _compare_small(folder: Path, sizes: Mapping[str, int]) -> None:
    """Compare the manifest and the small files with their checksums, if there are any."""
    digests = read_checksums(folder)
    if not digests:
        _log.info("%s has no checksums: only the sizes of its files were compared", folder)
        return
    small = [MANIFEST, *(name for name, size in sizes.items() if size <= _SMALL)]
    for name in small:
        with open(f"{folder}/{name}", "rb") as stream:  # noqa: PTH123
            if hashlib.sha256(stream.read()).hexdigest() != digests.get(name):
                what = "the manifest" if name == MANIFEST else "the content"
                problem = f"{what} is damaged: it is not what its checksum says; build it again"
                raise ReadError(folder / name, problem)
    _log.info(
        "%s: of %d larger files only the size was compared, see canonym index --verify",
        folder,
        len(sizes) + 1 - len(small),
    )


def asked_threads() -> int:
    """Return the number of OMP_NUM_THREADS, as numpy and torch do; 0, one a core, by default."""
    number = os.environ.get("OMP_NUM_THREADS", "").strip()
    return int(number) if number.isascii() and number.isdigit() else 0


def n_cores() -> int:
    """Return how many cores this process may use: those it is pinned to, or all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
