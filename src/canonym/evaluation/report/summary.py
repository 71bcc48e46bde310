"""The content of a report as plain data; page, terminal and JSON only lay it out."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from canonym.evaluation.certainty import ece, reliability, risk_coverage
from canonym.evaluation.comparison import Comparison
from canonym.evaluation.error_kinds import (
    ERROR_KINDS,
    WrongAnswer,
    WrongTimes,
    find_wrong_answers,
    group_answers,
)
from canonym.evaluation.hierarchy_distance import (
    HierarchySummary,
    hierarchy_errors,
    summarise_errors,
)
from canonym.evaluation.metrics import columns, ratio
from canonym.evaluation.outcomes import ScoredMention, tally
from canonym.evaluation.run import Run
from canonym.evaluation.slices import DRAWS, Figure, explain_readings, figures
from canonym.evaluation.software import finder_title
from canonym.evaluation.statistics import wilson

HEADLINE: dict[str, str] = {
    "all": "",
    "unseen mention": "seen_mention",
    "unseen concept": "seen_concept",
}
"""Slices at the head of a report; a mention is in one if this attribute of it is False."""

_POINTS = 100  # of a curve that has one per mention
_WORST = 20
_EXAMPLES = 5
_SLICES = {
    "all": "All mentions",
    "seen mention": "Mention in training",
    "unseen mention": "Mention not in training",
    "seen concept": "Concept in training",
    "unseen concept": "Concept not in training",
    "no homonym": "Not a homonym",
    "no abbreviation": "Not an abbreviation",
    "no composite": "Not composite",
}


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Mentions of about the same score, with Wilson's interval; NaN for an empty bin."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    accuracy_low: float
    accuracy_high: float


@dataclass(frozen=True, slots=True)
class Trust:
    """Scores against accuracy; without bins where scores are not between 0 and 1."""

    reading: str
    ece: float
    bins: tuple[ConfidenceBin, ...]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Errors among the surest mentions: at most a hundred points, and AURC and E-AURC of all."""

    reading: str
    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float
    excess: float


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """The number of errors of one kind per reading, and the surest of them."""

    kind: str
    meaning: str
    counts: dict[str, int]
    example: WrongAnswer | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Mentions outside the evaluation: reason, number, and some of them (mention, document)."""

    reason: str
    n: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of a report; its fields are the keys of the JSON, and numbers are in [0, 1].

    `headline` and `slices` have first-place accuracy, `metrics` further metrics of all mentions.
    `recall`, `trust` and `refusal` go by reading. `worst` and `hierarchy` go by `worst_reading`,
    which is strict where there is such a reading. `hierarchy` is None without a hierarchy.
    `explanations` say why figures are as nobody expects them. `caveats` are the caller's, `remarks`
    those of the run. `unknown` counts missing ids. `finder` found abbreviations.
    """

    title: str
    protocol: str
    split: str
    part: str
    rules: tuple[str, ...]
    readings: tuple[str, ...]
    n: int
    n_mentions: int
    headline: tuple[Figure, ...]
    metrics: tuple[Figure, ...]
    slices: tuple[Figure, ...]
    recall: dict[str, tuple[float, ...]]
    trust: tuple[Trust, ...]
    refusal: tuple[Refusal, ...]
    errors: tuple[ErrorCount, ...]
    worst: tuple[WrongTimes, ...]
    worst_reading: str
    hierarchy: HierarchySummary | None
    comparisons: tuple[Comparison, ...]
    left_out: tuple[LeftOut, ...]
    explanations: tuple[str, ...]
    caveats: tuple[str, ...]
    remarks: tuple[str, ...]
    unknown: dict[str, int]
    finder: str
    software: dict[str, str]
    fingerprints: dict[str, str]
    draws: int

    def find(self, slice: str, reading: str, metric: str = "accuracy@1") -> Figure | None:
        """Return one figure, or None if the report does not have it."""
        known = (*self.headline, *self.slices, *self.metrics)
        return next((f for f in known if f[:3] == (slice, reading, metric)), None)

    def across(self, slice: str, metric: str = "accuracy@1") -> list[Figure | None]:
        """Return one figure of every reading; see `find`."""
        return [self.find(slice, reading, metric) for reading in self.readings]

    @property
    def made_with(self) -> str:
        """The software behind the figures, and the terminology, in a line."""
        versions = ", ".join(f"{name} {number}" for name, number in self.software.items())
        terminology = self.fingerprints["terminology, digest"][:12]
        return f"{versions}; abbreviations: {self.finder}; terminology {terminology}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report ready for JSON; None stands for a number that is not defined."""
        return {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}


