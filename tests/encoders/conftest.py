"""A transformer small enough to be made in a test."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from canonym.encoders.hub import write_pooling

os.environ["HF_HUB_OFFLINE"] = "1"

_PIECES = ["heart", "attack", "flu", "##s", "pain", ",", "-"]
_LETTERS = [f"{mark}{letter}" for letter in "abcdefghijklmnopqrstuvwxyzß心" for mark in ("", "##")]


def make_tiny_bert(folder: Path, *, lowercase: bool = True) -> Path:
    """Write a random BERT of one layer and 16 dimensions, with its tokenizer, into `folder`."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_PIECES, *_LETTERS]
    tokenizer = BertTokenizerFast(
        vocab={piece: n for n, piece in enumerate(pieces)}, do_lower_case=lowercase
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    tokenizer.save_pretrained(folder)
    BertModel(config).save_pretrained(folder)
    return folder


def describe_pooling(folder: Path, **changes: Any) -> None:
    """Write the small files of sentence-transformers for an encoder that is not there."""
    usual = {"pooling": "mean", "n_columns": 16, "max_length": 32, "lowercase": False}
    facts = usual | {"normalise": True, "similarity": "cosine"} | changes
    write_pooling(folder, SimpleNamespace(**facts))


@pytest.fixture(scope="session")
def cased_bert(tmp_path_factory: Any) -> Path:
    """The same with a tokenizer that keeps capital letters."""
    return make_tiny_bert(tmp_path_factory.mktemp("bert") / "cased", lowercase=False)


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: Any) -> Path:
    """The folder of a random BERT; tests must not write to it."""
    return make_tiny_bert(tmp_path_factory.mktemp("bert") / "tiny")


@pytest.fixture(scope="session")
def exported_bert(tiny_bert: Path, tmp_path_factory: Any) -> Path:
    """The random BERT in ONNX format, mean pooling, 12 tokens; tests must not write to it."""
    from canonym.encoders.transformer import Transformer
    from models.onnx_export import export_onnx

    folder: Path = tmp_path_factory.mktemp("onnx") / "exported"
    export_onnx(Transformer(tiny_bert, pooling="mean", max_length=12), folder)
    return folder
