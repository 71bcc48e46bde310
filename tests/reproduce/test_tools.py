"""Commands beside the tables: listed, described, and named to who types them as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym.cli import _GONE
from canonym.cli import main as canonym
from reproduce.command import main
from reproduce.tools import TOOLS, tool

FOLDER = Path(__file__).parents[2] / "benchmarks" / "reproduce"


@pytest.mark.parametrize("name", TOOLS)
def test_each_says_what_it_does_and_how(name: str) -> None:
    shown = CliRunner().invoke(tool(name), ["--help"])
    assert shown.exit_code == 0, shown.output
    assert f"python benchmarks/reproduce {name}" in shown.output


def test_the_list_has_them_all() -> None:
    shown = " ".join(CliRunner().invoke(main, ["--list"]).output.split())
    assert " biosyn-published " in shown
    for name in TOOLS:
        assert f" {name} {tool(name).get_short_help_str(100)}" in shown


def test_they_run_from_any_folder(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER), next(iter(TOOLS)), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.startswith(f"Usage: python benchmarks/reproduce {next(iter(TOOLS))}")


MOVED = {words: says.rsplit(" ", 1)[1] for words, says in _GONE.items() if "reproduce" in says}


@pytest.mark.parametrize("words", MOVED)
def test_who_types_them_as_before_is_told_what_to_type(words: str) -> None:
    told = CliRunner().invoke(canonym, [*words.split(), "--anything", "x"])
    assert told.exit_code == 2
    assert f"python benchmarks/reproduce {MOVED[words]}" in told.stderr
    assert MOVED[words] in TOOLS
