"""Release folders: the files of a terminology that comes as several tables.

UMLS, RxNorm, SNOMED CT, Athena and MedDRA are distributed as folders of delimited files with fixed
names. What their readers share is here: finding the files, splitting the rows, checking filters.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_text
from canonym.terminology.delimited import columns, rows

__all__ = ["Release", "check_folder", "check_known", "curie", "headed_rows"]

_SUFFIXES = ("", ".gz", ".xz", ".bz2", ".zip")

# Vocabularies that canonym names in its own way, by what UMLS and OMOP call them, in small letters.
_PREFIXES = {
    "lnc": "LOINC",
    "mdr": "MEDDRA",
    "meddra": "MEDDRA",
    "mesh": "MESH",
    "msh": "MESH",
    "nci": "NCIT",
    "rxnorm": "RXNORM",
    "snomed": "SNOMEDCT",
    "snomedct_us": "SNOMEDCT",
}


class Release:
    """The folder of a release and the files found in it.

    Parameters
    ----------
    folder : str or Path
        The folder as the caller named it.
    what : str
        What it should be, for messages ("a UMLS folder").
    needs : sequence of str
        Names of the files that such a folder must contain, for messages.
    subfolder : str
        Name of the folder inside, where releases keep their tables there.

    Raises
    ------
    ReadError
        If `folder` is missing or is a file.
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
                each
                for each in sorted(self.folder.iterdir())
                if each.is_dir() and each.name.lower() == subfolder.lower()
            ]
        for each in reversed(folders):
            self._files |= {file.name.lower(): file for file in sorted(each.iterdir())}

    def find(self, name: str) -> list[Path]:
        """Find a file, in any case, compressed or not, or its numbered parts.

        Parameters
        ----------
        name : str
            Such as ``MRCONSO.RRF``; its parts are ``MRCONSO.RRF.aa.gz``, ``MRCONSO.RRF.ab.gz``, ….

        Returns
        -------
        list of Path
            The file, or its parts in order, or nothing.
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

    def need(self, name: str, *, unless: str = "") -> list[Path]:
        """Find a file, or say what the folder must contain.

        Parameters
        ----------
        name : str
            As in `find`.
        unless : str
            The option that does without this file, for the message.

        Raises
        ------
        ReadError
            If the file is not there.
        """
        files = self.find(name)
        if not files:
            without = f"; pass {unless} to do without it" if unless else ""
            raise ReadError(
                self.folder,
                f"{name} not found: {self._what} must contain {' and '.join(self._needs)} "
                f"(plain or compressed){without}",
            )
        return files


def check_folder(folder: Path, what: str, needs: Sequence[str]) -> None:
    """Raise if a release is not an unpacked folder.

    Parameters
    ----------
    folder : Path
        The folder.
    what, needs
        As of `Release`.

    Raises
    ------
    ReadError
        If `folder` is missing or is a file.
    """
    if folder.is_file():
        raise ReadError(
            folder,
            f"is a file, but {what} was expected: unpack the release and pass the folder that "
            f"contains {' and '.join(needs)}",
        )
    if not folder.is_dir():
        raise ReadError(folder, f"there is no such folder; {what} was expected")


def headed_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Read the named columns of a tab-separated file with a header and without quoting.

    Parameters
    ----------
    path : Path
        The file.
    names : sequence of str
        The columns wanted, at least two.

    Yields
    ------
    tuple of str
        One cell for each of `names`.

    Raises
    ------
    ReadError
        If a column is missing or a row has not as many cells as the header.
    """
    with open_text(path) as stream:
        table = rows(stream, delimiter="\t", quoted=False)
        header = next(table)
        at = columns(stream, header, names)
        width = len(header)
        for cells in table:
            if len(cells) != width:
                raise stream.error(
                    f"{len(cells)} cells where the header has {width} (separated by tabs): the "
                    "file is truncated or not the original"
                )
            yield tuple([cells[i] for i in at])


def check_known(
    path: Path, option: str, wanted: Collection[str] | None, known: Collection[str]
) -> None:
    """Raise if a filter asks for values that a file does not have.

    Parameters
    ----------
    path : Path
        The file.
    option : str
        Name of the filter.
    wanted : collection of str, optional
        Values asked for; None asks for nothing in particular.
    known : collection of str
        Values in the file.

    Raises
    ------
    InvalidInput
        If a wanted value is not known.
    """
    unknown = sorted(set(wanted or ()) - set(known))
    if unknown:
        has = ", ".join(sorted(known)[:40]) or "nothing"
        more = f" and {len(known) - 40} more" if len(known) > 40 else ""
        raise InvalidInput(
            f"{option}: {', '.join(map(repr, unknown))} does not occur in {path}, which has "
            f"{has}{more}"
        )


def curie(vocabulary: str, code: str) -> str:
    """Write a code of another vocabulary as canonym writes the ids of that vocabulary.

    Parameters
    ----------
    vocabulary : str
        Its name in UMLS (``SAB``) or OMOP (``vocabulary_id``).
    code : str
        The code; one that already has its prefix (``HP:0001658``) stays as it is.

    Returns
    -------
    str
        The code behind the prefix of its vocabulary.

    Examples
    --------
    >>> curie("MSH", "D009203"), curie("HPO", "HP:0001658"), curie("RxNorm Extension", "OMOP1")
    ('MESH:D009203', 'HP:0001658', 'RxNorm_Extension:OMOP1')
    """
    if ":" in code:
        return code
    return f"{_prefix(vocabulary)}:{code}"


@functools.cache
def _prefix(vocabulary: str) -> str:
    return _PREFIXES.get(vocabulary.lower(), vocabulary.replace(" ", "_"))
