"""Transformers in ONNX format, for machines without torch, and with weights of 8 bits.

A quantised model has a quarter of the size and several times the speed. Weights are rounded once,
the numbers they are multiplied with for every token. Each token has its own scale, so that a name
gets the same vector alone and among others. ONNX Runtime's own dynamic quantisation has one scale
for a batch: a name of an index would get another vector than the same name as a query.
"""

from __future__ import annotations

import contextlib
import json
import logging
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.onnx import INPUTS, OnnxTransformer
from canonym.encoders.saved import ENCODER_MANIFEST, write_encoder_manifest
from canonym.errors import InvalidInput, ReadError
from canonym.io.files import write_folder, write_manifest
from canonym.types import Float32Array
from reproduce.packages import load

if TYPE_CHECKING:
    from canonym.encoders.transformer import Transformer

__all__ = ["export_onnx", "quantise_onnx"]

_LARGEST_FILE = 1 << 31  # bytes of a protocol buffer
_LARGEST = 64  # of a rounded weight: older x86 processors add two products in 16 bits
_LEAST_OPSET = 18  # from here on the axes of ReduceMax are an input
_LEAST_ROWS = 100  # of a table worth its scales
_MIDDLE = 128  # stands for 0
_LOWEST = 32  # the same where nothing is below -0.17: more levels above it
_LEAST_GELU = 0.1701  # GELU(x) >= -0.17005, with erf and with tanh
_FOREIGN = "com.microsoft"


