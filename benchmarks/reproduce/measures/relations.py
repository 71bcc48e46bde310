"""Relation classification: the relation between two concepts, predicted from their vectors.

The set-up is the Diseases Database relation classification (DDBRC), on triplets of any source: a
softmax over ``W [e_h, e_t] + b``, trained with cross-entropy on four fifths of the triplets.
`frozen` keeps the vectors fixed, `finetuned` trains the encoder too.

References
----------
Yuan et al. (2020), CODER, section 4.6 and appendix A.4.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders.batches import pool
from canonym.errors import InvalidInput, require
from canonym.evaluation.statistics import wilson
from canonym.types import Relation

FloatArray = npt.NDArray[np.float64]

Classifier = Callable[[Sequence[Relation]], Sequence[str]]
"""Predicts a relation for each triplet, from heads and tails alone."""

By = Literal["triplet", "head", "pair"]
"""What is whole on one side of a split."""

TEST_SHARE = 0.2

Fit = Callable[[Sequence[Relation], np.random.Generator], Classifier]
"""Makes a classifier of training triplets; draws at random from the generator alone."""


class RelationScores(NamedTuple):
    """Outcome of relation classification.

    `accuracy`, with Wilson's interval, is that on the `n_test` test triplets. `majority` is the
    accuracy of the commonest relation of the `n_train` training triplets, and `chance` that
    expected of random relations, as frequent as there. `predicted` has the relation of each triplet
    of `test`.
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

    @property
    def mistakes(self) -> dict[tuple[str, str], int]:
        """Counts of (right relation, predicted relation) where the two differ, most first."""
        pairs = zip((one.relation for one in self.test), self.predicted, strict=True)
        return dict(Counter(pair for pair in pairs if pair[0] != pair[1]).most_common())


def evaluate_relations(
    fit: Fit,
    triplets: Iterable[Relation],
    *,
    by: By = "triplet",
    seed: int = 0,
) -> RelationScores:
    """Train a classifier of relations on one part of the triplets and test it on the other.

    `fit` is `frozen`, `finetuned`, or any `Fit`; `by` is that of `split_triplets`, and `seed` that
    of the split and of the training. Raises `InvalidInput` if the triplets cannot be split, have
    one relation only, or the classifier does not predict one relation per triplet.
    """
    rng = np.random.default_rng(seed)
    train, test = split_triplets(triplets, by=by, rng=rng)
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
    right = sum(name == triplet.relation for name, triplet in zip(predicted, test, strict=True))
    share = Counter(triplet.relation for triplet in test)
    n, n_train = len(test), len(train)
    commonest = min(counts, key=lambda name: (-counts[name], name))
    chance = sum(counts[name] * share[name] for name in counts) / (n_train * n)
    interval = wilson(right, n)
    return RelationScores(
        *interval, share[commonest] / n, chance, n_train, n, predicted, tuple(test)
    )


def choose_triplets(
    triplets: Iterable[Relation], *, most: int | None = None, rng: np.random.Generator | int = 0
) -> list[Relation]:
    """Turn half of the triplets around, and limit how many have one relation.

    ``(a, is_a, b)`` turned around is ``(b, inverse of is_a, a)``. UMLS states each relation in both
    directions, and a classifier has to tell them apart. Each triplet stands here in one only, once,
    in the order given. Beyond `most` triplets of a relation, in both directions together, others
    are left out at random; `rng` is the generator, or the seed of one.
    """
    generator = np.random.default_rng(rng)
    known = list(dict.fromkeys(triplets))
    drawn: Counter[str] = Counter()
    chosen = []
    for i in generator.permutation(len(known)).tolist():
        drawn[known[i].relation] += 1
        if most is None or drawn[known[i].relation] <= most:
            chosen.append(i)
    around = generator.random(len(chosen)) < 0.5
    return [
        _turned(known[i]) if turned else known[i]
        for i, turned in zip(sorted(chosen), around, strict=True)
    ]


def _turned(triplet: Relation) -> Relation:
    return Relation(triplet.tail, f"inverse of {triplet.relation}", triplet.head)


def is_test_pair(triplet: Relation) -> bool:
    """Tell whether `split_triplets` by pairs tests a triplet.

    It depends on both ids alone, not on their order nor on the relation. So training can leave out
    what is tested later.

    >>> is_test_pair(Relation("a", "is_a", "b")) == is_test_pair(Relation("b", "has", "a"))
    True
    """
    pair = "\t".join(sorted((triplet.head, triplet.tail)))
    place = int.from_bytes(hashlib.sha256(pair.encode()).digest()[:8], "big")
    return place < TEST_SHARE * 2**64


