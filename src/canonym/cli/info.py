"""``canonym info``: a description of a file, of a folder, or of canonym itself."""

from __future__ import annotations

import json
from typing import Any

import click


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the report.",
)
def info(path: str | None, format_: str) -> None:
    """Describe PATH (a terminology, an index, an encoder), or canonym itself.

    \b
      canonym info
      canonym info doid.db
      canonym info doid-index
    """
    from canonym.cli.description import print_facts

    facts = _installation() if path is None else _describe(path)
    if format_ == "json":
        click.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        print_facts(facts)


def _installation() -> dict[str, Any]:
    import platform

    from canonym import __version__
    from canonym.encoders import SHIPPED
    from canonym.io.files import cache_folder

    return {
        "canonym": __version__,
        "Python": platform.python_version(),
        "extras": {
            extra: "installed" if found else f"not installed: pip install 'canonym[{extra}]'"
            for extra, found in sorted(_extras().items())
        },
        **{f"{name} encoder": _shipped(name) for name in SHIPPED},
        "cache": str(cache_folder()),
        "cached indexes": _cached(),
    }


def _extras() -> dict[str, bool]:
    """Tell for each extra whether all packages that it needs are installed."""
    import re
    from importlib.metadata import requires

    found: dict[str, bool] = {}
    lines = requires("canonym") if _is_installed("canonym") else None
    for line in lines or ():
        needed = re.match(r"""([\w.-]+).*\bextra == ['"]([\w.-]+)['"]""", line)
        if needed and needed[1] != "canonym" and needed[2] not in ("all", "dev"):
            package, extra = needed.groups()
            found[extra] = found.get(extra, True) and _is_installed(package)
    return found


def _is_installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _shipped(name: str) -> str:
    from pathlib import Path

    import canonym
    from canonym.encoders.saved import ENCODER_MANIFEST

    folder = Path(canonym.__file__).parent / "models" / name
    return str(folder) if (folder / ENCODER_MANIFEST).is_file() else f"missing from {folder}"


def _cached() -> dict[str, str]:
    from canonym.io.files import MANIFEST, cache_folder

    folder = cache_folder()
    if not folder.is_dir():
        return {}
    return {
        entry.name: f"{sum(file.stat().st_size for file in entry.rglob('*')) / 1e6:,.0f} MB"
        for entry in sorted(folder.iterdir())
        if (entry / MANIFEST).is_file()
    }


def _describe(path: str) -> dict[str, Any]:
    from pathlib import Path

    from canonym.cli.description import counts
    from canonym.encoders.saved import ENCODER_MANIFEST, read_encoder_manifest
    from canonym.errors import ReadError
    from canonym.io.files import restored
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.terminology.database import is_sqlite

    folder = restored(Path(path))
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
