"""How good linking is, and how sure that is: functions over ids and arrays alone.

`Case` says what is right and what was predicted for a mention, and `evaluate` scores many of them.
What looks beyond linking is in modules of its own: `canonym.evaluation.relatedness`,
`canonym.evaluation.mcsm` and `canonym.evaluation.relations`.
"""

from __future__ import annotations

from canonym.evaluation.calibration import (
    Reliability,
    RiskCoverage,
    ece,
    reliability,
    risk_coverage,
)
from canonym.evaluation.cases import Case, Tally, match_parts, tally
from canonym.evaluation.hierarchy import (
    HierarchyError,
    HierarchySummary,
    hierarchy_errors,
    summarise_errors,
)
from canonym.evaluation.intervals import Interval, Spread, aggregate, wilson
from canonym.evaluation.metrics import DEFAULT_METRICS, METRICS, RULES, columns, evaluate, ratio
from canonym.evaluation.significance import (
    Difference,
    McNemar,
    bootstrap,
    bootstrap_test,
    mcnemar,
    paired_bootstrap,
)
from canonym.evaluation.slices import Slice, SliceScores, evaluate_slices

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "RULES",
    "Case",
    "Difference",
    "HierarchyError",
    "HierarchySummary",
    "Interval",
    "McNemar",
    "Reliability",
    "RiskCoverage",
    "Slice",
    "SliceScores",
    "Spread",
    "Tally",
    "aggregate",
    "bootstrap",
    "bootstrap_test",
    "columns",
    "ece",
    "evaluate",
    "evaluate_slices",
    "hierarchy_errors",
    "match_parts",
    "mcnemar",
    "paired_bootstrap",
    "ratio",
    "reliability",
    "risk_coverage",
    "summarise_errors",
    "tally",
    "wilson",
]
