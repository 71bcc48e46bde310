"""Writing a transformer in ONNX format, for machines without torch."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from canonym.encoders.manifest import write_encoder_manifest
from canonym.errors import InvalidInput, require

if TYPE_CHECKING:
    from canonym.encoders.transformer import Transformer

__all__ = ["INPUTS", "export_onnx"]

INPUTS: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids")
"""Inputs an encoder may take."""

_LARGEST_FILE = 1 << 31  # bytes of a protocol buffer


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
    MissingExtra
        If onnxscript is not installed.
    InvalidInput
        If the tokenizer has no ``tokenizer.json``.
    """
    import torch

    require("onnxscript", "exporting to ONNX", "torch")
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
    """Take out what torch notes about each operation: lines of code, with paths of this machine."""
    for node in model.graph.all_nodes():
        node.metadata_props.clear()
        node.doc_string = None
        for value in node.outputs:
            value.metadata_props.clear()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep back what torch says about itself: moved functions, absent torchvision, shared axes."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
