"""``canonym info``: a description of a file, of a folder, or of canonym itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from canonym.cli.description import counts, print_facts, print_json, report_option
from canonym.cli.named_indexes import folder_of
from canonym.errors import CanonymError, ReadError
from canonym.io.files import cache_folder, data_folder


@click.command()
@click.argument("path", required=False, type=click.Path())
@report_option("text")
def info(path: str | None, format_: str) -> None:
    """Describe PATH (a terminology, an index, an encoder), or canonym itself.

    Without PATH, all indexes with a name are listed: icd10cm, which is bundled and built at first
    use, those that `canonym get` made, and others in the folder indexes of your data
    (CANONYM_DATA_HOME, or canonym in XDG_DATA_HOME, ~/.local/share). Every command takes a name
    where it takes the folder of an index; what has that name in the current directory wins.

    \b
      canonym info
      canonym info icd10cm
      canonym info doid.db
      canonym info doid-index
    """
    report = print_json if format_ == "json" else print_facts
    report(_installation() if path is None else _describe(path))


def _installation() -> dict[str, Any]:
    import platform

    from canonym import __version__
    from canonym.encoders import SHIPPED
    from canonym.linking.named import index_names, indexes_folder

    return {
        "canonym": __version__,
        "Python": platform.python_version(),
        "extras": {
            extra: "installed" if installed else f"not installed: pip install 'canonym[{extra}]'"
            for extra, installed in sorted(_extras().items())
        },
        **{f"{name} encoder": _shipped(name) for name in SHIPPED},
        "cache": str(cache_folder()),
        "data": str(data_folder()),
        "indexes": [_index(name, indexes_folder() / name) for name in index_names()],
    }


def _extras() -> dict[str, bool]:
    """Tell for each extra whether all packages that it needs are installed."""
    import re
    from importlib.metadata import requires

    installed: dict[str, bool] = {}
    lines = requires("canonym") if _is_installed("canonym") else None
    for line in lines or ():
        needed = re.match(r"""([\w.-]+).*\bextra == ['"]([\w.-]+)['"]""", line)
        if needed and needed[1] != "canonym" and needed[2] not in ("all", "dev"):
            package, extra = needed.groups()
            installed[extra] = installed.get(extra, True) and _is_installed(package)
    return installed


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _shipped(name: str) -> str:
    import canonym
    from canonym.encoders.saved import ENCODER_MANIFEST

    folder = Path(canonym.__file__).parent / "models" / name
    return str(folder) if (folder / ENCODER_MANIFEST).is_file() else f"missing from {folder}"


def _index(name: str, folder: Path) -> dict[str, Any]:
    from canonym.linker import Linker

    if not folder.exists():
        return {"name": name, "terminology": "ICD-10-CM, built at first use"}
    size = sum(file.stat().st_size for file in folder.rglob("*"))
    try:
        terminology = Linker(folder).info()["terminology"]
    except CanonymError as error:
        return {"name": name, "problem": str(error)}
    return {
        "name": name,
        "terminology": " + ".join(terminology["sources"]) or "(not said)",
        "concepts": terminology["n_concepts"],
        "names": terminology["n_names"],
        "size": f"{size / 1e6:,.0f} MB",
    }


def _describe(path: str) -> dict[str, Any]:
    from canonym.encoders.saved import ENCODER_MANIFEST, read_encoder_manifest
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.terminology.sqlite_file import is_sqlite

    folder = folder_of(path)
    if not folder.exists():
        raise ReadError(path, "no such file or folder")
    if is_sqlite(folder):
        with Terminology(path) as opened:
            return {"terminology": path, **counts(opened)}
    if (folder / ENCODER_MANIFEST).is_file():
        kind, settings = read_encoder_manifest(folder)
        return {"encoder": path, "kind": kind, "settings": settings}
    if folder.is_dir():
        facts = Linker.load(folder).info()
        return {"index": path, **{key: facts[key] for key in facts if key != "folder"}}
    raise ReadError(
        path,
        "neither a terminology made by `canonym import`, nor an index, nor an encoder; "
        "`canonym import` reads terminologies of all formats",
    )
