"""The judge, by domains that it has not learned from: leave one domain out.

A judge is fitted to all domains of ``models/make_judge.py`` but one, and asked about that one; of
corpora about the dev part. Domains that share names are left out together. The encoder itself has
read the names of the terminologies, but for those of other languages. Unrelated strings
(``models/unrelated.py``) are asked in each.

    python -m models.make_judge --observed observed
    python benchmarks/judge.py observed
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import checkout  # noqa: F401
from canonym.linking.judge import NONSENSE
from canonym.ranking.reliability import FloatArray
from models.make_judge import CORPORA, PATIENTS, WEIGHTS, Observations, fit, observations_in
from record import data_folder, save

CUTS = (0.05, 0.1, NONSENSE, 0.2, 0.25)
UNRELATED = ("noise", "other languages", "English")

# Their names are those of each other in large part.
_TOGETHER = (("diseases", "MEDIC", "NCBI disease", "BC5CDR disease"), ("chemicals", "drugs"))


def left_out(domain: str, observations: Mapping[tuple[str, str], Observations]) -> set[str]:
    """Return the domains that a judge of a domain may not have learned from."""
    apart = {domain}.union(*(group for group in _TOGETHER if domain in group))
    if domain in CORPORA:  # its own terminology is asked about other names
        return {domain}
    return {name for name, _ in observations if name in apart}


def weighted_ece(probability: FloatArray, seen: Observations, n_bins: int = 10) -> float:
    """Return the expected calibration error, where each kind of question has its weight."""
    place = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    gap = seen.weights * (probability - seen.right)
    return float(np.abs(np.bincount(place, weights=gap, minlength=n_bins)).sum())


def figures(probability: FloatArray, seen: Observations, cut: float) -> dict[str, float]:
    """Return the percentage of right links below a cut, and of each kind of strangers."""
    low, row = 100.0 * (probability < cut), {}
    known = np.array([WEIGHTS.get(str(kind), 0) > 0 for kind in seen.kind])
    right = seen.right & known
    row["right links lost"] = float(np.average(low[right], weights=seen.weights[right]))
    for kind in ("taken out", "misspelt", "as it stands"):
        if (of_kind := right & (seen.kind == kind)).any():
            row[f"lost, {kind}"] = float(low[of_kind].mean())
    for kind in (*UNRELATED, "another domain", "absent", "sibling"):
        if (of_kind := seen.kind == kind).any():
            row[f"NIL, {kind}"] = float(low[of_kind].mean())
    return {name: round(value, 2) for name, value in row.items()}


def measure(
    observations: Mapping[tuple[str, str], Observations],
) -> Iterator[tuple[str, str, Observations, FloatArray]]:
    """Yield each domain and form with the probabilities of a judge that learned from others."""
    for domain in dict.fromkeys(name for name, _ in observations):
        apart = left_out(domain, observations)
        judge = fit({key: seen for key, seen in observations.items() if key[0] not in apart})
        for (name, form), seen in observations.items():
            is_dev = form.startswith("dev")
            if name == domain and is_dev == (name in (*CORPORA, PATIENTS)):
                yield domain, form, seen, judge.predict(seen.evidence)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("observed", type=Path)
    observations = observations_in(parser.parse_args().observed, data_folder())
    rows: list[dict[str, Any]] = []
    cuts: dict[float, list[dict[str, float]]] = {cut: [] for cut in CUTS}
    for domain, form, seen, probability in measure(observations):
        for cut in CUTS:
            cuts[cut].append(figures(probability, seen, cut))
        row = {"domain": domain, "form": form, "links": len(seen.right)}
        row["right"] = round(100 * float(np.average(seen.right, weights=seen.weights)), 1)
        row["ece"] = round(weighted_ece(probability, seen), 4)
        rows.append(row | figures(probability, seen, NONSENSE))
        print(rows[-1], flush=True)
    means = [
        {"cut": cut, **{name: _mean(of_cut, name) for name in of_cut[0] | of_cut[-1]}}
        for cut, of_cut in cuts.items()
    ]
    for row in means:
        print(row)
    save("judge", {"cut": NONSENSE, "means": means, "rows": rows}, packages=("numpy",))


def _mean(rows: list[dict[str, float]], name: str) -> float:
    return round(float(np.mean([row[name] for row in rows if name in row])), 2)


if __name__ == "__main__":
    main()