def summarise(
    run: Run,
    *,
    title: str = "",
    comparisons: Sequence[Comparison] = (),
    oddities: Sequence[str] = (),
    caveats: Sequence[str] = (),
    worst: int = _WORST,
) -> Summary:
    """Gather the content of a report about a run: the same for the same run, seed and version.

    `title` names what was evaluated, the part of the corpus by default. `comparisons` are with
    other tools, `oddities` those of the corpus (`canonym.corpora.census.Census.oddities`),
    `caveats` what speaks against a strict comparison with other numbers. At most `worst` wrong
    answers are shown.
    """
    readings = run.protocol.readings
    seed = int(run.fingerprints["seed"])
    sliced = figures(run.scored, metrics=("accuracy@1",), shown=None, seed=seed)
    wrong = {reading: find_wrong_answers(run, reading) for reading in readings}
    strict = readings[min(1, len(readings) - 1)]
    recall = measure_recall(run.scored, int(run.fingerprints["k"]))
    shown = (*run.headline, *sliced, *_recall_figures(recall, len(run.questions)))
    return Summary(
        title=title or f"{run.part} part",
        protocol=run.protocol.name,
        split=run.protocol.split,
        part=run.part,
        rules=run.protocol.rules,
        readings=readings,
        n=len(run.questions),
        n_mentions=len(run.questions) + sum(len(some) for _, some in run.dropped),
        headline=_headline(run, sliced),
        metrics=tuple(f for f in run.headline if f.slice == "all"),
        slices=sliced,
        recall=recall,
        trust=tuple(measure_trust(run.scored[reading], reading) for reading in readings),
        refusal=tuple(measure_refusal(run.scored[reading], reading) for reading in readings),
        errors=_count_errors(wrong),
        worst=tuple(group_answers(wrong[strict])[:worst]),
        worst_reading=strict,
        hierarchy=_hierarchy(run, strict),
        comparisons=tuple(comparisons),
        left_out=tuple(
            LeftOut(reason, len(some), tuple((m.text, m.document_id) for m in some[:_EXAMPLES]))
            for reason, some in run.dropped
        ),
        explanations=tuple(explain_readings(shown)),
        caveats=tuple(caveats),
        remarks=(
            *run.notes,
            *run.ids.remarks(),
            *oddities,
            *(remark for comparison in comparisons for remark in comparison.remarks),
        ),
        unknown=dict(run.ids.unknown),
        finder=finder_title(run.fingerprints["abbreviations"]),
        software=dict(run.fingerprints["software"]),
        fingerprints=dict(flatten(run.fingerprints)),
        draws=DRAWS,
    )


def _headline(run: Run, sliced: Sequence[Figure]) -> tuple[Figure, ...]:
    by_slice = {(figure.slice, figure.reading): figure for figure in sliced}
    shown = []
    for name, attribute in HEADLINE.items():
        for reading, mentions in run.scored.items():
            figure = by_slice.get((name, reading))
            if (
                figure is None
                and attribute
                and all(getattr(mention, attribute) is False for mention in mentions)
            ):
                # A slice of all mentions is no slice, but it stands in the headline.
                figure = by_slice["all", reading]._replace(slice=name)
            if figure is not None:
                shown.append(figure)
    return tuple(shown)


def _count_errors(wrong: Mapping[str, Sequence[WrongAnswer]]) -> tuple[ErrorCount, ...]:
    counts = {reading: Counter(answer.kind for answer in some) for reading, some in wrong.items()}
    surest = [group.answer for some in wrong.values() for group in group_answers(some)]
    errors = []
    for kind, meaning in ERROR_KINDS.items():
        of_kind = {reading: counts[reading][kind] for reading in wrong}
        example = next((answer for answer in surest if answer.kind == kind), None)
        errors.append(ErrorCount(kind, meaning, of_kind, example))
    return tuple(errors)


