"""A run that was stopped goes on to the same bits; what cannot go on is told apart."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import MANIFEST
from canonym.training.loop.checkpoints import remove_checkpoints
from canonym.training.loop.fit import Fitted, fit
from canonym.training.loop.reports import FitProgress
from canonym.training.loop.settings import FitSettings

SETTINGS: dict[str, Any] = {"epochs": 3, "learning_rate": 1e-3, "warm_up": 0.2}


def test_checkpoints_go_with_what_a_killed_run_left_beside_them(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in ("step-00000001", f".step-00000002.partial-{dead.pid}-00ff", "best-0000"):
        (tmp_path / "checkpoints" / "stage" / name).mkdir(parents=True)
    (tmp_path / "checkpoints" / f".best-0001.replaced-{dead.pid}-00ff").mkdir()
    remove_checkpoints(tmp_path / "checkpoints")
    assert not list(tmp_path.iterdir())


class Stopped(Exception):
    """What a test stops a run with."""


@pytest.fixture(scope="module")
def train(small: ModuleType) -> Callable[..., Any]:
    """A function that trains until it is stopped after some step."""

    def run(
        *,
        stop: int = 0,
        objective: Any = None,
        module: Any = None,
        loop: Any = None,
        **changes: Any,
    ) -> tuple[Any, Fitted]:
        def progress(now: FitProgress) -> None:
            if now.step == stop:
                raise Stopped

        module = module or small.make_module()
        fitted = fit(
            module,
            objective or small.Synonyms(),
            settings=FitSettings(**SETTINGS | changes),
            device="cpu",
            dev_score=small.dev_score,
            progress=progress,
            **(loop or {}),
        )
        return module, fitted

    return run


def curve(log: Path) -> list[tuple[Any, ...]]:
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [tuple(v for k, v in line.items() if k != "seconds") for line in lines]


def weights(module: Any) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in module.network.state_dict().values()]


@pytest.fixture(scope="module")
def whole(
    train: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Fitted, Any]:
    """A run that nobody stopped."""
    log = tmp_path_factory.mktemp("whole") / "whole.jsonl"
    module, fitted = train(loop={"log": log})
    return weights(module), fitted, curve(log)


@pytest.mark.parametrize("stops", [(1,), (4,), (5,), (8,), (15,), (2, 7, 13)])
def test_a_stopped_run_goes_on_to_the_same_bits(
    stops: tuple[int, ...],
    whole: tuple[Any, Fitted, Any],
    train: Callable[..., Any],
    tmp_path: Path,
) -> None:
    loop = {"log": tmp_path / "log", "checkpoints": tmp_path / "c", "checkpoint_every": 2}
    for n, stop in enumerate(stops):
        with pytest.raises(Stopped):
            train(stop=stop, loop=loop | {"resume": n > 0, "notice": lambda _: None})
    module, fitted = train(loop=loop | {"resume": True, "notice": lambda _: None})
    assert weights(module) == whole[0]
    assert fitted.epochs == whole[1].epochs
    assert fitted.kept == whole[1].kept
    assert fitted.extra["scale.weight"].tobytes() == whole[1].extra["scale.weight"].tobytes()
    assert curve(tmp_path / "log") == whole[2]


def test_an_epoch_that_was_sampled_is_not_sampled_again(
    small: ModuleType, train: Callable[..., Any], tmp_path: Path
) -> None:
    loop = {"checkpoints": tmp_path / "c", "checkpoint_every": 2}
    with pytest.raises(Stopped):
        train(stop=8, loop=loop)
    objective = small.Synonyms()
    train(objective=objective, loop=loop | {"resume": True})
    assert objective.plans == [2]
    assert len(objective.losses) == 15 - 6
    again = small.Synonyms()
    _, fitted = train(objective=again, loop=loop | {"resume": True})
    assert (again.plans, again.losses, fitted.steps) == ([], [], 15)


def test_the_newest_two_stay_and_the_best(train: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "c"
    _, fitted = train(loop={"checkpoints": folder, "checkpoint_every": 2})
    found = sorted(path.name for path in folder.iterdir())
    steps = [name for name in found if name.startswith("step")]
    assert steps == ["step-00000014", "step-00000015"]
    assert f"best-{fitted.kept:04d}" in found
    assert len(found) <= 4
    names = {path.name for path in (folder / steps[0]).iterdir()}
    rest = {"model.safetensors", "optimizer.safetensors", MANIFEST}
    assert names == rest | {"plan.safetensors"}
    assert {path.name for path in (folder / steps[1]).iterdir()} == rest


def test_a_damaged_checkpoint_is_passed_over(
    whole: tuple[Any, Fitted, Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    loop = {"checkpoints": tmp_path / "c", "checkpoint_every": 2}
    with pytest.raises(Stopped):
        train(stop=9, loop=loop)
    shutil.copytree(tmp_path / "c", tmp_path / "copy")
    newest = tmp_path / "c" / "step-00000008"
    part = newest / "optimizer.safetensors"
    part.write_bytes(part.read_bytes()[:-100])
    told: list[str] = []
    module, _ = train(loop=loop | {"resume": True, "notice": told.append})
    assert len(told) == 1
    assert "step-00000008" in told[0]
    assert "passed over" in told[0]
    assert weights(module) == whole[0]
    for path in (tmp_path / "copy").glob("step-*"):
        (path / MANIFEST).unlink()
    loop = {"checkpoints": tmp_path / "copy", "resume": True, "notice": told.append}
    with pytest.raises(ReadError, match="no checkpoint in it is whole"):
        train(loop=loop)


@pytest.mark.parametrize("part", ["identity", "state", "epochs", "model", "optimizer"])
def test_damage_that_sizes_do_not_show(
    part: str, train: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    with pytest.raises(Stopped):
        train(stop=3, loop={"checkpoints": folder, "checkpoint_every": 2})
    path = folder / "step-00000002"
    manifest = json.loads((path / MANIFEST).read_text())
    if part in {"identity", "state"}:
        del manifest[part]
    elif part == "epochs":
        del manifest["state"]["epochs"]
    else:
        file = path / f"{part}.safetensors"
        file.write_bytes(b"\xff" * 8 + file.read_bytes()[8:])
    (path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ReadError, match=r"damaged|no checkpoint in it is whole"):
        train(loop={"checkpoints": folder, "resume": True, "notice": lambda _: None})


@pytest.mark.filterwarnings("ignore:this processor computes in bf16")
def test_another_run_is_told_apart(
    small: ModuleType, train: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    loop = {"checkpoints": folder, "checkpoint_every": 2, "data": {"names": "aa"}}
    with pytest.raises(Stopped):
        train(stop=3, loop=loop)
    other = small.Synonyms()
    other.name = "antonyms"
    again = loop | {"resume": True}
    for options, message in (
        ({"learning_rate": 2e-3}, "settings.learning_rate was 0.001 and is 0.002"),
        ({"epochs": 4}, "settings.epochs was 3 and is 4"),
        ({"objective": other}, "objective was 'synonyms' and is 'antonyms'"),
        ({"objective": small.Synonyms(batch=9)}, "objective_settings.batch was 8 and is 9"),
        ({"loop": again | {"data": {"names": "bb"}}}, "data.names was 'aa' and is 'bb'"),
        ({"loop": again | {"data": {}}}, "data.names was 'aa' and is 'not set'"),
        ({"module": small.make_module(width=12)}, "encoder.width was 16 and is 12"),
        ({"module": small.make_module(seed=5)}, "start was"),
        ({"module": small.make_module(pooling="cls", max_length=9), "seed": 3, "clip": 1.0,
          "optimizer": "adam", "accumulation": 2, "precision": "bf16", "weight_decay": 0.0},
         "and 3 more"),
    ):  # fmt: skip
        with pytest.raises(Mismatch) as error:
            train(**{"loop": again, **options})
        assert message in str(error.value)
    with pytest.raises(InvalidInput, match="holds checkpoints up to step-00000002; resume"):
        train(loop=loop)


def test_at_a_constant_rate_more_epochs_can_follow(
    train: Callable[..., Any], tmp_path: Path
) -> None:
    constant = {"schedule": "constant", "warm_up": 0.0}
    loop = {"checkpoints": tmp_path / "c"}
    train(epochs=1, loop=loop, **constant)
    longer, _ = train(epochs=3, loop=loop | {"resume": True}, **constant)
    straight, _ = train(epochs=3, **constant)
    assert weights(longer) == weights(straight)


def test_weights_of_another_shape_are_told_apart(
    small: ModuleType, train: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    with pytest.raises(Stopped):
        train(stop=3, loop={"checkpoints": folder, "checkpoint_every": 2})
    manifest = folder / "step-00000002" / MANIFEST
    wide = small.make_module(layers=2)
    content = json.loads(manifest.read_text())
    from canonym.training.loop.checkpoints import module_digest
    from canonym.training.loop.fit import make_step

    step = make_step(wide, small.Synonyms(), FitSettings(**SETTINGS))
    content["identity"]["start"] = module_digest(step)
    manifest.write_text(json.dumps(content))
    with pytest.raises(Mismatch, match=r"layer.1.* has shape nothing there and"):
        train(module=wide, loop={"checkpoints": folder, "resume": True})


def test_nothing_to_resume_starts_at_the_beginning(
    whole: tuple[Any, Fitted, Any], train: Callable[..., Any], tmp_path: Path
) -> None:
    told: list[str] = []
    loop = {"checkpoints": tmp_path / "c", "resume": True, "notice": told.append}
    module, _ = train(loop=loop)
    assert "at the beginning" in told[0]
    assert weights(module) == whole[0]


def start(folder: Path, log: Path, *options: str, **variables: str) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("small_run.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **variables}
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(log), *options],
        env=environment,
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    process = start(tmp_path / "killed", tmp_path / "killed.jsonl", "--slow")
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "killed" / "step-00000006").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed.npy").exists()
    both = [start(tmp_path / name, tmp_path / f"{name}.jsonl") for name in ("killed", "whole")]
    assert [one.wait(timeout=120) for one in both] == [0, 0]
    killed, straight = (np.load(tmp_path / f"{name}.npy") for name in ("killed", "whole"))
    assert killed.tobytes() == straight.tobytes()
    assert curve(tmp_path / "killed.jsonl") == curve(tmp_path / "whole.jsonl")
    assert len(curve(tmp_path / "killed.jsonl")) == 20 + 4


@pytest.mark.slow
def test_two_processes_do_what_one_does_with_two_batches_a_step(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    group = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    runs = [start(tmp_path / "one", tmp_path / "one.jsonl", "--sure", "2")]
    for rank in ("0", "1"):
        which = {"RANK": rank, "LOCAL_RANK": rank, "MASTER_PORT": port}
        log = tmp_path / f"two-{rank}.jsonl"
        runs.append(start(tmp_path / "two", log, "--sure", "1", **group, **which))
    assert [run.wait(timeout=240) for run in runs] == [0, 0, 0]
    assert not (tmp_path / "two-1.jsonl").exists()
    one, two = (np.load(tmp_path / f"{name}.npy") for name in ("one", "two"))
    np.testing.assert_allclose(one, two, atol=1e-4)
    for ours, theirs in zip(
        curve(tmp_path / "one.jsonl"), curve(tmp_path / "two-0.jsonl"), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=0.02)
