"""Make the default encoder, ``src/canonym/models/default``, from the open terminologies.

Reads the files of `canonym.training.sources.SOURCES` under ``CANONYM_DATA`` and ICD-10-CM from its
package, joins their concepts, adds variants of the names and fits the encoder. Texts of
corpora are not read. Seed, options and digests of the files go into ``encoder.json``; equal inputs
and libraries give equal bytes on the same machine. About ten minutes on two cores.

    python benchmarks/train_default.py [--output FOLDER] [--steps N] [--seed N]
"""

from __future__ import annotations

import argparse
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from canonym.encoders import save_encoder
from canonym.encoders.subword import Subword
from canonym.files import file_digest
from canonym.training.sources import SOURCES, read_pool
from canonym.training.subword import fit_subword
from canonym.training.synonyms import add_variants
from record import ROOT, data_folder

OPTIONS: dict[str, Any] = {
    "batch": 512,
    "dimensions": 128,
    "n_bits": 17,
    "temperature": 0.05,
    "dropout": 0.3,
    "learning_rate": 4e-3,
    "hard_neighbours": 1,
    "refresh": 5,
    "positives": 3,
}


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "src/canonym/models/default")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    began = time.monotonic()

    def log(line: str) -> None:
        print(f"{time.monotonic() - began:7.0f} s  {line}", flush=True)

    data = data_folder()
    digests = {name: file_digest(data / path) for name, path in SOURCES.items()}
    digests["ICD-10-CM"] = f"simple-icd-10-cm {version('simple-icd-10-cm')}"
    for name, digest in digests.items():
        log(f"{name}: {digest}")
    joined = read_pool(data, log=log).synonyms()
    synonyms = add_variants(joined)
    log(f"{len(joined.names):,} names and {len(synonyms.names) - len(joined.names):,} variants")
    options = OPTIONS | {"steps": arguments.steps, "seed": arguments.seed}
    encoder = fit_subword(
        synonyms.names,
        synonyms.concepts,
        weights=synonyms.weights,
        sources=synonyms.sources,
        log=log,
        **options,
    )
    trained = {
        "options": options,
        "concepts": synonyms.n_concepts,
        "names": len(joined.names),
        "variants": len(synonyms.names) - len(joined.names),
        "data": digests,
        "versions": {name: version(name) for name in ("numpy", "scipy")},
    }
    named = Subword(encoder.table, scale=encoder.scale, **encoder.options() | {"trained": trained})
    save_encoder(named, arguments.output, overwrite=True)
    log(f"saved to {arguments.output.name}")


if __name__ == "__main__":
    main()
