"""Rows of a published table beside ours, and one row of ours against another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from canonym.errors import InvalidInput
from canonym.evaluation.metrics import columns
from canonym.evaluation.run import Run
from canonym.evaluation.slices import DRAWS, slices
from canonym.evaluation.statistics import (
    Difference,
    McNemar,
    bootstrap_test,
    mcnemar,
    paired_bootstrap,
)
from reproduce.files import Experiment
from reproduce.folds import FoldRuns
from reproduce.measures.spread import average_ranks
from reproduce.results import Measured, Outcome, SampleRuns

_DIGITS = 16  # of a fingerprint
_NO_INDEX = {"index": {"fingerprint": ""}}
_ALWAYS = frozenset({"name", "metric", "value", "low", "high", "unit"})


class Against(NamedTuple):
    """The difference of one row of ours to another on the same mentions, by paired bootstrap.

    McNemar's exact test is None where a metric is more than right and wrong, and of samples, whose
    mentions count by their mean.
    """

    name: str
    difference: Difference
    test: McNemar | None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison ready for JSON."""
        return {
            "name": self.name,
            "difference": self.difference._asdict(),
            "mcnemar": self.test._asdict() if self.test else None,
        }


@dataclass(frozen=True, slots=True)
class ReproducedRow:
    """One number of a published table, and ours with its 95 % interval, in `unit`.

    `value` is None where the row could not be run (`problem` says why), `published` where the paper
    has no number. Of folds and samples `value` is the mean and the interval a t interval; `sd` is
    their standard deviation. `n` counts mentions, of all folds together, or pairs. Ours may differ
    by `allowed`; a `caveat` forbids a strict comparison. `p_published` is that of the one-sample
    bootstrap of Xu & Bethard (2021), for a difference to the published number as large as ours.
    `strict` is the same metric for the very concept, `fingerprint` that of the encoders and names
    that were searched.
    """

    name: str
    metric: str
    reading: str
    published: float | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    folds: int | None = None
    sd: float | None = None
    allowed: float | None = None
    problem: str = ""
    caveat: str = ""
    remarks: tuple[str, ...] = ()
    samples: int | None = None
    unit: str = "%"
    against: Against | None = None
    p_published: float | None = None
    strict: Mapping[str, float] | None = None
    fingerprint: str = ""

    @property
    def difference(self) -> float | None:
        """Ours minus the published number."""
        if self.value is None or self.published is None:
            return None
        return self.value - self.published

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within what is allowed; None where one is missing."""
        if self.difference is None or self.allowed is None:
            return None
        # A published number is rounded: a difference of exactly the bound agrees.
        return abs(self.difference) <= self.allowed + 1e-9

    def to_dict(self) -> dict[str, Any]:
        """Return the row ready for JSON, without empty fields."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found |= {"difference": self.difference, "agrees": self.agrees}
        found["remarks"] = list(self.remarks)
        found["against"] = self.against.to_dict() if self.against else None
        empty: tuple[Any, ...] = (None, "", [])
        return {name: one for name, one in found.items() if name in _ALWAYS or one not in empty}


@dataclass(frozen=True, slots=True)
class Table:
    """An experiment, its rows beside the published numbers, and the runs of the rows by name."""

    experiment: Experiment
    rows: tuple[ReproducedRow, ...]
    runs: dict[str, Outcome]

    def header(self) -> dict[str, Any]:
        """Return name, title, source and digests of the data, ready for JSON."""
        data: dict[str, str] = {}
        for row in self.experiment.rows:
            outcome = self.runs.get(row["name"])
            runs = outcome.runs if isinstance(outcome, FoldRuns | SampleRuns) else [outcome]
            for run in runs:
                data |= run.data if isinstance(run, Measured) else {}
            for prints in filter(None, map(_fingerprints, runs)):
                corpus, files = row["corpus"], prints["corpus"].get("files", {})
                for name, digest in files.items():
                    data[corpus if corpus.endswith(name) else f"{corpus}/{name}"] = digest
                if row.get("terminology") and not row.get("absent"):
                    first = row["terminology"][0]
                    name = first if isinstance(first, str) else first["file"]
                    data[name] = prints["terminology"]["digest"]
        one = self.experiment
        return {"name": one.name, "title": one.title, "source": one.source, "data": data}

    def to_dict(self) -> dict[str, Any]:
        """Return the table ready for JSON; a rerun gives the same."""
        return {**self.header(), "rows": [row.to_dict() for row in self.rows]}


def reproduced_rows(
    row: Mapping[str, Any],
    outcome: Outcome | None,
    *,
    problem: str = "",
    compared: Against | None = None,
) -> list[ReproducedRow]:
    """Put the outcome of a row beside its published numbers, one entry per metric.

    `problem` is why there is no outcome. `compared` belongs to the first metric.
    """
    found = []
    for place, (metric, number) in enumerate(row["published"].items()):
        about = {
            "allowed": row.get("difference"),
            "problem": problem,
            "caveat": row.get("caveat", ""),
            "against": None if place else compared,
        }
        published = float(number) if isinstance(number, int | float) else None
        reading = row.get("reading", "")
        ours: dict[str, Any] = {"reading": reading}
        if outcome is not None:
            part = row.get("slice", "all")
            ours = _ours(outcome, metric, reading, part)
            if published is not None and isinstance(outcome, Run):
                values = _columns(outcome, metric, reading or None, part)
                tested = bootstrap_test(
                    values, published / 100, draws=DRAWS, rng=row.get("seed", 0)
                )
                ours["p_published"] = tested.p
        found.append(ReproducedRow(row["name"], metric, published=published, **ours, **about))
    return found


