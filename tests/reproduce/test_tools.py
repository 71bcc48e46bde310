"""Commands beside the tables: listed, described, and named to who types them as before."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from canonym.cli import _GONE
from canonym.cli import main as canonym
from canonym.encoders import make_encoder
from canonym.terminology import Terminology, read_records
from canonym.training.sampling.relations import read_relations
from reproduce.command import main
from reproduce.rows import measure_mcsm, measure_relations
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


def test_the_vectors_of_concepts_are_measured(tmp_path: Path) -> None:
    """The commands print what the tasks of experiments measure."""
    names = {"hip": "injury", "leg": "injury", "flu": "infection", "cold": "infection"}
    terms = "".join(f"{n}\t{name}\t{type_}\n" for n, (name, type_) in enumerate(names.items()))
    (tmp_path / "terms.tsv").write_text(f"id\tname\ttype\n{terms}")
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    lines = [f"{a}\t{'near' if a < b else 'far'}\t{b}\n" for a, b in pairs]
    (tmp_path / "relations.tsv").write_text("".join([*lines, "9\tnear\t1\n"]))
    given = ("-t", str(tmp_path / "terms.tsv"))
    terminology = Terminology.build(read_records(tmp_path / "terms.tsv"))
    encoder = make_encoder("default")

    found = measure_mcsm(terminology, encoder, k=1)
    told = CliRunner().invoke(tool("mcsm"), [*given, "-k", "1"])
    assert told.exit_code == 0, told.output
    for figure in found.figures:
        assert re.search(rf"^{figure.metric} +{figure.n} +{figure.value:.2f}$", told.output, re.M)

    triplets = read_relations(tmp_path / "relations.tsv")
    scored = measure_relations(terminology, triplets, encoder, epochs=20).figures[0]
    asked = [*given, "--relations", str(tmp_path / "relations.tsv"), "--epochs", "20"]
    told = CliRunner().invoke(tool("relations"), asked)
    assert told.exit_code == 0, told.output
    assert re.search(rf"^accuracy +{scored.n} +{100 * scored.value:.1f}$", told.output, re.M)
    assert "1 of 13 triplets, with a concept that the terminology does not have" in told.output
    refused = CliRunner().invoke(tool("mcsm"), [*given, "--type", "drug"])
    assert refused.exit_code == 2
    assert "no concept has the type drug" in refused.output