def export_onnx(transformer: Transformer, folder: Path) -> None:
    """Write a transformer as a folder that `OnnxTransformer` reads.

    The number of names and of tokens stays free. The model is written in float32, whatever
    `transformer` computes in.

    Parameters
    ----------
    transformer : Transformer
        The encoder.
    folder : Path
        Made if it is missing.

    Raises
    ------
    InvalidInput
        If onnx or onnxscript is not installed, or the tokenizer has no ``tokenizer.json``.
    """
    import torch

    for module in ("onnx", "onnxscript"):
        load(module, "exporting to ONNX", module)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    transformer.save_description(folder)
    if not (folder / "tokenizer.json").is_file():
        raise InvalidInput("the model has no fast tokenizer, which an ONNX encoder needs")

    class Encoder(torch.nn.Module):  # type: ignore[misc]
        """Takes the inputs by place and gives the token vectors alone."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, *given: Any) -> Any:
            return self.model(**dict(zip(names, given, strict=True))).last_hidden_state

    sample = transformer.tokenizer(["some sample name", "name"], padding=True, return_tensors="pt")
    names = [name for name in INPUTS if name in sample]
    free = {0: torch.export.Dim("names"), 1: torch.export.Dim("tokens")}
    model = transformer.model.to(device="cpu", dtype=torch.float32)
    large = sum(weights.numel() * 4 for weights in model.parameters()) > _LARGEST_FILE
    try:
        with _quiet():
            program = torch.onnx.export(
                Encoder(model).eval(),
                tuple(sample[name] for name in names),
                input_names=names,
                output_names=["last_hidden_state"],
                dynamic_shapes=(tuple(free for _ in names),),
                dynamo=True,
                verbose=False,
            )
            _forget_origin(program.model)
            program.save(folder / "model.onnx", external_data=large)
    finally:
        model.to(device=transformer.device, dtype=getattr(torch, transformer.dtype))
    settings = {key: value for key, value in transformer.settings.items() if key != "dtype"}
    write_encoder_manifest(folder, kind="onnx", settings=settings)


def _forget_origin(model: Any) -> None:
    """Remove torch's notes on each operation: lines of code, with paths of this machine."""
    for node in model.graph.all_nodes():
        node.metadata_props.clear()
        node.doc_string = None
        for value in node.outputs:
            value.metadata_props.clear()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence torch's warnings about moved functions, absent torchvision and shared axes."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def quantise_onnx(
    folder: str | Path,
    output: str | Path,
    *,
    trained: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write an ONNX encoder with weights of 8 bits.

    Parameters
    ----------
    folder : str or Path
        An encoder that `export_onnx` wrote, or another that `OnnxTransformer` reads.
    output : str or Path
        The folder to write; its parent has to exist.
    trained : mapping, optional
        Facts about the training of the weights, for ``encoder.json``; by default those of `folder`.
    overwrite : bool
        Whether an encoder that was saved there before is replaced.

    Raises
    ------
    MissingExtra
        If onnxruntime (extra ``onnx``) is not installed.
    InvalidInput
        If onnx is not installed, the model has nothing to quantise or is of an old opset, or
        `output` cannot be written.
    ReadError
        If `folder` is missing or damaged.

    Notes
    -----
    A product of a token ``x`` with a constant matrix ``W`` becomes

    .. math:: y_j = s v_j \\sum_i (q_i - z) p_{ij}, \\quad s = \\max_i |x_i| / 127, \\quad
       v_j = \\max_i |W_{ij}| / 64,

    ``q`` being ``x / s + z`` and ``p`` being ``W / v`` rounded to whole numbers, ``z = 128``. After
    a GELU, which is never below -0.17, ``z = 32`` and ``s = max(max x / 223, 0.1701 / 32)``. The
    sum is exact, so it does not depend on threads, batches or processors. Tables of embeddings have
    8 bits and a scale a row. Biases, normalisation, attention and softmax stay in float32.
    """
    onnx = load("onnx", "quantising an ONNX encoder", "onnx")
    saved = (Path(folder) / ENCODER_MANIFEST).is_file()
    encoder = OnnxTransformer.load(Path(folder)) if saved else OnnxTransformer(folder)
    if trained is not None:
        encoder.trained = dict(trained)
    try:
        model = onnx.load(str(encoder.model_file))
    except Exception as error:  # the library raises no narrower class
        raise ReadError(encoder.model_file, f"onnx cannot read it ({error})") from error
    _Rewriting(onnx, model).run(encoder.model_file)
    with write_folder(output, overwrite=overwrite) as partial:
        encoder.save(partial)
        for file in partial.glob("model.onnx*"):
            file.unlink()
        onnx.save(model, str(partial / "model.onnx"))
        _compact(partial / "tokenizer.json")
        write_encoder_manifest(partial, kind="onnx", settings=encoder.settings)
        write_manifest(partial, kind="encoder", format_number=1, content={"encoder": "onnx"})


def rounded_rows(
    table: Float32Array, *, largest: int = 127
) -> tuple[npt.NDArray[np.int8], Float32Array]:
    """Round a matrix to int8, from ``-largest`` to ``largest``, with a float32 scale for each row.

    The scale of a row of zeros is 1.
    """
    scales = np.asarray(np.abs(table).max(axis=1) / largest, np.float32)
    scales[scales == 0] = 1
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def _compact(path: Path) -> None:
    """Write JSON again without its white space: a third of a tokenizer of 30,000 pieces."""
    content = json.loads(path.read_text(encoding="utf-8"))
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8")


class _Rounded(NamedTuple):
    """Names of a token's whole numbers, of its scale, and of the number that stands for 0."""

    numbers: str
    scale: str
    zero: str


