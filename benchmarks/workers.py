"""Speed of linking in one process and in two, on the same machine.

Two streams are linked to MEDIC by the bundled encoder, five candidates each: ``repeated``, the
mentions of all parts of the BC5CDR corpus, and ``distinct``, the names of the Human Phenotype
Ontology. A process remembers what it has found, so that a stream that repeats itself gains less
from a second one. One process and two take turns, and the best of each counts. A turn begins with
opening the index and starting the processes. The links are compared.

Where others use the machine, the seconds say little. The processor time says what the work costs:
``first`` is the process that reads and takes the links back, which all others wait for in the end,
and ``others`` are those that link.

    python benchmarks/workers.py
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from canonym import Linker
from canonym.types import Link
from inputs import HPO, MEDIC, PARTS, documents_of, part_of, terminology_of, texts_of
from processes import seconds_of_children
from record import data_folder, parser, save


def digest(links: Iterable[Link]) -> str:
    """Hash links with all their numbers."""
    whole = hashlib.sha256()
    for link in links:
        whole.update(repr(link.to_dict()).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def processor_time() -> tuple[float, float]:
    """Return the processor seconds of this process, and of those that it started and that ended."""
    return time.process_time(), seconds_of_children()


def compare(folder: Path, mentions: list[str], workers: int, repeats: int) -> dict[str, Any]:
    """Link in one process and in several by turns; return rates, their ratio and what it costs."""
    seconds: dict[int, list[float]] = {1: [], workers: []}
    processor: dict[int, tuple[float, float]] = {}
    digests: set[str] = set()
    for _ in range(repeats):
        for n, taken in seconds.items():
            began, used = time.perf_counter(), processor_time()
            links = list(Linker.load(folder).link_stream(mentions, workers=n))
            taken.append(round(time.perf_counter() - began, 2))
            first, others = (b - a for a, b in zip(used, processor_time(), strict=True))
            processor[n] = min(processor.get(n, (first, others)), (first, others), key=sum)
            digests.add(digest(links))
    if len(digests) != 1:
        raise SystemExit("the links of one process and of several differ")
    return {
        "mentions": len(mentions),
        "mentions_per_second": {n: round(len(mentions) / min(each)) for n, each in seconds.items()},
        "ratio": round(min(seconds[1]) / min(seconds[workers]), 2),
        "seconds": seconds,
        "processor_seconds": {
            n: {"first": round(first, 2), "others": round(others, 2)}
            for n, (first, others) in processor.items()
        },
    }


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--workers", type=int, default=2)
    options = arguments.parse_args()
    with terminology_of(HPO) as phenotypes:
        names = dict.fromkeys(text for batch in phenotypes.iter_texts() for text in batch)
    streams = {"repeated": texts_of(documents_of("bc5cdr", *PARTS)), "distinct": list(names)}
    linker = Linker.build(terminology_of(MEDIC))
    found = {
        name: compare(linker.folder, mentions, options.workers, options.repeats)
        for name, mentions in streams.items()
    }
    for name, one in found.items():
        print(f"{name}: {one}")
    result = {"streams": found, "load_of_the_machine": round(os.getloadavg()[1], 1)}
    files = [data_folder() / MEDIC, *(part_of("bc5cdr", part) for part in PARTS)]
    save("workers", result, packages=["numpy", "scipy"], data=[*files, data_folder() / HPO])


if __name__ == "__main__":
    main()
