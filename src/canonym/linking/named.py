"""Indexes by name: the packaged ones, and those in the folder ``indexes`` of the user's data."""

from __future__ import annotations

from pathlib import Path

from canonym.errors import ReadError
from canonym.io.files import MANIFEST, data_folder, restored

DEFAULT = "icd10cm"
"""Name of the index of ICD-10-CM, with everyday names."""

OFFICIAL = "icd10cm-official"
"""Name of the index without them."""

PACKAGED = {DEFAULT: True, OFFICIAL: False}
"""Names of the packaged indexes, and whether they have everyday names."""


def indexes_folder() -> Path:
    """Return the folder of the indexes that have a name; it may be missing."""
    return data_folder() / "indexes"


def index_names() -> list[str]:
    """Return the names of all indexes, in order; a packaged one may not be built yet."""
    folder = indexes_folder()
    places = folder.iterdir() if folder.is_dir() else ()
    named = {
        place.name
        for place in places
        if not place.name.startswith(".") and (place / MANIFEST).is_file()
    }
    return sorted(named | set(PACKAGED))


def is_index_name(index: str | Path) -> bool:
    """Tell whether this is the name of an index; what lies in the current folder is none."""
    return str(index) in index_names() and not restored(Path(index)).exists()


def index_folder(index: str | Path) -> Path:
    """Return the folder of an index, for its path or its name.

    What lies in the current folder under this name wins. The folder of a packaged index may be
    missing, see `canonym.Linker.load`. Paths are returned as they are, whatever is there.

    Raises
    ------
    ReadError
        If there is no such name.
    """
    path = restored(Path(index))
    if path.exists() or path.name != str(index):
        return path
    if is_index_name(index):
        return indexes_folder() / path
    from canonym.terminology.catalogue import read_catalogue

    makes = (
        f"`canonym get {index}` fetches it"
        if str(index) in read_catalogue()
        else "`canonym index TERMINOLOGY -o FOLDER` makes an index"
    )
    raise ReadError(
        index,
        "no such index, neither in the current folder nor by name; the names are "
        f"{', '.join(index_names())}; {makes}",
    )
