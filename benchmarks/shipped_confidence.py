"""Is the confidence that comes with a re-ranker right on test parts?

An index of MEDIC with the default encoder, its re-ranker and its confidence links the mentions of
the test parts of NCBI disease and BC5CDR disease as a user's would (the protocol ``raw``): the
expected calibration error over ten bins, and what answering from 0.9 on gives.

    python benchmarks/shipped_confidence.py
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonym import Linker
from canonym.corpora import read_pubtator
from canonym.evaluation.calibration import ece, reliability, risk_coverage
from canonym.evaluation.metrics import columns
from canonym.evaluation.run import evaluate_corpus
from canonym.terminology.formats import import_terminology
from record import data_folder, save

CORPORA = {"ncbi-disease": (), "bc5cdr": ("Disease",)}


def main() -> None:
    """Index, link, and say how far confidence is off."""
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    files = [medic]
    result: dict[str, Any] = {}
    with TemporaryDirectory() as scratch:
        terminology = import_terminology(medic, Path(scratch) / "terminology.db")
        linker = Linker.build(terminology, folder=Path(scratch) / "index", reranker="default")
        for corpus, types in CORPORA.items():
            files.append(data / corpus / "test.pubtator")
            run = evaluate_corpus(
                read_pubtator(files[-1]), linker=linker, protocol="raw", types=types
            )
            cases = run.scored["complete"]
            sure = np.array([case.score for case in cases])
            right = columns(cases, "accuracy@1")[:, 0] > 0.5
            answered = sure >= 0.9
            table = reliability(sure, right)
            result[corpus] = {
                "mentions": len(cases),
                "right": round(100 * float(right.mean()), 2),
                "ece": round(ece(sure, right), 4),
                "aurc": round(risk_coverage(sure, right).area, 4),
                "answered at 0.9": round(100 * float(answered.mean()), 2),
                "right at 0.9": round(100 * float(right[answered].mean()), 2),
                "bins": [
                    {"mentions": int(n), "sure": round(float(c), 3), "right": round(float(a), 3)}
                    for n, c, a in zip(table.counts, table.confidence, table.accuracy, strict=True)
                    if n
                ],
            }
    print(json.dumps(result, indent=1))
    save("shipped_confidence", result, packages=["numpy"], data=files)


if __name__ == "__main__":
    main()
