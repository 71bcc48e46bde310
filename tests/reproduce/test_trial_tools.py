"""Clinical trials of any source, and the command that chooses some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym.errors import ReadError
from reproduce.readers.trial_sources import read_trials
from tests.cli.running import run
from tests.reproduce.readers.test_trials import COLUMNS, ROW, STUDY, XML, aact_folder
from tests.reproduce.running import run_tool


def test_any_source_is_read(tmp_path: Path) -> None:
    for name, content in (
        ("x/1.xml", XML),
        ("j/1.json", json.dumps(STUDY)),
        ("t/1.tsv", "\t".join(COLUMNS) + "\n" + "\t".join(ROW) + "\n"),
    ):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(content)
        assert [trial.document.id for trial in read_trials(file)] == ["NCT1"]
        if not name.startswith("t"):
            assert [trial.document.id for trial in read_trials(file.parent)] == ["NCT1"]
    (tmp_path / "a").mkdir()
    assert [trial.document.id for trial in read_trials(aact_folder(tmp_path / "a"))] == [
        *("NCT1", "NCT2"),
    ]
    with pytest.raises(ReadError, match="no such file"):
        read_trials(tmp_path / "none")


def test_the_command_writes_what_link_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    design = "<study_type>Interventional</study_type><phase>Phase 1/Phase 2</phase><keyword>"
    first = XML.replace("<keyword>", design)
    Path("x.xml").write_text(
        f"<r>{first}{first.replace('NCT1', 'NCT2').replace('1/Phase ', '')}</r>"
    )
    chosen = ("trials", "x.xml", "--phase", "Phase 1")
    done = run_tool(*chosen)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["NCT1"]
    assert "1 of 2 trials are chosen" in done.stderr
    run_tool(*chosen, "-o", "out.jsonl")
    assert Path("out.jsonl").read_text() == done.stdout
    assert "replace it with --overwrite" in run_tool(*chosen, "-o", "out.jsonl", code=2).stderr
    run_tool(*chosen[:2], "--phase", "any", "-o", "out.jsonl", "--overwrite")
    assert len(Path("out.jsonl").read_text().splitlines()) == 2
    found = run_tool("trials", "x.xml", "--study-type", "Observational", code=2).stderr
    assert "none of the 2 trials of x.xml meets the criteria" in found
    assert "Interventional, the phases Phase 1, Phase 2" in found
    Path("t.tsv").write_text("\t".join(COLUMNS) + "\n" + "\t".join(ROW) + "\n")
    found = run_tool("trials", "t.tsv", "--phase", "any", code=2).stderr
    assert "does not say its study type and phase" in found
    linked = run("link", "--file", "out.jsonl", "--mention-type", "Condition", "--format", "tsv")
    assert "Hip Fracture" in linked.stdout
