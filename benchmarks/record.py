"""What every result carries: commit, machine, versions and digests of the data."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from canonym.io.files import file_digest

__all__ = ["chosen_encoder", "data_folder", "save"]

ROOT = Path(__file__).parents[1]


def data_folder() -> Path:
    """Return the folder of the corpora: ``$CANONYM_DATA``, or ``../shared/data``."""
    folder = Path(os.environ.get("CANONYM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit("this benchmark needs the corpora: set CANONYM_DATA to their folder")
    return folder


def chosen_encoder(description: str | None) -> str:
    """Return what ``--encoder`` says.

    The encoder that comes with canonym has read the training and development parts: what is learned
    from one of them and tried on the other wants one of ``canonym train default --part none``.
    """
    parser = argparse.ArgumentParser(description=(description or "").split("\n\n")[0])
    parser.add_argument("--encoder", required=True, help="has read neither part")
    encoder: str = parser.parse_args().encoder
    return encoder


def save(
    name: str, result: dict[str, Any], *, packages: Sequence[str], data: Sequence[Path] = ()
) -> Path:
    """Write ``results/NAME.json`` and return its path."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    whole = {
        "benchmark": name,
        "commit": commit or "unknown",
        "machine": {
            "processor": f"{platform.machine()}, {os.cpu_count()} cores",
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "versions": {package: version(package) for package in ("canonym", *packages)},
        "data": {path.name: file_digest(path) for path in data},
        **result,
    }
    path = Path(__file__).parent / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return path
