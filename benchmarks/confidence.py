"""Calibration of the confidence that `canonym fit-confidence` learns.

The confidence of an index of MEDIC (NCBI disease) and of one of MeSH diseases by CTD (BC5CDR
disease) is fitted to the train part of the corpus and tried on the dev part, and the other way
round. The three NIL thresholds of DILBERT are tried by its protocol of 20 draws of 100 mentions on
the dev part of BC5CDR, where some mentions have no concept. Test parts are not touched.

    python -m models.make_default --part none -o names-alone
    python benchmarks/confidence.py --encoder names-alone
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
from canonym.evaluation.nil import STRATEGIES, draw_thresholds
from canonym.linking.confidence import METHODS, Observed, fit_model
from canonym.linking.fitting import observe
from canonym.terminology.formats import import_terminology
from record import chosen_encoder, data_folder, save


def tried(fitted_to: Observed, on: Observed) -> dict[str, Any]:
    """Fit by every method, and predict other links."""
    found: dict[str, Any] = {"n": len(on.right), "right": round(float(on.right.mean()), 4)}
    scores = np.clip(on.features[:, 0], 0, 1)
    found["score as it is"] = figures(scores, on.right)
    for method in METHODS:
        model = fit_model(fitted_to.features, fitted_to.right, method=method)
        found[method] = figures(model.predict(on.features), on.right)
    return found


def figures(sure: Any, right: Any) -> dict[str, Any]:
    """Return how far confidence is off, and what refusing unsure links brings."""
    kept = sure >= 0.9
    table = reliability(sure, right)
    return {
        "ece": round(ece(sure, right), 4),
        "ece_equal_mass": round(ece(sure, right, binning="mass"), 4),
        "aurc": round(risk_coverage(sure, right).area, 4),
        "answered_at_0.9": round(float(kept.mean()), 4),
        "right_at_0.9": round(float(right[kept].mean()), 4) if kept.any() else None,
        "bins": [
            {"mentions": int(n), "confidence": round(float(c), 3), "accuracy": round(float(a), 3)}
            for n, c, a in zip(table.counts, table.confidence, table.accuracy, strict=True)
            if n
        ],
    }


def nil_draws(linker: Linker, path: Path, kind: str) -> dict[str, Any]:
    """Try the thresholds of DILBERT on mentions with and without a concept."""
    from canonym.terminology.ids import ConceptIds

    ids = ConceptIds(linker.terminology)
    scores, right, known = [], [], []
    for document, links in linker.link_documents(read_pubtator(path), k=1):
        for mention, link in zip(document.mentions, links, strict=True):
            gold = {found for found in map(ids.find, mention.ids) if found}
            one = mention.type == kind and len(mention.ids) <= 1
            if one and not link.parts and (gold or mention.rule == "nil"):
                scores.append(-np.inf if link.score is None else link.score)
                right.append(link.id in gold)
                known.append(bool(gold))
    found: dict[str, Any] = {"mentions": len(scores), "nil": len(scores) - sum(known)}
    for strategy in STRATEGIES:
        draws = draw_thresholds(
            scores, right, known, strategy=strategy, rng=np.random.default_rng(0)
        )
        found[strategy] = {"accuracy": round(draws.mean, 4), "std": round(draws.std, 4)}
    return found


def main() -> None:
    """Index, fit, predict, print and save."""
    encoder = chosen_encoder(__doc__)
    data = data_folder()
    corpora = {
        "ncbi-disease": (data / "medic-2012" / "medic_06Jul2012.txt", ()),
        "bc5cdr": (next((data / "ctd-diseases-2017").glob("CTD_diseases.tsv*")), ("Disease",)),
    }
    result: dict[str, Any] = {}
    files: list[Path] = []
    for name, (source, types) in corpora.items():
        parts = {part: next((data / name).glob(f"*{part}*")) for part in ("train", "dev")}
        files += [source, *parts.values()]
        with TemporaryDirectory() as scratch:
            terminology = import_terminology(source, Path(scratch) / "terminology.db")
            linker = Linker.build(terminology, encoders=[encoder])
            seen = {
                part: observe(linker.pipeline, read_pubtator(path), types=types)
                for part, path in parts.items()
            }
            result[name] = {
                "train -> dev": tried(seen["train"], seen["dev"]),
                "dev -> train": tried(seen["dev"], seen["train"]),
            }
            if name == "bc5cdr":
                result[name]["nil thresholds on dev"] = nil_draws(linker, parts["dev"], "Disease")
    print(json.dumps(result, indent=1))
    path = save("confidence", result, packages=["numpy"], data=files)
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