def split_triplets(
    triplets: Iterable[Relation],
    *,
    by: By = "triplet",
    rng: np.random.Generator | int = 0,
) -> tuple[list[Relation], list[Relation]]:
    """Divide triplets into training and test triplets at random, each in the order given.

    Repeated ones count once, and `TEST_SHARE` of them are tested. On one side only is, by `by`: a
    ``"triplet"``; a ``"head"``, so that training has seen no test head, and whole heads meet the
    share as nearly as possible, from above; or a ``"pair"`` of concepts, as `is_test_pair` says,
    which needs no `rng`. Raises `InvalidInput` if one side stays empty.
    """
    known = list(dict.fromkeys(triplets))
    if by == "pair":
        tested = [is_test_pair(triplet) for triplet in known]
    else:
        keys = [triplet.head for triplet in known] if by == "head" else known
        tested = _drawn_keys(keys, round(TEST_SHARE * len(known)), np.random.default_rng(rng))
    train = [triplet for triplet, out in zip(known, tested, strict=True) if not out]
    test = [triplet for triplet, out in zip(known, tested, strict=True) if out]
    if not train or not test:
        raise InvalidInput(
            f"a test share of {TEST_SHARE} of {len(known)} triplets, whole by {by}, leaves one "
            "side empty; give more triplets"
        )
    return train, test


def _drawn_keys(keys: Sequence[Any], n: int, rng: np.random.Generator) -> list[bool]:
    """Tell which of the keys are drawn: whole ones, until at least `n` are."""
    sizes = Counter(keys)
    order = list(sizes)
    n_drawn, chosen = 0, set()
    for i in rng.permutation(len(order)):
        if n_drawn >= n:
            break
        chosen.add(order[i])
        n_drawn += sizes[order[i]]
    return [key in chosen for key in keys]


# --- fixed vectors --------------------------------------------------------------------------------


def frozen(
    vectors: Mapping[str, npt.ArrayLike],
    *,
    epochs: int = 50,
    batch_size: int = 512,
    learning_rate: float = 1e-3,
) -> Fit:
    """Classify by fixed vectors of the concepts, one ``(d,)`` each.

    `epochs`, `batch_size` and `learning_rate` are those of the training. Raises `InvalidInput` if
    there are no vectors, they have different lengths, or an option is not positive.

    ``ŷ = softmax(W [e_h, e_t] + b)``, trained by Adam from zero, with β₁ = 0.9, β₂ = 0.999 and
    ε = 1e-8. A concept without a vector gets the mean of all vectors.
    """
    if not vectors:
        raise InvalidInput("no vectors: give one per concept")
    widths = {np.shape(vector) for vector in vectors.values()}
    if len(widths) > 1 or len(next(iter(widths))) != 1:
        raise InvalidInput(f"the vectors have the shapes {sorted(widths)}; one (d,) is expected")
    options = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate}
    for name, value in options.items():
        if not value > 0:
            raise InvalidInput(f"{name} is {value}; a positive number is expected")
    row = {id_: i for i, id_ in enumerate(vectors)}
    table = np.array(list(vectors.values()), dtype=np.float64)
    table = np.vstack([table, table.mean(axis=0)])

    def features(triplets: Sequence[Relation]) -> FloatArray:
        heads = [row.get(triplet.head, -1) for triplet in triplets]
        tails = [row.get(triplet.tail, -1) for triplet in triplets]
        return np.hstack([table[heads], table[tails]])

    def fit(train: Sequence[Relation], rng: np.random.Generator) -> Classifier:
        names = sorted({triplet.relation for triplet in train})
        place = {name: i for i, name in enumerate(names)}
        inputs, targets = features(train), np.array([place[one.relation] for one in train])
        weights, bias = np.zeros((inputs.shape[1], len(names))), np.zeros(len(names))
        step = _adam([weights, bias], learning_rate)
        for _ in range(epochs):
            order = rng.permutation(len(targets))
            for start in range(0, len(order), batch_size):
                rows = order[start : start + batch_size]
                slope = _softmax_slope(inputs[rows] @ weights + bias, targets[rows])
                step([inputs[rows].T @ slope, slope.sum(axis=0)])
        return lambda triplets: [
            names[i] for i in (features(triplets) @ weights + bias).argmax(axis=1)
        ]

    return fit


def _softmax_slope(logits: FloatArray, targets: npt.NDArray[np.integer[Any]]) -> FloatArray:
    """Return the gradient of the mean cross-entropy by the logits ``(n, c)``."""
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(targets)), targets] -= 1
    return np.asarray(shares / len(targets))


