"""Fewer layers of a transformer that learn to do what all of them did, with a tiny one."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from canonym.encoders import load_encoder
from canonym.errors import InvalidInput, ReadError
from canonym.training.modules.transformer import NameModule
from models.make_student import LAYERS, SETTINGS, keep_layers, main, make_student
from models.objectives import Distillation
from models.run import usual_precision
from models.sources import read_passages

pytest.importorskip("torch")

PASSAGES = "What is flu ?\n\nHeart attack pain may be acute or chronic, or renal pain .\n"


@pytest.fixture(name="data")
def folder_with_text(folder: Path) -> Path:
    (folder / "text").mkdir()
    with lzma.open(folder / "text" / "medquad.txt.xz", "wt", encoding="utf-8") as stream:
        stream.write(PASSAGES)
    return folder


@pytest.fixture(name="start")
def write_start(tmp_path: Path, make_module: Callable[..., Any]) -> Path:
    place = tmp_path / "start"
    place.mkdir()
    module = make_module(layers=3)
    for name, weights in module.network.encoder.named_parameters():
        if "dense.weight" in name:  # such that every layer tells in the vectors
            weights.data *= 20
    module.to_encoder().save(place)
    return place


def cosine(one: Any, other: Any, names: list[str]) -> float:
    return float(np.mean((one.encode(names) * other.encode(names)).sum(axis=1)))


def test_batches_hold_names_by_weight_and_stretches(make_module: Callable[..., Any]) -> None:
    passages = ["One two three", "", "Four"]
    objective = Distillation(
        make_module(), ["A", "B", "C"], np.array([0.0, 3.0, 1.0]), passages,
        name_share=0.25, longest=2, batch=8, batches=400,
    )  # fmt: skip
    plan = objective.plan(None, 0, np.random.default_rng(0))  # type: ignore[arg-type]
    assert objective.n_batches(plan) == 400
    assert plan["names"].shape == (400, 2)
    shares = np.bincount(plan["names"].ravel(), minlength=3) / 800
    np.testing.assert_allclose(shares, [0, 0.75, 0.25], atol=0.05)
    seen: list[list[str]] = []

    def embed(texts: list[str]) -> Any:
        seen.append(texts)
        return make_module().embed(texts)

    for batch in range(20):
        objective.loss(embed, plan, batch)  # type: ignore[arg-type]
    texts = {text for batch in seen for text in batch}
    assert {len(batch) for batch in seen} == {8}
    assert texts == {"b", "c", "one", "two", "three", "four", "one two", "two three"}
    rows = plan["stretches"].reshape(-1, 3)[:, 0]
    assert np.mean(rows == 1) == pytest.approx(0.25, abs=0.05)


def test_the_loss_is_the_angle_to_the_teacher(make_module: Callable[..., Any]) -> None:
    teacher, other = make_module(), make_module(layers=2)
    objective = Distillation(teacher, ["flu", "left hip"], np.ones(2), batch=5, batches=1)
    assert objective.settings["name_share"] == 1.0
    plan = objective.plan(None, 0, np.random.default_rng(1))  # type: ignore[arg-type]
    other.network.eval()
    loss = objective.loss(other.embed, plan, 0)
    texts = [["flu", "left hip"][row] for row in plan["names"][0]]
    assert loss is not None
    assert loss.item() == pytest.approx(1 - cosine(teacher, other, texts), abs=1e-6)
    loss.backward()
    assert all(one.grad is None for one in teacher.network.parameters())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"batch": 0}, "batch"),
        ({"name_share": 1.5}, "expected a share between 0 and 1"),
        ({"weights": np.zeros(1)}, "one above 0"),
        ({"weights": np.ones(3)}, "1 names and 3 weights"),
    ],
)
def test_bad_settings_are_refused(
    make_module: Callable[..., Any], change: dict[str, Any], problem: str
) -> None:
    given: dict[str, Any] = {"names": ["flu"], "weights": np.ones(1), **change}
    with pytest.raises(InvalidInput, match=problem):
        Distillation(make_module(), **given)


def test_layers_are_taken_out(make_module: Callable[..., Any]) -> None:
    module, same = make_module(layers=3), make_module(layers=3)
    last = module.network.encoder.layer[2]
    keep_layers(module, [0, 2])
    assert module.network.encoder.layer[1] is last
    assert module.network.config.num_hidden_layers == 2
    shift = module.encode(["acute renal pain"]) - same.encode(["acute renal pain"])
    assert np.abs(shift).max() > 1e-6
    keep_layers(same, (0, 1, 2))
    for layers in ([], [1, 0], [0, 0], [2]):
        with pytest.raises(InvalidInput, match="rising numbers from 0 to 1"):
            keep_layers(module, layers)
    del module.network.encoder
    with pytest.raises(InvalidInput, match="does not keep its layers as BERT does"):
        keep_layers(module, [0])


def test_a_student_comes_near_to_its_teacher(
    data: Path, start: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SETTINGS, "learning_rate", 5e-3)
    names = ["heart attack", "acute pain", "myocardial infarction"]
    teacher = NameModule.read(start, pooling="mean", max_length=16)
    raw = NameModule.read(start, pooling="mean", max_length=16)
    keep_layers(raw, [0])
    done: list[tuple[int, int]] = []

    def make() -> tuple[NameModule, dict[str, Any]]:
        return make_student(
            data, start, layers=[0], batches=20, precision="float32",
            progress=lambda _, step, total: done.append((step, total)),
        )  # fmt: skip

    module, facts = make()
    assert cosine(module, teacher, names) > cosine(raw, teacher, names) + 0.01
    assert done == [(step, 20) for step in range(1, 21)]
    assert facts["layers"] == [0]
    assert facts["settings"]["n_passages"] == 2
    assert facts["data"]["medquad.txt.xz"]
    assert not [key for key in facts["data"] if key.startswith(("ncbi", "bc5cdr"))]
    before, after = (one.network.embeddings.state_dict() for one in (raw, module))
    assert all(before[key].equal(after[key]) for key in before)
    trained = [one.requires_grad for one in module.network.embeddings.parameters()]
    assert all(trained)
    rates = {one.p for one in module.network.modules() if type(one).__name__ == "Dropout"}
    assert rates == {raw.network.config.hidden_dropout_prob}
    again, _ = make()
    assert again.encode(names).tobytes() == module.encode(names).tobytes()


def test_text_that_cannot_be_read(data: Path) -> None:
    place = data / "text" / "medquad.txt.xz"
    assert read_passages(data)[1][0] == "What is flu ?"
    for content in (b"plain", lzma.compress(b"cut off" * 50)[:-20]):
        place.write_bytes(content)
        with pytest.raises(ReadError, match="packed with xz are expected"):
            read_passages(data)


def test_the_command_has_the_settings_of_the_shipped_student() -> None:
    given = {one.name: one.default for one in main.params}
    assert given["layers"] == ",".join(map(str, LAYERS))
    assert given["batches"] == SETTINGS["batches"]
    assert given["seed"] == 0


def test_command(data: Path, start: Path, tmp_path: Path) -> None:
    place = tmp_path / "student"
    arguments = ["--encoder", str(start), "--data", str(data)]
    arguments += ["-o", str(place), "--batches", "2", "--precision", "float32"]
    arguments += ["--layers", "0,2"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "2 batches of names and of 3 passages" in done.stderr
    assert "layers" in done.stdout
    assert load_encoder(place).encode(["flu"]).shape[0] == 1
    written = json.loads((place / "canonym.json").read_text())
    assert written["training"]["layers"] == [0, 2]
    for more, problem in (
        ([], "exists already"),
        (["--layers", "first", "--overwrite"], "numbers with commas between them are expected"),
        (["--layers", "0,7", "--overwrite"], "rising numbers from 0 to 2 are expected"),
    ):
        failed = CliRunner().invoke(main, [*arguments, *more])
        assert failed.exit_code == 2
        assert problem in failed.stderr
    (data / "text" / "medquad.txt.xz").unlink()
    failed = CliRunner().invoke(main, [*arguments, "--overwrite"])
    assert failed.exit_code == 2
    assert "medquad.txt.xz" in failed.stderr
    assert place.is_dir()


@pytest.mark.parametrize("fast", [True, False])
def test_bfloat16_where_it_is_faster(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: fast)
    assert usual_precision("cpu") == ("bf16" if fast else "float32")
