"""Fitting the subword encoder to the vectors of another encoder: a sentence encoder made small.

A transformer knows words that no terminology has, and how words of one meaning are near each other.
The subword encoder learns its vectors of words and short phrases, and goes on from there with
`canonym.training.subword.fit_subword.fit_subword`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.encoders.inputs import checked_names
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.errors import InvalidInput
from canonym.training.sampling.groups import hashed
from canonym.training.subword.fit_subword import RowAdam, initial_table, make_step
from canonym.types import Float32Array

_SAMPLE = 20_000  # vectors whose main axes are found
_LOGGED = 500


def principal_vectors(
    vectors: npt.NDArray[np.floating], dimensions: int, *, seed: int = 0
) -> Float32Array:
    """Return vectors on their main axes, without their mean and of length one: ``(n, d)``.

    The axes are those of a sample.
    """
    given = np.asarray(vectors, dtype=np.float32)
    centred = given - given.mean(axis=0)
    rows = np.random.default_rng(seed).permutation(len(centred))[:_SAMPLE]
    _, _, axes = np.linalg.svd(centred[rows], full_matrices=False)
    found = centred @ axes[:dimensions].T
    lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    lengths[lengths == 0] = 1
    unit: Float32Array = found / lengths
    return unit


def distil_subword(
    texts: Sequence[str],
    vectors: npt.NDArray[np.floating],
    *,
    steps: int = 2000,
    batch: int = 1024,
    dimensions: int = 128,
    n_bits: int = 17,
    dropout: float = 0.3,
    learning_rate: float = 4e-3,
    normalisation: Sequence[str] = NORMAL_STEPS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit a `Subword` encoder to the vectors that another encoder gives words and phrases.

    Parameters
    ----------
    texts : sequence of str
        Words and short phrases, each once.
    vectors : (n, m) float
        The vector of each, of any length; ``m`` is at least `dimensions`, and so is ``n``.
    steps, batch : int
        Number of batches, and texts drawn for each.
    dimensions, n_bits, dropout, learning_rate, normalisation, seed, progress, log
        As for `canonym.training.subword.fit_subword.fit_subword`.

    Returns
    -------
    Subword
        The fitted encoder, with a table of floats.

    Raises
    ------
    InvalidInput
        If there are fewer texts than dimensions, or the vectors have another shape.

    Notes
    -----
    With ``u`` the vectors on their main axes (`principal_vectors`) and ``v`` the sums of features,
    the loss of a text is ``1 − cos(v, u)``. Equal seeds give equal bytes on the same machine.
    """
    names = checked_names(texts)
    if vectors.ndim != 2 or len(vectors) != len(names) or min(vectors.shape) < dimensions:
        raise InvalidInput(
            f"{len(names):,} texts were given with vectors of shape {vectors.shape}; a row for "
            f"each text is expected, and at least {dimensions} rows and columns"
        )
    rng = np.random.default_rng(seed)
    encoder = Subword(np.zeros((1 << n_bits, dimensions), np.float32), steps=normalisation)
    forms = encoder.texts(names)
    wanted = principal_vectors(vectors, dimensions, seed=seed)
    table = initial_table(encoder, forms, rng)
    optimiser, total = RowAdam(table, learning_rate), 0.0
    for step in range(steps):
        rows = rng.integers(len(forms), size=batch)
        target = wanted[rows]

        def loss(
            found: Float32Array, target: Float32Array = target
        ) -> tuple[float, npt.NDArray[Any]]:
            return 1 - float((found * target).sum(axis=1).mean()), -target / len(target)

        total += make_step(
            optimiser,
            hashed(encoder, [forms[row] for row in rows]),
            rate=min(1.0, 2 * (1 - step / steps)),
            loss=loss,
            dropout=dropout,
            rng=rng,
        )
        if progress:
            progress(step + 1, steps)
        if log and (step + 1) % _LOGGED == 0:
            log(f"step {step + 1}: mean distance {total / _LOGGED:.3f}")
            total = 0.0
    return Subword(table, **encoder.options())
