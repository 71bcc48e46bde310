"""A transformer that can be trained: names to pooled vectors, with gradients or without.

`NameModule.read` starts from any checkpoint that `canonym.encoders.transformer.Transformer` reads;
`canonym.training.modules.scratch.new_module` starts from names alone.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from canonym.encoders.batches import encode_in_batches, pool
from canonym.encoders.hub import POOLINGS, check_model, find_model, read_checkpoint, read_model
from canonym.encoders.inputs import check_count, check_option, checked_names
from canonym.errors import InvalidInput, require
from canonym.io.encodings import without_surrogates
from canonym.types import Encoder, Float32Array

if TYPE_CHECKING:
    from torch import Tensor

# --- chunks of similar length --------------------------------------------------------------------


def chunks(order: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    """Cut into even chunks of at most `size`."""
    n = -(-len(order) // size)
    for chunk in range(n):
        yield order[chunk * len(order) // n : (chunk + 1) * len(order) // n]


def padded(ids: Sequence[Sequence[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Return tokens as ``(n, t)`` int64, filled up with `pad`, and their mask: 1 for a token."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    rows = [torch.tensor(tokens, dtype=torch.long) for tokens in ids]
    filled: Tensor = pad_sequence(rows, batch_first=True, padding_value=pad)
    return filled, pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)


def look_up(network: Any, ids: Sequence[Sequence[int]], pad: int) -> tuple[list[list[int]], Tensor]:
    """Look up every distinct token of a batch once; return the row of each token, and the vectors.

    Every look-up makes a gradient of the whole vocabulary. One for each chunk would take up to a
    tenth of the time of training in bfloat16, so that chunks share this one.
    """
    import torch

    tokens = list(dict.fromkeys(itertools.chain([pad], *ids)))
    places = {token: place for place, token in enumerate(tokens)}
    table = network.get_input_embeddings()
    vectors = table(torch.tensor(tokens, device=table.weight.device))
    return [[places[token] for token in row] for row in ids], vectors


# --- the module ----------------------------------------------------------------------------------

# Names of one forward pass on a CPU: enough to keep it busy, few enough to be of one length.
_CHUNK = 84


class NameModule:
    """A Hugging Face encoder and its tokenizer, to be trained.

    Names of more than `max_length` tokens, special ones included, are cut; at least 3 are expected,
    and at most `longest`, if the folder of the model says so. `encode` takes `batch_size` names at
    once, which changes speed and memory, not vectors. A pooler that comes with the model is frozen,
    since no vector passes through it. `width` is the number of columns of a vector.

    On a CPU the names of a batch go through the model in chunks of similar length, so that little
    of the time is spent on padding. Vectors do not depend on that, up to rounding.
    """

    def __init__(
        self,
        network: Any,
        tokenizer: Any,
        *,
        pooling: str = "cls",
        max_length: int = 25,
        batch_size: int = 128,
        lowercase: bool = False,
        longest: int | None = None,
    ) -> None:
        check_option("pooling", pooling, POOLINGS)
        check_count("max_length", max_length, least=3)
        check_count("batch_size", batch_size)
        check_model(network, tokenizer, max_length=max_length, longest=longest)
        self.network = network
        self.tokenizer = tokenizer
        self.pooling = pooling
        self.max_length = int(max_length)
        self.batch_size = int(batch_size)
        self.lowercase = bool(lowercase)
        self.width = int(network.config.hidden_size)
        self._takes_vectors = "inputs_embeds" in inspect.signature(network.forward).parameters
        for name, parameter in network.named_parameters():
            # Several processes would wait for its gradient, and weight decay would shrink it.
            parameter.requires_grad_("pooler" not in name.split("."))

    @classmethod
    def read(
        cls,
        path_or_name: str | Path,
        *,
        pooling: str = "auto",
        max_length: int = 25,
        batch_size: int = 128,
        local_files_only: bool = True,
    ) -> Self:
        """Start from a checkpoint; ``"auto"`` pooling is that of its folder, or [CLS]."""
        check_option("pooling", pooling, ("auto", *POOLINGS))
        folder = find_model(path_or_name, local_files_only=local_files_only)
        checkpoint = read_checkpoint(folder, pooling=pooling)
        network, tokenizer = read_model(checkpoint.weights)
        return cls(
            network.float(),
            tokenizer,
            pooling=checkpoint.pooling,
            max_length=max_length,
            batch_size=batch_size,
            lowercase=checkpoint.lowercase,
            longest=checkpoint.longest,
        )

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"NameModule({options})"

    @property
    def settings(self) -> dict[str, object]:
        """The settings of its vectors, as JSON can hold them."""
        return {
            "kind": "transformer",
            "model": str(self.network.config.model_type),
            "width": self.width,
            "pooling": self.pooling,
            "max_length": self.max_length,
            "lowercase": self.lowercase,
        }

    def embed(self, names: Sequence[str]) -> Tensor:
        """Return the pooled vectors of `names`, with gradients, not normalised."""
        torch = require("torch", "training an encoder", "torch")
        ids = self._tokens(checked_names(names))
        if not ids:
            raise InvalidInput("no names to encode; a batch needs at least one")
        device = next(self.network.parameters()).device
        order = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        on_cpu = device.type == "cpu"
        parts = list(chunks(order, _CHUNK if on_cpu else len(ids)))
        vectors = None
        if len(parts) > 1 and self._takes_vectors:
            ids, vectors = look_up(self.network, ids, self.tokenizer.pad_token_id)
        with self._attention("eager" if on_cpu else None):
            blocks = [
                self._forward([ids[place] for place in places], device, vectors) for places in parts
            ]
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(blocks)[back.to(device)]

    def encode(self, names: Sequence[str], *, normalise: bool = True) -> Float32Array:
        """Return vectors, of norm 1 as a rule, without gradients and without dropout."""
        torch = require("torch", "training an encoder", "torch")
        device = next(self.network.parameters()).device
        training = self.network.training

        def forward(texts: list[str]) -> Float32Array:
            with torch.inference_mode():
                vectors = self._forward(self._tokens(texts), device)
                return np.asarray(vectors.float().cpu().numpy())

        self.network.eval()
        try:
            return encode_in_batches(
                names,
                forward,
                width=self.width,
                batch_size=self.batch_size,
                lowercase=False,  # `_tokens` does it
                normalise=normalise,
            )
        finally:
            self.network.train(training)

    def to_encoder(self) -> Encoder:
        """Return the trained encoder; it shares the network, now in evaluation mode."""
        from canonym.encoders.transformer import Transformer

        encoder = Transformer.from_model(
            self.network,
            self.tokenizer,
            pooling=self.pooling,
            max_length=self.max_length,
            device=str(next(self.network.parameters()).device),
        )
        encoder.lowercase = self.lowercase
        return encoder

    def _tokens(self, names: Sequence[str]) -> list[list[int]]:
        if not names:
            return []
        texts = [without_surrogates(name.lower() if self.lowercase else name) for name in names]
        tokens = self.tokenizer(
            texts,
            truncation=True,
            max_length=self.max_length,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
        )
        return list(tokens["input_ids"])

    @contextlib.contextmanager
    def _attention(self, kind: str | None) -> Iterator[None]:
        """Compute attention in another way: on a CPU, backward is slow through the fused one."""
        config = self.network.config
        usual = getattr(config, "_attn_implementation", None)
        if kind is None or usual != "sdpa":
            yield
            return
        config._attn_implementation = kind
        try:
            yield
        finally:
            config._attn_implementation = usual

    def _forward(
        self, ids: Sequence[Sequence[int]], device: Any, vectors: Tensor | None = None
    ) -> Tensor:
        """Return the pooled vectors of tokens, or of rows of `vectors`."""
        filled, mask = padded(ids, self.tokenizer.pad_token_id if vectors is None else 0)
        filled, mask = filled.to(device), mask.to(device)
        inputs = {"input_ids": filled} if vectors is None else {"inputs_embeds": vectors[filled]}
        hidden = self.network(**inputs, attention_mask=mask).last_hidden_state
        return pool(hidden, mask, self.pooling)
