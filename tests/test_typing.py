"""Type checkers see the public names and every option of a call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SOUND = """
import canonym
from canonym import Linker, LinkOptions

reveal_type(canonym.Linker)
linker = Linker.default()
options: LinkOptions = {"k": 3, "types": ["drug"], "min_score": None}
reveal_type(linker.link(["x"], **options))
linker.link(["x"], abbreviations={"x": "y"}, k=3, context=False)
Linker.build(linker.terminology, kind="exact", min_length=2)
canonym.link_table(linker, "a.csv", "b.csv", column="dx", one_row=True, workers=2)
"""
UNSOUND = {
    'linker.link(["x"], kk=3)': "kk",
    "linker.link_document(document, min_scor=0.5)": "min_scor",
    'list(linker.link_documents([document], k="3"))': "str",
    "list(linker.link_stream([1]))": "int",
    'canonym.link_table(linker, "a.csv", "b.csv", column="dx", onerow=True)': "onerow",
    "Linker.build(linker.terminology, speling=False)": "speling",
    "Linker.build(linker.terminology, kind=3)": "int",
}


def _mypy(tmp_path: Path, code: str) -> str:
    pytest.importorskip("mypy")
    file = tmp_path / "used.py"
    file.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", str(file)),
            *(
                "--config-file",
                str(ROOT / "pyproject.toml"),
                "--cache-dir",
                str(tmp_path / "cache"),
            ),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    return done.stdout


def test_the_public_names_and_options_are_typed(tmp_path: Path) -> None:
    unsound = "".join(f"{line}  # {number}\n" for number, line in enumerate(UNSOUND))
    code = f"{SOUND}\nfrom canonym import Document\n\ndocument = Document('d', '')\n{unsound}"
    found = _mypy(tmp_path, code)
    revealed = [line for line in found.splitlines() if "Revealed type" in line]
    assert "canonym.linker.Linker" in revealed[0]
    assert "Any" not in revealed[0]
    assert "canonym.linking.links.Links" in revealed[1]
    errors = [line for line in found.splitlines() if ": error:" in line]
    lines = code.splitlines()
    for line, wrong in UNSOUND.items():
        place = next(n for n, text in enumerate(lines, start=1) if text.startswith(line))
        here = [error for error in errors if f"used.py:{place}:" in error]
        assert any(wrong in error for error in here), f"mypy accepts {line}"
    assert len({error.split(":")[1] for error in errors}) == len(UNSOUND)
