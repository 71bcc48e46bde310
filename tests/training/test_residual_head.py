"""The few-shot head: what torch trains is what numpy computes, one head on another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from canonym.encoders import load_encoder, make_encoder, save_encoder
from canonym.encoders.residual import Residual, random_projection
from canonym.encoders.saved import write_tensors
from canonym.encoders.static import StaticVectors
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.training.modules.residual_head import ResidualModule
from canonym.training.objective import Trainable


@pytest.fixture
def base() -> Subword:
    return Subword(np.random.default_rng(0).normal(size=(256, 12)).astype(np.float32))


@pytest.mark.parametrize("head", ["residual", "dan"])
@pytest.mark.parametrize("width", [None, 20], ids=["as wide", "wider"])
def test_the_equation(base: Subword, width: int | None, head: str, tmp_path: Path) -> None:
    module = ResidualModule(base, hidden=30, width=width, seed=3, head=head)
    assert isinstance(module, Trainable)
    module.network.eval()
    names = ["heart attack", "flu", "heart attack"]
    u = base.encode(names).astype(np.float64)
    if width:
        assert module.projection is not None
        u = u @ module.projection
    weights = {
        k: v.detach().numpy().astype(np.float64) for k, v in module.network.named_parameters()
    }
    expected = np.empty_like(u)
    for row, vector in enumerate(u):
        inner = [max(float(w @ vector + b), 0) for w, b in
                 zip(weights["hidden.weight"], weights["hidden.bias"], strict=True)]  # fmt: skip
        enc = weights["output.weight"] @ np.array(inner) + weights["output.bias"]
        expected[row] = (enc + vector) / 2 if head == "residual" else enc
    with torch.no_grad():
        np.testing.assert_allclose(module.embed(names).numpy(), expected, atol=1e-6)
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(module.encode(names), unit, atol=1e-6)
    save_encoder(module.to_encoder(), tmp_path / "head")
    opened = load_encoder(tmp_path / "head")
    np.testing.assert_array_equal(opened.encode(names), module.encode(names))
    assert repr(opened).endswith(f"30 hidden, {width or 12} dimensions)")
    assert ("dan" in repr(opened)) == ("dan" in repr(module)) == (head == "dan")


def test_heads_are_stacked(base: Subword, tmp_path: Path) -> None:
    first = ResidualModule(base, hidden=30).to_encoder()
    second = ResidualModule(first, hidden=40, width=16, seed=1).to_encoder()
    assert second.steps == first.steps == base.steps
    assert second.encode(["flu"]).shape == (1, 16)
    expected = second.transform(first.encode(["flu"]))
    np.testing.assert_array_equal(second.encode(["flu"]), expected)
    save_encoder(second, tmp_path / "stacked")
    opened = make_encoder(tmp_path / "stacked")
    assert isinstance(opened, Residual)
    assert isinstance(opened.base, Residual)
    np.testing.assert_array_equal(opened.encode(["flu"]), expected)


def test_only_the_head_is_trained_and_dropout_only_then(base: Subword) -> None:
    module = ResidualModule(base, hidden=30, dropout=0.5)
    before = base.encode(["flu"])
    module.network.train()
    assert not torch.equal(module.embed(["flu"]), module.embed(["flu"]))
    np.testing.assert_array_equal(module.encode(["flu"]), module.encode(["flu"]))
    module.embed(["flu", "heart"]).square().sum().backward()
    assert all(parameter.grad is not None for parameter in module.network.parameters())
    np.testing.assert_array_equal(base.encode(["flu"]), before)
    assert module.settings == {
        "kind": "residual", "hidden": 30, "dropout": 0.5, "width": 12, "base": "Subword",
    }  # fmt: skip
    assert "hidden=30" in repr(module)


def test_names_of_nothing_stay_nothing() -> None:
    words = StaticVectors(["heart"], np.ones((1, 4), np.float32))
    encoder = ResidualModule(words, hidden=8).to_encoder()
    found = encoder.encode(["flu", "heart"])
    assert not hasattr(encoder, "steps")
    assert not found[0].any()
    assert np.linalg.norm(found[1]) == pytest.approx(1)


def test_frozen_vectors_are_kept_but_not_without_end(
    base: Subword, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    whole = base.encode
    module = ResidualModule(base, hidden=8)
    monkeypatch.setattr(base, "encode", lambda names: (asked.append(len(names)), whole(names))[1])
    monkeypatch.setattr("canonym.training.modules.residual_head._MOST_KEPT", 3)
    expected = whole(["a", "b", "a", "c"])
    np.testing.assert_array_equal(module.inputs(["a", "b"]), expected[:2])
    np.testing.assert_array_equal(module.inputs(["a", "b", "a", "c"]), expected)
    np.testing.assert_array_equal(module.inputs(["d", "a"]), whole(["d", "a"]))
    assert asked == [2, 1, 2]


def test_a_projection_keeps_lengths_on_average() -> None:
    matrix = random_projection(10, 4000, seed=1)
    assert matrix.shape == (10, 4000)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=0.05)
    np.testing.assert_array_equal(matrix, random_projection(10, 4000, seed=1))
    assert not np.allclose(matrix, random_projection(10, 4000, seed=2))
    with pytest.raises(InvalidInput, match="width=5 is less than the 10 columns"):
        random_projection(10, 5, seed=0)


def test_heads_that_do_not_fit_are_refused(base: Subword, tmp_path: Path) -> None:
    grams = make_encoder("chargrams").fit(["flu"])  # type: ignore[attr-defined]
    good = ResidualModule(base, hidden=8).to_encoder()
    changes: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
        (lambda w: w.pop("output.bias"), "perhaps projection; found"),
        (lambda w: w.update(other=w["output.bias"]), "found .*other"),
        (lambda w: w.update({"output.bias": np.zeros(3, np.float32)}), "shape \\(12,\\)"),
        (lambda w: w.update({"output.bias": np.zeros(12)}), "found float64"),
        (lambda w: w.update({"hidden.weight": np.zeros(3, np.float32)}), "hidden.weight"),
        (lambda w: w.update({"output.bias": np.full(12, np.nan, np.float32)}), "holds NaN"),
    ]
    for change, message in changes:
        weights = dict(good.weights)
        change(weights)
        with pytest.raises(InvalidInput, match=message):
            Residual(base, weights)
    with pytest.raises(InvalidInput, match="no head 'mean'; there are residual, dan"):
        Residual(base, good.weights, "mean")
    narrow = Subword(np.ones((256, 4), np.float32))
    with pytest.raises(Mismatch, match=r"takes vectors of 12 columns, .* has 4"):
        Residual(narrow, good.weights)
    for make in (lambda: Residual(grams, good.weights), lambda: ResidualModule(grams)):
        with pytest.raises(InvalidInput, match="dense"):
            make()
    for options, message in (
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"hidden": 0}, "hidden is 0"),
        ({"width": 3}, "width=3"),
    ):
        with pytest.raises(InvalidInput, match=message):
            ResidualModule(base, **options)
    save_encoder(good, tmp_path / "head")
    weights = dict(good.weights) | {"output.bias": np.zeros(3, np.float32)}
    write_tensors(tmp_path / "head" / "head.safetensors", weights)
    (tmp_path / "head" / "canonym.json").unlink()
    with pytest.raises(ReadError, match="the encoder is damaged"):
        load_encoder(tmp_path / "head")
    (tmp_path / "head" / "base" / "encoder.json").unlink()
    with pytest.raises(ReadError, match="base"):
        load_encoder(tmp_path / "head")
