"""Results in the repository: small files, one row a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from record import RESULTS, result_text
from reproduce.files import EXPERIMENTS, read_experiment
from reproduce.models import read_models

FILES = sorted(RESULTS.rglob("*.json"))
EXPERIMENTAL = [path for path in FILES if (EXPERIMENTS / f"{path.stem}.toml").is_file()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_result_has_its_header_in_one_line_and_one_row_a_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= 1000
    header = json.loads(lines[0].removesuffix(",") + "}")
    assert {"versions", "data"} <= set(header)
    content = {name: one for name, one in json.loads(text).items() if name not in header}
    assert text == result_text(header, content)


def test_results_are_small_in_all() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in FILES) <= 3000


@pytest.mark.parametrize("path", EXPERIMENTAL, ids=lambda path: path.stem)
def test_every_measured_row_is_one_of_its_experiment(path: Path) -> None:
    result = json.loads(path.read_text(encoding="utf-8"))
    experiment, rows = read_experiment(path.stem), result["rows"]
    known = {(row["name"], metric) for row in experiment.rows for metric in row["published"]}
    assert {(row["name"], row["metric"]) for row in rows} <= known
    assert "left" not in result, "the run was cut off"


@pytest.mark.parametrize("path", EXPERIMENTAL, ids=lambda path: path.stem)
def test_models_were_trained_for_as_long_as_they_say(path: Path) -> None:
    models = read_models(read_experiment(path.stem).models)
    for name, facts in json.loads(path.read_text(encoding="utf-8")).get("trained", {}).items():
        # A head on few names stops where its validation score no longer rises.
        if models[name].recipe != "few-shot":
            assert facts["names"] >= models[name].settings.get("max_names", 0), name