def _adam(
    parameters: Sequence[FloatArray], learning_rate: float
) -> Callable[[Sequence[FloatArray]], None]:
    """Return a function that moves parameters by their gradients, in place."""
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in parameters]
    n = 0

    def step(gradients: Sequence[FloatArray]) -> None:
        nonlocal n
        n += 1
        for part, slope, (mean, square) in zip(parameters, gradients, moments, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            fair = np.sqrt(square / (1 - 0.999**n)) + 1e-8
            part -= learning_rate * mean / (1 - 0.9**n) / fair

    return step


# --- trained encoders -----------------------------------------------------------------------------


def finetuned(
    make_encoder: Callable[[], Any],
    names: Mapping[str, str],
    *,
    epochs: int = 50,
    batch_size: int = 96,
    learning_rate: float = 2e-5,
    warm_up: float = 0.1,
) -> Fit:
    """Classify by an encoder that is trained on the triplets too.

    `make_encoder` makes a fresh `canonym.encoders.transformer.Transformer`, once per training, and
    `names` has the name of every concept: a missing one is an `InvalidInput` of the training. The
    `learning_rate` is the peak of AdamW's, without weight decay; it rises from 0 in the share
    `warm_up` of the steps, and then falls to 0, both linearly. Raises `MissingExtra` if torch is
    not installed (extra ``torch``).

    ``ŷ = softmax(W [e_h, e_t] + b)`` with ``e`` the pooled, not normalised output of the encoder.

    Differences
    -----------
    The released code of CODER passes no attention mask; here padding never counts.

    References
    ----------
    Yuan et al. (2020), CODER, section 4.6 and appendix A.4.
    """
    torch = require("torch", "fine-tuning an encoder", "torch")

    def fit(train: Sequence[Relation], rng: np.random.Generator) -> Classifier:
        encoder = make_encoder()
        relations = sorted({triplet.relation for triplet in train})
        place = {name: i for i, name in enumerate(relations)}
        targets = torch.tensor([place[triplet.relation] for triplet in train])
        _texts(train, names)  # a missing name raises before the first step
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**31)))
            layer = torch.nn.Linear(2 * encoder.n_columns, len(relations)).to(encoder.device)
            optimise(encoder, layer, train, targets, rng)

        def classify(triplets: Sequence[Relation]) -> list[str]:
            predicted: list[str] = []
            with torch.inference_mode():
                for start in range(0, len(triplets), batch_size):
                    logits = _logits(
                        encoder, layer, _texts(triplets[start : start + batch_size], names)
                    )
                    predicted += [relations[i] for i in logits.argmax(dim=1).tolist()]
            return predicted

        return classify

    def optimise(
        encoder: Any,
        layer: Any,
        train: Sequence[Relation],
        targets: Any,
        rng: np.random.Generator,
    ) -> None:
        model = encoder.model.float().train()
        parameters = [*model.parameters(), *layer.parameters()]
        optimiser = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.0)
        n_steps = epochs * -(-len(train) // batch_size)
        rising = max(round(warm_up * n_steps), 1)
        rate = torch.optim.lr_scheduler.LambdaLR(
            optimiser,
            lambda step: min((step + 1) / rising, (n_steps - step) / max(n_steps - rising, 1)),
        )
        for _ in range(epochs):
            order = rng.permutation(len(train))
            for start in range(0, len(order), batch_size):
                rows = order[start : start + batch_size]
                logits = _logits(encoder, layer, _texts([train[row] for row in rows], names))
                loss = torch.nn.functional.cross_entropy(logits, targets[rows].to(logits.device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                rate.step()
        model.eval()

    return fit


def _texts(triplets: Sequence[Relation], names: Mapping[str, str]) -> list[str]:
    """Return the names of all heads, then of all tails."""
    ids = [triplet.head for triplet in triplets] + [triplet.tail for triplet in triplets]
    unnamed = next((id_ for id_ in ids if id_ not in names), None)
    if unnamed is not None:
        raise InvalidInput(f"the concept {unnamed!r} has no name; give one for every concept")
    return [names[id_] for id_ in ids]


def _logits(encoder: Any, layer: Any, texts: list[str]) -> Any:
    """Score every relation for pairs of names, all first ones before all second ones."""
    if encoder.lowercase:
        texts = [text.lower() for text in texts]
    batch = encoder.tokenizer(
        texts, padding=True, truncation=True, max_length=encoder.max_length, return_tensors="pt"
    ).to(encoder.device)
    hidden = encoder.model(**batch).last_hidden_state
    vectors = pool(hidden, batch["attention_mask"], encoder.pooling)
    half = len(texts) // 2
    return layer(vectors.reshape(2, half, -1).transpose(0, 1).reshape(half, -1))
