"""Conditions and interventions of clinical trials with the MeSH terms that a program gave them.

A trial has a list of conditions and a list of terms, and nobody says which term is meant by which
condition: only trials with one condition are taken. What is right is any of the trial's terms. A
condition that is a name of a concept already asks nothing, since that is how most terms were
assigned, and where the term is another one it is mostly wrong; it is left out, and so is one that
was met before.

Interventions are asked against a terminology of drugs, which lacks many of them: they are there to
measure NIL by, so that those which are a name stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from canonym.corpora.trials import Trial
from canonym.errors import InvalidInput
from canonym.evaluation.gold import ConceptIds
from canonym.terminology import Terminology
from canonym.text import biosyn_normal
from canonym.types import Document, Mention

__all__ = ["DRUG_TYPES", "SilverMentions", "silver_conditions", "silver_interventions"]

DRUG_TYPES: frozenset[str] = frozenset({"Biological", "Combination Product", "Drug"})
"""Types of interventions that are drugs."""


class SilverMentions(NamedTuple):
    """Documents of one mention each, and how many trials were left out, by reason."""

    documents: tuple[Document, ...]
    dropped: dict[str, int]
    kind: str

    @property
    def remarks(self) -> list[str]:
        """What a reader of figures on these has to know, as sentences."""
        told = [f"{n:,} trials {reason} were left out" for reason, n in self.dropped.items() if n]
        return [f"{len(self.documents):,} {self.kind} with silver labels", *told]


def silver_conditions(trials: Iterable[Trial], terminology: Terminology) -> SilverMentions:
    """Make mentions with concepts of the conditions of trials.

    Parameters
    ----------
    trials : iterable of Trial
        With the terms of NLM, as ids or as names.
    terminology : Terminology
        MeSH, or a part of it; names are labels of its concepts.

    Returns
    -------
    SilverMentions
        In the order of the trials.

    Raises
    ------
    InvalidInput
        If no condition is left.

    Differences
    -----------
    DILBERT's test set of conditions was annotated by two people; these labels are silver, and some
    of them are wrong or broader than the condition.

    References
    ----------
    Miftahutdinov et al. (2021), section 3: what NLM assigns is incomplete.
    """
    ids = ConceptIds(terminology)
    label_of: dict[str, str] = {}
    for concept in terminology.iter_concepts():
        label_of.setdefault(biosyn_normal(concept.label), concept.id)
    names = {biosyn_normal(name.text) for name in terminology.iter_names()}
    reasons = (
        "with several conditions or none",
        "without a term that the terminology has",
        "whose condition is a name of a concept already",
        "whose condition an earlier one has",
    )
    dropped = dict.fromkeys(reasons, 0)
    met: set[str] = set()
    documents = []
    for trial in trials:
        found = [ids.find(id_) for id_ in trial.condition_ids]
        found += [label_of.get(biosyn_normal(name)) for name in trial.condition_names]
        concepts = tuple(dict.fromkeys(id_ for id_ in found if id_ is not None))
        text = trial.conditions[0].text if len(trial.conditions) == 1 else ""
        normal = biosyn_normal(text)
        if not normal:
            reason = reasons[0]
        elif not concepts:
            reason = reasons[1]
        elif normal in names:
            reason = reasons[2]
        elif normal in met:
            reason = reasons[3]
        else:
            met.add(normal)
            mention = Mention(
                text, 0, len(text), "Condition", ids=concepts, document_id=trial.document.id
            )
            documents.append(Document(trial.document.id, text, (mention,)))
            continue
        dropped[reason] += 1
    return _found(documents, dropped, "condition")


def silver_interventions(trials: Iterable[Trial], terminology: Terminology) -> SilverMentions:
    """Make mentions, with concepts or with none, of the interventions of trials that are drugs.

    Parameters
    ----------
    trials : iterable of Trial
        With the terms of NLM.
    terminology : Terminology
        Of drugs, such as DrugBank's. A term of NLM stands for the concepts that have its name.

    Returns
    -------
    SilverMentions
        In the order of the trials. A mention has no ids where no term of NLM is a name of the
        terminology.

    Raises
    ------
    InvalidInput
        If no intervention is left.

    Differences
    -----------
    DILBERT's test set of interventions was annotated by two people. Here an intervention without
    a concept may have one that NLM's program did not see; those whose very text is a name are left
    out, and the others are the noise of these labels.

    References
    ----------
    Miftahutdinov et al. (2021), sections 3 and 5.4.
    """
    having: dict[str, dict[str, None]] = {}
    for name in terminology.iter_names():
        having.setdefault(biosyn_normal(name.text), {})[name.concept_id] = None
    reasons = (
        "with several interventions or none",
        "whose intervention is no drug",
        "whose intervention is a name although its terms are none",
        "whose intervention an earlier one has",
    )
    dropped = dict.fromkeys(reasons, 0)
    met: set[str] = set()
    documents = []
    for trial in trials:
        mention = trial.interventions[0] if len(trial.interventions) == 1 else None
        normal = biosyn_normal(mention.text) if mention else ""
        found = (having.get(biosyn_normal(name), {}) for name in trial.intervention_names)
        ids = tuple(dict.fromkeys(id_ for concepts in found for id_ in concepts))
        if mention is None or not normal:
            reason = reasons[0]
        elif mention.type not in DRUG_TYPES:
            reason = reasons[1]
        elif not ids and normal in having:
            reason = reasons[2]
        elif normal in met:
            reason = reasons[3]
        else:
            met.add(normal)
            text, id_ = mention.text, trial.document.id
            rule = "any" if ids else "nil"
            asked = Mention(text, 0, len(text), mention.type, ids=ids, rule=rule, document_id=id_)
            documents.append(Document(id_, text, (asked,)))
            continue
        dropped[reason] += 1
    return _found(documents, dropped, "intervention")


def _found(documents: list[Document], dropped: dict[str, int], kind: str) -> SilverMentions:
    if not documents:
        told = ", ".join(f"{n:,} {reason}" for reason, n in dropped.items() if n)
        raise InvalidInput(f"the trials leave no {kind} to ask about: {told or 'there is none'}")
    return SilverMentions(tuple(documents), dropped, f"{kind}s")
