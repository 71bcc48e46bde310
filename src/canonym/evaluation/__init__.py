"""How good linking is, and how sure that is.

`evaluate_corpus` and `evaluate_folds` ask a system about annotated mentions under a `Protocol`, and
`compare` puts another tool beside it. Below them are functions over ids and arrays alone: `Case`
says what is right and what was predicted for a mention, and `evaluate` scores many of them. What
looks beyond linking is in modules of its own: `canonym.evaluation.similarity.relatedness`,
`canonym.evaluation.similarity.mcsm` and `canonym.evaluation.similarity.relations`.
"""

from __future__ import annotations

from canonym.evaluation.calibration import (
    Reliability,
    RiskCoverage,
    ece,
    reliability,
    risk_coverage,
)
from canonym.evaluation.comparison import Comparison, compare
from canonym.evaluation.folds import FoldRuns, evaluate_folds
from canonym.evaluation.hierarchy_distance import (
    HierarchyError,
    HierarchySummary,
    hierarchy_errors,
    summarise_errors,
)
from canonym.evaluation.metrics import DEFAULT_METRICS, METRICS, RULES, columns, evaluate, ratio
from canonym.evaluation.outcome import Run
from canonym.evaluation.outcomes import Case, Tally, match_parts, tally
from canonym.evaluation.predictions import read_predictions
from canonym.evaluation.protocols import PROTOCOLS, READINGS, Protocol, choose_protocol
from canonym.evaluation.run import evaluate_corpus
from canonym.evaluation.slices import Slice, SliceScores, evaluate_slices
from canonym.evaluation.statistics import (
    Difference,
    Interval,
    McNemar,
    Spread,
    aggregate,
    bootstrap,
    bootstrap_test,
    bound,
    mcnemar,
    paired_bootstrap,
    wilson,
)

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "PROTOCOLS",
    "READINGS",
    "RULES",
    "Case",
    "Comparison",
    "Difference",
    "FoldRuns",
    "HierarchyError",
    "HierarchySummary",
    "Interval",
    "McNemar",
    "Protocol",
    "Reliability",
    "RiskCoverage",
    "Run",
    "Slice",
    "SliceScores",
    "Spread",
    "Tally",
    "aggregate",
    "bootstrap",
    "bootstrap_test",
    "bound",
    "choose_protocol",
    "columns",
    "compare",
    "ece",
    "evaluate",
    "evaluate_corpus",
    "evaluate_folds",
    "evaluate_slices",
    "hierarchy_errors",
    "match_parts",
    "mcnemar",
    "paired_bootstrap",
    "ratio",
    "read_predictions",
    "reliability",
    "risk_coverage",
    "summarise_errors",
    "tally",
    "wilson",
]
