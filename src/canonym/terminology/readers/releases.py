"""Release folders: terminologies that come as several tables.

UMLS, RxNorm, SNOMED CT, Athena and MedDRA are folders of delimited files with fixed names. Their
readers share this module: it finds the files, splits the rows and checks filters.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text
from canonym.io.systems import SYSTEMS
from canonym.io.tables import column_places, split_rows

_SUFFIXES = ("", ".gz", ".xz", ".bz2", ".zip")

# Prefixes of canonym by the names of UMLS and OMOP in small letters, where they differ.
_PREFIXES = {name: system.prefix for system in SYSTEMS for name in system.vocabularies.split()}


class Release:
    """The folder of a release and the files found in it.

    `what` names it in messages ("a UMLS folder"), `needs` are the files it must contain, and
    `subfolder` is where some releases keep their tables.
    """

    def __init__(
        self, folder: str | Path, what: str, needs: Sequence[str], *, subfolder: str = ""
    ) -> None:
        self.folder = Path(folder)
        self._what = what
        self._needs = needs
        check_folder(self.folder, what, needs)
        self._files: dict[str, Path] = {}
        folders = [self.folder]
        if subfolder:
            folders += [
                folder
                for folder in sorted(self.folder.iterdir())
                if folder.is_dir() and folder.name.lower() == subfolder.lower()
            ]
        for directory in reversed(folders):
            self._files |= {file.name.lower(): file for file in sorted(directory.iterdir())}

    def find(self, name: str) -> list[Path]:
        """Find a file in any case, compressed or not, or its numbered parts in order.

        Parts of ``MRCONSO.RRF`` are called ``MRCONSO.RRF.aa.gz``, ``MRCONSO.RRF.ab.gz``, ….
        """
        name = name.lower()
        for suffix in _SUFFIXES:
            if name + suffix in self._files:
                return [self._files[name + suffix]]
        parts = {
            key.removeprefix(name + ".").removesuffix(".gz"): file
            for key, file in self._files.items()
            if key.startswith(name + ".")
        }
        return [
            parts[part]
            for part in sorted(parts)
            if len(part) == 2 and part[0] == "a" and part.isalpha()
        ]

    def need(self, **options: str) -> dict[str, list[Path]]:
        """Find the files it must contain, and others, by their names.

        `options` are those that are switched on, each with the file that it needs. A `ReadError`
        lists all files that are missing.
        """
        without = {name: f"{option}=False" for option, name in options.items()}
        needed = dict.fromkeys(self._needs, "") | without
        files = {name: self.find(name) for name in needed}
        check_complete(
            self.folder,
            {name: option for name, option in needed.items() if not files[name]},
            f"{self._what} must contain {' and '.join(self._needs)} (plain or compressed)",
        )
        return files


def check_complete(folder: Path, missing: Mapping[str, str], expected: str) -> None:
    """Raise a `ReadError` that lists the missing files and the options that do without them."""
    if missing:
        without = [
            f"pass {option} to do without {name}" for name, option in missing.items() if option
        ]
        problem = f"{', '.join(missing)} not found: {expected}"
        raise ReadError(folder, "; ".join([problem, *without]))


def check_folder(folder: Path, what: str, needs: Sequence[str]) -> None:
    """Raise a `ReadError` if a release is missing or is not an unpacked folder."""
    if folder.is_file():
        raise ReadError(
            folder,
            f"is a file, but {what} was expected: unpack the release and pass the folder that "
            f"contains {' and '.join(needs)}",
        )
    if not folder.is_dir():
        raise ReadError(folder, f"there is no such folder; {what} was expected")


def headed_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the named columns (at least two) of a tab-separated file without quoting."""
    with open_text(path) as stream:
        table = split_rows(stream, delimiter="\t", quoted=False)
        header = next(table, [])  # lines without cells are no header
        at = column_places(stream, header, names)
        width = len(header)
        for cells in table:
            if len(cells) != width:
                raise stream.error(
                    f"{len(cells)} cells where the header has {width} (separated by tabs): the "
                    "file is truncated or not the original"
                )
            yield tuple([cells[i] for i in at])


def check_known(
    path: Path, option: str, requested: Collection[str] | None, known: Collection[str]
) -> None:
    """Raise if the filter `option` has values that do not occur in a file."""
    unknown = sorted(set(requested or ()) - set(known))
    if unknown:
        has = ", ".join(sorted(known)[:40]) or "nothing"
        more = f" and {len(known) - 40} more" if len(known) > 40 else ""
        raise InvalidInput(
            f"{option}: {', '.join(map(repr, unknown))} does not occur in {path}, which has "
            f"{has}{more}"
        )


def curie(vocabulary: str, code: str) -> str:
    """Write a code of a vocabulary (``SAB`` of UMLS, ``vocabulary_id`` of OMOP) as a short id.

    A code that already has its prefix (``HP:0001658``) is unchanged.
    """
    if ":" in code:
        return code
    return f"{_prefix(vocabulary)}:{code}"


@functools.cache
def _prefix(vocabulary: str) -> str:
    return _PREFIXES.get(vocabulary.lower(), vocabulary.replace(" ", "_"))
