"""Wrong concepts that are a parent, a child or another relative of the right one.

Refined BC5CDR diseases against MEDIC of 2012, with the tree of CTD of 2017 (Miftahutdinov et al.
2021, section 5.5). The shipped encoder, character n-grams, and others that are named:

    python benchmarks/relatives.py --encoder "random=trained/dilbert-weak-random-1"
"""

from __future__ import annotations

import argparse

from canonym import Terminology
from canonym.corpora import read_pubtator
from canonym.evaluation.hierarchy_distance import hierarchy_errors, summarise_errors
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology import read_records
from canonym.types import Relation
from record import data_folder, save

PARTS = ("train", "dev", "test")


def main() -> None:
    """Evaluate, count the relatives among the errors, and write the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--encoder", action="append", default=[], metavar="NAME=FOLDER")
    named = dict(text.split("=", 1) for text in parser.parse_args().encoder)
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    ctd = data / "ctd-diseases-2017" / "CTD_diseases.tsv.gz"
    files = [data / "bc5cdr" / f"{part}.pubtator" for part in PARTS]
    train, dev, test = (list(read_pubtator(path)) for path in files)
    parents: dict[str, list[str]] = {}
    for record in read_records(ctd):
        if isinstance(record, Relation) and record.relation == "is_a":
            parents.setdefault(record.head, []).append(record.tail)
    terminology, rows = Terminology.build(read_records(medic)), []
    for system, encoder in {"TF-IDF": "chargrams", "default": "default", **named}.items():
        run = evaluate_corpus(
            test,
            terminology=terminology,
            training=[*train, *dev],
            protocol="refined",
            types=["Disease"],
            encoders=[encoder],
        )
        found = summarise_errors(hierarchy_errors(run.scored["strict"], parents))
        rows.append({"system": system, "mentions": len(run.questions), "wrong": found.n})
        rows[-1] |= found.counts | {"share of parents": found.counts["parent"] / found.n}
        print(rows[-1], flush=True)
    save("relatives", {"rows": rows}, packages=["numpy"], data=[medic, ctd, *files])


if __name__ == "__main__":
    main()
