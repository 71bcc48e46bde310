"""Adam for rows of a table, of which a batch touches few.

Notes
-----
Adam without momentum and with one second moment for each row [1]_, touching the rows of the batch
alone: with ``g`` the gradient of a row of width ``d`` and ``u`` the number of its updates::

    m ← β m + (1 − β) ‖g‖² / d,    row ← row − η g / (√(m / (1 − β^u)) + ε)

References
----------
.. [1] D. Mudigere et al., "Software-Hardware Co-design for Fast and Scalable Training of Deep
   Learning Recommendation Models", ISCA 2022, §4.1.4 (row-wise moments)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import checked_names
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.encoders.tables import float_table
from canonym.errors import InvalidInput
from canonym.training.sampling.groups import SEARCHED, HardPool, Relatives, SynonymGroups
from canonym.training.sampling.noise import disturb
from canonym.training.subword.losses import marginal_loss, multi_positive_loss
from canonym.training.subword.mention_search import Asking, QuestionBatch
from canonym.types import Float32Array, Int32Array

# --- row adam ---

_BETA, _EPSILON = 0.999, 1e-8


class RowAdam:
    """Updates of rows of a table.

    Parameters
    ----------
    table : (n, d) float32
        Changed in place.
    learning_rate : float
        Size of the steps.
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


# --- subword step ---
# MODULE: Fitting a table of which names are sums: how it begins, and one step.

_BLOCK = 2048


def initial_table(groups: SynonymGroups, rng: np.random.Generator) -> Float32Array:
    """Return random vectors whose length is the inverse document frequency, at most 1."""
    n_buckets, dimensions = groups.encoder.table.shape
    counts = np.zeros(n_buckets)
    texts = groups.texts
    for start in range(0, len(texts), _BLOCK):
        counts += np.bincount(groups.hashed(texts[start : start + _BLOCK])[1], minlength=n_buckets)
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
    """Make one step on a batch.

    Parameters
    ----------
    optimiser : RowAdam
        Holds the table.
    features : tuple
        Those of `canonym.encoders.hashing.hash_features` of `n` texts.
    rate : float
        Multiplies the learning rate.
    loss : callable
        Takes the L2-normalised vectors of the texts, gives the loss and its gradient by them.
    dropout : float or (n,) float
        Share of the features of each text that are left out.
    rng : numpy.random.Generator
        Chooses them.

    Returns
    -------
    float
        The loss.
    """
    from scipy.sparse import csr_array

    indptr, buckets = features
    n = len(indptr) - 1
    owners = np.repeat(np.arange(n), np.diff(indptr))
    least = dropout if isinstance(dropout, float) else dropout[owners]
    kept = rng.random(len(buckets)) >= least
    buckets, owners = buckets[kept], owners[kept]
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


# --- subword ---
# MODULE: Fitting the subword encoder to the synonyms of a terminology, in minutes on a CPU.
#
# A batch is a handful of names with synonyms of each and with names of other concepts that the
# encoder takes for them; `multi_positive_loss` pulls the first together and pushes the second apart.
# All of it is sums of rows of one table, so NumPy and SciPy do it faster than a deep-learning library
# and a user needs neither an extra nor a GPU.
#
# The optimiser is `canonym.training.subword.fit.RowAdam`; its learning rate falls to zero over the
# second half of the steps.

