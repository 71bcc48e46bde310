"""A softmax layer, trained in numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.corpora.delimited import read_table
from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.statistics import wilson
from canonym.types import Relation

# --- softmax ---

FloatArray = npt.NDArray[np.float64]


class Softmax(NamedTuple):
    """Weights ``(d, c)`` and bias ``(c,)`` of a softmax over ``c`` classes."""

    weights: FloatArray
    bias: FloatArray

    def predict(self, features: FloatArray) -> npt.NDArray[np.intp]:
        """Return the likeliest class of each row of `features`, ``(n,)``; ties by class."""
        return np.asarray((features @ self.weights + self.bias).argmax(axis=1))


def loss_and_gradient(
    model: Softmax, features: FloatArray, targets: npt.NDArray[np.integer], *, penalty: float = 0.0
) -> tuple[float, Softmax]:
    """Return the mean cross-entropy plus ``penalty · |W|² / 2``, and its gradient.

    Parameters
    ----------
    model : Softmax
        Where.
    features : ndarray, shape (n, d), float64
        Inputs.
    targets : ndarray, shape (n,), int
        Classes.
    penalty : float
        Weight of the squared weights; the bias is free.

    Returns
    -------
    loss : float
        In nats.
    gradient : Softmax
        In the shapes of `model`.
    """
    logits = features @ model.weights + model.bias
    logits -= logits.max(axis=1, keepdims=True)
    exponentials = np.exp(logits)
    total = exponentials.sum(axis=1, keepdims=True)
    rows = np.arange(len(targets))
    loss = float((np.log(total[:, 0]) - logits[rows, targets]).mean())
    slope = exponentials / total
    slope[rows, targets] -= 1
    slope /= len(targets)
    gradient = Softmax(features.T @ slope + penalty * model.weights, slope.sum(axis=0))
    return loss + penalty * float((model.weights**2).sum()) / 2, gradient


def fit_softmax(
    features: FloatArray,
    targets: npt.NDArray[np.integer],
    n_classes: int,
    *,
    rng: np.random.Generator | int,
    solver: str = "adam",
    epochs: int = 50,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
    penalty: float = 1e-4,
) -> Softmax:
    """Fit a softmax layer, from zero.

    Parameters
    ----------
    features : ndarray, shape (n, d), float64
        Inputs.
    targets : ndarray, shape (n,), int
        Classes from 0 to ``n_classes − 1``.
    n_classes : int
        Classes.
    rng : numpy.random.Generator or int
        Shuffles the inputs of every epoch of Adam.
    solver : str
        ``"adam"``: mini-batches without penalty. ``"lbfgs"``: the optimum of the penalised loss.
    epochs, batch_size : int
        Of Adam.
    learning_rate : float
        Of Adam.
    penalty : float
        Of L-BFGS.

    Returns
    -------
    Softmax
        The same for the same seed.

    Raises
    ------
    InvalidInput
        If there is no such solver, or an option is not positive.

    Notes
    -----
    Adam with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8.
    """
    options = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    for name, value in {**options, "penalty": penalty}.items():
        if not value > 0:
            raise InvalidInput(f"{name} is {value}; a positive number is expected")
    model = Softmax(np.zeros((features.shape[1], n_classes)), np.zeros(n_classes))
    if solver == "lbfgs":
        return _minimise(model, features, targets, penalty)
    if solver != "adam":
        raise InvalidInput(f"there is no solver {solver!r}; there are adam and lbfgs")
    rng = np.random.default_rng(rng)
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in model]
    step = 0
    for _ in range(epochs):
        order = rng.permutation(len(targets))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            step += 1
            _, gradient = loss_and_gradient(model, features[rows], targets[rows])
            for part, slope, (mean, square) in zip(model, gradient, moments, strict=True):
                mean += 0.1 * (slope - mean)
                square += 0.001 * (slope**2 - square)
                fair = np.sqrt(square / (1 - 0.999**step)) + 1e-8
                part -= learning_rate * mean / (1 - 0.9**step) / fair
    return model


def _minimise(
    model: Softmax, features: FloatArray, targets: npt.NDArray[np.integer], penalty: float
) -> Softmax:
    from scipy.optimize import minimize

    split = model.weights.size

    def unpack(flat: FloatArray) -> Softmax:
        return Softmax(flat[:split].reshape(model.weights.shape), flat[split:])

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        loss, gradient = loss_and_gradient(unpack(flat), features, targets, penalty=penalty)
        return loss, np.concatenate([part.ravel() for part in gradient])

    start = np.concatenate([part.ravel() for part in model])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    return unpack(found.x)


# --- triplets ---
# MODULE: Triplets of concepts and relations: read from any table, and parted for a test.


def read_triplets(
    path: str | Path,
    *,
    head: str = "head",
    relation: str = "relation",
    tail: str = "tail",
    delimiter: str | None = None,
) -> list[Relation]:
    """Read triplets from a table with a header.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    head, relation, tail : str
        Names of the columns.
    delimiter : str, optional
        What separates the cells; found in the header when missing.

    Returns
    -------
    list of Relation
        In the order of the file, each once.

    Raises
    ------
    ReadError
        If a column is missing, a row has another width than the header, a cell is empty, or there
        are no rows.
    """
    found: dict[Relation, None] = {}
    with read_table(path, column=head, delimiter=delimiter) as table:
        places = [_place(path, table.columns, name) for name in (head, relation, tail)]
        for n, row in enumerate(table, start=1):
            cells = [row.cells[place].strip() for place in places]
            if not all(cells):
                raise ReadError(
                    path, f"row {n} after the header has an empty cell: {cells}; fill or drop it"
                )
            found[Relation(*cells)] = None
    if not found:
        raise ReadError(path, "holds a header but no triplets")
    return list(found)


def _place(path: str | Path, names: Sequence[str], name: str) -> int:
    if names.count(name) != 1:
        raise ReadError(
            path, f"{names.count(name)} columns are named {name!r}; one is expected of {names}"
        )
    return names.index(name)


def split_triplets(
    triplets: Iterable[Relation],
    *,
    test_share: float = 0.2,
    by_head: bool = False,
    rng: np.random.Generator | int = 0,
) -> tuple[list[Relation], list[Relation]]:
    """Part triplets into training and test triplets at random.

    Parameters
    ----------
    triplets : iterable of Relation
        The triplets; repeated ones count once, in the order of the first.
    test_share : float
        Share of the triplets to test on, in (0, 1).
    by_head : bool
        Whether a head concept is on one side only, so that no test head was seen in training. The
        share is then met as nearly as whole heads allow, from above.
    rng : numpy.random.Generator or int
        The generator, or the seed of one.

    Returns
    -------
    train, test : list of Relation
        Each in the order given.

    Raises
    ------
    InvalidInput
        If the share is out of range or leaves one side empty.
    """
    if not 0 < test_share < 1:
        raise InvalidInput(f"test_share is {test_share}; between 0 and 1 is expected, as 0.2")
    known = list(dict.fromkeys(triplets))
    keys = [triplet.head for triplet in known] if by_head else known
    sizes = Counter(keys)
    order = list(sizes)
    n_test, chosen = 0, set()
    for i in np.random.default_rng(rng).permutation(len(order)):
        if n_test >= round(test_share * len(known)):
            break
        chosen.add(order[i])
        n_test += sizes[order[i]]
    if not 0 < n_test < len(known):
        raise InvalidInput(
            f"a test share of {test_share} of {len(known)} triplets ({len(order)} that can be told "
            "apart) leaves one side empty; give more triplets or another share"
        )
    train = [triplet for triplet, key in zip(known, keys, strict=True) if key not in chosen]
    test = [triplet for triplet, key in zip(known, keys, strict=True) if key in chosen]
    return train, test


# --- relations ---
# MODULE: Relation classification: which relation holds between two concepts, told from their vectors.
#
# The set-up of the Diseases Database relation classification (DDBRC) on triplets of any source: a
# softmax over ``W [e_h, e_t] + b`` trained with cross-entropy on four fifths of the triplets. Here
# vectors are frozen; `canonym.evaluation.similarity.finetuning` trains the encoder along.
#
# References
# ----------
# Yuan et al. (2020), CODER, section 4.6 and appendix A.4.

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
        `frozen` of some vectors, `canonym.evaluation.similarity.finetuning.finetuned` of an encoder, or any
        `Fit`.
    triplets : iterable of Relation
        Head, relation, tail.
    test_share, by_head
        As `canonym.evaluation.similarity.relations.split_triplets` takes them.
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
