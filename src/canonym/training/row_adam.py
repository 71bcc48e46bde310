"""Adam for rows of a table, of which a batch touches few.

Notes
-----
Adam without momentum and with one second moment for each row [1]_, touching the rows of the batch
alone: with ``g`` the gradient of a row of width ``d`` and ``u`` the number of its updates::

    m ← β m + (1 − β) ‖g‖² / d,    row ← row − η g / (√(m / (1 − β^u)) + ε)

References
----------
.. [1] D. Mudigere et al., "Software-Hardware Co-design for Fast and Scalable Training of Deep
   Learning Recommendation Models", ISCA 2022, §4.1.4 (row-wise moments).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from canonym.types import Float32Array

__all__ = ["RowAdam"]

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
