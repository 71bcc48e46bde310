"""Decisions as mappings, which the writers of `canonym.exchange` take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple

from canonym import __version__
from canonym.errors import InvalidInput
from canonym.exchange.mappings import Mapping as Claim
from canonym.exchange.mappings import Origin, Verdict, origin_of
from canonym.exchange.omop import UsagiWriter
from canonym.exchange.sssom import SssomWriter
from canonym.exchange.writers import Choices, mapping_writer
from canonym.io.curies import split_id
from canonym.review.models import Decision, Review
from canonym.review.store import DECIDED, Entry, Store, decided_ids
from canonym.terminology import Terminology
from canonym.text import normalise
from canonym.types import Against, Candidate, Step


class _Survey(NamedTuple):
    """What has to be known of all items before the first of them is written.

    It is how many contexts each mention has, which concepts are meant by one, and how often the
    prefixes of ids occur.
    """

    contexts: Counter[str]
    meant: set[tuple[str, str]]
    prefixes: Counter[str]


def write_mappings(
    stream: IO[str],
    store: Store,
    review_id: int,
    format: str,
    terminology: Terminology | None,
    choices: Choices,
) -> None:
    """Write the decisions of a review as ``sssom``, ``usagi``, ``omop`` or ``fhir``.

    Usagi gets all mentions, with proposals for those to decide; the others what was decided. Only
    OMOP needs the `terminology`; for others it adds its version, and domains for Usagi. Raises
    `InvalidInput` if a column is missing, or the format cannot hold the concepts.
    """
    review = store.review(review_id)
    survey = _survey(store, review_id, prefixes=terminology is None)
    cases = _cases(store, review, survey, terminology, choices)
    known = tuple(prefix for prefix, _ in survey.prefixes.most_common()) or ("",)
    origin = Origin(__version__, review.fingerprint, known, date=choices.date)
    if terminology is not None:
        origin = origin_of(terminology, review.fingerprint, choices.date)
    address = choices.mapping_set_id or f"urn:canonym:review:{review.fingerprint}:{review_id}"
    writer = mapping_writer(
        stream,
        format,
        origin,
        choices._replace(mapping_set_id=address),
        terminology=terminology,
        columns=review.columns,
        mention_column=review.column,
        title=review.name,
        reviewed=True,
    )
    for code, entry, claims, cells, frequency in cases:
        mention, decision = entry.item.mention, entry.decision
        if isinstance(writer, UsagiWriter):
            writer.add(code, mention, claims, cells, frequency=frequency)
        elif decision is None or decision.kind not in DECIDED:
            continue
        elif isinstance(writer, SssomWriter):
            writer.add(claims)
        else:
            writer.add(code, mention, claims)
    writer.close()


def _cases(
    store: Store, review: Review, survey: _Survey, terminology: Terminology | None, choices: Choices
) -> Iterator[tuple[str, Entry, list[Claim], Sequence[str], int]]:
    """Yield each mention once, or with a column of codes once for each row.

    Before it stands its code; behind it what is claimed, the cells of a row, and how often it
    occurs. A mention that was decided in several contexts has a code for each of them.
    """
    columns = list(review.columns)
    for name in (choices.code_column, choices.frequency_column):
        if name and columns.count(name) != 1:
            raise InvalidInput(f"the list has no such column, or several: {name[:60]!r}")

    by_row = bool(choices.code_column or choices.frequency_column)
    codes = choices.codes(columns)
    comments = store.comments(review.id)
    seen: set[int] = set()
    for row, entry in store.rows(review.id):
        if entry is None or (not by_row and entry.item.id in seen):
            continue
        seen.add(entry.item.id)
        code = codes.code(entry.item.mention, row.cells)
        if survey.contexts[entry.item.mention] > 1 and entry.item.context:
            code = f"{code} [{entry.item.context}]"
        frequency = codes.frequency(row.cells) if by_row else entry.item.frequency
        claims = claims_of(entry, terminology, comments.get(entry.item.id, ()))
        claims = [claim for claim in claims if _holds(claim, survey)]
        yield code, entry, claims, row.cells, frequency


def _survey(store: Store, review_id: int, *, prefixes: bool) -> _Survey:
    survey = _Survey(Counter(), set(), Counter())
    for entry in store.entries(review_id, proposals=prefixes):
        survey.contexts[entry.item.mention] += 1
        form, ids = normalise(entry.item.mention), decided_ids(entry.decision)
        survey.meant.update((form, id_) for id_ in ids)
        if prefixes:
            proposed = [concept["id"] for concept in entry.item.proposal.get("concepts", ())]
            survey.prefixes.update(split_id(id_)[0] for id_ in (*proposed, *ids))
    return survey


def _holds(claim: Claim, survey: _Survey) -> bool:
    """Tell whether a claim stands: what is meant in one context is refused in none."""
    id_ = claim.candidate.id if claim.candidate else ""
    return claim.relation != "refused" or (normalise(claim.text), id_) not in survey.meant


def comment_of(decision: Decision | None, further: Iterable[Decision]) -> str:
    """Return the comment of a decision, and what people only commented, with their names."""
    own = decision.comment if decision else ""
    return "; ".join(
        filter(None, [own, *(f"{remark.who}: {remark.comment}" for remark in further)])
    )


def claims_of(
    entry: Entry, terminology: Terminology | None, comments: Sequence[Decision] = ()
) -> list[Claim]:
    """Return what was decided on an item, or else what is proposed, and what was refused."""
    item, decision, _ = entry
    proposed = item.proposal.get("concepts", ())
    comment = comment_of(decision, comments)
    if decision is None or decision.kind not in (*DECIDED, "flag"):
        undecided = Verdict("", comment=comment) if comment else None
        return [_claim(entry, concept, undecided, terminology) for concept in proposed or (None,)]
    verdict = Verdict(
        decision.kind,
        who=decision.who,
        comment=comment,
        made=decision.made,
        fingerprint=decision.fingerprint,
        context=item.context,
        together=len(decision.concepts) > 1,
    )
    if decision.kind == "flag":
        return [_claim(entry, concept, verdict, terminology) for concept in proposed or (None,)]
    claims = [
        _claim(entry, concept, verdict._replace(relation=concept["relation"]), terminology)
        for concept in decision.concepts
    ] or [_claim(entry, None, verdict, terminology)]
    passed_over = len(proposed) == 1 and proposed[0]["id"] not in decided_ids(decision)
    if passed_over and not verdict.is_unseen:
        refused = verdict._replace(relation="refused")
        claims.append(_claim(entry, proposed[0], refused, terminology))
    return claims


def _claim(
    entry: Entry,
    concept: Mapping[str, Any] | None,
    verdict: Verdict | None,
    terminology: Terminology | None,
) -> Claim:
    item = entry.item
    if concept is None:
        reason = item.proposal.get("reason", "")
        return Claim(item.mention, "", "", None, None, reason, verdict)
    id_ = concept["id"]
    listed = (
        candidate for candidate in item.proposal.get("candidates", ()) if candidate["id"] == id_
    )
    seen: Mapping[str, Any] = next(listed, {})
    known = terminology.resolve(id_) if terminology else None
    candidate = Candidate(
        id_,
        concept["label"],
        seen.get("score", 0.0),
        seen.get("name", ""),
        seen.get("scope", ""),
        terminology.concept(known).types if terminology and known else (),
        seen.get("sieve", ""),
        against=Against.from_dict(seen["against"]) if seen.get("against") else Against(),
    )
    was_proposed = id_ in [concept["id"] for concept in item.proposal.get("concepts", ())]
    refused = verdict is not None and verdict.relation == "refused"
    sure = item.proposal.get("confidence") if was_proposed and not refused else None
    return Claim(
        *(item.mention, "", seen.get("searched", ""), candidate, sure, "", verdict),
        steps=tuple(map(_step, item.proposal.get("steps", ()))) if was_proposed else (),
        status=tuple(item.proposal.get("status", ())),
    )


def _step(line: str) -> Step:
    """Return a step from the line that a proposal has of it."""
    name, _, change = line.partition(": ")
    before, _, after = change.partition(" → ")
    return Step(name, before, after)
