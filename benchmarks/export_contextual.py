"""Make the contextual encoder, ``src/canonym/models/contextual``, from a trained transformer.

FOLDER is a sentence-transformers folder, as `canonym train` writes it. It is exported to ONNX and
its weights are rounded to 8 bits, see `canonym.encoders.onnx_export`; ``encoder.json`` gets the
digests of the files it is made from, the versions, and what --trained says about the training.
Then the drift from float32, the size and the speed are measured and printed.

    python benchmarks/export_contextual.py FOLDER [--output FOLDER] [--trained FILE]
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym.encoders.onnx import OnnxTransformer
from canonym.encoders.onnx_export import export_onnx, quantise_onnx
from canonym.encoders.transformer import Transformer
from canonym.io.files import file_digest
from contextual_speed import CONTEXTUAL, drift, in_turn, medic_names, one_thread, opening

LARGEST = 25_000_000  # bytes, with the tokenizer
WEIGHTS = {".safetensors", ".bin"}
PACKAGES = ("onnx", "onnxscript", "torch", "transformers")


def made_from(folder: Path, trained: Path | None) -> dict[str, Any]:
    """Return what ``encoder.json`` keeps about where the weights come from."""
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


def main() -> None:
    """Export, round and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=CONTEXTUAL)
    parser.add_argument("--trained", type=Path, help="JSON about the training, to be kept")
    parser.add_argument("--max-length", type=int, default=32, help="tokens of a name")
    parser.add_argument("--names", type=int, default=2000, help="names to measure with")
    arguments = parser.parse_args()
    one_thread()
    exact = Transformer(arguments.folder, device="cpu", max_length=arguments.max_length)
    trained = made_from(arguments.folder, arguments.trained)
    names = medic_names(arguments.names)
    with TemporaryDirectory() as scratch:
        export_onnx(exact, Path(scratch))
        quantise_onnx(scratch, arguments.output, trained=trained, overwrite=True)
        same = OnnxTransformer.load(Path(scratch))
        print("float32 in ONNX, cosine to torch:", drift(exact, same, names[:200]), flush=True)
    size = sum(file.stat().st_size for file in arguments.output.rglob("*") if file.is_file())
    small, seconds = opening(arguments.output)
    print("8 bits, cosine to torch:", drift(exact, small, names))
    print(f"{size / 1e6:.1f} MB in {arguments.output.name}, opened in {seconds} s")
    for title, found in in_turn({"torch": exact, "8 bits": small}, names, 2).items():
        print(f"{title}: {found}")
    if size > LARGEST:
        raise SystemExit(f"{size:,} bytes are more than the {LARGEST:,} that may be shipped")


if __name__ == "__main__":
    main()