def _ours(outcome: Outcome, metric: str, reading: str, slice: str) -> dict[str, Any]:
    one = outcome.runs[0] if isinstance(outcome, SampleRuns) else outcome
    if slice != "all" and not isinstance(one, Run):
        raise InvalidInput(f"the slice {slice!r} is of a row of linking, without folds")
    if isinstance(outcome, FoldRuns | SampleRuns):
        return _mean(outcome, metric, reading, slice)
    if isinstance(outcome, Run):
        figure = outcome.figure(metric, reading=reading or None, slice=slice)
    else:
        figure = outcome.figure(metric, reading=reading or None)
    unit, deviation = "%", None
    if isinstance(outcome, Measured):
        unit, deviation = outcome.unit, outcome.sd.get(metric)
    factor = 100 if unit == "%" else 1
    return {
        "reading": figure.reading,
        "unit": unit,
        "n": figure.n,
        "value": factor * figure.value,
        "low": None if math.isnan(figure.low) else factor * figure.low,
        "high": None if math.isnan(figure.high) else factor * figure.high,
        "sd": None if deviation is None else factor * deviation,
        "remarks": tuple(outcome.remarks),
        "strict": _strict(outcome, metric, slice),
        "fingerprint": (_fingerprints(outcome) or _NO_INDEX)["index"]["fingerprint"][:_DIGITS],
    }


def _strict(outcome: Outcome, metric: str, slice: str) -> dict[str, float] | None:
    """Return the strict figure of a linking run, in percent."""
    if not isinstance(outcome, Run) or "strict" not in outcome.protocol.readings:
        return None
    figure = outcome.figure(metric, reading="strict", slice=slice)
    return {name: 100 * getattr(figure, name) for name in ("value", "low", "high")}


def _fingerprints(outcome: Outcome | None) -> dict[str, Any] | None:
    """Return the fingerprints of a run over a corpus."""
    if isinstance(outcome, Measured):
        return outcome.details.get("fingerprints")
    return outcome.fingerprints if isinstance(outcome, Run) else None


def _mean(outcome: FoldRuns | SampleRuns, metric: str, reading: str, slice: str) -> dict[str, Any]:
    first = outcome.runs[0]
    part = {"slice": slice} if isinstance(first, Run) and isinstance(outcome, SampleRuns) else {}
    spread = outcome.spread(metric, reading=reading or None, **part)
    unit = first.unit if isinstance(first, Measured) else "%"
    factor = 100 if unit == "%" else 1
    found = {
        "reading": reading or (first.protocol.readings[0] if isinstance(first, Run) else ""),
        "unit": unit,
        "value": factor * spread.mean,
        "low": factor * spread.low,
        "high": factor * spread.high,
        "sd": factor * spread.sd,
        "remarks": tuple(outcome.remarks),
    }
    if isinstance(outcome, FoldRuns):
        return {**found, "n": outcome.n, "folds": spread.n}
    n = first.figure(metric, reading=reading or None, **part).n
    return {**found, "n": n, "samples": spread.n}


def against(row: Mapping[str, Any], first: Outcome, second: Outcome, *, seed: int = 0) -> Against:
    """Compare a row with the one that its ``against`` names, in its first metric.

    The test is McNemar's, as in Miftahutdinov et al. (2021), section 5.5; `seed` is of the
    bootstrap. Samples are pooled: a mention counts by its mean over them.
    """
    metric, reading = next(iter(row["published"])), row.get("reading")
    asked = [_mentions(one) for one in (first, second)]
    if not asked[0] or asked[0] != asked[1]:
        raise InvalidInput(
            f"the row {row['name']!r} cannot be compared with {row['against']!r}: two rows of "
            "linking that ask the same mentions are expected"
        )
    ours, theirs = sides = [
        _columns(one, metric, reading, row.get("slice", "all")) for one in (first, second)
    ]
    difference = paired_bootstrap(ours, theirs, draws=DRAWS, rng=seed)
    plain = all(np.isin(side[:, 0], [0, 1]).all() and (side[:, 1] == 1).all() for side in sides)
    test = mcnemar(ours[:, 0], theirs[:, 0]) if plain else None
    return Against(row["against"], difference, test)


def _columns(outcome: Outcome, metric: str, reading: str | None, slice: str) -> Any:
    if isinstance(outcome, FoldRuns):
        parts = [_columns(run, metric, reading, slice) for run in outcome.runs]
        return np.concatenate(parts)
    if isinstance(outcome, SampleRuns):
        return np.mean([_columns(run, metric, reading, slice) for run in outcome.runs], axis=0)
    assert isinstance(outcome, Run)  # `against` has seen mentions
    scored = outcome.scored[reading or outcome.protocol.readings[0]]
    (rows,) = (one.rows for one in slices(scored) if one.name == slice)
    return columns(scored, metric)[rows]


def _mentions(outcome: Outcome) -> Sequence[Any]:
    if isinstance(outcome, FoldRuns):
        return [mention for run in outcome.runs for mention in _mentions(run)]
    if isinstance(outcome, SampleRuns):
        return _mentions(outcome.runs[0])
    return [one.mention for one in outcome.questions] if isinstance(outcome, Run) else []


def rank_systems(figures: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the average rank of each system, in the order of the first corpus.

    `figures` go by corpus, then by system. A system without a figure on some corpus is refused, for
    its rank would come from other corpora than the ranks it stands beside.
    """
    systems = list(dict.fromkeys(system for found in figures.values() for system in found))
    for corpus, found in figures.items():
        if missing := [system for system in systems if system not in found]:
            raise InvalidInput(
                f"{corpus} has no figure of {', '.join(missing)}: ranks need every system on "
                "every corpus"
            )
    table = [[found[system] for found in figures.values()] for system in systems]
    return dict(zip(systems, average_ranks(table).tolist(), strict=True))
