"""What tasks other than linking yield, and what several samples of one model yield together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from canonym.errors import InvalidInput
from canonym.evaluation.figures import Figure
from canonym.evaluation.folds import FoldRuns
from canonym.evaluation.outcome import Run
from canonym.evaluation.statistics import Spread, aggregate

__all__ = ["Measured", "Outcome", "SampleRuns"]


@dataclass(frozen=True, slots=True)
class Measured:
    """The outcome of a task other than linking.

    Parameters
    ----------
    task : str
        ``"relatedness"``, ``"mcsm"``, ``"relations"`` or ``"nil"``.
    figures : tuple of Figure
        Their slice is ``"all"`` and their reading empty. Bounds are NaN where there are none.
    unit : str
        ``"%"`` where figures are shares, which are shown as percentages; empty otherwise.
    remarks : tuple of str
        What a reader of the figures has to know.
    sd : mapping of str to float
        Standard deviation of a metric, where it is a mean.
    details : mapping of str to object
        Whatever else JSON is to have.
    """

    task: str
    figures: tuple[Figure, ...]
    unit: str = ""
    remarks: tuple[str, ...] = ()
    sd: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def figure(self, metric: str, *, reading: str | None = None) -> Figure:
        """Return the figure of a metric.

        Raises
        ------
        InvalidInput
            If there is none, or a reading is named: this task has none.
        """
        if reading:
            raise InvalidInput(f"the task {self.task!r} has no readings; leave {reading!r} out")
        for figure in self.figures:
            if figure.metric == metric:
                return figure
        raise InvalidInput(
            f"the task {self.task!r} has no metric {metric!r}; it has "
            + ", ".join(figure.metric for figure in self.figures)
        )

    def value(self, metric: str, *, reading: str | None = None) -> float:
        """Return the value of `figure`."""
        return self.figure(metric, reading=reading).value

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome ready for JSON."""
        return {
            "task": self.task,
            "headline": [figure.to_dict() for figure in self.figures],
            "sd": dict(self.sd),
            "remarks": list(self.remarks),
            **self.details,
        }


@dataclass(frozen=True, slots=True)
class SampleRuns:
    """One row run with several samples of its models.

    Parameters
    ----------
    runs : tuple of Run or Measured
        One per sample, two or more.
    """

    runs: tuple[Run | Measured, ...]

    @property
    def remarks(self) -> list[str]:
        """What is to be said of any of the samples, each once."""
        return list(dict.fromkeys(remark for run in self.runs for remark in run.remarks))

    def spread(self, metric: str, *, reading: str | None = None) -> Spread:
        """Return mean, standard deviation and t interval of a metric over the samples.

        Raises
        ------
        InvalidInput
            If a run has no such metric, or there are fewer than two.
        """
        return aggregate([run.value(metric, reading=reading) for run in self.runs])

    def to_dict(self) -> dict[str, Any]:
        """Return the runs ready for JSON."""
        return {"samples": len(self.runs), "runs": [run.to_dict() for run in self.runs]}


Outcome: TypeAlias = Run | FoldRuns | Measured | SampleRuns
"""What a row of an experiment yields."""
