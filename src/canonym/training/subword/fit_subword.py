"""Fitting the subword encoder to the synonyms of a terminology, in minutes on a CPU.

A batch is a handful of names with synonyms of each, and with names of other concepts that the
encoder takes for them. `multi_positive_loss` pulls the first together and pushes the second apart.
The vectors are sums of rows of one table, so NumPy and SciPy are faster than a deep-learning
library, and a user needs neither an extra nor a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.hashing import float_table
from canonym.encoders.inputs import checked_names
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.errors import InvalidInput
from canonym.io.arrays import spans
from canonym.training.sampling.groups import SEARCHED, HardPool, Relatives, SynonymGroups, hashed
from canonym.training.sampling.noise import disturb
from canonym.training.subword.losses import multi_positive_loss
from canonym.types import Float32Array, Int32Array

_BETA, _EPSILON = 0.999, 1e-8
_BLOCK = 2048
_LOGGED = 500
_LEAST_BATCH = 512  # a batch is not cut to fewer names
_SEARCHES = 5  # of the candidates of mentions
_RANGES = {
    "steps": (1, np.inf),
    "batch": (2, np.inf),
    "dimensions": (1, 4096),
    "n_bits": (1, 24),
    "temperature": (1e-4, 1e4),
    "dropout": (0, 0.99),
    "learning_rate": (1e-12, 10),
    "hard_neighbours": (0, np.inf),
    "refresh": (0, np.inf),
    "searched": (1, np.inf),
    "positives": (1, np.inf),
    "noise": (0, 1),
    "related_share": (0, 1),
    "asked_dropout": (0, 0.99),
    "start_share": (0, 1),
}


class RowAdam:
    """Adam without momentum, and with one second moment for each row of a table.

    An update touches the rows of the batch alone. With ``g`` the gradient of a row of width ``d``
    and ``u`` the number of its updates::

        m ← β m + (1 − β) ‖g‖² / d,    row ← row − η g / (√(m / (1 − β^u)) + ε)

    References
    ----------
    D. Mudigere et al. (2022), Software-Hardware Co-design for Fast and Scalable Training of Deep
    Learning Recommendation Models, section 4.1.4 (row-wise moments).
    """

    def __init__(self, table: Float32Array, learning_rate: float) -> None:
        self.table = table
        self.learning_rate = learning_rate
        self.moments = np.zeros(len(table))
        self.updates = np.zeros(len(table))

    def update(self, rows: npt.NDArray[np.int64], gradient: Float32Array, rate: float) -> None:
        """Apply the gradient of some distinct rows, the learning rate multiplied by `rate`."""
        squares = np.square(gradient).mean(axis=1, dtype=np.float64)
        self.updates[rows] += 1
        moments = _BETA * self.moments[rows] + (1 - _BETA) * squares
        self.moments[rows] = moments
        moments /= 1 - _BETA ** self.updates[rows]
        sizes = rate * self.learning_rate / (np.sqrt(moments) + _EPSILON)
        self.table[rows] -= gradient * sizes[:, None].astype(np.float32)


def initial_table(encoder: Subword, texts: Sequence[str], rng: np.random.Generator) -> Float32Array:
    """Return random vectors whose length is the inverse document frequency, at most 1."""
    n_buckets, dimensions = encoder.table.shape
    counts = np.zeros(n_buckets)
    for span in spans(len(texts), _BLOCK):
        counts += np.bincount(hashed(encoder, texts[span])[1], minlength=n_buckets)
    idf = np.log((len(texts) + 1) / (np.minimum(counts, len(texts)) + 1))
    table = rng.standard_normal((n_buckets, dimensions), dtype=np.float32)
    table *= (idf / max(idf.max(), 1e-12) / np.sqrt(dimensions))[:, None].astype(np.float32)
    return table


def make_step(
    optimiser: RowAdam,
    features: tuple[npt.NDArray[np.int64], Int32Array],
    *,
    rate: float,
    loss: Callable[[Float32Array], tuple[float, npt.NDArray[Any]]],
    dropout: float | npt.NDArray[np.float64],
    rng: np.random.Generator,
) -> float:
    """Make one step on a batch of hashed texts, and return its loss.

    `loss` takes the L2-normalised vectors of the texts and gives the loss with its gradient.
    """
    from scipy.sparse import csr_array

    indptr, buckets = features
    n = len(indptr) - 1
    owners = np.repeat(np.arange(n), np.diff(indptr))
    least = dropout if isinstance(dropout, float) else dropout[owners]
    survivors = rng.random(len(buckets)) >= least
    buckets, owners = buckets[survivors], owners[survivors]
    seen = np.zeros(len(optimiser.table), dtype=bool)
    seen[buckets] = True
    touched = np.flatnonzero(seen)
    places = np.empty(len(seen), dtype=np.int32)
    places[touched] = np.arange(len(touched), dtype=np.int32)
    starts = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(owners, minlength=n), out=starts[1:])
    ones = np.ones(len(buckets), dtype=np.float32)
    matrix = csr_array((ones, places[buckets], starts), shape=(n, len(touched)))
    sums = matrix @ optimiser.table[touched]
    norms = np.sqrt(np.square(sums).sum(axis=1, keepdims=True) + 1e-12)
    vectors = sums / norms
    value, gradient = loss(vectors)
    # Through the normalisation, then back onto the rows of the table.
    gradient -= vectors * (gradient * vectors).sum(axis=1, keepdims=True)
    gradient /= norms
    optimiser.update(touched, matrix.T @ gradient, rate)
    return value


def fit_subword(
    names: Sequence[str],
    concepts: npt.NDArray[Any] | Sequence[int],
    *,
    steps: int = 3000,
    batch: int = 512,
    dimensions: int = 128,
    n_bits: int = 17,
    temperature: float = 0.05,
    dropout: float = 0.3,
    learning_rate: float = 2e-3,
    hard_neighbours: int = 1,
    refresh: int = 2,
    searched: int = SEARCHED,
    positives: int = 3,
    seed: int = 0,
    normalisation: Sequence[str] = NORMAL_STEPS,
    weights: npt.NDArray[Any] | None = None,
    name_weights: npt.NDArray[Any] | None = None,
    sources: npt.NDArray[Any] | None = None,
    noise: float = 0.0,
    related: npt.NDArray[Any] | None = None,
    related_share: float = 0.1,
    mention_queries: Sequence[Any] = (),
    asked_dropout: float = 0.5,
    start: Subword | None = None,
    start_share: float = 0.0,
    quantise: bool = True,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit a `Subword` encoder to groups of synonyms.

    Parameters
    ----------
    names : sequence of str
        Names of concepts.
    concepts : (n,) int
        The concept of each name; any whole numbers from 0.
    steps : int
        Number of batches.
    batch : int
        Names in a batch before hard neighbours: ``batch / (1 + positives)`` are drawn, each brings
        its synonyms. A batch of more names than there are is cut to them, or to 512.
    dimensions : int
        Width of the vectors. Ignored with `start`.
    n_bits : int
        The table has ``2**n_bits`` rows. Ignored with `start`.
    temperature : float
        Divides the similarities, see `multi_positive_loss`.
    dropout : float
        Share of the features of a name that a batch leaves out, in [0, 1).
    learning_rate : float
        Size of the first steps.
    hard_neighbours : int
        Names of other concepts, near by the encoder so far, to add for each drawn name, each with
        one synonym.
    refresh : int
        How often the neighbours are searched, at equal distances; none before the first time.
    searched : int
        Names, drawn at random, among which neighbours are searched: more names give harder
        neighbours, and take longer.
    positives : int
        Synonyms to add for each drawn name.
    seed : int
        Seed of every random draw. With the same libraries on the same machine, equal seeds give
        equal bytes.
    normalisation : sequence of str
        Steps of `canonym.text.STEPS`. Ignored with `start`.
    weights : (n_concepts,) float, optional
        How often a name of each concept is drawn, relative to others; equally by default.
    name_weights : (n,) float, optional
        How often each name is drawn, relative to others; multiplied with the weight of its concept.
        A name of 0 is never drawn, but can be added as a synonym or neighbour. Of names of a
        concept that are equal after normalisation the largest weight holds.
    sources : (n_concepts,) int, optional
        Bits of the sources of each concept, if several terminologies are mixed. Neighbours share a
        source: two sources have different concepts for one thing, one source has not.
    noise : float
        Share of the names of a batch that are changed as people write them, in [0, 1]; see
        `canonym.training.sampling.noise`.
    related : (m, 2) int, optional
        Concepts that a relation joins: their names should be nearer than those of others.
    related_share : float
        See `multi_positive_loss`.
    mention_queries : sequence
        Each draws, ``draw(rng)``, the ``texts`` and ``mentions`` of a batch with their ``loss``;
        ``refresh(encode)`` searches their candidates at the start and four times more.
    asked_dropout : float
        Share of the features of these mentions and candidates that a batch leaves out, in [0, 1).
    start : Subword, optional
        Encoder to go on from; by default random vectors, the shorter the more names share the
        feature.
    start_share : float
        Share of `start` in the table at the end, in [0, 1]. Fitted to names alone, an encoder
        forgets how mentions are written; the average keeps most of both [1]_.
    quantise : bool
        Whether the table becomes 8-bit integers at the end.
    progress : callable, optional
        Called with the number of steps done and in all.
    log : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Subword
        The fitted encoder.

    Raises
    ------
    InvalidInput
        If no concept has two names that differ after normalisation, no name can be drawn by the
        weights, or an option is out of range.

    References
    ----------
    .. [1] M. Wortsman et al., "Robust Fine-Tuning of Zero-Shot Models", CVPR 2022, eq. 1.
    """
    run = SimpleNamespace(**locals())
    run.names = _checked(run)
    rng = np.random.default_rng(seed)
    encoder = start or Subword(
        np.zeros((1 << n_bits, dimensions), dtype=np.float32), steps=normalisation
    )
    owners = np.asarray(concepts).astype(np.int32)
    groups = SynonymGroups(encoder, run.names, owners, weights, sources, name_weights)
    table = (
        initial_table(encoder, groups.texts, rng)
        if start is None
        else float_table(start.table, start.scale)
    )
    began_with = table.copy() if start is not None and start_share else None
    _take_steps(_Batches(run, groups, table, rng), run)
    if began_with is not None:
        table += np.float32(start_share) * (began_with - table)
    fitted = Subword(table, **encoder.options())
    return fitted.quantised() if quantise else fitted


