"""Vectors in a table that can be trained: the smallest encoder there is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from canonym.training.objective import Objective

__all__ = ["Adam", "Table", "check_objective", "train"]


class Table:
    """Gives each string a vector of its own, drawn at first and then learned."""

    def __init__(self, strings: Iterable[str], width: int = 8, seed: int = 0) -> None:
        self.places = {text: i for i, text in enumerate(dict.fromkeys(strings))}
        generator = torch.Generator().manual_seed(seed)
        drawn = torch.randn(len(self.places), width, generator=generator, dtype=torch.float64)
        self.weight = drawn.requires_grad_()
        self.embedded: list[list[str]] = []

    def embed(self, names: Sequence[str]) -> Any:
        self.embedded.append(list(names))
        return self.weight[[self.places[name] for name in names]]

    def vectors(self, names: Sequence[str]) -> Any:
        return self.weight.detach().numpy()[[self.places[name] for name in names]]

    def encode(self, names: Sequence[str], *, normalise: bool = True) -> Any:
        found = self.vectors(names)
        if not normalise:
            return found.astype(np.float32)
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def check_objective(objective: Objective, table: Table) -> dict[str, Any]:
    """Assert what every objective promises, and return its first plan."""
    assert isinstance(objective, Objective)
    assert objective.name
    assert json.loads(json.dumps(objective.settings)) == objective.settings
    plan = dict(objective.plan(table.encode, 0, np.random.default_rng(5)))
    again = objective.plan(table.encode, 0, np.random.default_rng(5))
    other = objective.plan(table.encode, 0, np.random.default_rng(6))
    assert all(part.dtype.kind in "biuf" for part in plan.values())
    assert all((plan[key] == again[key]).all() for key in plan)
    assert any(
        plan[key].shape != other[key].shape or (plan[key] != other[key]).any() for key in plan
    )
    assert objective.n_batches(plan) >= 1
    return plan


class Adam:
    """Adam on a few tensors; torch's own takes seconds to import."""

    def __init__(self, rates: dict[Any, float]) -> None:
        self.rates = rates
        self.moments = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in rates}
        self.steps = 0

    @torch.no_grad()
    def step(self) -> None:
        self.steps += 1
        for parameter, rate in self.rates.items():
            if parameter.grad is not None:
                first, second = self.moments[parameter]
                first.lerp_(parameter.grad, 0.1)
                second.lerp_(parameter.grad**2, 0.001)
                mean, square = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
                parameter -= rate * mean / (square.sqrt() + 1e-8)
                parameter.grad = None


def train(
    objective: Objective, table: Table, *, epochs: int = 6, rate: float = 0.05
) -> list[float]:
    """Follow the gradient and return the mean loss of every epoch."""
    extra = objective.extra_modules(table.weight.shape[1])
    rates = {table.weight: rate}
    for module, own in extra.values():
        rates |= dict.fromkeys(module.parameters(), rate if own is None else own)
    adam = Adam(rates)
    means = []
    for epoch in range(epochs):
        plan = objective.plan(table.encode, epoch, np.random.default_rng(epoch))
        found = []
        for batch in range(objective.n_batches(plan)):
            loss = objective.loss(table.embed, plan, batch)
            if loss is None:
                continue
            loss.backward()
            adam.step()
            found.append(loss.item())
        means.append(float(np.mean(found)))
    return means
