"""Speed of linking in one process and in two, on the same machine.

The mentions of the BC5CDR corpus, all three parts of it, are linked to MEDIC by the bundled
encoder, five candidates each. One process and two take turns, and the best of each counts. Starting
processes is part of their turn. The links are compared.

Where others use the machine, the seconds say little. The processor time says what the work costs:
``first`` is the process that reads and takes the links back, which all others wait for in the end,
and ``others`` are those that link.

    python benchmarks/workers.py
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from canonym import Linker, Terminology
from canonym.corpora.pubtator import read_pubtator
from canonym.terminology.readers.medic import read_medic
from canonym.types import Link
from record import data_folder, save


def digest(links: Iterable[Link]) -> str:
    """Hash links with all their numbers."""
    whole = hashlib.sha256()
    for link in links:
        whole.update(repr(link.to_dict()).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def processor_time() -> tuple[float, float]:
    """Return the processor seconds of this process, and of those that it started and that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    parts = [data / "bc5cdr" / f"{part}.pubtator" for part in ("train", "dev", "test")]
    documents = [document for part in parts for document in read_pubtator(part)]
    mentions = [mention.text for document in documents for mention in document.mentions]
    with TemporaryDirectory() as scratch:
        terminology = Terminology.build(read_medic(medic), Path(scratch) / "medic.db")
        linker = Linker.build(terminology)
        seconds: dict[int, list[float]] = {1: [], options.workers: []}
        processor: dict[int, tuple[float, float]] = {}
        found: set[str] = set()
        for _ in range(options.repeats):
            for workers, taken in seconds.items():
                began, used = time.perf_counter(), processor_time()
                links = list(linker.link_stream(mentions, workers=workers))
                taken.append(time.perf_counter() - began)
                first, others = (b - a for a, b in zip(used, processor_time(), strict=True))
                processor[workers] = min(processor.get(workers, (first, others)), (first, others))
                found.add(digest(links))
        if len(found) != 1:
            raise SystemExit("the links of one process and of several differ")
    rates = {str(workers): round(len(mentions) / min(taken)) for workers, taken in seconds.items()}
    ratio = round(min(seconds[1]) / min(seconds[options.workers]), 2)
    print(f"{len(mentions):,} mentions; a second: {rates}; ratio {ratio}")
    path = save(
        "workers",
        {
            "mentions": len(mentions),
            "names": terminology.n_names,
            "mentions_per_second": rates,
            "ratio": ratio,
            "seconds": {str(w): [round(each, 2) for each in taken] for w, taken in seconds.items()},
            "processor_seconds": {
                str(w): {"first": round(first, 2), "others": round(others, 2)}
                for w, (first, others) in processor.items()
            },
            "load_of_the_machine": round(os.getloadavg()[1], 1),
        },
        packages=["numpy", "scipy"],
        data=[medic, *parts],
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