def _checked(run: SimpleNamespace) -> list[str]:
    """Check the options of `fit_subword`, and return the names."""
    for name, (least, most) in _RANGES.items():
        value = getattr(run, name)
        if not least <= value <= most:
            raise InvalidInput(f"{name}={value!r}: from {least} to {most} is expected")
    names, concepts = checked_names(run.names), np.asarray(run.concepts)
    if concepts.shape != (len(names),) or not np.issubdtype(concepts.dtype, np.integer):
        raise InvalidInput(
            f"{len(names)} names were given with concepts of shape {concepts.shape} and type "
            f"{concepts.dtype}; one whole number for each name is expected"
        )
    if len(names) and (concepts.min() < 0 or concepts.max() >= 1 << 31):
        raise InvalidInput("concepts have to be whole numbers from 0 to 2**31 - 1")
    return names


def _take_steps(batches: _Batches, run: SimpleNamespace) -> None:
    """Fit the table of `batches`, as the options of `fit_subword` describe."""
    steps, queries_of, rng = run.steps, run.mention_queries, batches.rng
    optimiser = RowAdam(batches.table, run.learning_rate)
    total = 0.0
    for step in range(steps):
        batches.refresh(step)
        rows, texts = batches.draw()
        queries = [query_set.draw(rng) for query_set in queries_of]
        rates = np.full(
            len(texts) + sum(len(query_set.texts) for query_set in queries), run.asked_dropout
        )
        rates[: len(texts)] = run.dropout
        synonyms = partial(batches.synonyms_loss, rows)
        total += make_step(
            optimiser,
            hashed(
                batches.groups.encoder,
                [*texts, *(text for query_set in queries for text in query_set.texts)],
            ),
            rate=min(1.0, 2 * (1 - step / steps)),
            loss=partial(_loss, synonyms, len(texts), queries, run.temperature),
            dropout=rates,
            rng=rng,
        )
        if run.progress:
            run.progress(step + 1, steps)
        if run.log and (step + 1) % _LOGGED == 0:
            run.log(f"step {step + 1}: loss {total / _LOGGED:.4f}")
            total = 0.0


