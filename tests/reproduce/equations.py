"""The papers' equations in NumPy: ranks and correlations from the vectors of a saved model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from scipy.stats import spearmanr
from sklearn.feature_extraction.text import TfidfVectorizer

from canonym.encoders import load_encoder
from canonym.encoders.transformer import Transformer
from canonym.evaluation.run import Run
from canonym.terminology import Terminology
from canonym.text import biosyn_normal

MENTIONS = 3
ACCEPTED = 0.95  # cosine of the first step of triplet search
TOKENS = 8  # of a name, in triplet search
Scores = Callable[[str], np.ndarray]


@functools.lru_cache(maxsize=4)
def _opened(folder: str, pooling: str, tokens: int) -> Transformer:
    return Transformer(folder, pooling=pooling, max_length=tokens, normalise=False, device="cpu")


@functools.lru_cache(maxsize=16)
def _encoded(folder: str, texts: tuple[str, ...], pooling: str, tokens: int) -> np.ndarray:
    return np.asarray(_opened(folder, pooling, tokens).encode(texts), np.float64)


def pooled(folder: str, texts: Sequence[str], pooling: str, tokens: int = 32) -> np.ndarray:
    """Return vectors as a transformer pools its tokens, of any length."""
    return _encoded(folder, tuple(texts), pooling, tokens)


def units(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# --- scores of a mention with names ---------------------------------------------------------------


def cosines(folder: str, names: Sequence[str], pooling: str, tokens: int = 32) -> Scores:
    """Return cos(q, x) of a mention with names (triplet search, CODER)."""
    vectors = units(pooled(folder, names, pooling, tokens))
    return lambda text: vectors @ units(pooled(folder, [text], pooling, tokens))[0]


def nearness(folder: str, names: Sequence[str], pooling: str) -> Scores:
    """Return 1 / (1 + ‖q − x‖), which falls with the distance of DILBERT."""
    vectors = pooled(folder, names, pooling)
    return lambda text: 1 / (1 + np.linalg.norm(vectors - pooled(folder, [text], pooling), axis=1))


def sparse(names: Sequence[str], rows: Sequence[str]) -> Scores:
    """Return ⟨e_q, e_x⟩ of TF-IDF of character 1- and 2-grams, fitted to all rows."""
    fitted = TfidfVectorizer(analyzer="char", ngram_range=(1, 2)).fit(rows)
    vectors = fitted.transform(names)
    return lambda text: (vectors @ fitted.transform([text]).T).toarray()[:, 0]


def marginalised(
    folder: str, names: Sequence[str], rows: Sequence[str], *, weighed: bool
) -> Scores:
    """Return BioSyn's S(q, x) / S(q, q), S = ⟨q, x⟩ + λ ⟨e_q, e_x⟩, or without the second term."""
    weight = float(load_file(Path(folder) / "extra.safetensors")["sparse_weight.weight"].item())
    vectors, grams = pooled(folder, names, "cls"), sparse(names, rows)

    def scores(text: str) -> np.ndarray:
        query = pooled(folder, [text], "cls")[0]
        dense, own = vectors @ query, query @ query
        return (dense + weight * grams(text)) / (own + weight) if weighed else dense / own

    return scores


# --- ranks ----------------------------------------------------------------------------------------


def dictionary(run: Run, terminology: Terminology) -> list[tuple[str, str]]:
    """Return the names that a run searches, with their concepts."""
    normal = str if run.protocol.as_written else biosyn_normal
    rows = [(normal(one.text), one.concept_id) for one in terminology.iter_names()]
    return [*rows, *run.learned]


def check_names(run: Run, names: Sequence[str], scores: Scores) -> None:
    """Compare the ranked names of some mentions with the best of all by a score."""
    for question, answers in islice(zip(run.questions, run.answers, strict=True), MENTIONS):
        for text, answer in zip(question.parts, answers, strict=True):
            all_scores = dict(zip(names, scores(text).tolist(), strict=True))
            ranked = [hit.score for hit in answer.names]
            best = sorted(all_scores.values(), reverse=True)[: len(ranked)]
            assert len(ranked) >= MENTIONS
            np.testing.assert_allclose(ranked, best, atol=2e-4)
            of_names = [all_scores[hit.text] for hit in answer.names]
            np.testing.assert_allclose(ranked, of_names, atol=2e-4)