_LOGGED = 500
_SEARCHES = 5  # of the candidates of mentions


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
    teacher: npt.NDArray[Any] | None = None,
    teacher_share: float = 0.5,
    related: npt.NDArray[Any] | None = None,
    related_share: float = 0.1,
    asking: Sequence[Asking] = (),
    asked_dropout: float = 0.5,
    start: Subword | None = None,
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
        its synonyms.
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
        Names of other concepts, near by the encoder so far, that each drawn name brings along;
        each of them brings one synonym.
    refresh : int
        How often the neighbours are searched, at equal distances; none before the first time.
    searched : int
        Names, drawn at random, among which neighbours are searched: the more, the harder they are
        and the longer it takes.
    positives : int
        Synonyms that each drawn name brings along.
    seed : int
        Seed of every random draw. With the same libraries on the same machine, equal seeds give
        equal bytes.
    normalisation : sequence of str
        Steps of `canonym.text.STEPS`. Ignored with `start`.
    weights : (n_concepts,) float, optional
        How often a name of each concept is drawn, relative to others; equally by default.
    name_weights : (n,) float, optional
        How often each name is drawn, relative to others; multiplied with the weight of its concept.
        A name of 0 is never drawn, but is still brought along as a synonym or as a neighbour. Of
        names of a concept that are equal after normalisation the largest weight holds.
    sources : (n_concepts,) int, optional
        Bits of the sources of each concept, where several terminologies are mixed; see
        `find_hard_neighbours`.
    noise : float
        Share of the names of a batch that are changed as people's handwriting changes them, in
        [0, 1]; see `canonym.training.sampling.noise`.
    teacher : (n, m) float, optional
        Vectors that another encoder gives the names, of any lengths: what they are near should be
        near. Zero where the other is not asked.
    related : (m, 2) int, optional
        Concepts that a relation joins: their names should be nearer than those of others.
    teacher_share, related_share : float
        See `multi_positive_loss`.
    asking : sequence of Asking
        Mentions that are asked about in every batch, their candidates searched anew at the start
        and four times more, see `marginal_loss`; its loss is added.
    asked_dropout : float
        Share of the features of these mentions and candidates that a batch leaves out, in [0, 1).
    start : Subword, optional
        Encoder to go on from; by default random vectors, the shorter the more names share the
        feature.
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
        If no concept has two names that differ after normalisation, since there is nothing to
        learn from then, no name can be drawn by the weights, or an option is out of range.
    """
    listed = checked_names(names)
    concept_of = np.asarray(concepts)
    _check_concepts(listed, concept_of)
    _check_options(
        steps=(steps, 1, np.inf),
        batch=(batch, 2, np.inf),
        dimensions=(dimensions, 1, 4096),
        n_bits=(n_bits, 1, 24),
        temperature=(temperature, 1e-4, 1e4),
        dropout=(dropout, 0, 0.99),
        learning_rate=(learning_rate, 1e-12, 10),
        hard_neighbours=(hard_neighbours, 0, np.inf),
        refresh=(refresh, 0, np.inf),
        searched=(searched, 1, np.inf),
        positives=(positives, 1, np.inf),
        noise=(noise, 0, 1),
        teacher_share=(teacher_share, 0, 1),
        related_share=(related_share, 0, 1),
        asked_dropout=(asked_dropout, 0, 0.99),
    )
    if teacher is not None and (teacher.ndim != 2 or len(teacher) != len(listed)):
        raise InvalidInput(
            f"{len(listed):,} names were given with a teacher's vectors of shape {teacher.shape}; "
            "a row for each name is expected"
        )
    rng = np.random.default_rng(seed)
    encoder = start
    if encoder is None:
        empty = np.zeros((1 << n_bits, dimensions), dtype=np.float32)
        encoder = Subword(empty, steps=normalisation)
    groups = SynonymGroups(
        encoder, listed, concept_of.astype(np.int32), weights, sources, name_weights
    )
    table = initial_table(groups, rng) if start is None else float_table(start.table, start.scale)
    optimiser = RowAdam(table, learning_rate)
    drawn = max(1, batch // (1 + positives))
    refreshes = (
        {steps * i // (refresh + 1) for i in range(1, refresh + 1)} if hard_neighbours else ()
    )
    relatives = None if related is None else Relatives(groups, np.asarray(related))
    searches = {steps * i // _SEARCHES for i in range(_SEARCHES)}
    near: HardPool | None = None
    total = 0.0
    for step in range(steps):
        if step in refreshes:
            near = HardPool(groups, table, rng, searched=searched)
            if log:
                log(f"step {step}: neighbours searched for {len(near.rows):,} names")
        if asking and step in searches:
            firsts = [one.refresh(partial(groups.encode_texts, table)) for one in asking]
            if log:
                told = ", ".join(f"{100 * first:.1f} %" for first in firsts)
                log(f"step {step}: candidates searched, mentions with a right one first: {told}")
        if near is None:
            rows = groups.draw(drawn, positives, rng)
        else:
            rows = near.draw(drawn, positives, hard_neighbours, rng)
        rows = np.unique(rows if relatives is None else relatives.along(rows, rng))
        texts = [groups.texts[row] for row in rows]
        if noise:
            for at in np.flatnonzero(rng.random(len(rows)) < noise).tolist():
                texts[at] = disturb(texts[at], rng)
        asked = [one.draw(rng) for one in asking]
        rates = np.full(len(texts) + sum(len(one.texts) for one in asked), asked_dropout)
        rates[: len(texts)] = dropout
        synonyms = partial(
            multi_positive_loss,
            concepts=groups.concepts[rows],
            texts=groups.text_numbers[rows],
            temperature=temperature,
            teacher=None if teacher is None else _unit(teacher[groups.given[rows]]),
            teacher_share=teacher_share,
            related=None if relatives is None else relatives.among(groups.concepts[rows]),
            related_share=related_share,
        )
        total += make_step(
            optimiser,
            groups.hashed([*texts, *(text for one in asked for text in one.texts)]),
            rate=min(1.0, 2 * (1 - step / steps)),
            loss=partial(_loss, synonyms, len(texts), asked, temperature),
            dropout=rates,
            rng=rng,
        )
        if progress:
            progress(step + 1, steps)
        if log and (step + 1) % _LOGGED == 0:
            log(f"step {step + 1}: loss {total / _LOGGED:.4f}")
            total = 0.0
    fitted = Subword(table, **encoder.options())
    return fitted.quantised() if quantise else fitted


def _check_concepts(names: list[str], concepts: npt.NDArray[Any]) -> None:
    if concepts.shape != (len(names),) or not np.issubdtype(concepts.dtype, np.integer):
        raise InvalidInput(
            f"{len(names)} names were given with concepts of shape {concepts.shape} and type "
            f"{concepts.dtype}; one whole number for each name is expected"
        )
    if len(names) and (concepts.min() < 0 or concepts.max() >= 1 << 31):
        raise InvalidInput("concepts have to be whole numbers from 0 to 2**31 - 1")


def _check_options(**options: tuple[float, float, float]) -> None:
    for name, (value, least, most) in options.items():
        if not least <= value <= most:
            raise InvalidInput(f"{name}={value!r}: from {least} to {most} is expected")


def _loss(
    synonyms: Callable[[Float32Array], tuple[float, npt.NDArray[Any]]],
    n: int,
    asked: Sequence[QuestionBatch],
    temperature: float,
    vectors: Float32Array,
) -> tuple[float, npt.NDArray[Any]]:
    """Return the loss of the first `n` names and that of what is asked after them."""
    value, gradient = synonyms(vectors[:n])
    gradients = [gradient]
    for one in asked:
        of_one = vectors[n : n + len(one.texts)]
        more, gradient = marginal_loss(
            of_one, one.mentions, one.candidates, one.right, temperature=temperature
        )
        # The mean over all mentions, not of the means.
        share = len(one.mentions) / sum(len(other.mentions) for other in asked)
        value += share * more
        gradients.append(share * gradient)
        n += len(one.texts)
    return value, np.concatenate(gradients) if asked else gradients[0]


def _unit(vectors: npt.NDArray[Any]) -> Float32Array:
    """Return float32 vectors of length one, zero where they are."""
    found = vectors.astype(np.float32)
    lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    return found / lengths  # type: ignore[no-any-return]
