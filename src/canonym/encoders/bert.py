"""Vectors from a BERT with 8-bit weights, by NumPy alone.

Reads the folders that `quantise_onnx` writes, and computes what ONNX Runtime computes of them.

Notes
-----
The weights ``p`` and the tokens ``q`` are whole numbers, kept in single precision. Their products
stay below ``2**24`` and are exact, in whatever order they are added. Attention is computed in
double precision and rounded; everything else takes operations that IEEE 754 fixes, token by token.
So a vector depends on its name alone: not on batch mates, threads or the kind of processor.

GELU is ``x (1/2 + t R(t²))``, where ``t`` is ``x`` between −5.2 and 5.2, and ``R`` a quotient of
polynomials that was fitted to the error function. It is off by 2e-6 at most, in single precision.
Where a number falls on the other side of a rounding than in ONNX Runtime, vectors part a little;
those of ONNX Runtime itself do so with and without its optimisations.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from canonym.encoders.batches import TokenEncoder, embed_by_length, pooled
from canonym.encoders.hub import fitting_together, read_json
from canonym.encoders.onnx_graph import Graph, read_graph
from canonym.encoders.pieces import WordPieces
from canonym.encoders.saved import reopen, write_encoder_manifest
from canonym.errors import InvalidInput
from canonym.io.files import asked_threads, n_cores
from canonym.types import Float32Array

__all__ = ["Bert"]

_TOKENS = 256  # of a batch: their numbers stay in the cache
_LARGEST, _LARGEST_GELU = 127, 223
_LEAST, _LEAST_GELU = np.float32(1e-30), np.float32(0.1701 / 32)
_EXACT = 1 << 24  # whole numbers below it have single precision
_BOUND = np.float32(5.2)
_ABOVE = (0.0193397923, 5.19922773, 132.867278, 3747.07345, 26836.3961, 320954.912)
_BELOW = (58.8634071, 1499.13215, 22840.1761, 201353.598, 804514.911)


class Bert(TokenEncoder):
    """Encode names with a BERT that has weights of 8 bits and needs no other library.

    Parameters
    ----------
    folder : str or Path
        A folder that `quantise_onnx` wrote, of a BERT for text without capital letters.
    pooling : str
        ``"cls"``, ``"mean"``, ``"max"``, or ``"auto"``: that of the folder's ``modules.json``.
    max_length : int
        Most tokens of a name, special tokens included; a longer name is cut.
    trained : mapping, optional
        Facts about the training of the weights, kept in the manifest.

    Raises
    ------
    InvalidInput
        If an option is out of range, or the model is another than such a BERT.
    ReadError
        If a file is missing or damaged.
    """

    _together = 1024  # names that are sorted by length

    def __init__(
        self,
        folder: str | Path,
        *,
        pooling: str = "auto",
        max_length: int = 32,
        trained: Mapping[str, Any] | None = None,
    ) -> None:
        what = "a BERT with 8-bit weights"
        checkpoint = self._read_folder(folder, pooling, max_length, what)
        self.trained = dict(trained or {})
        self._files = {"model.onnx": self.folder / "model.onnx"}
        self._files |= {
            name: checkpoint.weights / name for name in ("config.json", "tokenizer.json")
        }
        self._pieces = WordPieces(self._files["tokenizer.json"], self.max_length)
        self._model = _Model(self._files["model.onnx"], self._files["config.json"])
        self.n_columns = self._model.width
        self._threads = asked_threads() or n_cores()

    def __repr__(self) -> str:
        return f"Bert({str(self.folder)!r}, pooling={self.pooling!r}, max_length={self.max_length})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that, with a folder, make this encoder again."""
        trained = {"trained": self.trained} if self.trained else {}
        return {"pooling": self.pooling, "max_length": self.max_length, **trained}

    def _embed(self, texts: list[str]) -> Float32Array:
        tokens = [self._pieces.encode(text) for text in texts]

        def embed(places: list[int]) -> Float32Array:
            ids = np.array([tokens[place] for place in places])
            with fitting_together(self.folder):
                hidden = self._model.hidden(ids)
            return pooled(hidden, np.ones_like(ids), self.pooling)

        return embed_by_length(
            list(map(len, tokens)),
            embed,
            width=self.n_columns,
            n_alike=lambda length: max(1, _TOKENS // length),
            n_threads=self._threads,
        )

    def save(self, folder: Path) -> None:
        """Copy the model into `folder`, with its settings."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in self._files.items():
            shutil.copyfile(file, folder / name)
        self._write_pooling(folder)
        write_encoder_manifest(folder, kind="bert", settings=self.settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an encoder that `save` wrote."""
        return reopen(cls, folder, "bert", lambda settings: settings | {"folder": folder})


class _Product(NamedTuple):
    """A matrix ``(k, n)`` of whole numbers with a scale and a bias for each column."""

    numbers: npt.NDArray[Any]
    scales: Float32Array
    bias: Float32Array

    def of(self, tokens: Float32Array, scale: Float32Array) -> Float32Array:
        """Multiply whole numbers ``(m, k)`` that have the scales ``(m, 1)``."""
        product: Float32Array = (tokens @ self.numbers).astype(np.float32, copy=False)
        product *= self.scales
        product *= scale
        product += self.bias
        return product


class _Norm(NamedTuple):
    """Brings each token to mean 0 and variance 1, then to a weight and a bias."""

    weight: Float32Array
    bias: Float32Array
    least: np.float32

    def of(self, tokens: Float32Array) -> Float32Array:
        """Change ``(m, d)`` in place."""
        share = np.float32(1 / tokens.shape[1])
        tokens -= tokens.sum(axis=1, keepdims=True) * share
        variance = (tokens * tokens).sum(axis=1, keepdims=True) * share
        tokens /= np.sqrt(variance + self.least)
        tokens *= self.weight
        tokens += self.bias
        return tokens


class _Layer(NamedTuple):
    attention: _Product
    output: _Product
    output_norm: _Norm
    wide: _Product
    narrow: _Product
    norm: _Norm


class _Model:
    """Weights of a BERT, from its ONNX file, and the way through its layers."""

    def __init__(self, path: Path, config_file: Path) -> None:
        config, graph = read_json(config_file), read_graph(path)
        try:
            if (config["model_type"], config["hidden_act"]) != ("bert", "gelu"):
                raise ValueError(f"it is a {config['model_type']} with {config['hidden_act']}")
            self._heads, n_layers = config["num_attention_heads"], config["num_hidden_layers"]
            weights = _Weights(graph, np.float32(config["layer_norm_eps"]))
            embeddings = "model.embeddings"
            self._words = weights.table(f"{embeddings}.word_embeddings.weight")
            self._places = weights.table(f"{embeddings}.position_embeddings.weight")
            self._first_type = weights.vector(f"{embeddings}.token_type_embeddings.weight")[0]
            self._norm = weights.norm(f"{embeddings}.LayerNorm")
            self._layers = [
                weights.layer(f"model.encoder.layer.{place}") for place in range(n_layers)
            ]
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise InvalidInput(
                f"{path} is not a BERT with 8-bit weights ({error}); make one with "
                "quantise_onnx of models/onnx_export.py in canonym's repository"
            ) from error
        self.width = len(self._first_type)

    def hidden(self, ids: npt.NDArray[np.int64]) -> Float32Array:
        """Return the vectors of tokens, ``(n, t, d)``, of names with ``(n, t)`` tokens."""
        n, length = ids.shape
        tokens = self._words.rows(ids) + self._first_type + self._places.rows(np.arange(length))
        tokens = self._norm.of(tokens.reshape(n * length, self.width))
        for layer in self._layers:
            mixed = self._mixed(layer.attention.of(*_rounded(tokens)), length)
            output = layer.output.of(*_rounded(mixed))
            output += tokens
            tokens = layer.output_norm.of(output)
            wide = _gelu(layer.wide.of(*_rounded(tokens)))
            narrow = layer.narrow.of(*_rounded_gelu(wide))
            narrow += tokens
            tokens = layer.norm.of(narrow)
        return tokens.reshape(n, length, self.width)

    def _mixed(self, parts: Float32Array, length: int) -> Float32Array:
        """Mix the values of a name by the attention its tokens pay each other, ``(m, d)``.

        `parts` holds queries, keys and values beside each other, ``(m, 3 d)``.
        """
        split = parts.reshape(-1, length, 3, self._heads, self.width // self._heads)
        queries, keys, values = split.transpose(2, 0, 3, 1, 4).astype(np.float64)
        shares = queries @ keys.swapaxes(-1, -2)
        shares *= queries.shape[-1] ** -0.5
        shares -= shares.max(axis=-1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=-1, keepdims=True)
        mixed = (shares @ values).swapaxes(1, 2).astype(np.float32)
        return np.asarray(mixed.reshape(-1, self.width))


class _Table(NamedTuple):
    """Rows of whole numbers, left in the file, with a scale each."""

    numbers: npt.NDArray[Any]
    scales: Float32Array

    def rows(self, places: npt.NDArray[np.int64]) -> Float32Array:
        return np.asarray(self.numbers[places] * self.scales[places], np.float32)


class _Weights:
    """Finds the weights of a BERT in a graph by the names that its parts have."""

    def __init__(self, graph: Graph, least: np.float32) -> None:
        self._constants, self._least = graph.constants, least
        self._maker = {name: made for made in graph.operations for name in made.outputs}
        self._sums = {
            name: made for made in graph.operations if made.kind == "Add" for name in made.inputs
        }

    def vector(self, name: str) -> Float32Array:
        return np.array(self._constants[name], np.float32)

    def table(self, name: str) -> _Table:
        """Return a table; a short one is not rounded."""
        if name in self._constants:
            table = self.vector(name)
            return _Table(table, np.ones((len(table), 1), np.float32))
        rounded = f"canonym.{name}"
        return _Table(self._constants[f"{rounded}.numbers"], self.vector(f"{rounded}.scales"))

    def norm(self, name: str) -> _Norm:
        return _Norm(self.vector(f"{name}.weight"), self.vector(f"{name}.bias"), self._least)

    def layer(self, name: str) -> _Layer:
        attention = f"{name}.attention"
        return _Layer(
            self._product(*(f"{attention}.self.{part}" for part in ("query", "key", "value"))),
            self._product(f"{attention}.output.dense"),
            self.norm(f"{attention}.output.LayerNorm"),
            self._product(f"{name}.intermediate.dense"),
            self._product(f"{name}.output.dense", largest=_LARGEST_GELU),
            self.norm(f"{name}.output.LayerNorm"),
        )

    def _product(self, *names: str, largest: int = _LARGEST) -> _Product:
        """Return the products that biases are added to, beside each other."""
        parts = [self._matrix(f"{name}.bias") for name in names]
        columns = zip(*parts, strict=True)
        numbers, scales, biases = (np.concatenate(column, axis=-1) for column in columns)
        most = largest * int(np.abs(numbers.astype(np.int64)).sum(axis=0).max())
        kind = np.float32 if most < _EXACT else np.float64
        return _Product(numbers.astype(kind), scales, biases)

    def _matrix(self, bias: str) -> tuple[npt.NDArray[Any], Float32Array, Float32Array]:
        """Go back from the sum with a bias to the product with a matrix: its numbers and scales."""
        scaled = next(name for name in self._sums[bias].inputs if name != bias)
        made = self._maker[self._maker[scaled].inputs[0]]
        if made.kind != "MatMulIntegerToFloat":
            raise ValueError(f"{bias} is added to a {made.kind}")
        _, numbers, _, scales, _ = made.inputs
        return self._constants[numbers], self.vector(scales), self.vector(bias)


def _rounded(tokens: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return tokens as whole numbers from −127 to 127, and the scale of each, ``(m, 1)``."""
    scale = np.maximum(tokens.max(axis=1), -tokens.min(axis=1))[:, None]
    scale *= np.float32(1 / _LARGEST)
    np.maximum(scale, _LEAST, out=scale)
    numbers = tokens / scale
    return np.rint(numbers, out=numbers), scale


def _rounded_gelu(tokens: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return what GELU gave, in place, as whole numbers from −32 to 223, and the scales."""
    scale = tokens.max(axis=1, keepdims=True) * np.float32(1 / _LARGEST_GELU)
    np.maximum(scale, _LEAST_GELU, out=scale)
    tokens /= scale
    return np.rint(tokens, out=tokens), scale


def _gelu(tokens: Float32Array) -> Float32Array:
    """Return ``x Φ(x)``, Φ being the normal distribution function."""
    inner = np.clip(tokens, -_BOUND, _BOUND)
    square = inner * inner
    values = square * np.float32(_ABOVE[0])
    values += np.float32(_ABOVE[1])
    for factor in _ABOVE[2:]:
        values *= square
        values += np.float32(factor)
    values *= inner
    below = np.add(square, np.float32(_BELOW[0]), out=inner)
    for factor in _BELOW[1:]:
        below *= square
        below += np.float32(factor)
    values /= below
    values += np.float32(0.5)
    values *= tokens
    return values
