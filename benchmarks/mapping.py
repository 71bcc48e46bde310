"""Concepts of the Disease Ontology mapped to MeSH, against cross-references that were taken out.

    python benchmarks/mapping.py --fit    the weights for `canonym.exchange.alignment`, printed
    python benchmarks/mapping.py          precision and recall, to ``results/mapping.json``

The gold are the cross-references of the Disease Ontology to descriptors of the MeSH file. They are
taken out before the mapping. A pair is judged where the disease has one: it is right if it is among
them. Recall is the share of these diseases that get a right partner. Several diseases may name one
descriptor, so that with one partner each some go without. A second question has no right answer:
diseases whose partners are taken out of MeSH, and terminologies that share no concept. The weights
are fitted on the Human Phenotype Ontology and its cross-references to MeSH, with and without the
partners, on phenotypes and anatomy, and on genes with odd and even numbers. So they have seen no
disease of the test. The bundled encoder has read the names of MeSH, and no cross-reference.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from canonym import Terminology
from canonym.exchange.alignment import FEATURES, decide, propose
from canonym.terminology.formats import read_records, read_terminology
from canonym.types import Concept, ConceptMapping
from inputs import CTD, DOID, DRUGBANK, HPO, MESH, TREES, UBERON, without, without_gold
from record import data_folder, parser, rows_of, save

GENES = "genes/Homo_sapiens.protein-coding.gene_info.gz"
CONFIDENCES = (0.2, 0.5, 0.8, 0.9, 0.95)


def main() -> None:
    """Fit the weights, or measure."""
    arguments = parser(__doc__)
    arguments.add_argument("--fit", action="store_true", help="fit the weights and print them")
    data = data_folder()
    mesh = read_terminology(data / MESH, trees=data / TREES, prefix="MESH:")
    if arguments.parse_args().fit:
        _fit(*without_gold(HPO, mesh), mesh, data)
    else:
        _measure(*without_gold(DOID, mesh), mesh, data)


def _fit(left: Terminology, gold: dict[str, set[str]], mesh: Terminology, data: Path) -> None:
    from sklearn.linear_model import LogisticRegression

    features, right, weights = [], [], []
    for name, source, target, answers in _training(left, gold, mesh, data):
        proposal = propose(source, target)
        judged = [
            n
            for n, pair in enumerate(proposal.pairs)
            if proposal.left_ids[pair[0]] in answers and not proposal.against[n].contradictions
        ]
        is_right = [
            proposal.right_ids[proposal.pairs[n][1]]
            in answers.get(proposal.left_ids[proposal.pairs[n][0]], ())
            for n in judged
        ]
        print(f"{name}: {len(judged)} pairs, {sum(is_right)} right", flush=True)
        features.append(proposal.features[judged])
        right += is_right
        weights += [1000 / len(judged)] * len(judged)  # each question counts the same
    fitted = LogisticRegression(C=1.0, max_iter=10_000)
    fitted.fit(np.concatenate(features), right, sample_weight=weights)
    for name, weight in zip(FEATURES, fitted.coef_[0], strict=True):
        print(f"{weight:8.3f}  {name}")
    print(f"{fitted.intercept_[0]:8.3f}  intercept")


def _training(
    left: Terminology, gold: dict[str, set[str]], mesh: Terminology, data: Path
) -> Iterator[tuple[str, Terminology, Terminology, dict[str, set[str]]]]:
    """Yield pairs of terminologies, and the right partners; concepts with none have an empty set.

    Phenotypes and MeSH; the same with the partners of every second phenotype taken out; phenotypes
    and anatomy, which share nothing; genes with odd and with even numbers, which share nothing.
    """
    yield "phenotypes in MeSH", left, mesh, gold
    lonely: dict[str, set[str]] = {id_: set() for id_ in sorted(gold)[::2]}
    gone = {partner for id_ in lonely for partner in gold[id_]}
    yield "partners taken out", left, without(mesh, gone), lonely
    uberon = read_terminology(data / UBERON)
    yield "anatomy", left, uberon, _nobody(left)
    yield "odd and even genes", *(halves := _halves(_genes(data))), _nobody(halves[0])


def _nobody(terminology: Terminology) -> dict[str, set[str]]:
    return {concept.id: set() for concept in terminology.iter_concepts()}


def _genes(data: Path) -> list[tuple[str, str]]:
    return [(f"GENE:{row['GeneID']}", row["description"]) for row in rows_of(data / GENES)]


def _diseases(data: Path) -> list[tuple[str, str]]:
    concepts = (record for record in read_records(data / CTD) if isinstance(record, Concept))
    return [(concept.id, concept.label) for concept in concepts]


def _halves(labels: list[tuple[str, str]]) -> tuple[Terminology, Terminology]:
    """Return the concepts whose label ends in an odd number, and in an even one."""
    sides: tuple[list[Concept], list[Concept]] = ([], [])
    for id_, label in labels:
        number = re.search(r"(?<![\d.])(\d{1,2})$", label)
        if number:
            sides[1 - int(number[1]) % 2].append(Concept(id_, label))
    return Terminology.build(sides[0]), Terminology.build(sides[1])


def _measure_nobody(
    left: Terminology, gold: dict[str, set[str]], mesh: Terminology, data: Path
) -> list[dict[str, Any]]:
    """Ask where no concept has a partner: every pair is wrong."""
    gone = {id_ for ids in gold.values() for id_ in ids}
    drugs = read_terminology(data / DRUGBANK)
    uberon, phenotypes = read_terminology(data / UBERON), read_terminology(data / HPO)
    odd, even = _halves(_diseases(data))
    asked = [
        ("diseases, partners taken out of MeSH", left, without(mesh, gone), set(gold)),
        ("odd diseases, even diseases", odd, even, None),
        ("phenotypes, anatomy (fitted to)", phenotypes, uberon, None),
        ("drugs, anatomy", drugs, uberon, None),
        ("anatomy, diseases", uberon, left, None),
    ]
    rows = []
    for name, source, target, ids in asked:
        mapped = decide(propose(source, target), min_confidence=0.5)
        wrong = [pair for pair in mapped if ids is None or pair.left in ids]
        n = len(ids) if ids is not None else min(source.n_concepts, target.n_concepts)
        exact = [pair for pair in wrong if pair.relation == "equal"]
        rows.append(
            {
                "question": name,
                "concepts": n,
                "pairs": len(wrong),
                "exact": len(exact),
                "exact share": round(len(exact) / n, 5),
                "of 0.85 or more": sum(pair.confidence >= 0.85 for pair in wrong),
            }
        )
        print(rows[-1], flush=True)
    return rows


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
        "nobody": _measure_nobody(left, gold, mesh, data),
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