def check_search(run: Run, terminology: Terminology, search: str, folder: str) -> None:
    """Compare ranked concepts with a search among terminology (O), mentions (D), or both."""
    ontology = [(name.text, name.concept_id) for name in terminology.iter_names()]
    rows = {"O": ontology, "D": list(run.learned), "OD": [*ontology, *run.learned]}
    for question, answers in islice(zip(run.questions, run.answers, strict=True), MENTIONS):
        for text, answer in zip(question.parts, answers, strict=True):
            ranked: dict[str, float] = {}
            steps = search.split(" + ")
            for number, step in enumerate(steps):
                part, _, compared = step.partition("-")
                best = _COMPARED[compared](text, rows[part], folder)
                lowest = min(ranked.values(), default=1.0)
                for concept, score in best.items():
                    if number == len(steps) - 1 or score >= ACCEPTED:
                        ranked.setdefault(concept, min(score, lowest))
            found = [hit.score for hit in answer.concepts]
            assert len(found) >= MENTIONS
            expected = sorted(ranked.values(), reverse=True)[: len(found)]
            np.testing.assert_allclose(found, expected, atol=2e-4)
            of_concepts = [ranked[hit.id] for hit in answer.concepts]
            np.testing.assert_allclose(found, of_concepts, atol=2e-4)


def _best_of_concepts(text: str, rows: Iterable[tuple[str, str]], folder: str) -> dict[str, float]:
    texts, ids = zip(*rows, strict=True)
    best: dict[str, float] = {}
    scores = cosines(folder, texts, "mean", TOKENS)(text)
    for id_, score in zip(ids, scores.tolist(), strict=True):
        best[id_] = max(score, best.get(id_, -1.0))
    return best


def _means_of_concepts(text: str, rows: Iterable[tuple[str, str]], folder: str) -> dict[str, float]:
    """Return cos(q, mean of the vectors of a concept's names), each name once and of length 1."""
    names: dict[str, dict[str, None]] = {}
    for name, id_ in rows:
        names.setdefault(id_, {})[name] = None
    query = units(pooled(folder, [text], "mean", TOKENS))[0]
    means = [
        units(pooled(folder, list(one), "mean", TOKENS)).mean(axis=0) for one in names.values()
    ]
    return dict(zip(names, (units(np.array(means)) @ query).tolist(), strict=True))


_COMPARED = {"T": _best_of_concepts, "C": _means_of_concepts}


# --- few-shot names -------------------------------------------------------------------------------


def name_vectors(folder: str, texts: Sequence[str], pooling: str) -> np.ndarray:
    """Return u, or f(n) = (enc(u) + u) / 2 of every head that stands on it, of norm 1."""
    place = Path(folder)
    if not (place / "head.safetensors").exists():
        if (place / "config.json").exists():
            return units(pooled(folder, texts, pooling))
        return np.asarray(load_encoder(folder).encode(texts), np.float64)
    weights = load_file(place / "head.safetensors")
    below = name_vectors(str(place / "base"), texts, pooling)
    if "projection" in weights:
        below = below @ weights["projection"]
    hidden = np.maximum(below @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
    encoded = hidden @ weights["output.weight"].T + weights["output.bias"]
    return units((encoded + below) / 2)


def correlation(folder: str, pairs: Sequence[tuple[str, str, float]], pooling: str) -> float:
    """Return Spearman's correlation of cosines with people's scores."""
    first, second, people = zip(*pairs, strict=True)
    left, right = (name_vectors(folder, side, pooling) for side in (first, second))
    return float(spearmanr((left * right).sum(axis=1), people).statistic)


# --- the published files --------------------------------------------------------------------------


def check_row(
    name: str, row: Mapping[str, Any], run: Any, terminology: Terminology | None, folder: str
) -> None:
    """Check a row of a published file against the equation of its paper.

    `folder` is the model of the row, empty for character n-grams; `terminology` its names.
    """
    assert isinstance(run, Run)
    assert terminology is not None
    if name == "triplet-search-published":
        search = row["search"]
        if isinstance(search, dict):  # the one that a note says was chosen on the dev part
            search = run.notes[-1].removeprefix("the search ").partition(" was chosen")[0]
        check_search(run, terminology, search, folder)
        return
    rows = [text for text, _ in dictionary(run, terminology)]
    names = list(dict.fromkeys(rows))
    if name == "coder-published":
        scores = cosines(folder, names, coder_pooling(row["name"]))
    elif name == "dilbert-published" and "BioSyn" not in row["name"]:
        scores = nearness(folder, names, "mean")
    elif "sparse scores alone" in row["name"]:
        scores = sparse(names, rows)
    else:
        weighed = "dense scores alone" not in row["name"]
        scores = marginalised(folder, names, rows, weighed=weighed)
    check_names(run, names, scores)


def coder_pooling(row: str) -> str:
    """Return the pooling of CODER's tables: the mean in 1, 3, 5 and half of 2, else [CLS]."""
    by_mean = row.startswith(("CADEC", "PsyTar", "MCSM", "MANTRA")) and "[CLS]" not in row
    return "mean" if by_mean else "cls"


def few_shot_pooling(row: str) -> str:
    """Return the pooling of table 3: BioBERT is averaged; the stand-in for BNE is not."""
    return "mean" if "BioBERT" in row else "cls"
