"""Trials of any source, chosen by study type, phase, intervention type and condition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from canonym.corpora.aact import is_aact, read_aact
from canonym.corpora.trials import (
    PHASES,
    Trial,
    parse_phases,
    read_trials_json,
    read_trials_table,
    read_trials_xml,
)
from canonym.errors import InvalidInput, ReadError
from canonym.io.streams import open_bytes


def read_trials(path: str | Path) -> Iterator[Trial]:
    """Read trials of any source: XML, JSON, a table, or an export of AACT.

    Parameters
    ----------
    path : str or Path
        A file or folder that `read_trials_xml`, `read_trials_json`, `read_trials_table` or
        `read_aact` reads. A folder is AACT's if it has its files, else its XML is read before JSON.

    Raises
    ------
    ReadError
        If there is no such file or folder, or its reader raises one.
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(path, "there is no such file or folder")
    if is_aact(path):
        return read_aact(path)
    if path.is_dir():
        in_json = next(path.rglob("*.xml"), None) is None
        return read_trials_json(path) if in_json else read_trials_xml(path)
    with open_bytes(path) as source:
        first = source.read(64).lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")[:1]
    if first == b"<":
        return read_trials_xml(path)
    return read_trials_json(path) if first in (b"{", b"[") else read_trials_table(path)


def select_trials(
    trials: Iterable[Trial],
    *,
    study_types: Collection[str] = (),
    phases: Collection[str] = (),
    intervention_types: Collection[str] = (),
    conditions: Collection[str] = (),
) -> Iterator[Trial]:
    """Yield the trials that meet every criterion given.

    Parameters
    ----------
    trials : iterable of Trial
        From a reader.
    study_types : collection of str
        Such as ``Interventional``.
    phases : collection of str
        Of `canonym.corpora.trials.PHASES`; a trial of two phases is in both.
    intervention_types : collection of str
        Such as ``Drug``. A trial with one of them keeps its other interventions too.
    conditions : collection of str
        Words that a condition of the trial has, or a term of NLM for its conditions.

    Yields
    ------
    Trial
        Unchanged. Case makes no difference, and several values of a criterion are alternatives.

    Raises
    ------
    InvalidInput
        If a phase is unknown.

    Notes
    -----
    The DILBERT paper takes interventional studies of any of the five phases, with an intervention
    of the types Biological, Combination Product or Drug.

    Examples
    --------
    >>> from canonym.corpora.trials import make_trial
    >>> trials = [
    ...     make_trial("1", "", ["Pain"], [("Drug", "aspirin")], phases=["Phase 1/Phase 2"]),
    ...     make_trial("2", "", ["Pain"], [("Device", "brace")], phases=["N/A"]),
    ... ]
    >>> [trial.document.id for trial in select_trials(trials, phases=["Phase 2"])]
    ['1']
    """
    for phase in phases:
        if parse_phases(phase) != (phase,):
            raise InvalidInput(f"the phase {phase!r} is not known; use one of {', '.join(PHASES)}")
    studies, kinds = _folded(study_types), _folded(intervention_types)
    words = _folded(conditions)
    return (
        trial
        for trial in trials
        if (not studies or trial.study_type.casefold() in studies)
        and (not phases or not set(phases).isdisjoint(trial.phases))
        and (not kinds or not kinds.isdisjoint(_folded(m.type for m in trial.interventions)))
        and (not words or _has_condition(trial, words))
    )


def _has_condition(trial: Trial, words: set[str]) -> bool:
    names = _folded((*(mention.text for mention in trial.conditions), *trial.condition_names))
    return any(word in name for word in words for name in names)


def _folded(texts: Iterable[str]) -> set[str]:
    return {" ".join(text.casefold().split()) for text in texts}
