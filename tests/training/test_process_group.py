"""What several processes share, and what the one that does not write leaves alone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from canonym.errors import InvalidInput
from canonym.training.loop.checkpoints import Checkpoint, Keeper
from canonym.training.loop.process_group import Processes, open_processes
from canonym.training.loop.settings import FitSettings


@pytest.fixture
def group(tmp_path: Path) -> Any:
    """A process group of one, told that it is the first of two."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    accelerator = SimpleNamespace(
        process_index=0,
        num_processes=2,
        device=torch.device("cpu"),
        reduce=lambda tensor, reduction: tensor * 2 if reduction == "sum" else None,
    )
    yield Processes(accelerator)
    torch.distributed.destroy_process_group()


def test_arrays_are_shared_bit_by_bit(group: Processes) -> None:
    plan = {
        "rows": np.arange(6, dtype=np.int32).reshape(2, 3)[:, ::-1],
        "scores": np.array([np.nan, -0.0, 1e-40], np.float32),
        "number": np.array(7, np.int64),
        "nothing": np.empty((0, 4), np.float64),
        "mask": np.array([True, False]),
    }
    found = group.share(lambda: plan)
    assert set(found) == set(plan)
    for name, array in plan.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
    assert group.share(dict) == {}
    assert group.share(lambda: 0.1) == 0.1
    assert group.total([1.5, 2.0]) == [3.0, 4.0]


def test_the_loss_scale_of_fp16_goes_on(group: Processes) -> None:
    assert group.loss_scale == {}
    group.restore_loss_scale({})
    first, second = (torch.amp.GradScaler("cpu", init_scale=scale) for scale in (64.0, 2.0))
    group.accelerator.scaler = first
    state = json.loads(json.dumps(group.loss_scale))
    assert state["scale"] == 64.0
    group.accelerator.scaler = second
    group.restore_loss_scale(state)
    assert second.get_scale() == 64.0


def test_all_hear_what_went_wrong(group: Processes) -> None:
    def fail() -> Any:
        raise InvalidInput("nothing to train on — truly")

    with pytest.raises(InvalidInput, match="nothing to train on — truly"):
        group.share(fail)


def test_the_state_of_the_machine_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_TORCH_DEVICE", "cpu")
    for precision in ("float32", "bf16"):
        with open_processes(FitSettings(precision=precision), device="cpu") as processes:
            assert (processes.rank, processes.n, processes.first) == (0, 1, True)
            assert processes.device.type == "cpu"
            assert processes.share(lambda: 2) == 2
    assert os.environ["ACCELERATE_TORCH_DEVICE"] == "cpu"


def test_only_the_first_process_writes(tmp_path: Path) -> None:
    arrays = {"weight": np.ones(2, np.float32)}
    checkpoint = Checkpoint({}, {"best": None}, arrays, {}, None)
    idle = Keeper(tmp_path / "c", writes=False)
    idle.save(checkpoint, step=1, best=None)
    idle.save_best(arrays, epoch=0)
    assert not list(tmp_path.iterdir())
    first = Keeper(tmp_path / "c", writes=True)
    first.save_best(arrays, epoch=0)
    np.testing.assert_array_equal(idle.read_best(0)["weight"], arrays["weight"])
    assert Keeper(None, writes=False).read_best(0) is None


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, writes=True)
    left = tmp_path / ".step-00000003.partial-999999999-ab"
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    own = tmp_path / f".step-00000004.partial-{os.getpid()}-ab"
    own.mkdir()
    arrays = {"weight": np.ones(2, np.float32)}
    for step, best in ((5, 0), (6, 0), (7, 2), (8, 2)):
        keeper.save_best(arrays, epoch=best)
        state = {"best": best}
        keeper.save(Checkpoint({}, state, arrays, {}, None), step=step, best=best)
        assert not left.exists()
    assert own.exists()
    found = {path.name for path in tmp_path.iterdir()} - {own.name}
    assert found == {"step-00000007", "step-00000008", "best-0002"}
    keeper.save_best(arrays, epoch=3)
    keeper.save(Checkpoint({}, {"best": 3}, arrays, {}, None), step=9, best=3)
    assert {path.name for path in tmp_path.glob("best-*")} == {"best-0002", "best-0003"}
