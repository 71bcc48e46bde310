"""A module to be trained: the vectors of the encoder it becomes, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from canonym.encoders import load_encoder, save_encoder
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput, ReadError
from canonym.training.modules.scratch import new_module, train_tokenizer
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Trainable

ODD = ["", "heart", "\ud800", "chronic " * 40, "FLU", "心筋梗塞"]


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
def test_vectors_are_those_of_the_encoder(
    pooling: str, make_module: Callable[..., Any], names: list[str], tmp_path: Path
) -> None:
    module = make_module(pooling=pooling)
    module.network.eval()
    asked = [*names, *ODD]
    with torch.no_grad():
        alone = torch.cat([module.embed([name]) for name in asked])
        together = module.embed(asked)
    np.testing.assert_allclose(together.numpy(), alone.numpy(), atol=1e-5)
    unit = torch.nn.functional.normalize(alone, dim=1).numpy()
    np.testing.assert_allclose(module.encode(asked), unit, atol=1e-5)
    save_encoder(module.to_encoder(), tmp_path / "saved")
    encoder = load_encoder(tmp_path / "saved")
    np.testing.assert_allclose(encoder.encode(asked), unit, atol=1e-5)
    again = NameModule.read(tmp_path / "saved", max_length=12)
    assert again.pooling == pooling
    np.testing.assert_array_equal(again.encode(asked), module.encode(asked))


def test_gradients_flow_to_every_weight_but_the_pooler(make_module: Callable[..., Any]) -> None:
    module = make_module()
    assert isinstance(module, Trainable)
    vectors = module.embed(["heart attack", "flu"])
    assert vectors.shape == (2, module.width) == (2, 16)
    assert not torch.allclose(vectors.norm(dim=1), torch.ones(2), atol=1e-3)
    vectors.square().sum().backward()
    for name, parameter in module.network.named_parameters():
        assert (parameter.grad is None) == name.startswith("pooler"), name


@pytest.mark.parametrize("takes_vectors", [True, False])
def test_chunks_give_the_gradients_of_a_batch_as_a_whole(
    takes_vectors: bool,
    make_module: Callable[..., Any],
    names: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = make_module()
    module.network.eval()
    module._takes_vectors = takes_vectors

    def gradients(size: int) -> dict[str, Any]:
        monkeypatch.setattr("canonym.training.modules.transformer._CHUNK", size)
        module.network.zero_grad()
        module.embed([*names, *ODD, names[0]]).square().sum().backward()
        found = {name: weight.grad for name, weight in module.network.named_parameters()}
        return {name: grad.clone() for name, grad in found.items() if grad is not None}

    whole, chunked = gradients(1000), gradients(3)
    assert whole.keys() == chunked.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(chunked[name], gradient, atol=1e-5, rtol=1e-4, msg=name)


def test_encoding_leaves_the_mode_and_drops_nothing(make_module: Callable[..., Any]) -> None:
    module = make_module()
    module.network.train()
    np.testing.assert_array_equal(module.encode(["flu"]), module.encode(["flu"]))
    assert module.network.training
    assert not torch.equal(module.embed(["flu"]), module.embed(["flu"]))
    encoder = module.to_encoder()
    np.testing.assert_allclose(encoder.encode(["flu"]), module.encode(["flu"]), atol=1e-6)
    assert not module.network.training
    assert module.encode([]).shape == (0, 16)


def test_lower_case_of_a_folder_is_kept(make_module: Callable[..., Any], tmp_path: Path) -> None:
    save_encoder(make_module(lowercase=False).to_encoder(), tmp_path / "saved")
    cased = NameModule.read(tmp_path / "saved")
    assert not np.allclose(cased.encode(["FLU"]), cased.encode(["flu"]))
    settings = tmp_path / "saved" / "sentence_bert_config.json"
    text = settings.read_text()
    assert '"do_lower_case": false' in text
    settings.write_text(text.replace('"do_lower_case": false', '"do_lower_case": true'))
    module = NameModule.read(tmp_path / "saved")
    np.testing.assert_array_equal(module.encode(["FLU"]), cased.encode(["flu"]))
    with torch.no_grad():
        module.network.eval()
        assert torch.equal(module.embed(["FLU"]), module.embed(["flu"]))
    assert "lowercase=True" in repr(module)
    encoder = module.to_encoder()
    assert isinstance(encoder, Transformer)
    np.testing.assert_allclose(encoder.encode(["FLU"]), module.encode(["flu"]), atol=1e-6)


def test_what_cannot_be_trained_is_refused(
    make_module: Callable[..., Any], tmp_path: Path, names: list[str]
) -> None:
    for options, message in (
        ({"pooling": "median"}, "pooling='median'"),
        ({"max_length": 2}, "max_length=2"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"width": 15}, "no multiple of heads=2"),
        ({"layers": 0}, "layers=0"),
        ({"vocabulary": 3}, "vocabulary=3"),
    ):
        with pytest.raises(InvalidInput, match=message):
            make_module(**options)
    module = make_module()
    with pytest.raises(InvalidInput, match="at least one"):
        module.embed([])
    with pytest.raises(InvalidInput, match="list of names"):
        module.embed("flu")
    save_encoder(module.to_encoder(), tmp_path / "saved")
    with pytest.raises(InvalidInput, match="at most 64 tokens"):
        NameModule.read(tmp_path / "saved", max_length=65)
    with pytest.raises(InvalidInput, match="median"):
        NameModule.read(tmp_path / "saved", pooling="median")
    with pytest.raises(ReadError, match="config"):
        NameModule.read(tmp_path)
    module.network.config.is_encoder_decoder = True
    with pytest.raises(InvalidInput, match="no encoder"):
        NameModule(module.network, module.tokenizer)
    with pytest.raises(InvalidInput, match="no names to train"):
        new_module(["", " "])
    assert names


def test_a_tokenizer_keeps_frequent_words_whole(names: list[str]) -> None:
    tokenizer = train_tokenizer(names, vocabulary=100)
    assert tokenizer.tokenize("Heart FLU") == ["heart", "flu"]
    assert len(tokenizer) <= 100
    encoded = tokenizer("heart")["input_ids"]
    assert tokenizer.convert_ids_to_tokens(encoded) == ["[CLS]", "heart", "[SEP]"]
    assert tokenizer.tokenize("zz") == ["[UNK]"]
    assert train_tokenizer(names[::-1], vocabulary=100).get_vocab() == tokenizer.get_vocab()
    cased = train_tokenizer([*names, "Heart"] * 2, vocabulary=100, lowercase=False)
    assert "H" in cased.get_vocab()


def test_the_seed_makes_the_weights(make_module: Callable[..., Any]) -> None:
    one, two, other = make_module(), make_module(), make_module(seed=1)
    np.testing.assert_array_equal(one.encode(["flu"]), two.encode(["flu"]))
    assert not np.allclose(one.encode(["flu"]), other.encode(["flu"]))