class _Batches:
    """Draws the names of each batch, with their synonyms and hard neighbours."""

    def __init__(
        self,
        run: SimpleNamespace,
        groups: SynonymGroups,
        table: Float32Array,
        rng: np.random.Generator,
    ) -> None:
        self.run, self.groups, self.table, self.rng = run, groups, table, rng
        # Names that are drawn again and again add nothing to a batch.
        batch = min(run.batch, max(_LEAST_BATCH, len(run.names)))
        self.n = max(1, batch // (1 + run.positives))
        pair = run.related
        self.relatives = None if pair is None else Relatives(groups, np.asarray(pair))
        self.near: HardPool | None = None

    def refresh(self, step: int) -> None:
        """Search hard neighbours and the candidates of mentions, in the steps to do so."""
        run, steps = self.run, self.run.steps
        log = run.log or (lambda _: None)
        times = range(1, run.refresh + 1)
        if run.hard_neighbours and step in {steps * i // (run.refresh + 1) for i in times}:
            self.near = HardPool(self.groups, self.table, self.rng, searched=run.searched)
            log(f"step {step}: neighbours searched for {len(self.near.rows):,} names")
        if run.mention_queries and step in {steps * i // _SEARCHES for i in range(_SEARCHES)}:
            encode = partial(self.groups.encode_texts, self.table)
            shares = [
                f"{100 * query_set.refresh(encode):.1f} %" for query_set in run.mention_queries
            ]
            right = f"mentions with a right one first: {', '.join(shares)}"
            log(f"step {step}: candidates searched, {right}")

    def draw(self) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the rows of a batch, and their texts, some of them changed by noise."""
        run, groups, rng = self.run, self.groups, self.rng
        if self.near is None:
            rows = groups.draw(self.n, run.positives, rng)
        else:
            rows = self.near.draw(self.n, run.positives, run.hard_neighbours, rng)
        rows = np.unique(rows if self.relatives is None else self.relatives.along(rows, rng))
        texts = [groups.texts[row] for row in rows]
        if run.noise:
            for at in np.flatnonzero(rng.random(len(rows)) < run.noise).tolist():
                texts[at] = disturb(texts[at], rng)
        return rows, texts

    def synonyms_loss(
        self, rows: npt.NDArray[np.int64], vectors: Float32Array
    ) -> tuple[float, npt.NDArray[Any]]:
        """Return the `multi_positive_loss` of the names of a batch, and its gradient."""
        run, concepts = self.run, self.groups.concepts[rows]
        return multi_positive_loss(
            vectors,
            concepts=concepts,
            texts=self.groups.text_numbers[rows],
            temperature=run.temperature,
            related=None if self.relatives is None else self.relatives.among(concepts),
            related_share=run.related_share,
        )


def _loss(
    synonyms: Callable[[Float32Array], tuple[float, npt.NDArray[Any]]],
    n: int,
    queries: Sequence[Any],
    temperature: float,
    vectors: Float32Array,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the loss of the first `n` names with that of the queries after them."""
    value, gradient = synonyms(vectors[:n])
    gradients = [gradient]
    for query_set in queries:
        more, gradient = query_set.loss(vectors[n : n + len(query_set.texts)], temperature)
        # The mean over all mentions, not of the means.
        share = len(query_set.mentions) / sum(len(other.mentions) for other in queries)
        value += share * more
        gradients.append(share * gradient)
        n += len(query_set.texts)
    return value, np.concatenate(gradients) if queries else gradients[0]
