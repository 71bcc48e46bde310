"""The judge, by domains that it has not learned from: leave one domain out.

Judges are fitted to all domains of ``models/make_judge.py`` but one, and asked about that one; of
corpora about the dev part: the judge of known encoders about these, that of any about the others.
Domains that share names are left out together. The encoder itself has read the names of the
terminologies, but for those of other languages. Unrelated strings (``models/unrelated.py``) are
asked in each.

    python -m models.make_judge --observed observed
    python benchmarks/judge.py observed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import record  # noqa: F401  # finds the models
from canonym.linking.judge import BY_RELATIONS, BY_SIMILARITIES, NONSENSE
from canonym.ranking.reliability import FloatArray
from models.make_judge import (
    CHOICES,
    CORPORA,
    JOBS,
    KNOWN,
    PATIENTS,
    WEIGHTS,
    Observations,
    fit,
    is_known,
    observations_in,
)
from record import data_folder, parser, save

_SURE = 0.95
_BINS = 10
CUTS = (0.05, 0.1, NONSENSE, 0.2, 0.25)
_LANGUAGES = " + ".join(KNOWN)
UNRELATED = ("noise", "other languages", "English")

# Their names are those of each other in large part.
_TOGETHER = (
    ("diseases", "MEDIC", "NCBI disease", "BC5CDR disease"),
    ("chemicals", "drugs"),
    ("phenotypes", *JOBS),
)


def left_out(domain: str, observations: Mapping[tuple[str, str], Observations]) -> set[str]:
    """Return the domains that a judge of a domain may not have learned from."""
    apart = {domain}.union(*(group for group in _TOGETHER if domain in group))
    if domain in CORPORA:  # its own terminology is asked about other names
        return {domain}
    return {name for name, _ in observations if name in apart}


def weighted_ece(probability: FloatArray, seen: Observations) -> float:
    """Return the expected calibration error, where each kind of question has its weight."""
    place = np.minimum((probability * _BINS).astype(int), _BINS - 1)
    gap = seen.weights * (probability - seen.right)
    return float(np.abs(np.bincount(place, weights=gap, minlength=_BINS)).sum())


def figures(probability: FloatArray, seen: Observations, cut: float) -> dict[str, float]:
    """Return the percentage of right links below a cut, and of each kind of strangers."""
    low, row = 100.0 * (probability < cut), {}
    known = np.array([WEIGHTS.get(str(kind), 0) > 0 for kind in seen.kind])
    right, sure = seen.right & known, known & (probability >= _SURE)
    if sure.any():
        row["right from 0.95"] = 100 * float(
            np.average(seen.right[sure], weights=seen.weights[sure])
        )
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
    """Yield each domain and form with the probabilities of judges that learned from others."""
    for domain in dict.fromkeys(name for name, _ in observations):
        apart = left_out(domain, observations)
        others = {key: seen for key, seen in observations.items() if key[0] not in apart}
        asked = {
            form: seen
            for (name, form), seen in observations.items()
            if name == domain and form.startswith("dev") == (name in (*CORPORA, PATIENTS, *JOBS))
        }
        for names in (BY_SIMILARITIES, BY_RELATIONS):
            of_these = [form for form in asked if is_known(form) == (names is BY_SIMILARITIES)]
            judge = fit(others, names) if of_these else None
            for form in of_these:
                yield domain, form, asked[form], judge.predict(asked[form].evidence)


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("observed", type=Path)
    observations = observations_in(arguments.parse_args().observed, data_folder())
    rows: list[dict[str, Any]] = []
    cuts: dict[tuple[str, float], list[dict[str, float]]] = {}
    for domain, form, seen, probability in measure(observations):
        names, _, encoders = form.rpartition(", ")
        ece = round(weighted_ece(probability, seen), 4)
        for cut in CUTS:
            row = {"ece": ece} | figures(probability, seen, cut)
            cuts.setdefault((encoders, cut), []).append(row)
        if encoders in (CHOICES[0].name, _LANGUAGES):
            row = {"domain": domain, "form": names, "links": len(seen.right)}
            row["right"] = round(100 * float(np.average(seen.right, weights=seen.weights)), 1)
            rows.append(row | {"ece": ece} | figures(probability, seen, NONSENSE))
            print(rows[-1], flush=True)
    means = [
        {"encoders": encoders, "cut": cut, "sets": len(of_cut), **_means(of_cut)}
        for (encoders, cut), of_cut in cuts.items()
        if cut == NONSENSE or encoders == CHOICES[0].name
    ]
    for row in means:
        print(row)
    save("judge", {"cut": NONSENSE, "means": means, "rows": rows}, packages=("numpy",))


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row)
    known = {name: [row[name] for row in rows if name in row] for name in names}
    return {
        name: round(float(np.mean(values)), 4 if name == "ece" else 2)
        for name, values in known.items()
    }


if __name__ == "__main__":
    main()
