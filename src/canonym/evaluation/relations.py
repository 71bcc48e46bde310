"""Relation classification: which relation holds between two concepts, told from their vectors.

The set-up of the Diseases Database relation classification (DDBRC) on triplets of any source: a
softmax over ``W [e_h, e_t] + b`` trained with cross-entropy on four fifths of the triplets. Here
vectors are frozen; `canonym.evaluation.finetuning` trains the encoder along.

References
----------
Yuan et al. (2020), CODER, section 4.6 and appendix A.4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.evaluation.intervals import wilson
from canonym.evaluation.softmax import fit_softmax
from canonym.evaluation.triplets import split_triplets
from canonym.types import Relation

__all__ = [
    "Classifier",
    "Fit",
    "RelationScores",
    "evaluate_relations",
    "frozen",
]

Classifier = Callable[[Sequence[Relation]], Sequence[str]]
"""Says a relation for each triplet; it must not look at theirs."""

Fit = Callable[[Sequence[Relation], np.random.Generator], Classifier]
"""Makes a classifier of training triplets; draws at random from the generator alone."""


class RelationScores(NamedTuple):
    """Outcome of relation classification.

    Attributes
    ----------
    accuracy, low, high : float
        On the test triplets, with Wilson's interval.
    majority : float
        Accuracy of always saying the commonest relation of the training triplets.
    chance : float
        Expected accuracy of saying relations as often as they are in the training triplets.
    n_train, n_test : int
        Triplets.
    predicted : tuple of str
        The relation said for each test triplet.
    test : tuple of Relation
        The test triplets.
    """

    accuracy: float
    low: float
    high: float
    majority: float
    chance: float
    n_train: int
    n_test: int
    predicted: tuple[str, ...]
    test: tuple[Relation, ...]


def evaluate_relations(
    fit: Fit,
    triplets: Iterable[Relation],
    *,
    test_share: float = 0.2,
    by_head: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> RelationScores:
    """Train a classifier of relations on one part of the triplets and test it on the other.

    Parameters
    ----------
    fit : callable
        `frozen` of some vectors, `canonym.evaluation.finetuning.finetuned` of an encoder, or any
        `Fit`.
    triplets : iterable of Relation
        Head, relation, tail.
    test_share, by_head
        As `canonym.evaluation.triplets.split_triplets` takes them.
    level : float
        Confidence of the interval, in (0, 1).
    seed : int
        Of the split and of the training.

    Returns
    -------
    RelationScores
        Accuracy beside two baselines.

    Raises
    ------
    InvalidInput
        If the triplets cannot be split, have one relation only, or the classifier does not say one
        relation per triplet.
    """
    rng = np.random.default_rng(seed)
    train, test = split_triplets(triplets, test_share=test_share, by_head=by_head, rng=rng)
    counts = Counter(triplet.relation for triplet in train)
    if len(counts) < 2:
        raise InvalidInput(
            f"all training triplets have the relation {next(iter(counts))!r}; at least two "
            "relations are expected"
        )
    classify = fit(train, rng)
    # The relation is taken out, so that no classifier can look it up.
    predicted = tuple(classify([Relation(triplet.head, "", triplet.tail) for triplet in test]))
    if len(predicted) != len(test):
        raise InvalidInput(
            f"the classifier says {len(predicted)} relations for {len(test)} triplets; one each is "
            "expected"
        )
    right = sum(said == triplet.relation for said, triplet in zip(predicted, test, strict=True))
    share = Counter(triplet.relation for triplet in test)
    n, n_train = len(test), len(train)
    commonest = min(counts, key=lambda name: (-counts[name], name))
    chance = sum(counts[name] * share[name] for name in counts) / (n_train * n)
    interval = wilson(right, n, level=level)
    return RelationScores(
        *interval, share[commonest] / n, chance, n_train, n, predicted, tuple(test)
    )


def frozen(
    vectors: Mapping[str, npt.ArrayLike],
    *,
    solver: str = "adam",
    epochs: int = 50,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    penalty: float = 1e-4,
) -> Fit:
    """Classify by fixed vectors of the concepts.

    Parameters
    ----------
    vectors : mapping of str to array-like, shape (d,)
        A vector per concept.
    solver : str
        ``"adam"``, as published, or ``"lbfgs"``, the optimum of the penalised loss, which does not
        depend on the length of the training; the other four belong to one of them each.
    epochs, batch_size : int
        Of Adam.
    learning_rate : float
        Of Adam.
    penalty : float
        Weight of ``|W|² / 2`` with ``"lbfgs"``.

    Returns
    -------
    Fit
        For `evaluate_relations`.

    Raises
    ------
    InvalidInput
        If there are no vectors, they have different lengths, or an option cannot be used.

    Notes
    -----
    ``ŷ = softmax(W [e_h, e_t] + b)``. A concept without a vector gets the mean of all vectors.
    """
    if not vectors:
        raise InvalidInput("no vectors: give one per concept")
    widths = {np.shape(vector) for vector in vectors.values()}
    if len(widths) > 1 or len(next(iter(widths))) != 1:
        raise InvalidInput(f"the vectors have the shapes {sorted(widths)}; one (d,) is expected")
    row = {id_: i for i, id_ in enumerate(vectors)}
    table = np.array(list(vectors.values()), dtype=np.float64)
    table = np.vstack([table, table.mean(axis=0)])

    def features(triplets: Sequence[Relation]) -> npt.NDArray[np.float64]:
        heads = [row.get(triplet.head, -1) for triplet in triplets]
        tails = [row.get(triplet.tail, -1) for triplet in triplets]
        return np.hstack([table[heads], table[tails]])

    def fit(train: Sequence[Relation], rng: np.random.Generator) -> Classifier:
        names = sorted({triplet.relation for triplet in train})
        place = {name: i for i, name in enumerate(names)}
        targets = np.array([place[triplet.relation] for triplet in train])
        model = fit_softmax(
            features(train),
            targets,
            len(names),
            solver=solver,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            penalty=penalty,
            rng=rng,
        )
        return lambda triplets: [names[i] for i in model.predict(features(triplets))]

    return fit