def _hierarchy(run: Run, reading: str) -> HierarchySummary | None:
    parents: dict[str, list[str]] = {}
    for relation in run.concept_ids.terminology.iter_relations("is_a"):
        parents.setdefault(relation.head, []).append(relation.tail)
    if not parents:
        return None
    return summarise_errors(hierarchy_errors(run.scored[reading], parents))


# --- curves ---------------------------------------------------------------------------------------


def measure_recall(
    scored: Mapping[str, Sequence[ScoredMention]], k: int
) -> dict[str, tuple[float, ...]]:
    """Return recall@1 … recall@k of the candidates of every reading, NaN without gold parts."""
    counts = {reading: tally(mentions) for reading, mentions in scored.items()}
    return {
        reading: tuple(ratio(columns(of_reading, f"recall@{i}")) for i in range(1, k + 1))
        for reading, of_reading in counts.items()
    }


def _recall_figures(recall: Mapping[str, Sequence[float]], n: int) -> list[Figure]:
    """Return the recall of the first and of all candidates as figures without intervals."""
    return [
        Figure("all", reading, f"recall@{place}", n, values[place - 1], math.nan, math.nan)
        for reading, values in recall.items()
        for place in dict.fromkeys((1, len(values)))
    ]


def measure_trust(mentions: Sequence[ScoredMention], reading: str) -> Trust:
    """Compare the scores of mentions with their accuracy, in ten bins of equal width."""
    score = np.array([mention.score for mention in mentions])
    right = columns(mentions, "accuracy@1")[:, 0]
    low, high = float(score.min()), float(score.max())
    # A cosine in single precision may pass 1 by a rounding error.
    score = np.where((score > 1) & (score < 1 + 1e-4), 1.0, score)
    if score.min() < 0 or score.max() > 1:
        return Trust(reading, math.nan, (), low, high)
    table = reliability(score, right)
    bins = []
    edges = table.edges[:-1], table.edges[1:]
    lists = (column.tolist() for column in (table.counts, *edges, table.confidence, table.accuracy))
    for n, start, end, sure, accuracy in zip(*lists, strict=True):
        bounds = wilson(round(accuracy * n), n)[1:] if n else (math.nan, math.nan)
        bins.append(ConfidenceBin(start, end, n, sure, accuracy, *bounds))
    return Trust(reading, ece(score, right), tuple(bins), low, high)


def measure_refusal(mentions: Sequence[ScoredMention], reading: str) -> Refusal:
    """Measure the errors while ever less sure mentions are answered."""
    score = [mention.score for mention in mentions]
    curve = risk_coverage(score, columns(mentions, "accuracy@1")[:, 0])
    n = len(curve.coverage)
    points = np.unique(np.ceil(np.arange(1, _POINTS + 1) * n / _POINTS).astype(int)) - 1
    return Refusal(
        reading,
        tuple(curve.coverage[points].tolist()),
        tuple(curve.risk[points].tolist()),
        curve.area,
        curve.excess,
    )


# --- words and numbers ----------------------------------------------------------------------------


def percent(value: float, digits: int = 1) -> str:
    """Write a share as a percentage without its sign, "n/a" where it is not defined."""
    return decimals(100 * value, digits)


def decimals(value: float, digits: int = 3) -> str:
    """Write a number with so many decimals, "n/a" where it is not defined."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "n/a"


def slice_title(name: str) -> str:
    """Name a slice for people."""
    if name in _SLICES:
        return _SLICES[name]
    kind, _, value = name.partition(" ")
    if kind == "length":
        return "1 word" if value in {"1", "≤1"} else f"{value} words"
    if kind == "frequency":
        return f"Concept {value} × in training"
    if kind == "type":
        return value
    return name[:1].upper() + name[1:]


def flatten(facts: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return nested facts as pairs of name and value, in their order.

    >>> flatten({"corpus": {"n_documents": 1000}, "types": [], "weights": [{"a": 1}]})
    [('corpus, n documents', '1,000'), ('types', '–'), ('weights 1, a', '1')]
    """
    pairs: list[tuple[str, str]] = []
    for key, value in facts.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            pairs += flatten(value, f"{name}, ")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value, start=1):
                pairs += flatten(item, f"{name} {number}, ") if isinstance(item, Mapping) else []
        else:
            pairs.append((name, _shown(value)))
    return pairs


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value)) or "–"
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plain(value: Any) -> Any:
    """Return dicts, lists, strings and numbers for JSON; None for a number that is not finite."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
