"""Settings of the service, from flags or from ``CANONYM_*`` variables of the environment."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from string import ascii_letters, digits
from typing import Any

from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import LEAST_CONFIDENCE
from canonym.regex import regex

_PREFIX = "CANONYM_"
_YES = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_OF_NAMES = frozenset(f"{ascii_letters}{digits}._-")
_ORIGIN = regex(r"[a-z][a-z0-9+.-]*://[^\s/?#A-Z]+")
_SEPARATORS = {"index": os.pathsep}  # of a variable; others have blanks
_RESERVED = {"v1", "match", "suggest", "flyout", "preview", "view", "extend"}

DEFAULT_NAME = "icd10cm"
"""Name of the packaged terminology, which is served where no index is named."""


@dataclass(frozen=True)
class Settings:
    """What is served, and within what limits.

    Parameters
    ----------
    index : tuple of str
        Folders or names of indexes, each ``INDEX`` or ``NAME=INDEX``; the packaged ICD-10-CM
        without any.
    keys : str
        File of API keys, made by ``canonym serve keys``; empty for none.
    reviews : str
        Database of reviews: a file, or a URL that begins with ``postgresql://``; a file in the
        folder of the user's data where it is empty.
    threads : int
        Batches that one worker links at a time.
    queue : int
        Further batches that wait; a worker answers 503 to those beyond.
    max_batch : int
        Most mentions or queries of a request.
    max_body : int
        Most bytes of a request.
    rate_limit : int
        Most requests a minute and worker, by key or else by address; 0 for no limit.
    match_confidence : float
        From this confidence on a candidate is a match that needs no review, 0 to 1.
    second_look : str
        Who chooses among the first candidates of unsure mentions, see `canonym.LinkOptions`; empty
        for nobody.
    log_mentions : bool
        Whether the log may hold texts of requests.
    public_url : str
        Address at which clients reach the service; that of each request where it is empty.
    allow_origin : tuple of str
        Origins whose pages may ask a service without keys; ``*`` for all, under any host.
    """

    index: tuple[str, ...] = ()
    keys: str = ""
    reviews: str = ""
    threads: int = 2
    queue: int = 32
    max_batch: int = 1000
    max_body: int = 10_000_000
    rate_limit: int = 0
    match_confidence: float = LEAST_CONFIDENCE
    second_look: str = ""
    log_mentions: bool = False
    public_url: str = ""
    allow_origin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        least = {"threads": 1, "queue": 0, "max_batch": 10, "max_body": 1000, "rate_limit": 0}
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise _unfit(name, getattr(self, name), f"at least {bound}")
        if not 0 <= self.match_confidence <= 1:
            probability = "a probability from 0 to 1"
            raise _unfit("match_confidence", self.match_confidence, probability)
        if self.public_url and not re.match(r"https?://[^\s/]", self.public_url):
            address = "an address that begins with http:// or https://"
            raise _unfit("public_url", self.public_url, address)
        for origin in self.allow_origin:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise InvalidInput(
                    f"{_variable('allow_origin')} is {origin!r}; * is expected, or an origin in "
                    "small letters and without a path, such as https://example.org"
                )
        self.folders()

    def folders(self) -> dict[str, Path | None]:
        """Return the folder of every index by its name; None is the packaged one."""
        named: dict[str, Path | None] = {}
        for index in self.index:
            name, folder = split_name(index)
            if name in named:
                raise InvalidInput(
                    f"two indexes are called {name!r}; name one of them: --index NAME={folder}"
                )
            named[name] = folder
        return named or {DEFAULT_NAME: None}

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read ``CANONYM_INDEX`` (several, separated as in ``PATH``), ``CANONYM_KEYS``, ….

        Every setting has a variable; empty ones count as missing.

        Raises
        ------
        InvalidInput
            If a value cannot be used.
        """
        values: dict[str, Any] = {}
        for field in fields(cls):
            text = environment.get(_variable(field.name), "").strip()
            if text:
                values[field.name] = _converted(field.name, text, str(field.type))
        return cls(**values)

    def to_environment(self) -> dict[str, str]:
        """Return the variables that `from_environment` reads, for worker processes."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            _variable(name): _SEPARATORS.get(name, " ").join(value)
            if isinstance(value, tuple)
            else str(value)
            for name, value in values.items()
        }


def split_name(text: str) -> tuple[str, Path]:
    """Return the name and the folder of ``FOLDER`` or ``NAME=FOLDER``."""
    name, equals, folder = text.partition("=")
    if not equals or Path(text).exists():
        name, folder = Path(os.path.realpath(text)).name, text  # links may lead in a circle
    is_sound = name[:1] not in "._-" and _OF_NAMES.issuperset(name)
    if not folder or not is_sound or name in _RESERVED:
        raise InvalidInput(
            f"{text!r} gives no name that an address can hold: {name!r}; name the index with "
            "letters, digits, . _ and -: --index NAME=FOLDER"
        )
    return name, Path(folder)


def _variable(name: str) -> str:
    return _PREFIX + name.upper()


def _unfit(name: str, value: object, expected: str) -> InvalidInput:
    return InvalidInput(f"{_variable(name)} is {value!r}; {expected} is expected")


def _converted(name: str, text: str, kind: str) -> Any:
    if kind.startswith("tuple"):
        return tuple(part for part in text.split(_SEPARATORS.get(name)) if part)
    if kind == "bool":
        if text.lower() not in _YES:
            raise _unfit(name, text, "yes or no")
        return _YES[text.lower()]
    numbers: dict[str, Callable[[str], Any]] = {"int": int, "float": float}
    try:
        return numbers.get(kind, str)(text)
    except ValueError as error:
        raise _unfit(name, text, "a number") from error


def is_local(host: str) -> bool:
    """Tell whether a name or address of a host is that of this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
