"""Facts as a page and as JSON write them."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from canonym.evaluation.comparison import Comparison
from canonym.evaluation.error_kinds import ERROR_KINDS
from canonym.evaluation.figures import DRAWS, Figure, figures
from canonym.evaluation.hierarchy_distance import (
    HierarchySummary,
    hierarchy_errors,
    summarise_errors,
)
from canonym.evaluation.outcome import Run
from canonym.evaluation.report.curves import (
    Refusal,
    Trust,
    measure_recall,
    measure_refusal,
    measure_trust,
)
from canonym.evaluation.report.wrong_answers import (
    WrongAnswer,
    WrongTimes,
    find_wrong_answers,
    group_answers,
)

# --- facts ---


def flatten(found: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return nested facts as pairs of a name and a value, in the order in which they stand.

    Parameters
    ----------
    found : mapping of str to object
        Facts by name; a fact may be a mapping, or a list of mappings, itself.
    before : str
        What every name begins with.

    Examples
    --------
    >>> flatten({"corpus": {"n_documents": 1000}, "types": [], "weights": [{"a": 1}]})
    [('corpus, n documents', '1,000'), ('types', '–'), ('weights 1, a', '1')]
    """
    pairs: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{before}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            pairs += flatten(value, f"{name}, ")
        elif isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value):
            for number, one in enumerate(value, start=1):
                pairs += flatten(one, f"{name} {number}, ") if isinstance(one, Mapping) else []
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
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# --- summary ---
# MODULE: Everything that a report shows, as plain data; page, terminal and JSON only lay it out.

HEADLINE: tuple[tuple[str, str], ...] = (
    ("all", ""),
    ("unseen mention", "seen_mention"),
    ("unseen concept", "seen_concept"),
)
"""Slices that stand at the head of a report, and what of a case puts it there where it is False."""

