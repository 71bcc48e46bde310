"""Evaluation of linking, with intervals and tests.

`evaluate_corpus` evaluates a system on annotated mentions under a `Protocol`.
`compare` sets another tool beside it. The functions below need ids and arrays only: a
`ScoredMention` has the right and the predicted concepts of a mention, and `evaluate` scores many.
"""

from __future__ import annotations

from canonym.evaluation.certainty import Reliability, RiskCoverage, ece, reliability, risk_coverage
from canonym.evaluation.comparison import Comparison, compare
from canonym.evaluation.hierarchy_distance import (
    HierarchyError,
    HierarchySummary,
    hierarchy_errors,
    summarise_errors,
)
from canonym.evaluation.metrics import DEFAULT_METRICS, METRICS, RULES, columns, evaluate, ratio
from canonym.evaluation.outcomes import ScoredMention, Tally, match_parts, tally
from canonym.evaluation.predictions import read_predictions
from canonym.evaluation.protocols import PROTOCOLS, READINGS, Protocol, choose_protocol
from canonym.evaluation.run import Run, evaluate_corpus
from canonym.evaluation.slices import Slice, SliceScores, evaluate_slices
from canonym.evaluation.statistics import (
    Difference,
    Interval,
    McNemar,
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
    "Comparison",
    "Difference",
    "HierarchyError",
    "HierarchySummary",
    "Interval",
    "McNemar",
    "Protocol",
    "Reliability",
    "RiskCoverage",
    "Run",
    "ScoredMention",
    "Slice",
    "SliceScores",
    "Tally",
    "bootstrap",
    "bootstrap_test",
    "bound",
    "choose_protocol",
    "columns",
    "compare",
    "ece",
    "evaluate",
    "evaluate_corpus",
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
