"""Places that are written to, checked before anything takes time.

No output is an input, lies in a folder of canonym, or replaces anything unless that is allowed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import IO

from canonym.errors import InvalidInput, check_types
from canonym.io.files import MANIFEST, check_file, check_folder, restored


def check_paths(source: object, **outputs: object) -> None:
    """Refuse arguments that are no paths."""
    check_types(str | Path, "a path; canonym.integrations links data frames", source=source)
    check_types(str | Path, "a path", **outputs)
    for name, path in {"source": source, **outputs}.items():
        if not str(path) or "\0" in str(path):
            raise InvalidInput(f"{name} is {str(path)!r}; expected a path")


def check_outputs(
    outputs: Mapping[str, str | None],
    inputs: Iterable[str | None] = (),
    *,
    overwrite: bool,
    folder: bool = False,
    touched: Iterable[Path] = (),
) -> None:
    """Refuse outputs, by what they are called, that would destroy something or cannot be written.

    `touched` holds files that are written beside the outputs. An input that does not exist is
    none: it is the name of an encoder, say. Raises `InvalidInput`, and `OSError` where the machine
    does not let this process write.
    """
    places = {option: restored(Path(path)) for option, path in outputs.items() if path is not None}
    existing = [Path(path) for path in inputs if path and Path(path).exists()]
    check_distinct(outputs)
    for option, place in places.items():
        _check_inputs(f"{option} {place}", place, existing)
        _check_surroundings(f"{option} {place}", place)
        _check_free(option, place, overwrite=overwrite, folder=folder)
    for place in touched:
        _check_inputs(f"{place}, which is written meanwhile,", place, existing)


def check_standard_output(inputs: Iterable[str | None]) -> None:
    """Refuse standard output that goes to an input: what is written would be read again."""
    target = _status(sys.stdout)
    if target is None or not stat.S_ISREG(target.st_mode):
        return
    for path in filter(None, inputs):
        source = _status(sys.stdin) if path == "-" else _status(path)
        if source is not None and os.path.samestat(source, target):
            what = "standard input" if path == "-" else f"the input {path}"
            raise InvalidInput(f"standard output goes to {what}; choose another file")


def _status(place: str | IO[str]) -> os.stat_result | None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return Path(place).stat() if isinstance(place, str) else os.fstat(place.fileno())
    return None


def check_distinct(outputs: Mapping[str, str | None]) -> None:
    """Refuse two options that name one output."""
    places = [(option, Path(path)) for option, path in outputs.items() if path is not None]
    for (first, place), (second, also) in combinations(places, 2):
        if _same(place, also):
            raise InvalidInput(f"{first} and {second} are both {place}; two files are expected")


def _check_inputs(what: str, place: Path, inputs: Iterable[Path]) -> None:
    real = _real(place)
    for path in inputs:
        if _same(place, path):
            raise InvalidInput(f"{what} is an input as well; choose another name for the output")
        if real in _real(path).parents:
            raise InvalidInput(f"{what} holds the input {path}; choose another name for the output")
        if _real(path) in real.parents and place.exists():
            raise InvalidInput(f"{what} is a file of the input {path}; choose another name")
    if _is_standard_input(place):
        raise InvalidInput(f"{what} is standard input as well; choose another name for the output")


def _real(place: Path) -> Path:
    """Return a path without links; links in a circle, on which `Path.resolve` fails, stay."""
    return Path(os.path.realpath(place))


def _check_surroundings(what: str, place: Path) -> None:
    parents = [*(_real(place.absolute().parent) / place.name).parents]
    if place.is_symlink():
        parents += _real(place).parents
    for parent in parents:
        if (parent / MANIFEST).is_file():
            raise InvalidInput(
                f"{what} lies in {parent}, a folder that canonym wrote; choose a place outside it"
            )


def _check_free(option: str, place: Path, *, overwrite: bool, folder: bool) -> None:
    if os.path.lexists(place) and not overwrite and (folder or place.is_file()):
        raise InvalidInput(
            f"{option} {place} exists already; choose another name, or replace it with "
            "overwrite=True"
        )
    check = check_folder if folder else check_file
    check(place, overwrite=overwrite)
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def _same(first: Path, second: Path) -> bool:
    """Tell whether two paths are one file, or will be; some file systems fold case."""
    if first.exists() and second.exists():
        return first.samefile(second)
    if first.exists() or second.exists():
        return False
    real, also = _real(first), _real(second)
    return _same_parent(real, also) and real.name.casefold() == also.name.casefold()


def _same_parent(first: Path, second: Path) -> bool:
    if first.parent.exists() and second.parent.exists():
        return first.parent.samefile(second.parent)
    return first.parent == second.parent


def _is_standard_input(place: Path) -> bool:
    source = _status(sys.stdin)
    return source is not None and place.is_file() and os.path.samestat(place.stat(), source)
