"""Results of benchmarks: stamped with commit, machine, versions and data; one row a line.

Importing it finds `models` and `tests` in the checkout, from any folder.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from canonym.io.files import file_digest

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
sys.path.append(str(ROOT))

Row = TypeVar("Row", bound=Mapping[str, Any])


def data_folder() -> Path:
    """Return the folder of the corpora: ``$CANONYM_DATA``, or ``../shared/data``."""
    folder = Path(os.environ.get("CANONYM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit("this benchmark needs the corpora: set CANONYM_DATA to their folder")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table with tabs between its cells, plain or compressed."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def settings_of(script: str) -> dict[str, Any]:
    """Return the tables of the TOML file that stands beside a script."""
    return tomllib.loads(Path(script).with_suffix(".toml").read_text(encoding="utf-8"))


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of arguments whose help is the docstring of a script."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def unread_encoder(doc: str | None) -> str:
    """Return the value of ``--encoder``: an encoder that has read neither part of a corpus.

    The bundled encoder has read the training and development parts. Make another one with
    ``python -m models.make_default --part none``.
    """
    arguments = parser(doc)
    arguments.add_argument("--encoder", required=True, help="has read neither part")
    encoder: str = arguments.parse_args().encoder
    return encoder


def stamps(packages: Sequence[str] = ()) -> dict[str, Any]:
    """Return commit, machine and versions."""
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    return {
        "commit": commit or "unknown",
        "machine": {
            "processor": f"{platform.machine()}, {os.cpu_count()} cores",
            **_kernels(),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "versions": {package: version(package) for package in ("canonym", *packages)},
    }


def _kernels() -> dict[str, str]:
    """Return the model of the processor and what decides which kernels it runs, as lscpu does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    facts = {name.strip(): value for name, _, value in (line.partition(":") for line in lines)}
    flags = facts.get("flags", "").split()
    wide = [flag for flag in ("avx2", "avx512f", "avx512_vnni", "amx_int8") if flag in flags]
    return {"model": facts.get("model name", "").strip(), "vectors": " ".join(wide)}


def result_text(header: Mapping[str, Any], content: Mapping[str, Any]) -> str:
    """Return a result as JSON: the header is the first line, each row of a table a line."""
    lines = [_json(header)[:-1]]
    for name, value in content.items():
        lines[-1] += ","
        if isinstance(value, Mapping):
            left, right = "{}"
            entries = [(f"{_json(key)}: ", entry) for key, entry in value.items()]
        else:
            left, right = "[]"
            entries = [("", entry) for entry in value] if isinstance(value, list) else []
        if any(isinstance(entry, Mapping | list) for _, entry in entries):
            rows = [f"{key}{_json(entry)}" for key, entry in entries]
            lines += [f"{_json(name)}: {left}", *(f"{row}," for row in rows[:-1]), rows[-1], right]
        else:
            lines.append(f"{_json(name)}: {_json(value)}")
    return "\n".join(lines) + "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def save(
    name: str, result: Mapping[str, Any], *, packages: Sequence[str], data: Sequence[Path] = ()
) -> Path:
    """Write ``results/NAME.json`` and return its path."""
    digests = {path.name: file_digest(path) for path in data}
    header = {"benchmark": name, **stamps(packages), "data": digests}
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(result_text(header, result), encoding="utf-8")
    return path


def save_rows(
    name: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    packages: Sequence[str] = ("numpy",),
    data: Sequence[Path] = (),
) -> Path:
    """Print rows as they come, and write them to ``results/NAME.json``."""
    return save(name, {"rows": printed(rows)}, packages=packages, data=data)


def printed(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come, and return them."""
    table = []
    for row in rows:
        print(*row.values(), flush=True)
        table.append(row)
    return table
