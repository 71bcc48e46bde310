"""What is each order of candidates worth as a linker uses it, and how long does linking take?

An index of MEDIC links the mentions of the test parts of NCBI disease and BC5CDR disease as a
user's would (the protocol ``raw``), by the best name, by all names (``--reranker marginal``), by
these and the document (``--reranker collective``) and by the re-ranker that comes along; once with
the default encoder, once with the contextual one besides. And the 104 everyday names of
``everyday_names.tsv`` in ICD-10-CM, without those that come with canonym: how many have the right
family first. Seconds are of the orders in turn, the least of ``--repeats``, as ratios to the first.

    python benchmarks/orders.py [--repeats N]
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from canonym import Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology.formats import import_terminology
from canonym.terminology.readers.icd10cm import read_icd10cm
from canonym.types import Document
from record import data_folder, save

CORPORA = {"ncbi-disease": (), "bc5cdr": ("Disease",)}
ENCODERS = {"default": ["default"], "both": ["default", "contextual"]}
EVERYDAY = Path(__file__).parent / "everyday_names.tsv"
ORDERS = {
    "best name": None,
    "all names": "marginal",
    "all names and the document": "collective",
    "re-ranked": "default",
}


def seconds(linker: Linker, documents: list[Document]) -> float:
    """Return how long linking takes."""
    began = time.perf_counter()
    for _ in linker.link_documents(documents):
        pass
    return time.perf_counter() - began


def copied(linker: Linker, folder: Path, order: str | None) -> Linker:
    """Return a linker with the same index that has an order of its own."""
    found = Linker.load(shutil.copytree(linker.folder, folder))
    if order is not None:
        found.use_order(order)
    return found


def everyday(linker: Linker) -> int:
    """Count the everyday names whose first code belongs to a family that is right."""
    with EVERYDAY.open(encoding="utf-8", newline="") as stream:
        asked = list(csv.DictReader(stream, delimiter="\t"))
    links = linker.link([row["name"] for row in asked])
    return sum(
        (link.parts[0] if link.parts else link)
        .candidates[0]
        .id.removeprefix("ICD10CM:")
        .startswith(tuple(row["families"].split()))
        for link, row in zip(links, asked, strict=True)
    )


def main() -> None:
    """Index, link, and say what each order gives."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=2)
    repeats = parser.parse_args().repeats
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    parts = {corpus: data / corpus / "test.pubtator" for corpus in CORPORA}
    corpora = {corpus: list(read_pubtator(path)) for corpus, path in parts.items()}
    codes = Terminology.build(read_icd10cm())
    result: dict[str, Any] = {}
    for kind, encoders in ENCODERS.items():
        found: dict[str, Any] = {order: {} for order in ORDERS}
        with TemporaryDirectory() as scratch:
            terminology = import_terminology(medic, Path(scratch) / "terminology.db")
            built = Linker.build(terminology, encoders=encoders)
            linkers = {
                order: copied(built, Path(scratch) / order, spec) for order, spec in ORDERS.items()
            }
            for corpus, types in CORPORA.items():
                for order, linker in linkers.items():
                    run = evaluate_corpus(
                        corpora[corpus], linker=linker, protocol="raw", types=types
                    )
                    value = run.value("accuracy@1")
                    assert value is not None
                    found[order][corpus] = round(100 * value, 2)
                taken = {order: float("inf") for order in ORDERS}
                for _ in range(repeats):
                    for order, linker in linkers.items():
                        taken[order] = min(taken[order], seconds(linker, corpora[corpus]))
                for order, each in taken.items():
                    found[order][f"{corpus}, time"] = round(each / taken["best name"], 2)
            built = Linker.build(codes, encoders=encoders)
            for order, spec in ORDERS.items():
                linker = copied(built, Path(scratch) / f"everyday, {order}", spec)
                found[order]["everyday names"] = everyday(linker)
        result[kind] = found
        print(kind, json.dumps(found, indent=1), flush=True)
    save("orders", result, packages=["numpy", "simple-icd-10-cm"], data=[medic, *parts.values()])


if __name__ == "__main__":
    main()
