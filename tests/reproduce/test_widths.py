"""The width of a head is that of the best validation score."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reproduce.widths import fit_widths


def fitted(kept: int | None, *devs: float | None) -> Any:
    return SimpleNamespace(kept=kept, epochs=[SimpleNamespace(dev=dev) for dev in devs])


def test_the_best_score_of_the_weights_that_are_kept_decides() -> None:
    runs = {
        8: fitted(0, -0.5, -0.9),
        16: fitted(None, -0.1, -0.6),
        32: fitted(1, -0.7, -0.4),
        64: fitted(0, -0.4),
    }
    asked = []

    def train(width: int) -> tuple[str, Any]:
        asked.append(width)
        return f"head {width}", runs[width]

    parts, run, scores = fit_widths([8, 16, 32, 64, 8], train)
    assert (parts, run) == ("head 32", runs[32])
    assert asked == [8, 16, 32, 64]
    assert scores == {"8": -0.5, "16": -0.6, "32": -0.4, "64": -0.4}


def test_without_a_score_or_a_width_nothing_is_chosen() -> None:
    with pytest.raises(ValueError, match="there is none"):
        fit_widths([8], lambda _: ("", fitted(None, None)))
    with pytest.raises(ValueError, match="no width to try"):
        fit_widths([], lambda _: ("", fitted(None, 0.5)))
