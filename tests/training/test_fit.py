"""The training loop: it learns, repeats itself, follows its settings, and says why it stops."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from canonym.errors import InvalidInput
from canonym.training.loop.fit import Fitted, fit, make_optimizer, make_step
from canonym.training.loop.reports import FitProgress
from canonym.training.loop.settings import FitSettings

QUICK: dict[str, Any] = {"epochs": 2, "learning_rate": 1e-3}


@pytest.fixture
def train(small: ModuleType) -> Callable[..., Any]:
    """A function that trains a tiny BERT and returns it with what came out."""

    def run(objective: Any = None, *, loop: Any = None, **settings: Any) -> tuple[Any, Fitted]:
        module = small.make_module()
        fitted = fit(
            module,
            objective or small.Synonyms(),
            settings=FitSettings(**QUICK | settings),
            device="cpu",
            **(loop or {}),
        )
        return module, fitted

    return run


def weights(module: Any) -> dict[str, np.ndarray]:
    return {name: value.numpy().copy() for name, value in module.network.state_dict().items()}


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(value, weights(other)[name]) for name, value in weights(one).items())


def test_sampling_tells_how_many_names_are_encoded(
    small: ModuleType, train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, int]] = []
    whole, _ = train()
    monkeypatch.setattr("canonym.training.loop.fit._ENCODED", 40)
    module, fitted = train(
        loop={"sampling": lambda done, total: told.append((done, total))}, epochs=2
    )
    assert told == [(40, 90), (80, 90), (90, 90)] * len(fitted.epochs)
    assert len(small.NAMES) == 90
    difference = (
        weights(module)["embeddings.word_embeddings.weight"]
        - (weights(whole)["embeddings.word_embeddings.weight"])
    )
    assert np.abs(difference).max() < 1e-5


def test_it_learns(small: ModuleType, train: Callable[..., Any]) -> None:
    before = small.dev_score(small.make_module().encode)
    module, fitted = train(
        small.Synonyms(batch=18), epochs=6, learning_rate=3e-3, loop={"dev_score": small.dev_score}
    )
    assert before < 0.4
    assert small.dev_score(module.encode) > 0.8
    assert fitted.steps == 30
    assert [record.step for record in fitted.epochs] == [5, 10, 15, 20, 25, 30]
    assert fitted.epochs[-1].mean_loss < fitted.epochs[0].mean_loss
    best = max(fitted.epochs, key=lambda record: record.dev or 0)
    assert fitted.kept == best.epoch
    assert small.dev_score(module.encode) == best.dev
    assert not fitted.stopped_early
    assert set(fitted.extra) == {"scale.weight"}


def test_the_seed_decides_all(train: Callable[..., Any]) -> None:
    one, first = train()
    torch.manual_seed(99)
    torch.rand(7)
    state = torch.random.get_rng_state()
    two, second = train()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert same(one, two)
    assert first._replace(seconds=0) == second._replace(seconds=0)
    other, _ = train(seed=1)
    assert not same(one, other)


def by_hand(small: ModuleType, *, optimizer: str, accumulation: int, clip: float | None) -> Any:
    """The same run without the loop: plain torch, one epoch, dropout off."""
    module, objective = small.make_module(), small.Synonyms()
    settings = FitSettings(**QUICK | {"optimizer": optimizer, "weight_decay": 0.1})
    step = make_step(module, objective, settings)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[optimizer]
    named = [(n, p) for n, p in module.network.named_parameters() if "pooler" not in n]
    bare = [p for n, p in named if optimizer == "adamw" and ("bias" in n or "LayerNorm" in n)]
    rest = [p for _, p in named if not any(p is other for other in bare)]
    tuned = kind(
        [
            {"params": rest, "lr": 1e-3, "weight_decay": 0.1},
            *([{"params": bare, "lr": 1e-3, "weight_decay": 0.0}] if bare else []),
            {"params": [step.extra["scale"].weight], "lr": 0.01, "weight_decay": 0.0},
        ]
    )
    rng = np.random.default_rng([0, 0])
    plan = objective.plan(module.encode, 0, rng)
    module.network.eval()
    batches = list(range(5))
    groups = [batches[n : n + accumulation] for n in range(0, 5, accumulation)]
    for number, group in enumerate(groups):
        for entry in tuned.param_groups:
            base = 0.01 if entry["params"][0] is step.extra["scale"].weight else 1e-3
            entry["lr"] = base * (len(groups) - number) / len(groups)
        tuned.zero_grad()
        loss = sum(objective.loss(module.embed, plan, batch) for batch in group) / len(group)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(step.parameters(), clip)
        tuned.step()
    return module, step


@pytest.mark.parametrize(
    ("optimizer", "accumulation", "clip"),
    [("adamw", 1, None), ("adam", 1, None), ("adamw", 2, None), ("adamw", 1, 0.01)],
)
def test_steps_are_those_of_plain_torch(
    small: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    optimizer: str,
    accumulation: int,
    clip: float | None,
) -> None:
    expected, step = by_hand(small, optimizer=optimizer, accumulation=accumulation, clip=clip)
    module = small.make_module()
    module.network.eval()
    monkeypatch.setattr(module.network, "train", lambda _mode=True: module.network)  # no dropout
    fitted = fit(
        module,
        small.Synonyms(),
        settings=FitSettings(
            epochs=1,
            learning_rate=1e-3,
            weight_decay=0.1,
            optimizer=optimizer,
            accumulation=accumulation,
            clip=clip,
        ),
        device="cpu",
    )
    assert fitted.steps == -(-5 // accumulation)
    for name, value in weights(expected).items():
        # One vector added to all keys changes no attention: its gradient is rounding alone.
        if not name.endswith("key.bias"):
            np.testing.assert_allclose(weights(module)[name], value, atol=2e-6, err_msg=name)
    scale = step.extra["scale"].weight.detach().numpy()
    np.testing.assert_allclose(fitted.extra["scale.weight"], scale, atol=1e-6)


def test_groups_of_the_optimizer(small: ModuleType) -> None:
    module = small.make_module()
    frozen = {id(p) for n, p in module.network.named_parameters() if n.startswith("pooler")}
    for name, n_groups in (("adamw", 3), ("adam", 2)):
        settings = FitSettings(optimizer=name, weight_decay=0.1)
        optimizer = make_optimizer(make_step(module, small.Synonyms(), settings), settings)
        assert [group["weight_decay"] for group in optimizer.param_groups] == (
            [0.1] + [0.0] * (n_groups - 1)
        )
        assert [group["rate"] for group in optimizer.param_groups][-1] == 0.01
        held = [p for group in optimizer.param_groups for p in group["params"]]
        assert not frozen & {id(p) for p in held}
        if name == "adamw":
            assert all(p.ndim > 1 for p in optimizer.param_groups[0]["params"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:this processor computes in bf16")
def test_every_setting_changes_something(train: Callable[..., Any]) -> None:
    plain, _ = train()
    for change in (
        {"learning_rate": 2e-3}, {"weight_decay": 0.5}, {"optimizer": "adam"},
        {"schedule": "constant"}, {"warm_up": 0.5}, {"accumulation": 2}, {"clip": 1e-3},
        {"epochs": 3}, {"max_steps": 7}, {"precision": "bf16"},
    ):  # fmt: skip
        assert not same(plain, train(**change)[0]), change


def test_steps_end_where_they_are_told_to(small: ModuleType, train: Callable[..., Any]) -> None:
    _, fitted = train(max_steps=7, epochs=9, loop={"dev_score": small.dev_score})
    assert fitted.steps == 7
    assert [(record.epoch, record.step) for record in fitted.epochs] == [(0, 5), (1, 7)]
    assert all(record.dev is not None for record in fitted.epochs)


def test_batches_that_teach_nothing(small: ModuleType, train: Callable[..., Any]) -> None:
    start = small.make_module()
    module, fitted = train(small.Synonyms(idle=range(5)))
    assert same(module, start)
    assert [record.mean_loss for record in fitted.epochs] == [0, 0]
    half, _ = train(small.Synonyms(idle=[0, 2]))
    assert not same(half, start)


@pytest.mark.parametrize("keep", ["best", "last"])
def test_early_stopping_keeps_the_best(train: Callable[..., Any], keep: str) -> None:
    scores = iter([0.1, 0.3, 0.3, 0.2, 0.9])
    seen: list[np.ndarray] = []

    def score(encode: Any) -> float:
        seen.append(encode(["heart"]))
        return next(scores)

    module, fitted = train(epochs=9, patience=2, keep=keep, loop={"dev_score": score})
    assert fitted.stopped_early
    assert [record.dev for record in fitted.epochs] == [0.1, 0.3, 0.3, 0.2]
    assert fitted.kept == (1 if keep == "best" else None)
    np.testing.assert_array_equal(module.encode(["heart"]), seen[1 if keep == "best" else 3])


def test_what_is_told_meanwhile(train: Callable[..., Any], tmp_path: Path) -> None:
    told: list[FitProgress] = []
    log = tmp_path / "log.jsonl"
    log.write_text("left from another run\n")
    _, fitted = train(loop={"log": log, "progress": told.append, "tensorboard": tmp_path / "board"})
    assert [(one.step, one.total, one.epoch) for one in told[4:6]] == [(5, 10, 0), (6, 10, 1)]
    assert told[-1].seconds_left == 0
    assert all(one.names_per_second > 0 and np.isfinite(one.loss) for one in told)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    steps = [line for line in lines if "loss" in line]
    assert [line["step"] for line in steps] == list(range(1, 11))
    assert [line["loss"] for line in steps] == [one.loss for one in told]
    assert {line["names"] for line in steps} == {24}
    assert steps[0]["learning_rate"] == 1e-3
    assert steps[-1]["learning_rate"] == pytest.approx(1e-4)
    epochs = [line for line in lines if "mean_loss" in line]
    assert epochs == [record._asdict() for record in fitted.epochs]
    assert epochs[0]["mean_loss"] == pytest.approx(np.mean([line["loss"] for line in steps[:5]]))
    assert any((tmp_path / "board").iterdir())


class Broken:
    """An objective that is wrong in one way."""

    name = "broken"
    settings: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, whole: Any, **changes: Any) -> None:
        self.whole, self.changes = whole, changes

    def __getattr__(self, name: str) -> Any:
        return self.changes.get(name) or getattr(self.whole, name)


def test_a_loss_that_is_no_number_stops(small: ModuleType, train: Callable[..., Any]) -> None:
    whole = small.Synonyms()

    def loss(embed: Any, plan: Any, batch: int) -> Any:
        found = whole.loss(embed, plan, batch)
        return found * float("nan") if batch == 3 else found

    with pytest.raises(InvalidInput, match=r"loss of step 4 is nan.*lower the learning rate"):
        train(Broken(whole, loss=loss))
    with pytest.raises(InvalidInput, match="dev score of epoch 0 is nan"):
        train(loop={"dev_score": lambda _: float("nan")})


def test_weights_that_are_no_numbers_are_not_written(
    small: ModuleType, train: Callable[..., Any], tmp_path: Path
) -> None:
    def spoil(now: FitProgress) -> None:
        if now.step == 4:
            with torch.no_grad():
                objective.scale.fill_(float("inf"))

    objective = small.Synonyms()
    loop = {"checkpoints": tmp_path / "c", "checkpoint_every": 2, "progress": spoil}
    with pytest.raises(InvalidInput, match=r"after step 4 .*step-00000002 stays"):
        train(objective, loop=loop)
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["step-00000002"]


def test_a_lack_of_memory_says_what_to_try(small: ModuleType, train: Callable[..., Any]) -> None:
    whole = small.Synonyms()

    def loss(*_: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate")

    with pytest.raises(InvalidInput, match="halve the batch and set accumulation to 4"):
        train(Broken(whole, loss=loss), accumulation=2)

    def other(*_: Any) -> Any:
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match="shapes"):
        train(Broken(whole, loss=other))


def test_objectives_that_cannot_be_followed(small: ModuleType, train: Callable[..., Any]) -> None:
    whole = small.Synonyms()
    for changes, message in (
        ({"loss": lambda embed, *_: embed(["a", "b"])}, "scalar with gradients is expected"),
        ({"loss": lambda *_: torch.zeros(())}, "scalar with gradients is expected"),
        ({"plan": lambda *_: {"rows": np.array(["text"])}}, "no array of numbers"),
        ({"n_batches": lambda _: 0 or -1}, "nothing to train on"),
    ):
        with pytest.raises(InvalidInput, match=message):
            train(Broken(whole, **changes))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"accumulation": True}, "accumulation is True"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"optimizer": "sgd"}, "optimizer is 'sgd'"),
        ({"schedule": "cosine"}, "schedule is 'cosine'"),
        ({"precision": "int8"}, "precision is 'int8'"),
        ({"keep": "all"}, "keep is 'all'"),
        ({"learning_rate": 0}, "learning_rate is 0; expected a number above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"weight_decay": -1}, "weight_decay is -1; expected a number at least 0"),
        ({"warm_up": 1.5}, "warm_up is 1.5; expected a number at least 0 and at most 1"),
        ({"clip": 0}, "clip is 0"),
        ({"epochs": None}, "training needs an end"),
        ({"clip": "a"}, "clip is 'a'"),
    ],
)
def test_settings_out_of_range(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FitSettings(**settings)


def test_what_cannot_be_done_is_said_first(
    small: ModuleType, train: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for loop, message in (
        ({"resume": True}, "folder of the checkpoints"),
        ({"checkpoint_every": 3}, "no folder"),
        ({"checkpoint_every": 0, "checkpoints": tmp_path / "c"}, "checkpoint_every=0"),
        ({"checkpoints": tmp_path / "file"}, "is a file"),
        ({"checkpoints": tmp_path / "no" / "such"}, "does not exist"),
        ({"log": tmp_path}, "cannot be written"),
        ({"log": tmp_path / "no" / "log"}, "cannot be written"),
    ):
        objective = small.Synonyms()
        with pytest.raises(InvalidInput, match=message):
            train(objective, loop=loop)
        assert not objective.losses
    with pytest.raises(InvalidInput, match="fp16' needs a GPU"):
        train(precision="fp16")
    with pytest.raises(InvalidInput, match="cannot be used here"):
        fit(small.make_module(), small.Synonyms(), device="cuda:7")


@pytest.mark.parametrize("fast", [True, False])
def test_slow_bfloat16_is_told(
    fast: bool, train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: fast)
    told: list[str] = []
    train(precision="bf16", max_steps=1, loop={"notice": told.append})
    assert ["choose precision float32" in line for line in told] == ([] if fast else [True])
    train(max_steps=1, loop={"notice": told.append})
    assert len(told) == (not fast)


def test_an_epoch_with_the_loss_of_a_collapsed_encoder_is_told(
    train: Callable[..., Any], small: ModuleType
) -> None:
    first = train(max_steps=5)[1].epochs[0].mean_loss
    for collapsed, n in ((None, 0), (first, 1), (first * 1.015, 1), (first * 1.03, 0)):
        told: list[str] = []
        objective = small.Synonyms()
        objective.collapsed_loss = collapsed
        train(objective, max_steps=5, loop={"notice": told.append})
        assert ["all names one vector" in line for line in told] == [True] * n


def test_a_budget_of_names_ends_the_training_and_lays_out_its_rate(
    train: Callable[..., Any],
) -> None:
    seen: list[Any] = []
    _, whole = train(epochs=3)
    budget = whole.names // 2
    _, fitted = train(
        epochs=None, max_names=budget, schedule="linear", loop={"progress": seen.append}
    )
    per_step = whole.names / whole.steps
    assert fitted.steps == -(-budget // per_step)
    assert budget <= fitted.names < budget + per_step
    assert [now.total for now in seen] == [fitted.steps] * fitted.steps
    rates = [now.learning_rate for now in seen]
    assert rates == sorted(rates, reverse=True)
    assert 0 < rates[-1] < rates[0] / 2
