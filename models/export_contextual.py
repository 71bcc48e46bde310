"""Write the shipped contextual encoder: ``python -m models.export_contextual FOLDER``.

The transformer that `models.make_contextual` wrote is exported to ONNX and its weights are rounded
to 8 bits. ``benchmarks/contextual_speed.py`` measures the drift from float32.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

import canonym
from canonym.encoders import save_encoder
from canonym.encoders.onnx import OnnxTransformer
from canonym.encoders.transformer import Transformer
from canonym.errors import InvalidInput
from canonym.io.files import file_digest
from models.onnx_export import export_onnx, quantise_onnx
from models.run import CONTEXT, Command

SHIPPED = Path(canonym.__file__).parent / "models" / "contextual"
LARGEST = 25_000_000  # bytes, with the tokenizer
WEIGHTS = {".safetensors", ".bin"}
PACKAGES = ("onnx", "onnxscript", "torch", "transformers")


def made_from(folder: Path, trained: Path | None) -> dict[str, Any]:
    """Return the facts for ``encoder.json``: training, digests of the weights, versions."""
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.suffix in WEIGHTS or file.name in {"config.json", "tokenizer.json"}
    ]
    return {
        **(json.loads(trained.read_text(encoding="utf-8")) if trained else {}),
        "files": {file.relative_to(folder).as_posix(): file_digest(file) for file in files},
        "exported with": {name: version(name) for name in PACKAGES},
    }


@click.command(cls=Command, context_settings=CONTEXT)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=SHIPPED,
    metavar="FOLDER",
    help="Folder to write; by default the shipped one is replaced.",
)
@click.option(
    "--trained",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="JSON of facts about the training, to be kept.",
)
@click.option(
    "--max-length", type=click.IntRange(min=2), default=32, show_default=True, help="In tokens."
)
def main(folder: Path, output: Path, trained: Path | None, max_length: int) -> None:
    """Export the transformer in FOLDER to ONNX with weights of 8 bits.

    \b
      python -m models.make_contextual --encoder student --data corpora -o taught
      python -m models.export_contextual taught
    """
    exact = Transformer(folder, device="cpu", max_length=max_length)
    with TemporaryDirectory() as scratch:
        exported, small = Path(scratch, "exported"), Path(scratch, "small")
        export_onnx(exact, exported)
        quantise_onnx(exported, small)
        encoder = OnnxTransformer(small, max_length=max_length, trained=made_from(folder, trained))
        save_encoder(encoder, output, overwrite=True)
    size = sum(file.stat().st_size for file in output.rglob("*") if file.is_file())
    click.echo(f"{size / 1e6:.1f} MB in {output}")
    if size > LARGEST:
        raise InvalidInput(f"{output} has {size:,} bytes; at most {LARGEST:,} may be shipped")


if __name__ == "__main__":
    main()
