"""Terminologies, linkers and systems to evaluate, named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canonym.cli.device import check_device
from canonym.cli.progress import counter, note, stages
from canonym.errors import InvalidInput, ReadError
from canonym.io.files import restored

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.types import Encoder


def open_index(index: str | Path) -> Linker:
    """Open an index by its folder or name; a packaged one is built at first use, with progress."""
    from canonym.linker import Linker

    with stages(unit="") as report:
        return Linker.load(index, progress=report)


def folder_of(index: str | Path) -> Path:
    """Return the folder of an index, for its path or its name, see `open_index`."""
    from canonym.linking.named import PACKAGED, index_folder, is_index_name

    if str(index) in PACKAGED and is_index_name(index):
        return open_index(index).folder
    return index_folder(index)


def open_terminology(path: str) -> Terminology:
    """Open a terminology file or that of an index, or import any other source temporarily."""
    from canonym.linking.named import is_index_name
    from canonym.terminology import Terminology
    from canonym.terminology.formats import import_terminology, is_packaged
    from canonym.terminology.sqlite_file import is_sqlite

    word = Path(path).name == path and not Path(path).suffix and not Path(path).exists()
    if is_index_name(path) or (word and not is_packaged(path)):  # an unknown name is refused
        path = str(folder_of(path))
    of_index = Path(path) / "terminology.db"
    if of_index.with_name("canonym.json").is_file() and of_index.is_file():
        return Terminology(of_index)
    if is_sqlite(Path(path)) or Path(path).suffix == ".db":
        return Terminology(path)
    import tempfile
    import weakref

    scratch = tempfile.TemporaryDirectory(prefix="canonym-")
    try:
        with counter("Reading", unit="records") as report:
            terminology = import_terminology(
                path, Path(scratch.name) / "terminology.db", progress=report
            )
    except BaseException:
        scratch.cleanup()
        raise
    weakref.finalize(terminology, scratch.cleanup)
    return terminology


def open_terminologies(paths: Sequence[str]) -> Terminology:
    """Open one terminology, or several as if they were one."""
    from canonym.terminology import Terminology, read_records

    if len(paths) == 1:
        return open_terminology(paths[0])
    return Terminology.build(chain.from_iterable(map(read_records, paths)))


def open_linker(index: str | None, *, everyday: bool = True, device: str | None = None) -> Linker:
    """Open the linker that ``--index`` names, and check that ``--device`` goes with it.

    `index` is a folder made by ``canonym index``, a name, a terminology, for which an index is
    built, or None for the linker of ICD-10-CM, with `everyday` names or without.
    """
    linker = _open_linker(index, everyday=everyday)
    check_device(device, linker=linker)
    return linker


def _open_linker(index: str | None, *, everyday: bool) -> Linker:
    from canonym.linker import Linker
    from canonym.linking.named import DEFAULT, is_index_name

    if index is None or (not everyday and index == DEFAULT and is_index_name(index)):
        with stages(unit="") as report:
            return Linker.default(everyday=everyday, progress=report)
    if not everyday:
        raise InvalidInput(
            "--no-everyday is about the names that come with ICD-10-CM; leave it out where --index "
            "names something else"
        )
    path = restored(Path(index))
    if not path.exists() and path.name != index:
        raise ReadError(index, "no such index; `canonym index TERMINOLOGY -o FOLDER` makes one")
    if not path.exists() or (path.is_dir() and (path / "canonym.json").is_file()):
        return open_index(index)
    content = open_terminology(index)
    note(f"Indexing {path.name} for this run; `canonym index {index} -o FOLDER` keeps the index.")
    with stages() as report:
        return Linker.build(content, progress=report)


def open_system(
    index: str | None,
    terminologies: Sequence[str],
    encoders: Sequence[str],
    weights: Sequence[float],
    protocol: str,
    device: str | None,
) -> dict[str, Any]:
    """Open an index; or, without one, terminologies and encoders (``"verbatim"`` means none).

    The system is returned by the names of the parameters of
    `canonym.evaluation.run.evaluate_corpus`. Under every protocol but ``raw`` an index gives its
    terminology and, unless others are named, its encoders. Raises `InvalidInput` if encoders,
    weights or the device do not go with each other or with the index.
    """

    if "verbatim" in encoders and len(encoders) > 1:
        raise InvalidInput("verbatim is look-up without an encoder: it goes with no other")
    named: Sequence[str | Encoder] = () if "verbatim" in encoders else encoders or ("default",)
    linker = open_linker(index) if index else None
    terminology = open_terminologies(terminologies) if linker is None else None
    if linker is not None and protocol != "raw" and not encoders:
        if weights:
            raise InvalidInput("--weight goes with --encoder: the index has weights of its own")
        named = _encoders_of(linker)
        weights = [float(encoder["weight"]) for encoder in linker.manifest["encoders"]]
    check_device(device, named, linker if protocol == "raw" else None)
    return {
        "terminology": terminology,
        "linker": linker,
        "encoders": named,
        "weights": weights or None,
    }


def _encoders_of(linker: Linker) -> list[str | Encoder]:
    """Return the encoders of an index; one that is fitted to its names is only named."""
    from canonym.encoders import SHIPPED, load_encoder, marked

    opened: list[str | Encoder] = []
    for number, described in enumerate(linker.manifest["encoders"]):
        name = described["name"]
        if name == "chargrams":
            opened.append(name)
        else:
            encoder = load_encoder(linker.folder / f"encoder-{number}")
            opened.append(marked(encoder, name) if name in SHIPPED else encoder)
    return opened
