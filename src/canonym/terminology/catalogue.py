"""The catalogue: public terminologies by name, where they are, and how they are read.

It is a file of the package, ``catalogue.toml``, which explains its fields. A file of that name in
the data folder of the user adds entries, and replaces those of the same name.
"""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase, digits
from typing import Any
from urllib.parse import unquote, urlsplit

from canonym.errors import InvalidInput, ReadError
from canonym.io.downloads import DIGESTS, check_address
from canonym.io.files import data_folder
from canonym.io.sizes import parse_size
from canonym.terminology.formats import FORMATS

OWN = "catalogue.toml"
"""Name of the file in the data folder, and of that of the package."""

GROWTH = 4
"""A file may have grown by so much since its size was measured."""

LARGEST = "4GB"
"""Most that is taken of a file whose size is not in the catalogue."""

_OF_NAMES = frozenset(f"{ascii_lowercase}{digits}._-")
_OF_FILES = str.maketrans(dict.fromkeys("_ .,()+-", "a"))  # for `str.isalnum`


@dataclass(frozen=True, slots=True)
class Entry:
    """A terminology of the catalogue; ``catalogue.toml`` explains the fields.

    ``take`` is an example of the path that is taken for a terminology that is fetched by hand.
    """

    name: str
    title: str
    licence: str
    format: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""
    terms: str = ""
    accept: bool = False
    size: str = ""
    unpack: str = ""
    checksum: str = ""
    digest: str = ""
    by_hand: str = ""
    take: str = ""
    source: str = ""
    looked_up: datetime.date | None = None

    @property
    def file(self) -> str:
        """Return the name of the file that is fetched."""
        return unquote(urlsplit(self.address).path).rpartition("/")[2]

    @property
    def limit(self) -> int:
        """Return the most bytes that are taken."""
        return GROWTH * parse_size(self.size) if self.size else parse_size(LARGEST)


def own_catalogue() -> Path:
    """Return the catalogue in the data folder of the user; it may be missing."""
    return data_folder() / OWN


def read_catalogue() -> dict[str, Entry]:
    """Return the entries by name: those of the package, and those of the user.

    Raises `ReadError` if the file of the user is no TOML, or an entry lacks a field, has one that
    there is not, or a value that cannot be used.
    """
    entries = _read(Path(__file__).with_name(OWN))
    own = own_catalogue()
    return {**entries, **_read(own)} if own.is_file() else entries


def catalogue_entry(name: str) -> Entry:
    """Return an entry of the catalogue; raise `InvalidInput` if there is none of that name."""
    entries = read_catalogue()
    if name not in entries:
        near = difflib.get_close_matches(name.lower(), entries, 1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise InvalidInput(
            f"{name!r} is not in the catalogue{meant}; its names are {', '.join(sorted(entries))}. "
            f"Others come from your own catalogue, {own_catalogue()}"
        )
    return entries[name]


def _read(path: Path) -> dict[str, Entry]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(path, f"is no catalogue in TOML ({error})") from error
    return {name: _entry(path, name, fields) for name, fields in content.items()}


def _entry(path: Path, name: str, fields: Any) -> Entry:
    known = [known.name for known in dataclasses.fields(Entry) if known.name != "name"]
    try:
        if name[:1] in "._-" or not _OF_NAMES.issuperset(name):
            raise InvalidInput("a name has small letters, digits, dots and hyphens alone")
        if not isinstance(fields, dict):
            raise InvalidInput(f"is {fields!r}; expected a table [{name}] of fields")
        for key, value in fields.items():
            if key not in known:
                raise InvalidInput(f"{key} is no field; the fields are {', '.join(known)}")
            _check_kind(key, value)
        missing = [key for key in ("title", "licence") if not fields.get(key)]
        if missing:
            raise InvalidInput(f"lacks {' and '.join(missing)}")
        entry = Entry(name=name, **fields)
        _check_values(entry)
    except InvalidInput as error:
        raise ReadError(path, f"entry {name}: {error}") from error
    return entry


def _check_kind(key: str, value: Any) -> None:
    kinds = {"options": dict, "accept": bool, "looked_up": datetime.date}
    kind = kinds.get(key, str)
    if not isinstance(value, kind):
        words = {dict: "a table", bool: "true or false", datetime.date: "a date"}
        raise InvalidInput(f"{key} is {value!r}; expected {words.get(kind, 'a text')}")


def _check_values(entry: Entry) -> None:
    if bool(entry.address) == bool(entry.by_hand):
        raise InvalidInput("needs either an address or what to do by_hand")
    if entry.format not in {"", *FORMATS}:
        raise InvalidInput(f"format is {entry.format!r}; expected one of {', '.join(FORMATS)}")
    known = FORMATS[entry.format].options if entry.format else ()
    for option in entry.options:
        if option not in known:
            raise InvalidInput(
                f"{option} is no option of the format {entry.format!r}, which has "
                f"{', '.join(known) or 'none'}"
            )
    if entry.digest and len(entry.digest) not in DIGESTS:
        raise InvalidInput(f"digest is {entry.digest!r}; expected {' or '.join(DIGESTS.values())}")
    for address in filter(None, (entry.address, entry.checksum)):
        check_address(address)
    is_file = entry.file.translate(_OF_FILES).isalnum() and entry.file[0] not in " .,)+-"
    if entry.address and not (entry.format and is_file):
        raise InvalidInput("needs a format, and an address that ends in the name of a file")
    if entry.size:
        parse_size(entry.size, "size")
