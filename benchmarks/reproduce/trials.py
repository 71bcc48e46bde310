"""The choice of clinical trials that published tables have, and their composite mentions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from canonym.corpora.pubtator import read_pubtator
from canonym.errors import InvalidInput
from canonym.types import Document
from reproduce.readers.trials import PHASES, Trial

_JOINTS = frozenset({"combination", "combine", "combined", "plus", "vs", "+"})


def trial_parts(text: str) -> tuple[str, ...]:
    """Split a field of a trial at the words that announce a composite mention.

    Miftahutdinov et al. (2021), section 5.1, have these words and *+*. Nothing else is taken off: a
    dose or a form stays.

    >>> trial_parts("combination of ribociclib + capecitabine")
    ('ribociclib', 'capecitabine')
    """
    parts: list[list[str]] = [[]]
    for word in text.replace("+", " + ").split():
        plain = word.lower().strip(".,:;()")
        if plain in _JOINTS or word == "+":
            parts.append([])
        elif parts[-1] or plain not in {"of", "with"}:
            parts[-1].append(word)
    return tuple(" ".join(part) for part in parts if part) or (text,)


def read_trial_fields(path: Path) -> Iterator[Document]:
    """Read annotated fields of trials in PubTator, with bars between the parts of a mention."""
    for document in read_pubtator(path):
        mentions = (
            replace(mention, text="|".join(trial_parts(mention.text)))
            for mention in document.mentions
        )
        yield replace(document, mentions=tuple(mentions))


def select_trials(
    trials: Iterable[Trial],
    *,
    study_types: Collection[str] = (),
    phases: Collection[str] = (),
    interventions: Collection[str] = (),
    conditions: Collection[str] = (),
) -> Iterator[Trial]:
    """Yield the trials that meet every condition given, whole and in order.

    `study_types` are such as ``"Interventional"``. One of `phases`, some of `PHASES`, is enough for
    a trial in two phases. `interventions` are types, one of which some intervention has, such as
    ``"Drug"``. `conditions` are parts of the text of some condition, or of one of NLM's terms for
    the conditions. No letter case matters anywhere. Raises `InvalidInput` if a phase is none of
    `PHASES`, or the study type of a trial is unknown and `study_types` or `phases` are given.

    Miftahutdinov et al. (2021), section 3, select ``study_types=["Interventional"]``, all `PHASES`
    and ``interventions=["Biological", "Combination Product", "Drug"]``.
    """
    known = {phase.casefold() for phase in PHASES}
    types_of_study, in_phases, kinds, parts = (
        {value.casefold() for value in some}
        for some in (study_types, phases, interventions, conditions)
    )
    if strange := sorted(in_phases - known):
        raise InvalidInput(f"{strange[0]!r} is no phase: give one of {', '.join(PHASES)}")
    for trial in trials:
        if (types_of_study or in_phases) and not trial.study_type:
            raise InvalidInput(
                f"the source of the trial {trial.document.id!r} does not say its study type and "
                "phase: select by interventions and conditions, or read XML, JSON or AACT"
            )
        names = [*(m.text for m in trial.conditions), *trial.condition_names]
        if (
            (not types_of_study or trial.study_type.casefold() in types_of_study)
            and (not in_phases or not in_phases.isdisjoint(map(str.casefold, trial.phases)))
            and (not kinds or any(m.type.casefold() in kinds for m in trial.interventions))
            and (not parts or any(part in name.casefold() for name in names for part in parts))
        ):
            yield trial
