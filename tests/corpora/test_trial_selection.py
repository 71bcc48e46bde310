"""Trials of any source, chosen by type, phase and condition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from canonym.corpora import read_trials, select_trials
from canonym.corpora.trials import PHASES, make_trial, parse_phases
from canonym.errors import InvalidInput, ReadError
from tests.cli.running import run
from tests.corpora.test_trials import COLUMNS, ROW, STUDY, XML, aact_folder

TRIALS = [
    make_trial(
        *("1", "", ["Small Cell  Lung Cancer"], [("DRUG", "a"), ("Device", "b")]),
        study_type="INTERVENTIONAL",
        phases=["Phase 1/Phase 2"],
    ),
    make_trial(
        *("2", "", ["Flu"], [("COMBINATION_PRODUCT", "c")]),
        study_type="Interventional",
        phases=["EARLY_PHASE1"],
        condition_names=["Influenza, Human"],
    ),
    make_trial("3", "", ["Flu"], [("Drug", "d")], study_type="Observational", phases=["N/A"]),
    make_trial("4", "", ["Pain"], [("Behavioral", "e")]),
]


@pytest.mark.parametrize(
    ("criteria", "chosen"),
    [
        ({}, "1234"),
        ({"study_types": ["interventional"]}, "12"),
        ({"phases": ["Phase 2"]}, "1"),
        ({"phases": ["Phase 1"]}, "1"),
        ({"phases": PHASES}, "12"),
        ({"intervention_types": ["drug"]}, "13"),
        ({"intervention_types": ["Combination Product", "Behavioral"]}, "24"),
        ({"conditions": ["cell lung"]}, "1"),
        ({"conditions": ["influenza", "PAIN"]}, "24"),
        ({"phases": PHASES, "intervention_types": ["Drug"], "conditions": ["flu"]}, ""),
    ],
)
def test_criteria(criteria: dict[str, Any], chosen: str) -> None:
    assert "".join(trial.document.id for trial in select_trials(TRIALS, **criteria)) == chosen


def test_an_unknown_phase_is_refused_at_once() -> None:
    with pytest.raises(InvalidInput, match="'phase 2' is not known; use one of Early Phase 1, Ph"):
        select_trials(TRIALS, phases=["phase 2"])


@pytest.mark.parametrize(
    ("written", "phases"),
    [
        (("Phase 1/Phase 2",), ("Phase 1", "Phase 2")),
        (("PHASE2", "PHASE1"), ("Phase 1", "Phase 2")),
        (("Early Phase 1",), ("Early Phase 1",)),
        (("EARLY_PHASE1", "Phase 1"), ("Early Phase 1", "Phase 1")),
        (("Not Applicable", "", "Phase 0", "Phase 5"), ()),
    ],
)
def test_phases(written: tuple[str, ...], phases: tuple[str, ...]) -> None:
    assert parse_phases(*written) == phases


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
    Path("x.xml").write_text(f"<r>{XML}{XML.replace('NCT1', 'NCT2').replace('Phase 1/', '')}</r>")
    chosen = ("corpus", "trials", "x.xml", "--phase", "Phase 1")
    done = run(*chosen)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == ["NCT1"]
    assert "1 of 2 trials are chosen" in done.stderr
    run(*chosen, "-o", "out.jsonl")
    assert Path("out.jsonl").read_text() == done.stdout
    assert "exists already" in run(*chosen, "-o", "out.jsonl", code=2).stderr
    run(*chosen[:3], "--phase", "any", "-o", "out.jsonl", "--overwrite")
    assert len(Path("out.jsonl").read_text().splitlines()) == 2
    found = run("corpus", "trials", "x.xml", "--study-type", "Observational", code=2).stderr
    assert "none of the 2 trials of x.xml meets the criteria" in found
    assert "Interventional, the phases Phase 1, Phase 2" in found
    linked = run("link", "--file", "out.jsonl", "--mention-type", "Condition", "--format", "tsv")
    assert "Hip Fracture" in linked.stdout


def test_real_trials(data: Path) -> None:
    trials = list(read_trials(data / "clinical-trials" / "xml"))
    published = select_trials(
        trials,
        study_types=["Interventional"],
        phases=PHASES,
        intervention_types=["Biological", "Combination Product", "Drug"],
    )
    assert (len(trials), len(list(published))) == (39, 24)
