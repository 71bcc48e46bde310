"""What tells several things from one name, by domains that it has not learned from.

The curves of ``models/make_clauses.py`` are fitted to all domains but one, and asked about that
one: how many of its single names are cut, and how many of its lists are. Counted is what may be
cut at all: no sieve knows it, and no name is sure to fit. Where both readings are wrong, cutting a
single name costs nothing, and so it is counted apart how many right links are lost.

    python benchmarks/clauses.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import record  # noqa: F401  # finds the models
from canonym.ranking.additive_model import AdditiveModel
from models.make_clauses import Seen, fit, observe
from record import data_folder, parser, save


def are_cut(model: AdditiveModel, seen: Sequence[Seen]) -> np.ndarray:
    """Return which of the mentions a model cuts, ``(n,)``."""
    rows = np.array([[*one.evidence, 1.0] for one in seen])
    nothing = sum(curve.missing for curve in model.curves)
    return np.asarray(model.worth(rows).sum(axis=1) > nothing)


def main() -> None:
    """Observe, fit, count, print and save."""
    parser(__doc__).parse_args()
    seen = [*observe(data_folder())]
    rows = []
    for domain in dict.fromkeys(one.domain for one in seen):
        own = [one for one in seen if one.domain == domain]
        model = AdditiveModel(fit([one for one in seen if one.domain != domain]))
        cut = dict(zip(map(id, own), are_cut(model, own).tolist(), strict=True))
        singles = [one for one in own if not one.are_several]
        lists = [one for one in own if one.are_several]
        rows.append(
            {
                "domain": domain,
                "single names": len(singles),
                "cut": sum(cut[id(one)] for one in singles),
                "right whole": sum(one.is_clear is True for one in singles),
                "lost": sum(cut[id(one)] for one in singles if one.is_clear is True),
                "lists": len(lists),
                "lists cut": sum(cut[id(one)] for one in lists),
                "right cut": sum(one.is_clear is True for one in lists),
                "found": sum(cut[id(one)] for one in lists if one.is_clear is True),
            }
        )
        print(*rows[-1].values(), sep="\t", flush=True)
    save("clauses", {"rows": rows}, packages=("numpy",))


if __name__ == "__main__":
    main()
