"""Proposals of an index for items, and the decisions that a new index makes doubtful."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from canonym.linker import Linker
from canonym.review.models import Decision
from canonym.review.store import DECIDED, Entry, Proposed, Store, decided_ids
from canonym.terminology import Terminology
from canonym.types import Candidate, Document, Link, Mention

_BATCH = 64
_Use = Callable[[Callable[[Linker], Any]], Any]


def link_waiting(store: Store, review_id: int, use: _Use, stopped: Callable[[], bool]) -> None:
    """Link all items of a review that wait, a few at a time, until `stopped` says so.

    Killed at any point, it goes on where it was when it is called again. `use` calls a function
    with the newest linker; where that changes meanwhile, all items are linked with the new one.
    """
    while not stopped():
        fingerprint = use(lambda linker: linker.fingerprint)
        if fingerprint != store.review(review_id).fingerprint:
            store.aim(review_id, fingerprint)
        entries = store.waiting(review_id, _BATCH)
        if not entries:
            return

        def work(linker: Linker, entries: list[Entry] = entries) -> tuple[str, list[Proposed]]:
            return linker.fingerprint, _proposed(linker, entries)

        by, proposals = use(work)
        store.propose(by, zip((entry.item for entry in entries), proposals, strict=True))


def _proposed(linker: Linker, entries: Sequence[Entry]) -> list[Proposed]:
    documents = [
        Document("", "", (Mention(entry.item.mention, context=entry.item.context),))
        for entry in entries
    ]
    linked = [links[0] for _, links in linker.link_documents(documents, k=5)]
    proposals = []
    for entry, link in zip(entries, linked, strict=True):
        proposal = proposal_of(link, linker.terminology)
        reason = doubtful(entry, proposal, linker.terminology)
        proposals.append(Proposed(proposal, _sureness(link), reason))
    return proposals


def _sureness(link: Link) -> float:
    """Return the confidence of a link or else its score, from 0 to 1, rounded.

    It is 0 where the mention has a status: nobody accepts "r/o PE" as PE unseen. Where a link names
    nothing it is below 0, and the less the farther its best candidate is, down to -1: what is near
    to a concept is looked at before rubbish.
    """
    if not link.ids:
        near = max((_nearness(part) for part in link.parts or (link,)), default=0.0)
        return round(min(near - 1, -1e-4), 4)
    if link.status:
        return 0.0
    if link.parts:
        return min(_sureness(part) for part in link.parts)
    return round(_nearness(link), 4)


def _nearness(link: Link) -> float:
    """Return the confidence of a link, or else its score, from 0 to 1."""
    sure = link.score if link.confidence is None else link.confidence
    return min(1.0, max(0.0, float(sure or 0)))


def proposal_of(link: Link, terminology: Terminology) -> dict[str, Any]:
    """Return a link as an item keeps it, with the parents of what it names."""
    parts = link.parts or (link,)
    return {
        "concepts": [snapshot(terminology, id_) for id_ in dict.fromkeys(link.ids)],
        "reason": "; ".join(dict.fromkeys(part.reason for part in parts if part.reason)),
        "confidence": link.confidence,
        "by_hand": bool(link.status)
        or any(part.candidates[0].against.contradictions for part in parts if part.id is not None),
        **({"status": list(link.status)} if link.status else {}),
        "steps": [f"{step.name}: {step.before} → {step.after}" for step in link.steps],
        "candidates": [
            _candidate(candidate, part.mention.text if link.parts else "", part.searched)
            for part in parts
            for candidate in part.candidates
        ],
    }


def _candidate(candidate: Candidate, part: str, searched: str) -> dict[str, Any]:
    return {
        **{key: getattr(candidate, key) for key in ("id", "label", "name", "scope", "sieve")},
        "part": part,
        "searched": searched,
        "scores": {name: round(float(score), 4) for name, score in candidate.parts.items()},
        "against": candidate.against.to_dict(),
        "score": round(float(candidate.score), 4),
    }


def snapshot(terminology: Terminology, id: str, relation: str = "equal") -> dict[str, Any]:
    """Return a concept as a decision keeps it, to be compared with later versions."""
    known = terminology.resolve(id)
    if known is None:
        return {"id": id, "label": id, "relation": relation, "parents": []}
    concept = terminology.concept(known)
    parents = sorted(terminology.parents(known))
    return {"id": known, "label": concept.label, "relation": relation, "parents": parents}


# --- new versions ---------------------------------------------------------------------------------


def doubtful(entry: Entry, proposal: dict[str, Any], terminology: Terminology) -> str:
    """Return why a decision should be looked at again under a new index, or nothing.

    It is when a concept was retired, merged or moved, or when a concept comes first now that the
    person who decided did not see above the chosen one.
    """
    decision = entry.decision
    if decision is None or decision.kind not in DECIDED:
        return ""
    for concept in decision.concepts:
        if reason := _changed(concept, terminology):
            return reason
    return _better(entry.item.proposal, proposal, decision)


def _changed(concept: dict[str, Any], terminology: Terminology) -> str:
    id_ = concept["id"]
    named = f"{concept['label']} ({id_})"
    known = terminology.resolve(id_)
    if known is None:
        return f"retired: {named} is no longer in the terminology"
    now = terminology.concept(known)
    if known != id_:
        return f"merged: {named} is now {now.label} ({known})"
    if now.deprecated:
        instead = ", ".join(now.replaced_by)
        return f"{'merged' if instead else 'retired'}: {named} is deprecated" + (
            f", replaced by {instead}" if instead else ""
        )
    parents = sorted(terminology.parents(id_))
    if parents != concept["parents"]:
        names = ", ".join(terminology.concept(id_).label for id_ in parents) or "nothing"
        return f"moved: {named} stands below {names} now"
    return ""


def _better(old: dict[str, Any], new: dict[str, Any], decision: Decision) -> str:
    """Tell of a concept that comes first now, unless it was seen above what was chosen."""
    if not old:  # decided before anything was proposed
        return ""
    seen = [candidate["id"] for candidate in old.get("candidates", ())]
    ids = decided_ids(decision)
    at = min((seen.index(id_) for id_ in ids if id_ in seen), default=len(seen))
    passed_over = set(seen[:at])
    for concept in new["concepts"]:
        if concept["id"] not in passed_over and concept["id"] not in ids:
            return f"a better candidate: {concept['label']} ({concept['id']})"
    return ""
