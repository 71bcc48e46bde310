"""How long does an evaluation take, and how much of that is not linking?

The 4,424 disease mentions of the BC5CDR test part under BioSyn's protocol: TF-IDF on character
n-grams, MEDIC with the mentions of train and dev as names, 20 candidates, three readings, ten
slices, 10,000 bootstrap draws behind every interval. Timed are the stages of `evaluate_corpus`
(preparing, indexing, linking, evaluating) and the report with its page; the best of the repeats of
each counts. Files are read and the terminology is built beforehand.

    python benchmarks/evaluation_speed.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from canonym import Terminology
from canonym.corpora.pubtator import read_pubtator
from canonym.evaluation.report import summarise, write_page
from canonym.evaluation.run import evaluate_corpus
from canonym.evaluation.slices import DRAWS
from canonym.terminology.readers.medic import read_medic
from record import data_folder, save

K = 20


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    files = [data / "bc5cdr" / f"{part}.pubtator" for part in ("train", "dev", "test")]
    train, dev, test = (list(read_pubtator(file)) for file in files)
    best: dict[str, float] = {}
    whole = float("inf")
    with TemporaryDirectory() as scratch:
        terminology = Terminology.build(read_medic(medic), Path(scratch) / "medic.db")
        for _ in range(options.repeats):
            start = time.perf_counter()
            run = evaluate_corpus(
                test,
                terminology=terminology,
                encoders=["chargrams"],
                training=[*train, *dev],
                types=["Disease"],
                k=K,
            )
            done = time.perf_counter()
            write_page(summarise(run), Path(scratch) / "report.html")
            taken = {**run.seconds, "report and page": time.perf_counter() - done}
            best = {name: min(best.get(name, each), each) for name, each in taken.items()}
            whole = min(whole, done - start)
    n_mentions = len(run.questions) + sum(len(some) for _, some in run.dropped)
    for name, seconds in best.items():
        print(f"{name:16} {seconds:6.2f} s")
    ratio = best["evaluating"] / best["linking"]
    print(f"all but report   {whole:6.2f} s, {n_mentions:,} mentions, {len(run.questions):,} asked")
    print(f"evaluating takes {ratio:.2f} of the time of linking")
    path = save(
        "evaluation_speed",
        {
            "mentions": n_mentions,
            "asked": len(run.questions),
            "k": K,
            "figures": len(run.headline),
            "draws": DRAWS,
            "seconds": {name: round(seconds, 2) for name, seconds in best.items()},
            "seconds_in_all": round(whole, 2),
            "evaluating_to_linking": round(ratio, 3),
            "evaluating_to_all": round(best["evaluating"] / whole, 3),
        },
        packages=["numpy", "scipy"],
        data=[medic, *files],
    )
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
