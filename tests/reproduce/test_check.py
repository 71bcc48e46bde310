"""What an experiment needs and costs, and how its command is started."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reproduce.command import main
from reproduce.cost import cost_of
from reproduce.data import Shelf
from reproduce.files import EXPERIMENTS, read_experiment
from reproduce.models import read_models
from reproduce.needs import needs
from tests.reproduce.test_models import NAMES, SCRATCH, Trained, model, place, row

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted(path.stem for path in EXPERIMENTS.glob("*-published.toml"))
LAYOUT = ROOT / "docs" / "methods" / "data.md"
BIOSYN = f'recipe = "biosyn"\nk = 4\nepochs = 3\ncorpus = "corpus"\n{SCRATCH}{NAMES}'
STARTS = {
    "a folder": ([str(ROOT / "benchmarks" / "reproduce")], str(ROOT / "src")),
    "a module": (
        ["-m", "reproduce"],
        os.pathsep.join(map(str, (ROOT / "src", ROOT / "benchmarks"))),
    ),
}
__all__ = ["place"]


def check(place: Path, *more: str) -> Any:
    arguments = (str(place / "e.toml"), "--data", str(place), "--check", *more)
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("start", STARTS)
def test_it_starts_in_an_empty_folder_without_an_editable_installation(
    start: str, tmp_path: Path
) -> None:
    arguments, path = STARTS[start]
    done = subprocess.run(
        [sys.executable, *arguments, "biosyn-published", "--check"],
        cwd=tmp_path,
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert re.search(r"^data +bc5cdr +16 +missing", done.stdout, re.MULTILINE)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_table_says_what_is_missing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = CliRunner().invoke(main, [name, "--check"], env={"CANONYM_DATA": ""})
    assert result.exit_code == 1, result.output
    shown = " ".join(result.stdout.split())
    for need in needs(read_experiment(name), Shelf(tmp_path)):
        if need.kind != "package":
            assert f"{need.kind} {need.name} {len(need.rows)} missing" in shown
    assert "Hours on a GPU: unknown" in result.stderr
    assert "At most 0 names" not in result.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", PUBLISHED)
def test_all_that_a_published_table_needs_is_in_the_docs(name: str, tmp_path: Path) -> None:
    page = LAYOUT.read_text(encoding="utf-8")
    for need in needs(read_experiment(name), Shelf(tmp_path)):
        if need.kind != "package":
            assert f"`{need.name}`" in page, need.name


@pytest.mark.parametrize("here", [True, False])
def test_who_writes_abbreviations_out_is_told(
    here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reproduce.command.find_spec", lambda _name: here)
    told = CliRunner().invoke(main, ["biosyn-published", "--check", "--data", str(tmp_path)])
    assert ("written out by Ab3P" in told.output) is here
    assert ("Ab3P is not installed" in told.output) is not here
    other = CliRunner().invoke(main, ["few-shot-published", "--check", "--data", str(tmp_path)])
    assert "Ab3P" not in other.output


def test_names_through_the_encoder_are_counted(place: Path) -> None:
    pytest.importorskip("torch")
    Trained(place, model("m", BIOSYN), row("a", "m"))
    result = check(place)
    assert result.exit_code == 0, result.output
    # Six mentions with four candidates, searched among the 40 names, in each of three epochs.
    assert re.search(r"^m +biosyn +228 +to be trained", result.stdout, re.MULTILINE)
    assert "All here." in result.stderr
    experiment = read_experiment("e", folder=place)
    trained = Trained(place, model("m", BIOSYN), row("a", "m"))
    trained.train()
    spent = read_models(experiment.models)["m"]
    cost = cost_of(
        spent,
        {"m": spent},
        experiment=experiment,
        folder=place / "models",
        shelf=Shelf(place),
        given={},
    )
    assert (cost.state, cost.names, cost.left) == ("trained", 228, 0)
    again = check(place, "--models", str(place / "models"))
    assert re.search(r"0\.0 hours, at [\d,]+ names a second", again.stderr)


def test_coder_needs_no_data_to_be_counted(tmp_path: Path) -> None:
    experiment = read_experiment("coder-published")
    models = read_models(experiment.models)
    cost = cost_of(
        models["english"],
        models,
        experiment=experiment,
        folder=tmp_path,
        shelf=Shelf(tmp_path),
        given={},
    )
    assert cost.names == 204_800_000  # as the file says: 205 million


def test_rows_without_their_data_train_nothing(place: Path) -> None:
    text = f'recipe = "triplet"\n{SCRATCH}{NAMES}batch_size = 12\nmax_steps = 2\n'
    missing = f'corpus = "none"\nprotocol = "biosyn"\n{NAMES}'
    Trained(place, model("m", text), row("a", "m", missing))
    models = place / "models"
    common = (str(place / "e.toml"), "--data", str(place), "--device", "cpu")
    result = CliRunner().invoke(main, [*common, "--models", str(models)])
    assert result.exit_code == 0, result.output
    assert "1 rows cannot be run: --check says what they need" in result.stderr
    assert not models.exists()


def test_checkpoints_may_lie_in_the_data_folder(place: Path) -> None:
    from tests.encoders.conftest import make_tiny_bert

    Trained(place, row("a", "owner/bert,pooling=mean"))
    assert check(place).exit_code == 1
    make_tiny_bert(place / "checkpoints" / "bert")
    assert check(place).exit_code == 0
    encoder: Any = Shelf(place).encoder("owner/bert,pooling=mean")
    assert encoder.pooling == "mean"
