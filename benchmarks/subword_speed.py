"""Speed of the default encoder, for many names and for one.

Names of MEDIC, in random order, are encoded together and one by one: with an empty cache of words,
and with words that were met before, as in a long-running service.

    python benchmarks/subword_speed.py [--names N] [--rounds N]
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from canonym.encoders import make_encoder
from canonym.encoders.hashing import WordSums
from canonym.encoders.subword import Subword
from contextual_speed import MEDIC, medic_names
from record import data_folder, parser, save
from timing import median_ms

ONE_BY_ONE = 3000


def main() -> None:
    """Measure and write the result."""
    arguments = parser(__doc__)
    arguments.add_argument("--names", type=int, default=60_000)
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    encoder = make_encoder("default")
    assert isinstance(encoder, Subword)
    names = medic_names(options.names)
    grams = (encoder.n_min, encoder.n_max)
    found: dict[str, list[float]] = {"names a second": []}
    vectors = encoder.encode(names[:ONE_BY_ONE])
    for _ in range(options.rounds):
        began = time.perf_counter()
        encoder.encode(names)
        found["names a second"].append(len(names) / (time.perf_counter() - began))
        encoder._sums = WordSums(encoder.table, grams=grams)  # type: ignore[assignment]
        for title in ("ms for one name, by words", "ms for one name, by words met before"):
            took = median_ms(lambda name: encoder.encode([name]), names[:ONE_BY_ONE])
            found.setdefault(title, []).append(round(took, 4))
            assert encoder.encode(names[:100]).tobytes() == vectors[:100].tobytes()
    result: dict[str, Any] = {
        title: {"median": round(float(np.median(values)), 4), "all": values}
        for title, values in found.items()
    }
    for title, one in result.items():
        print(title, one["median"])
    save("subword_speed", result, packages=["numpy"], data=[data_folder() / MEDIC])


if __name__ == "__main__":
    main()
