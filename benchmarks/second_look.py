"""A second look at the lists of three jobs: what becomes right, and how sure that is.

    python benchmarks/second_look.py contextual [WHO …]

WHO is what ``canonym link --second-look`` takes. Each list is linked without and with it, to the
terminology of its job, by the default encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import record  # noqa: F401  # finds the models
from canonym import Link, Linker, Terminology
from canonym.linking.judge import NONSENSE
from canonym.linking.second_look import SURE, open_second_look
from canonym.ranking.reliability import ece
from models.make_judge import JOBS, job_records
from record import data_folder, parser, rows_of, save_rows


def figures(links: Sequence[Link], ids: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return what is right, how well the confidence tells it, and what the usual cut loses."""
    right = np.array([link.id in own for link, own in zip(links, ids, strict=True)])
    likely = np.array([link.confidence or 0.0 for link in links])
    sure = likely >= SURE
    return {
        "right": round(100 * float(right.mean()), 1),
        "ece": round(ece(likely, right), 3),
        "sure": round(100 * float(sure.mean()), 1),
        "right where sure": round(100 * float(right[sure].mean()), 1),
        "lost": round(100 * float((right & (likely < NONSENSE)).sum() / right.sum()), 1),
    }


def measured(lookers: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Link the lists without a second look and with each."""
    data = data_folder()
    for job in JOBS:
        linker = Linker.build(Terminology.build(job_records(data, job, few=False)))
        rows = rows_of(data / "jobs" / job / "mentions.tsv")
        texts, ids = [row["mention"] for row in rows], [row["ids"].split("|") for row in rows]
        for who in (None, *lookers):
            links = linker.link(texts, min_confidence=0, context=False, second_look=who)
            row: dict[str, Any] = {"job": job, "second look": who or "", "n": len(texts)}
            if who:
                shown = open_second_look(who).reliability(linker.pipeline)
                row["finds"], row["abstains"] = round(shown.finds, 2), round(shown.abstains, 2)
            yield {**row, **figures(links, ids)}


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("who", nargs="+")
    save_rows("second_look", measured(arguments.parse_args().who))
