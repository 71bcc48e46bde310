"""Speed of the contextual encoder with 8 bits, beside the same transformer in torch.

Both encode the names of MEDIC on one thread, in turn in one process; the best of the rounds counts.
Then the one with 8 bits does so on all cores, once with a thread a batch, as small models do, and
once with all threads sharing each batch, as large ones do. Processor time stands beside wall time,
since the two differ on a busy machine.

    python benchmarks/contextual_speed.py FOLDER [--encoder ONNX] [--names N] [--rounds N]

FOLDER is a sentence-transformers folder. Without --encoder the bundled encoder is measured.
"""

from __future__ import annotations

import os
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from canonym.encoders import make_encoder, onnx
from canonym.io.files import n_cores
from canonym.text import PLAIN, normalise_all
from inputs import MEDIC
from record import ROOT, data_folder, parser, save

CONTEXTUAL = ROOT / "src/canonym/models/contextual"


def medic_names(n: int) -> list[str]:
    """Return `n` names of MEDIC as an index gives them to an encoder, drawn once for all."""
    names = set()
    with (data_folder() / MEDIC).open(encoding="utf-8") as stream:
        for line in stream:
            names |= set(line.rstrip("\n").partition("||")[2].split("|"))
    drawn = random.Random(0).sample(sorted(names - {""}), n)
    return list(dict.fromkeys(normalise_all(drawn, PLAIN)))


def one_thread() -> None:
    """Keep torch, ONNX Runtime and the tokenizers to one thread; before encoders are opened."""
    import torch

    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    torch.set_num_threads(1)


def in_turn(encoders: dict[str, Any], names: list[str], rounds: int) -> dict[str, Any]:
    """Return what each encoder does in a second, and how long one name takes, median."""
    clock, processor, singles = (defaultdict[str, list[float]](list) for _ in range(3))
    for turn in range(rounds + 1):
        for title, encoder in encoders.items():
            began, used = time.perf_counter(), time.process_time()
            encoder.encode(names[:200] if turn == 0 else names)
            if turn:
                clock[title].append(time.perf_counter() - began)
                processor[title].append(time.process_time() - used)
            for name in names[turn * 40 : turn * 40 + 40]:
                began = time.perf_counter()
                encoder.encode([name])
                singles[title].append(time.perf_counter() - began)
    return {
        title: {
            "names a second": round(len(names) / min(clock[title])),
            "names a second of the processor": round(len(names) / min(processor[title])),
            "ms for one name": round(1000 * float(np.median(singles[title])), 2),
        }
        for title in encoders
    }


def drift(exact: Any, small: Any, names: list[str]) -> dict[str, float]:
    """Return the mean and the least cosine of the vectors of two encoders."""
    cosines = np.einsum("ij,ij->i", exact.encode(names), small.encode(names))
    return {"mean": round(float(cosines.mean()), 5), "least": round(float(cosines.min()), 5)}


def opening(folder: Path) -> tuple[Any, float]:
    """Open a saved encoder; return it and the seconds that took."""
    import onnxruntime  # noqa: F401  # its own import is not the file's

    began = time.perf_counter()
    encoder = make_encoder(f"onnx:{folder}")
    return encoder, round(time.perf_counter() - began, 3)


def shared_ways(folder: Path, n_threads: int) -> dict[str, Any]:
    """Open an encoder as small models are and as large ones are."""
    os.environ["OMP_NUM_THREADS"] = str(n_threads)
    usual, found = onnx._SMALL, {}
    for title, largest in (("a thread a batch", usual), ("all threads a batch", 0)):
        onnx._SMALL = largest
        found[title] = make_encoder(f"onnx:{folder}")
    onnx._SMALL = usual
    return found


def main() -> None:
    """Measure and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--encoder", type=Path, default=CONTEXTUAL)
    arguments.add_argument("--names", type=int, default=2000)
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    one_thread()
    names = medic_names(options.names)
    small, seconds = opening(options.encoder)
    exact = make_encoder(f"transformer:{options.folder}", device="cpu")
    result: dict[str, Any] = {
        "names": len(names),
        "rounds": options.rounds,
        "load average": round(os.getloadavg()[0], 1),
        **in_turn({"float32, torch": exact, "8 bits, ONNX": small}, names, options.rounds),
        "cosine to float32": drift(exact, small, names),
        "seconds to open": seconds,
    }
    cores = n_cores()
    ways = shared_ways(options.encoder, cores)
    result[f"{cores} threads"] = in_turn(ways, names, options.rounds)
    print(result, flush=True)
    files = [data_folder() / MEDIC, options.encoder / "model.onnx"]
    packages = ["numpy", "onnxruntime", "tokenizers", "torch", "transformers"]
    save("contextual_speed", result, packages=packages, data=files)


if __name__ == "__main__":
    main()
