"""Teaching a sentence encoder names and mentions, with a tiny one and small files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.encoders import load_encoder, make_encoder
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.training.modules.transformer import NameModule
from models import make_contextual
from models.make_contextual import average_weights, main, make_contextual_encoder
from models.run import Stages

torch = pytest.importorskip("torch")


@pytest.fixture(name="start")
def write_start(tmp_path: Path, make_module: Callable[..., Any]) -> Path:
    place = tmp_path / "start"
    place.mkdir()
    make_module().to_encoder().save(place)
    return place


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {**make_contextual.SETTINGS["contrastive"], "learning_rate": 1e-2}
    small = {**make_contextual.SETTINGS, "contrastive": quick}
    monkeypatch.setattr(make_contextual, "SETTINGS", small)


@pytest.mark.slow
def test_it_is_taught_in_two_stages_and_averaged(
    mixed: Path, start: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    miner: Any = make_encoder("default")
    said: list[str] = []
    steps: list[tuple[str, int]] = []
    before = NameModule.read(start, pooling="mean", max_length=24)

    def taught(share: float) -> tuple[NameModule, dict[str, Any]]:
        chosen = {**make_contextual.SETTINGS, "share": share}
        monkeypatch.setattr(make_contextual, "SETTINGS", chosen)
        return make_contextual_encoder(
            mixed, start, miner=miner, batches=3, precision="float32", log=said.append,
            progress=lambda stage, done, _: steps.append((stage, done)),
        )  # fmt: skip

    module, facts = taught(0.0)
    names = ["heart attack", "acute pain"]
    assert np.abs(module.encode(names) - before.encode(names)).max() > 1e-3
    # Three batches, three times.
    taken = [("names and mentions", step) for step in range(1, 10)]
    assert steps[:10] == [*taken, ("mentions", 1)]
    assert "3 definitions" in said
    assert facts["data"]["MedQuAD text"]
    assert any(line.startswith("synonym marginalization on 4 mentions") for line in said)
    assert facts["parts"] == ["train", "dev"]
    assert facts["settings"]["batches"] == 3
    same, _ = taught(1.0)
    np.testing.assert_allclose(same.encode(names), before.encode(names), atol=1e-6)


def test_a_damaged_start_is_told_before_the_work(mixed: Path, start: Path) -> None:
    (start / "canonym.json").write_text("{")
    said: list[str] = []
    with pytest.raises(ReadError, match="the manifest is damaged"):
        make_contextual_encoder(mixed, start, miner=make_encoder("default"), log=said.append)  # type: ignore[arg-type]
    assert not said


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [("names and mentions", 5), ("mentions", 1)])
def test_it_is_taken_up_where_it_was_stopped(
    mixed: Path, start: Path, tmp_path: Path, stopped: tuple[str, int]
) -> None:
    miner: Any = make_encoder("default")
    folder = tmp_path / "taught.checkpoints"
    steps: list[tuple[str, int]] = []

    class Stopped(Exception):
        pass

    def taught(**options: Any) -> NameModule:
        return make_contextual_encoder(
            mixed, start, miner=miner, batches=3, precision="float32", **options
        )[0]

    def stop(stage: str, done: int, _: int) -> None:
        if (stage, done) == stopped:
            raise Stopped

    with pytest.raises(Stopped):
        taught(progress=stop, checkpoints=folder)
    with pytest.raises(InvalidInput, match="holds checkpoints of a run; resume that run"):
        taught(checkpoints=folder)
    said: list[str] = []
    module = taught(
        progress=lambda stage, done, _: steps.append((stage, done)),
        log=said.append, checkpoints=folder, resume=True,
    )  # fmt: skip
    # The first stage is not trained again where it was over, and not from the beginning.
    assert steps[0] == (("names and mentions", 4) if stopped[1] == 5 else ("mentions", 1))
    assert any(line.startswith("mentions: step 2 of 2, 0 minutes left") for line in said)
    names = ["heart attack", "acute pain"]
    assert module.encode(names).tobytes() == taught().encode(names).tobytes()
    with pytest.raises(Mismatch, match=r"batches"):
        make_contextual_encoder(
            mixed, start, miner=miner, batches=4, precision="float32",
            checkpoints=folder, resume=True,
        )  # fmt: skip
    with pytest.raises(InvalidInput, match="resume needs the folder"):
        taught(resume=True)


def test_nothing_to_go_on_with_is_told(tmp_path: Path) -> None:
    said: list[str] = []
    Stages(tmp_path / "x.checkpoints", resume=True, log=said.append).check()
    (line,) = said
    assert line.endswith("x.checkpoints holds no checkpoint: training starts at the beginning")


@pytest.mark.slow
def test_command(mixed: Path, start: Path, tmp_path: Path) -> None:
    place = tmp_path / "taught"
    arguments = ["--encoder", str(start), "--data", str(mixed)]
    arguments += ["-o", str(place), "--batches", "2", "--precision", "auto"]
    kept = tmp_path / "taught.checkpoints" / "mine.txt"
    kept.parent.mkdir()
    kept.write_text("not a checkpoint")
    done = CliRunner().invoke(main, [*arguments, "--part", "train"])
    assert done.exit_code == 0, done.output
    assert "3 times 2 batches of names and mentions" in done.stderr
    assert load_encoder(place).encode(["flu"]).shape[0] == 1
    assert list(kept.parent.iterdir()) == [kept]
    written = json.loads((place / "canonym.json").read_text())
    assert written["training"]["parts"] == ["train"]
    assert written["training"]["precision"] in ("bf16", "float32")
    for more, problem in (
        ([], "exists already"),
        (["-o", str(tmp_path / "no" / "taught")], "does not exist"),
        (["--neighbours", "chargrams", "--overwrite"], "is no subword encoder"),
        (["--neighbours", "nowhere", "--overwrite"], "neither a file or folder"),
    ):
        failed = CliRunner().invoke(main, [*arguments, *more])
        assert failed.exit_code == 2
        assert problem in failed.stderr


def test_weights_are_averaged_by_share(make_module: Callable[..., Any]) -> None:
    one, other = make_module(), make_module()
    name = next(name for name, _ in one.network.named_parameters() if "query.weight" in name)
    with torch.no_grad():
        other.network.get_parameter(name).add_(1.0)
    before = one.network.get_parameter(name).detach().clone()
    average_weights(one, other, share=0.25)
    assert torch.allclose(one.network.get_parameter(name), before + 0.25)
    with pytest.raises(Mismatch, match=r"the weights cannot be averaged: .* in one and"):
        average_weights(one, make_module(layers=2), share=0.5)
    for share in (-0.1, 1.5):
        with pytest.raises(InvalidInput, match=f"share is {share}"):
            average_weights(one, other, share=share)
