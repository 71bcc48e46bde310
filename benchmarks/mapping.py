"""Concepts of the Disease Ontology mapped to MeSH, against cross-references that were taken out.

    python benchmarks/mapping.py --fit    the weights for `canonym.linking.mapping`, printed
    python benchmarks/mapping.py          precision and recall, to ``results/mapping.json``

The gold are the cross-references of the Disease Ontology to descriptors of the MeSH file. They are
taken out before the mapping. A pair is judged where the disease has one: it is right if it is among
them. Recall is the share of these diseases that get a right partner. Several diseases may name one
descriptor, so that with one partner each some go without. The weights are fitted on the
Human Phenotype Ontology and its cross-references to MeSH, so that they have seen no disease of the
test. The bundled encoder has read the names of MeSH, and no cross-reference.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.io.curies import usual
from canonym.linking.mapping import FEATURES, decide, propose
from canonym.terminology.formats import read_records, read_terminology
from canonym.types import ConceptMapping, Record, Xref
from record import data_folder, save

DOID = "doid/HumanDO-2015-05-14.obo.gz"
HPO = "hpo/hp-2014-11-14.obo.gz"
MESH = "mesh-2024/terms.tsv.gz"
TREES = "mesh-2024/trees.tsv.gz"
CONFIDENCES = (0.2, 0.5, 0.8, 0.9, 0.95)


def main() -> None:
    """Fit the weights, or measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit", action="store_true", help="fit the weights and print them")
    data = data_folder()
    mesh = read_terminology(data / MESH, trees=data / TREES, prefix="MESH:")
    if parser.parse_args().fit:
        _fit(*_without_gold(data / HPO, mesh), mesh)
    else:
        _measure(*_without_gold(data / DOID, mesh), mesh, data)


def _without_gold(path: Path, mesh: Terminology) -> tuple[Terminology, dict[str, set[str]]]:
    """Return a terminology without its cross-references to MeSH, and these."""
    gold: dict[str, set[str]] = defaultdict(set)
    kept: list[Record] = []
    for record in read_records(path):
        target = usual(record.target) if isinstance(record, Xref) else ("", "")
        if isinstance(record, Xref) and target[0] == "MESH":
            if mesh.resolve(f"MESH:{target[1]}"):
                gold[record.concept_id].add(f"MESH:{target[1]}")
        else:
            kept.append(record)
    terminology = Terminology.build(kept)
    retired = {concept.id for concept in terminology.iter_concepts() if concept.deprecated}
    return terminology, {id_: ids for id_, ids in gold.items() if id_ not in retired}


def _fit(left: Terminology, gold: dict[str, set[str]], mesh: Terminology) -> None:
    from sklearn.linear_model import LogisticRegression

    found = propose(left, mesh)
    judged = [n for n, pair in enumerate(found.pairs) if found.left_ids[pair[0]] in gold]
    right = [
        found.right_ids[found.pairs[n][1]] in gold[found.left_ids[found.pairs[n][0]]]
        for n in judged
    ]
    fitted = LogisticRegression(C=1.0, max_iter=10_000).fit(found.features[judged], right)
    print(f"{len(gold)} concepts with gold, {len(judged)} pairs, {sum(right)} right")
    for name, weight in zip(FEATURES, fitted.coef_[0], strict=True):
        print(f"{weight:8.3f}  {name}")
    print(f"{fitted.intercept_[0]:8.3f}  intercept")


def _measure(left: Terminology, gold: dict[str, set[str]], mesh: Terminology, data: Path) -> None:
    began = time.process_time()
    found = propose(left, mesh)
    mapped = decide(found, min_confidence=0.0)
    seconds = time.process_time() - began
    several = decide(found, many=True, min_confidence=0.0)
    rows = [
        {"system": f"confidence {least}", **_score(mapped, gold, least)} for least in CONFIDENCES
    ]
    rows += [
        {"system": f"confidence {least}, many", **_score(several, gold, least)}
        for least in CONFIDENCES
    ]
    for name, pairs in (("", mapped), (", many", several)):
        equal = [one for one in pairs if one.how == "name"]
        rows.append({"system": f"equal names alone{name}", **_score(equal, gold, 0.0)})
    bins = _calibration(mapped, gold)
    content = {
        "gold concepts": len(gold),
        "gold pairs": sum(map(len, gold.values())),
        "processor seconds": round(seconds, 1),
        "rows": rows,
        "calibration": bins,
    }
    for row in (*rows, *bins):
        print(row)
    files = [data / name for name in (DOID, MESH, TREES)]
    save("mapping", content, packages=["numpy"], data=files)


def _score(
    mapped: Iterable[ConceptMapping], gold: dict[str, set[str]], least: float
) -> dict[str, Any]:
    kept = [one for one in mapped if one.confidence >= least]
    judged = [one for one in kept if one.left in gold]
    right = [one.left for one in judged if one.right in gold[one.left]]
    precision, recall = len(right) / max(len(judged), 1), len(set(right)) / len(gold)
    return {
        "pairs": len(kept),
        "judged": len(judged),
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * precision * recall / max(precision + recall, 1e-9), 4),
    }


def _calibration(mapped: list[ConceptMapping], gold: dict[str, set[str]]) -> list[dict[str, Any]]:
    """Compare the confidence of judged pairs with how many are right, in fifths of the range."""
    bins = []
    for low in np.arange(0, 1, 0.2):
        inside = [
            one
            for one in mapped
            if one.left in gold and low <= one.confidence < low + 0.2 + (low > 0.7)
        ]
        if inside:
            right = sum(one.right in gold[one.left] for one in inside)
            mean = float(np.mean([one.confidence for one in inside]))
            share = right / len(inside)
            row = {"from": round(float(low), 1), "pairs": len(inside)}
            bins.append(row | {"confidence": round(mean, 3), "right": round(share, 3)})
    return bins


if __name__ == "__main__":
    main()
