"""The contextual encoder by NumPy, as it is used, beside ONNX Runtime with the same weights.

Both encode names of MEDIC and of HPO on one thread, in turn in one process; the best of the rounds
counts. The cosine between their vectors stands beside that of ONNX Runtime with and without its
optimisations: a number beside the edge of a rounding to 8 bits may fall on either side. Speeds are
by processor time, since others use the machine as well.

    python benchmarks/contextual_numpy.py [--names N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import random
import time
from typing import Any

import numpy as np

from canonym import Concept, Name
from canonym.encoders import make_encoder
from canonym.encoders.onnx import OnnxTransformer
from canonym.terminology.readers.obo import read_obo
from canonym.text import PLAIN, normalise_all
from contextual_speed import CONTEXTUAL, MEDIC, medic_names
from record import data_folder, save

HPO = "hpo/hp-2014-11-14.obo.gz"
NUMPY, ONNX = "NumPy", "ONNX Runtime"
SINGLES = 60


def hpo_names(n: int) -> list[str]:
    """Return `n` names of HPO as an index gives them to an encoder, drawn once for all."""
    names = {
        record.text if isinstance(record, Name) else record.label
        for record in read_obo(data_folder() / HPO)
        if isinstance(record, Name | Concept)
    }
    drawn = random.Random(0).sample(sorted(names - {""}), n)
    return list(dict.fromkeys(normalise_all(drawn, PLAIN)))


def speeds(encoders: dict[str, Any], names: list[str], rounds: int) -> dict[str, Any]:
    """Return names a second of the processor and the median time of one name, and their ratios."""
    seconds: dict[str, list[float]] = {title: [] for title in encoders}
    singles: dict[str, list[float]] = {title: [] for title in encoders}
    for encoder in encoders.values():
        encoder.encode(names[:200])
    for turn in range(rounds):
        for title, encoder in encoders.items():
            began = time.process_time()
            encoder.encode(names)
            seconds[title].append(time.process_time() - began)
            for name in names[turn * SINGLES : (turn + 1) * SINGLES]:
                began = time.process_time()
                encoder.encode([name])
                singles[title].append(time.process_time() - began)
    best = {title: len(names) / min(values) for title, values in seconds.items()}
    median = {title: 1000 * float(np.median(values)) for title, values in singles.items()}
    return {
        "names a second": {title: round(value) for title, value in best.items()},
        "ratio of names a second": round(best[NUMPY] / best[ONNX], 2),
        "ms for one name": {title: round(value, 2) for title, value in median.items()},
        "ratio of ms for one name": round(median[NUMPY] / median[ONNX], 2),
    }


def likeness(left: Any, right: Any) -> dict[str, float]:
    """Return the least and the mean cosine of two sets of vectors, and the share above 0.9999."""
    cosines = np.einsum("ij,ij->i", left, right)
    return {
        "least": round(float(cosines.min()), 5),
        "mean": round(float(cosines.mean()), 6),
        "share of at least 0.9999": round(float((cosines >= 0.9999).mean()), 3),
    }


def plain_runtime() -> OnnxTransformer:
    """Open the encoder in ONNX Runtime without its optimisations."""
    import onnxruntime

    encoder = OnnxTransformer(CONTEXTUAL)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    encoder._session = onnxruntime.InferenceSession(
        str(encoder.model_file), sess_options=options, providers=["CPUExecutionProvider"]
    )
    return encoder


def opening() -> float:
    """Return the least seconds that opening takes, of five times."""
    seconds = []
    for _ in range(5):
        began = time.process_time()
        make_encoder("contextual")
        seconds.append(time.process_time() - began)
    return round(min(seconds), 3)


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--names", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        raise SystemExit("one thread is measured: set OMP_NUM_THREADS=1")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    encoders = {NUMPY: make_encoder("contextual"), ONNX: OnnxTransformer(CONTEXTUAL)}
    plain = plain_runtime()
    rows = {}
    for source, names in (("MEDIC", medic_names(arguments.names)), ("HPO", hpo_names(1000))):
        vectors = encoders[ONNX].encode(names)
        rows[source] = {
            "names": len(names),
            **speeds(encoders, names, arguments.rounds),
            "cosine to ONNX Runtime": likeness(encoders[NUMPY].encode(names), vectors),
            "ONNX Runtime to itself without optimisations": likeness(plain.encode(names), vectors),
        }
        print(source, rows[source], flush=True)
    result = {
        "rounds": arguments.rounds,
        "load average": round(os.getloadavg()[0], 1),
        "seconds to open": opening(),
        "rows": rows,
    }
    files = [data_folder() / MEDIC, data_folder() / HPO, CONTEXTUAL / "model.onnx"]
    packages = ["numpy", "onnxruntime", "tokenizers"]
    print(save("contextual_numpy", result, packages=packages, data=files))


if __name__ == "__main__":
    main()
