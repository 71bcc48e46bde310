"""A small objective, and a run of it: imported by tests, and started by them to be killed.

``python small_run.py FOLDER LOG [--slow] [--sure N]`` trains with checkpoints in FOLDER and
resumes; ``--sure`` is without dropout, and with N batches a step.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

WORDS = ["heart", "attack", "flu", "pain", "chronic", "left", "hip", "fracture", "acute", "renal"]
NAMES = [f"{one} {other}" for one in WORDS for other in WORDS if one != other]


def synonym(word: str) -> str:
    """Return the word that stands for the same: each has one."""
    return WORDS[WORDS.index(word) ^ 1]


PARTNER = np.array([NAMES.index(" ".join(map(synonym, name.split()))) for name in NAMES])


class Synonyms:
    """Draws a name towards that of the synonyms, and apart from the name nearest at the time."""

    name = "synonyms"

    def __init__(self, *, batch: int = 8, batches: int = 5, idle: Sequence[int] = ()) -> None:
        self.batch, self.batches, self.idle = batch, batches, frozenset(idle)
        self.settings: Mapping[str, object] = {"batch": batch, "batches": batches}
        self.plans: list[int] = []
        self.losses: list[int] = []

    def plan(self, encode: Any, epoch: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        self.plans.append(epoch)
        rows = rng.permutation(len(NAMES))[: self.batch * self.batches]
        vectors = encode(NAMES)
        scores = vectors[rows] @ vectors.T
        partners = PARTNER[rows]
        scores[np.arange(len(rows)), rows] = scores[np.arange(len(rows)), partners] = -np.inf
        return {"rows": rows, "positive": partners, "negative": scores.argmax(axis=1)}

    def n_batches(self, plan: Mapping[str, np.ndarray]) -> int:
        return -(-len(plan["rows"]) // self.batch)

    def loss(self, embed: Any, plan: Mapping[str, np.ndarray], batch: int) -> Any:
        import torch

        self.losses.append(batch)
        if batch in self.idle:
            return None
        place = slice(batch * self.batch, (batch + 1) * self.batch)
        parts = [plan[part][place] for part in ("rows", "positive", "negative")]
        vectors = embed([NAMES[row] for part in parts for row in part])
        anchor, positive, negative = torch.nn.functional.normalize(vectors, dim=1).chunk(3)
        gap = (anchor * negative).sum(dim=1) - self.scale * (anchor * positive).sum(dim=1)
        return torch.relu(gap + 0.5).mean()

    def extra_modules(self, width: int) -> dict[str, tuple[Any, float | None]]:  # noqa: ARG002
        import torch

        class Scale(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = torch.nn.Parameter(torch.rand(()) / 10 + 1)

        module = Scale()
        self.scale = module.weight
        return {"scale": (module, 0.01)}


def make_module(**options: Any) -> Any:
    """Make the same tiny BERT each time."""
    from canonym.training.modules.scratch import new_module

    small = {"width": 16, "layers": 1, "heads": 2, "vocabulary": 80, "max_length": 12}
    return new_module(NAMES, **small | options)


def dev_score(encode: Any) -> float:
    """Share of names whose partner is nearer than any name with another meaning."""
    vectors = encode(NAMES)
    scores = vectors @ vectors.T
    meaning = [frozenset(WORDS.index(word) // 2 for word in name.split()) for name in NAMES]
    other = np.array([[one != two for two in meaning] for one in meaning])
    nearest = np.where(other, scores, -2).max(axis=1)
    return float(np.mean(scores[np.arange(len(NAMES)), PARTNER] > nearest))


if __name__ == "__main__":
    from canonym.training.loop.fit import fit
    from canonym.training.loop.settings import FitSettings

    def wait(_: Any) -> None:
        time.sleep(0.03 if "--slow" in sys.argv else 0)

    trained = make_module()
    sure = int(sys.argv[sys.argv.index("--sure") + 1]) if "--sure" in sys.argv else 0
    if sure:
        for part in trained.network.modules():
            if type(part).__name__ == "Dropout":
                part.p = 0.0
    fit(
        trained,
        Synonyms(),
        settings=FitSettings(epochs=4, learning_rate=1e-3, warm_up=0.1, accumulation=sure or 1),
        dev_score=dev_score,
        checkpoints=Path(sys.argv[1]),
        checkpoint_every=3,
        resume=True,
        log=sys.argv[2],
        device="cpu",
        progress=wait,
        notice=print,
    )
    if os.environ.get("RANK", "0") == "0":
        np.save(Path(sys.argv[1]).with_suffix(".npy"), trained.encode(NAMES))