_WORST = 20
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class ErrorCount:
    """How often one kind of error is made: per reading, with the surest example of it."""

    kind: str
    meaning: str
    counts: dict[str, int]
    example: WrongAnswer | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Mentions that were not asked: why, how many, and some of them (mention, document)."""

    reason: str
    n: int
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of a report.

    Parameters
    ----------
    title : str
        What was evaluated.
    protocol, split, part : str
        How.
    rules : tuple of str
        The rules of the protocol.
    readings : tuple of str
        From the most forgiving to the least.
    n, n_mentions : int
        Mentions asked, and mentions of the corpus.
    headline : tuple of Figure
        First-place accuracy of all mentions, of those that training does not have, and of those
        whose concept it does not have, by slice and reading; without training only of all.
    metrics : tuple of Figure
        Further metrics of all mentions.
    slices : tuple of Figure
        First-place accuracy of every slice that has mentions.
    recall : dict of str to tuple of float
        Recall of the first 1 … k candidates, by reading.
    trust : tuple of Trust
        Scores against accuracy, by reading.
    refusal : tuple of Refusal
        Risk against coverage, by reading.
    errors : tuple of ErrorCount
        Wrong mentions by kind.
    worst : tuple of WrongTimes
        The surest wrong answers in `worst_reading`, equal ones together.
    worst_reading : str
        The reading that `worst` and `hierarchy` go by: strict where there is one.
    hierarchy : HierarchySummary, optional
        What wrong concepts are to the right ones; None if the terminology has no hierarchy.
    comparisons : tuple of Comparison
        Other tools on the same mentions.
    left_out : tuple of LeftOut
        What was not asked.
    caveats : tuple of str
        What forbids a strict comparison with other numbers, as the caller says it.
    remarks : tuple of str
        What else a reader has to know: unknown ids, oddities of the corpus.
    unknown : dict of str to int
        Ids that the terminology does not have, and how often each occurs.
    fingerprints : dict of str to str
        What identifies the corpus, the terminology, the index, the encoder and the run.
    draws : int
        Bootstrap draws behind the intervals.
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
    caveats: tuple[str, ...]
    remarks: tuple[str, ...]
    unknown: dict[str, int]
    fingerprints: dict[str, str]
    draws: int

    def find(self, slice: str, reading: str, metric: str = "accuracy@1") -> Figure | None:
        """Return one figure, or None if the report does not have it."""
        wanted = (slice, reading, metric)
        for figure in (*self.headline, *self.slices, *self.metrics):
            if (figure.slice, figure.reading, figure.metric) == wanted:
                return figure
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the report ready for JSON; None stands for a number that is not defined."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


def summarise(
    run: Run,
    *,
    title: str = "",
    comparisons: Sequence[Comparison] = (),
    oddities: Sequence[str] = (),
    caveats: Sequence[str] = (),
    worst: int = _WORST,
) -> Summary:
    """Gather what a report shows of a run.

    Parameters
    ----------
    run : Run
        The evaluation.
    title : str
        What was evaluated; the part of the corpus by default.
    comparisons : sequence of Comparison
        Other tools.
    oddities : sequence of str
        What is odd about the corpus, as `canonym.corpora.census.Census.oddities` says it.
    caveats : sequence of str
        What forbids a strict comparison with other numbers.
    worst : int
        Wrong answers shown.

    Returns
    -------
    Summary
        The same for the same run, seed and version; without times.
    """
    seed = int(run.fingerprints["seed"])
    readings = run.protocol.readings
    sliced = figures(run.cases, metrics=("accuracy@1",), shown=None, seed=seed)
    wrong = {reading: find_wrong_answers(run, reading) for reading in readings}
    strict = readings[min(1, len(readings) - 1)]
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
        recall=measure_recall(run.cases, int(run.fingerprints["k"])),
        trust=tuple(measure_trust(run.cases[reading], reading) for reading in readings),
        refusal=tuple(measure_refusal(run.cases[reading], reading) for reading in readings),
        errors=_count_errors(wrong),
        worst=tuple(group_answers(wrong[strict])[:worst]),
        worst_reading=strict,
        hierarchy=_hierarchy(run, strict),
        comparisons=tuple(comparisons),
        left_out=tuple(
            LeftOut(
                reason,
                len(some),
                tuple((mention.text, mention.document_id) for mention in some[:_EXAMPLES]),
            )
            for reason, some in run.dropped
        ),
        caveats=tuple(caveats),
        remarks=(
            *run.notes,
            *run.ids.remarks(),
            *oddities,
            *(remark for one in comparisons for remark in one.remarks),
        ),
        unknown=dict(run.ids.unknown),
        fingerprints=dict(flatten(run.fingerprints)),
        draws=DRAWS,
    )


def _headline(run: Run, sliced: Sequence[Figure]) -> tuple[Figure, ...]:
    found = {(figure.slice, figure.reading): figure for figure in sliced}
    shown = []
    for name, attribute in HEADLINE:
        for reading, cases in run.cases.items():
            figure = found.get((name, reading))
            if (
                figure is None
                and attribute
                and all(getattr(case, attribute) is False for case in cases)
            ):
                # A slice that is everything is left out of the slices, but not of the headline.
                figure = found["all", reading]._replace(slice=name)
            if figure is not None:
                shown.append(figure)
    return tuple(shown)


def _count_errors(wrong: Mapping[str, Sequence[WrongAnswer]]) -> tuple[ErrorCount, ...]:
    counts = {reading: Counter(one.kind for one in some) for reading, some in wrong.items()}
    surest = [group.answer for some in wrong.values() for group in group_answers(some)]
    found = []
    for kind, meaning in ERROR_KINDS.items():
        of_kind = {reading: counts[reading][kind] for reading in wrong}
        example = next((one for one in surest if one.kind == kind), None)
        found.append(ErrorCount(kind, meaning, of_kind, example))
    return tuple(found)


def _hierarchy(run: Run, reading: str) -> HierarchySummary | None:
    parents: dict[str, list[str]] = {}
    for relation in run.concept_ids.terminology.iter_relations("is_a"):
        parents.setdefault(relation.head, []).append(relation.tail)
    if not parents:
        return None
    return summarise_errors(hierarchy_errors(run.cases[reading], parents))
