"""Evaluation over the folds of a cross-validation: one run per fold, and their mean.

Examples
--------
>>> from canonym import Concept, Mention, Terminology
>>> from canonym.corpora import Fold
>>> terminology = Terminology.build([Concept("1", "myalgia"), Concept("2", "asthenia")])
>>> folds = [
...     Fold("a", test=(Mention("myalgias", ids=("1",)),)),
...     Fold("b", test=(Mention("myalgia", ids=("1",)), Mention("my asthma", ids=("2",)))),
... ]
>>> found = evaluate_folds(folds, terminology=terminology, encoders=["chargrams"])
>>> found.n, [run.value("accuracy@1") for run in found.runs], found.spread("accuracy@1").mean
(3, [1.0, 1.0], 1.0)
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from canonym.corpora.cadec import Fold
from canonym.errors import InvalidInput
from canonym.evaluation.protocols import Protocol
from canonym.evaluation.run import EvaluationOptions, Run, evaluate_corpus
from canonym.terminology import Terminology, read_terminology
from canonym.types import Document, Encoder
from reproduce.measures.spread import Spread, aggregate


@dataclass(frozen=True, slots=True)
class FoldRuns:
    """The runs of a cross-validation, one per fold, and the names of the folds."""

    names: tuple[str, ...]
    runs: tuple[Run, ...]

    @property
    def n(self) -> int:
        """Questions of all folds."""
        return sum(len(run.questions) for run in self.runs)

    @property
    def remarks(self) -> list[str]:
        """The remarks of all folds, with their names."""
        named = zip(self.names, self.runs, strict=True)
        return [f"fold {name}: {remark}" for name, run in named for remark in run.remarks]

    def spread(
        self, metric: str, *, reading: str | None = None, slice: str = "all", level: float = 0.95
    ) -> Spread:
        """Average a figure over the folds, whatever their sizes.

        `metric`, `reading` and `slice` are those of `canonym.evaluation.Run.figure`, whose error a
        fold without such a figure is; `level` is the confidence of the t interval. It shows the
        influence of the fold. Folds of one corpus repeat its mentions, and say less than as many
        corpora would.
        """
        values = [run.value(metric, reading=reading, slice=slice) for run in self.runs]
        return aggregate(values, level=level)


def evaluate_folds(
    folds: Iterable[Fold],
    *,
    terminology: Terminology | None = None,
    encoders: Sequence[str | Encoder] = ("chargrams",),
    protocol: str | Protocol = "plain",
    part: str = "test",
    **options: Unpack[EvaluationOptions],
) -> FoldRuns:
    """Evaluate on every fold of a cross-validation, two or more of them.

    `terminology` is the target of linking, by default the list of targets of each fold. Encoders
    that are fitted to names are fitted again for each fold. The `part` is ``"test"``, with train
    and dev as training data, or ``"dev"``, with train. Other options, and errors, are those of
    `canonym.evaluation.evaluate_corpus`. `InvalidInput` are also fewer than two folds, one without
    mentions in the part, and no terminology.

    Yuan et al. (2020), CODER, section 4.4.1: the average over the folds of CADEC and PsyTar. Each
    fold is searched in its list of targets.
    """
    several = tuple(folds)
    if len(several) < 2:
        raise InvalidInput(f"{len(several)} folds have no spread; at least two are expected")
    if part not in {"test", "dev"}:
        raise InvalidInput(f"part is {part!r}; 'test' or 'dev' is expected")
    runs = []
    for fold in several:
        mentions = fold.test if part == "test" else fold.dev
        if not mentions:
            raise InvalidInput(f"the fold {fold.name} has no {part} mentions")
        before = (*fold.train, *fold.dev) if part == "test" else fold.train
        runs.append(
            evaluate_corpus(
                [Document(fold.name, "", mentions)],
                terminology=terminology or _targets(fold),
                # An encoder fitted to the names of one fold must not reach the next.
                encoders=[
                    encoder if isinstance(encoder, str) else copy.copy(encoder)
                    for encoder in encoders
                ],
                protocol=protocol,
                part=part,
                training=[Document(f"{fold.name} train", "", before)] if before else (),
                **options,
            )
        )
    return FoldRuns(tuple(fold.name for fold in several), tuple(runs))


def _targets(fold: Fold) -> Terminology:
    if fold.targets is None:
        raise InvalidInput(
            f"the fold {fold.name} has no list of targets (standard.txt); name a terminology"
        )
    return read_terminology(fold.targets, format="table", header=False)