class _Rewriting:
    """One pass over a graph that puts whole numbers in the place of its large constants."""

    def __init__(self, onnx: Any, model: Any) -> None:
        self._onnx, self._model = onnx, model
        self._weights = {one.name: one for one in model.graph.initializer}
        self._maker = {out: node.op_type for node in model.graph.node for out in node.output}
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._rounded: dict[str, _Rounded] = {}
        self._done: set[str] = set()

    def run(self, path: Path) -> None:
        """Change the model, which was read from `path`, in place."""
        opset = next(
            (o.version for o in self._model.opset_import if o.domain in ("", "ai.onnx")), 0
        )
        if opset < _LEAST_OPSET:
            raise InvalidInput(
                f"{path} is of opset {opset}, at least {_LEAST_OPSET} is expected; export the "
                "model again with export_onnx"
            )
        graph = self._model.graph
        for node in graph.node:
            if (weights := self._second(node)) is not None:
                self._product(node, weights)
            elif (table := self._first(node)) is not None:
                self._table(node, table)
            else:
                self._nodes.append(node)
        if not self._done:
            raise InvalidInput(f"{path} has no weights to quantise; a float32 encoder is expected")
        used = {name for node in self._nodes for name in node.input}
        kept = [one for one in graph.initializer if one.name in used or one.name not in self._done]
        for field, content in (
            (graph.node, self._nodes),
            (graph.initializer, [*kept, *self._constants.values()]),
            (graph.value_info, []),
        ):
            del field[:]
            field.extend(content)
        if all(one.domain != _FOREIGN for one in self._model.opset_import):
            self._model.opset_import.append(self._onnx.helper.make_opsetid(_FOREIGN, 1))

    def _second(self, node: Any) -> Float32Array | None:
        """Return the matrix that tokens are multiplied with, None where there is none."""
        return self._matrix(node.input[1]) if node.op_type == "MatMul" else None

    def _first(self, node: Any) -> Float32Array | None:
        """Return the table whose rows are looked up, None where there is none or a short one."""
        if node.op_type != "Gather" or any(one.i for one in node.attribute if one.name == "axis"):
            return None
        table = self._matrix(node.input[0])
        return None if table is None or len(table) < _LEAST_ROWS else table

    def _matrix(self, name: str) -> Float32Array | None:
        found = self._weights.get(name)
        if found is None or len(found.dims) != 2 or found.data_type != self._onnx.TensorProto.FLOAT:
            return None
        return np.asarray(self._onnx.numpy_helper.to_array(found), np.float32)

    def _constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike) -> str:
        name = f"canonym.{name}"
        array = np.asarray(value, dtype)
        self._constants[name] = self._onnx.numpy_helper.from_array(array, name)
        return name

    def _add(self, kind: str, inputs: list[str], output: str = "", **options: Any) -> str:
        """Add an operation and return the name of its output, a new one unless it is given."""
        output = output or f"canonym.{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **options))
        return output

    def _table(self, node: Any, table: Float32Array) -> None:
        name, ids = node.input
        numbers, scales = rounded_rows(table)
        self._done.add(name)
        whole = self._constant(f"{name}.numbers", numbers, np.int8)
        column = self._constant(f"{name}.scales", scales[:, None], np.float32)
        found = self._add("Gather", [whole, ids])
        floats = self._add("Cast", [found], to=self._onnx.TensorProto.FLOAT)
        self._add("Mul", [floats, self._add("Gather", [column, ids])], node.output[0])

    def _product(self, node: Any, weights: Float32Array) -> None:
        token, name = node.input
        numbers, scales = rounded_rows(weights.T, largest=_LARGEST)
        self._done.add(name)
        if token not in self._rounded:
            self._rounded[token] = self._round(token, len(weights))
        rounded = self._rounded[token]
        inputs = [
            rounded.numbers,
            self._constant(f"{name}.numbers", numbers.T, np.int8),
            self._constant("one", 1, np.float32),
            self._constant(f"{name}.scales", scales, np.float32),
            rounded.zero,
        ]
        product = self._add("MatMulIntegerToFloat", inputs, domain=_FOREIGN)
        self._add("Mul", [product, rounded.scale], node.output[0])

    def _round(self, token: str, width: int) -> _Rounded:
        """Round each token of a tensor with its own scale."""
        last = self._constant("last", [-1], np.int64)
        gelu = self._maker.get(token) == "Gelu"
        zero, least = (_LOWEST, _LEAST_GELU / _LOWEST) if gelu else (_MIDDLE, 1e-30)
        kind = "gelu" if gelu else "any"
        sizes = token if gelu else self._add("Abs", [token])
        largest = self._add("ReduceMax", [sizes, last], keepdims=1)
        level = self._constant(f"level.{kind}", 1 / (255 - zero), np.float32)
        lowest = self._constant(f"least.{kind}", least, np.float32)
        scale = self._add("Max", [self._add("Mul", [largest, level]), lowest])
        # QuantizeLinear takes a scale a row of a matrix, hence the way there and back.
        rows = self._constant(f"rows.{width}", [-1, width], np.int64)
        flat, scales = self._add("Reshape", [token, rows]), self._add("Reshape", [scale, last])
        middle = self._constant(f"zero.{kind}", zero, np.uint8)
        zeros = self._add("Expand", [middle, self._add("Shape", [scales])])
        whole = self._add("QuantizeLinear", [flat, scales, zeros], axis=0)
        numbers = self._add("Reshape", [whole, self._add("Shape", [token])])
        return _Rounded(numbers, scale, middle)
