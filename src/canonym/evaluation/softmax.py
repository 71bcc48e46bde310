"""A softmax layer, trained in numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput

__all__ = ["Softmax", "fit_softmax", "loss_and_gradient"]

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
