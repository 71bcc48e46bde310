"""Speed of verbatim and TF-IDF linking, beside scikit-learn as BioSyn uses it.

The 4,424 disease mentions of the BC5CDR test set are linked to MEDIC, 20 candidates each, with

- **canonym**: ``Linker.link``, the sieves and ``chargrams`` (1- and 2-grams), nothing else;
- **BioSyn's way**: ``TfidfVectorizer(analyzer="char", ngram_range=(1, 2))``, dense matrices, one
  mention at a time: transform, matrix product, argpartition, argsort. On every tenth mention, since
  a second is then a fair sample of a minute;
- **generous**: the same for 64 mentions at a time.

Dictionaries are encoded beforehand; repeats alternate and the best of each counts. The tests hold
that both have the same vectors.

    python benchmarks/linking_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from canonym import Linker
from canonym.text import PLAIN, normalise_all
from inputs import MEDIC, documents_of, part_of, terminology_of, texts_of
from record import data_folder, parser, save
from timing import least_seconds

K = 20


def top(scores: np.ndarray[Any, Any], k: int) -> np.ndarray[Any, Any]:
    """Return the columns of the `k` largest scores of every row, best first."""
    part = np.argpartition(-scores, k, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, part, axis=1), axis=1)
    return np.take_along_axis(part, order, axis=1)


class Dense:
    """TF-IDF of scikit-learn, searched densely."""

    def __init__(self, names: Sequence[str]) -> None:
        self.vectorizer = TfidfVectorizer(analyzer="char", ngram_range=(1, 2))
        self.names = self.vectorizer.fit_transform(names).astype(np.float32).toarray()

    def link(self, mentions: Sequence[str], batch: int) -> list[np.ndarray[Any, Any]]:
        """Return the rows of the best names of every mention."""
        found = []
        for first in range(0, len(mentions), batch):
            block = list(normalise_all(mentions[first : first + batch], PLAIN))
            queries = self.vectorizer.transform(block).astype(np.float32).toarray()
            found.append(top(np.matmul(queries, self.names.T), K))
        return found


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=3)
    options = arguments.parse_args()
    mentions = texts_of(documents_of("bc5cdr", "test", type="Disease"))
    terminology = terminology_of(MEDIC)
    linker = Linker.build(terminology, encoders=["chargrams"], spelling=False, composites=False)
    names = [name for batch in terminology.iter_texts() for name in normalise_all(batch, PLAIN)]
    dense = Dense(names)
    print(f"{len(mentions):,} mentions, {len(set(mentions)):,} distinct; {len(names):,} names")
    sample = mentions[::10]
    ways: dict[str, Callable[[], object]] = {
        "canonym": lambda: linker.link(mentions, k=K),
        "biosyn": lambda: dense.link(sample, 1),
        "generous": lambda: dense.link(mentions, 64),
    }
    linker.link(mentions[:256], k=K)
    dense.link(mentions[:16], 1)
    best = least_seconds(ways, options.repeats, time.perf_counter)
    counts = {**dict.fromkeys(ways, len(mentions)), "biosyn": len(sample)}
    rates = {way: counts[way] / seconds for way, seconds in best.items()}
    for way, rate in rates.items():
        print(f"{way:10} {rate:10,.0f} mentions/s   canonym is {rates['canonym'] / rate:6.1f} x")
    save(
        "linking_speed",
        {
            "mentions": len(mentions),
            "names": len(names),
            "k": K,
            "mentions_per_second": {way: round(rate, 1) for way, rate in rates.items()},
            "ratio": round(rates["canonym"] / rates["biosyn"], 1),
            "ratio_generous": round(rates["canonym"] / rates["generous"], 1),
        },
        packages=["numpy", "scipy", "scikit-learn"],
        data=[data_folder() / MEDIC, part_of("bc5cdr", "test")],
    )


if __name__ == "__main__":
    main()
