"""Links as literal mappings in SSSOM, the Simple Standard for Sharing Ontological Mappings.

References
----------
Matentzoglu et al. (2022), A Simple Standard for Sharing Ontological Mappings (SSSOM), Database.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import IO

from canonym.exchange.mappings import Mapping as Claim
from canonym.exchange.mappings import Origin, Verdict, mappings_of
from canonym.export.rows import FORMULAS, number
from canonym.io.curies import LOCAL, namespaces, split_id, with_prefix
from canonym.io.encodings import without_surrogates
from canonym.text import PLAIN, STEPS, STRONG, UNORDERED, explain
from canonym.types import ConceptMapping, Link

NOT_FOUND = "sssom:NoTermFound"
"""The object of a mapping that says that there is no concept."""

UNSPECIFIED = "https://w3id.org/sssom/license/unspecified"
"""The licence of a mapping set whose makers name none."""

PREDICATES: dict[str, str] = {
    "equal": "skos:exactMatch",
    "equivalent": "skos:exactMatch",
    "broader": "skos:broadMatch",
    "narrower": "skos:narrowMatch",
    "close": "skos:closeMatch",
    "related": "skos:relatedMatch",
    "refused": "skos:exactMatch",
}
"""Predicates by what the object is to the subject; a refused one gets the modifier ``Not``."""

BY_HAND = "semapv:ManualMappingCuration"
BY_STRING = "semapv:LexicalMatching"
BY_SIMILARITY = "semapv:SemanticSimilarityThresholdMatching"
BY_KNOWLEDGE = "semapv:BackgroundKnowledgeBasedMatching"
"""Of ids and cross-references: no name is compared; the terminology says what they stand for."""
_JUSTIFICATIONS = {"name": BY_STRING, "xref": BY_KNOWLEDGE, "similarity": BY_SIMILARITY}

COLUMNS: tuple[str, ...] = (
    "subject_label", "subject_type", "predicate_id", "predicate_modifier", "object_id",
    "object_label", "object_source", "mapping_justification", "confidence", "similarity_score",
    "similarity_measure", "match_string", "subject_preprocessing", "comment",
)  # fmt: skip
"""Columns of links."""

REVIEW_COLUMNS: tuple[str, ...] = (
    "subject_label", "subject_type", "predicate_id", "predicate_modifier", "object_id",
    "object_label", "object_source", "mapping_justification", "author_label", "reviewer_label",
    "mapping_date", "confidence", "similarity_score", "similarity_measure", "match_string",
    "subject_preprocessing", "comment", "other",
)  # fmt: skip
"""Columns of what people decided."""

CONCEPT_COLUMNS: tuple[str, ...] = (
    "subject_id", "subject_label", "predicate_id", "object_id", "object_label", "subject_source",
    "object_source", "mapping_justification", "confidence", "similarity_score",
    "similarity_measure", "match_string",
)  # fmt: skip
"""Columns of mappings between terminologies."""

_NUMBERS = ("confidence", "similarity_score")
_FORMS = {"verbatim": PLAIN, "normalised": STRONG}
_REGISTRY = "registry"
_PREPROCESSING = {
    "case": "semapv:CaseNormalization",
    "accents": "semapv:DiacriticsSuppression",
    "whitespace": "semapv:BlankNormalization",
    "plural": "semapv:Stemming",
    "fillers": "semapv:StopWordRemoval",
    "possessive": "semapv:RegexRemoval",
    "qualifiers": "semapv:RegexRemoval",
    **dict.fromkeys(
        ("entities", "ions", "signs", "greek", "numerals", "shorthand"), "semapv:RegexReplacement"
    ),
    **dict.fromkeys(("trial field", "composite", "status"), "semapv:TermExtraction"),
}


class SssomWriter:
    """Writes links as literal mappings when it is closed: one a text and concept.

    The surroundings of a mention may change how sure its link is. Of several links of a text to a
    concept the surest is written.

    Parameters
    ----------
    stream, origin
        As of `canonym.exchange.fhir.ConceptMapWriter`.
    mapping_set_id : str
        Address of the mapping set; by default one with the fingerprint of the index.
    license : str
        Address of its licence.
    title : str
        Title of the mapping set.
    reviewed : bool
        Whether people decided on the mappings, who then have columns.
    """

    def __init__(
        self,
        stream: IO[str],
        origin: Origin,
        *,
        mapping_set_id: str = "",
        license: str = "",
        title: str = "",
        reviewed: bool = False,
    ) -> None:
        self._origin = origin
        self._source = object_source(origin.prefixes[0])
        self._table = MappingTable(stream, REVIEW_COLUMNS if reviewed else COLUMNS)
        self._metadata = {
            "mapping_set_id": mapping_set_id or f"urn:canonym:links:{origin.fingerprint}",
            "mapping_set_title": title,
            "license": license or UNSPECIFIED,
            "object_source_version": origin.source_version,
        }
        self._claims: dict[tuple[str, str, str], Claim] = {}

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; cells and explanations have no place here."""
        self.add(mappings_of(link))

    def add(self, claims: Iterable[Claim]) -> None:
        """Take what is claimed of a text."""
        for claim in claims:
            context = claim.verdict.context if claim.verdict else ""
            key = (claim.text, context, claim.candidate.id if claim.candidate else "")
            if claim.certainty > self._claims.setdefault(key, claim).certainty:
                self._claims[key] = claim

    def close(self) -> None:
        """Write everything."""
        self._table.begin(self._origin, self._metadata, self._origin.prefixes)
        for claim in self._claims.values():
            self._table.write(self._row(claim))

    def _row(self, claim: Claim) -> dict[str, str]:
        row = {
            "subject_label": claim.text,
            "subject_type": "rdfs literal",
            "predicate_id": PREDICATES[claim.supported],
            "object_id": NOT_FOUND,
            "object_source": self._source,
            "mapping_justification": BY_SIMILARITY,
            "confidence": number(claim.confidence),
            "comment": claim.evidence,
        }
        best = claim.candidate
        if best is not None:
            row |= {
                "object_id": with_prefix(best.id),
                "object_label": best.label,
                "object_source": object_source(split_id(best.id)[0]),
            }
        if best is not None and best.sieve:  # else a person found it
            row |= {"similarity_score": number(best.score), "similarity_measure": "canonym"}
        if best is not None and claim.by_string:
            added = (best.name, best.id) in self._origin.added
            row |= {
                "mapping_justification": BY_HAND if added else BY_STRING,
                "match_string": _escaped(best.name),
                "subject_preprocessing": _preprocessing(claim),
            }
        if claim.by_id:
            row["mapping_justification"] = BY_KNOWLEDGE
        return row if claim.verdict is None else row | _decided(claim, claim.verdict)


def write_concept_mappings(
    stream: IO[str],
    mappings: Iterable[tuple[ConceptMapping, str, str]],
    subjects: Origin,
    objects: Origin,
    *,
    mapping_set_id: str,
    license: str,
) -> None:
    """Write mappings between two terminologies, each with the labels of its two concepts.

    The fingerprints of the `subjects` and the `objects` are the digests of their contents.
    `mapping_set_id` and `license` are as for `SssomWriter`.
    """
    digests = subjects.fingerprint, objects.fingerprint
    metadata = {
        "mapping_set_id": mapping_set_id or f"urn:canonym:map:{':'.join(digests)}",
        "license": license or UNSPECIFIED,
        "subject_source_version": subjects.source_version,
        "object_source_version": objects.source_version,
        "other": f"canonym_subjects={digests[0]} canonym_objects={digests[1]}",
    }
    table = MappingTable(stream, CONCEPT_COLUMNS)
    table.begin(subjects, metadata, (*subjects.prefixes, *objects.prefixes))
    for mapping, label, other_label in mappings:
        table.write(
            {
                "subject_id": with_prefix(mapping.left),
                "subject_label": label,
                "predicate_id": PREDICATES[mapping.relation],
                "object_id": with_prefix(mapping.right),
                "object_label": other_label,
                "subject_source": object_source(split_id(mapping.left)[0]),
                "object_source": object_source(split_id(mapping.right)[0]),
                "mapping_justification": _JUSTIFICATIONS[mapping.how],
                "confidence": number(mapping.confidence),
                "similarity_score": number(mapping.score),
                "similarity_measure": "canonym",
                "match_string": _escaped(mapping.name),
            }
        )


class MappingTable:
    """The table of a mapping set with its metadata before it."""

    def __init__(self, stream: IO[str], columns: Sequence[str]) -> None:
        self._stream = stream
        self._columns = columns
        self._writer = csv.writer(stream, delimiter="\t", lineterminator="\n")

    def begin(self, origin: Origin, metadata: Mapping[str, str], prefixes: Iterable[str]) -> None:
        """Write the metadata, the tool and its index among them, and the names of the columns."""
        known = namespaces(prefixes) | {_REGISTRY: "https://bioregistry.io/registry/"}
        lines = ["curie_map:", *(f"  {key}: {json.dumps(known[key])}" for key in sorted(known))]
        whole = {
            **metadata,
            "mapping_tool": "canonym",
            "mapping_tool_version": origin.version,
            "mapping_date": origin.date,
            "other": metadata.get("other") or f"canonym_index={origin.fingerprint}",
        }
        lines += [f"{key}: {json.dumps(value)}" for key, value in whole.items() if value]
        self._stream.writelines(f"#{line}\n" for line in lines)
        self._writer.writerow(self._columns)

    def write(self, row: Mapping[str, str]) -> None:
        """Write one mapping, by column; what is missing stays empty.

        Cells that a spreadsheet may take for a formula get an apostrophe before them.
        """
        cells = ((key, without_surrogates(row.get(key, ""))) for key in self._columns)
        self._writer.writerow([cell if key in _NUMBERS else shielded(cell) for key, cell in cells])


def _decided(claim: Claim, verdict: Verdict) -> dict[str, str]:
    """Return who decided what, when, and on which proposal.

    What was accepted along with many others is curated by nobody.
    """
    who, unseen = _escaped(verdict.who), verdict.is_unseen
    facts = {
        "canonym_index": verdict.fingerprint,
        "canonym_time": verdict.moment,
        **({"canonym_accepted_by": who} if unseen else {"canonym_relation": verdict.relation}),
        "canonym_context": _escaped(verdict.context),
    }
    row = {
        "mapping_date": verdict.moment[:10],
        "comment": f"{verdict.comment}; {claim.evidence}" if unseen else verdict.comment,
        "other": "|".join(f"{key}={value}" for key, value in facts.items() if value),
    }
    if unseen:
        return row
    return row | {
        "predicate_modifier": "Not" if verdict.relation == "refused" else "",
        "mapping_justification": BY_HAND,
        "author_label": who,
        "reviewer_label": who,
    }


def object_source(prefix: str) -> str:
    """Return the id of the terminology whose ids have a prefix."""
    return f"{_REGISTRY}:{(prefix or LOCAL).lower()}"


def _preprocessing(claim: Claim) -> str:
    """Name the steps that really changed the text, those that SSSOM has a word for."""
    best, text = claim.candidate, claim.searched or claim.text
    steps = claim.steps
    if best is None or best.name == text:  # as written: no normal form was needed
        steps = tuple(step for step in steps if step.name not in STEPS)
    elif not steps:  # a proposal of a review
        steps = explain(text, _FORMS.get(best.sieve, UNORDERED))
    names = (_PREPROCESSING.get(step.name) for step in steps)
    return "|".join(dict.fromkeys(name for name in names if name))


def shielded(cell: str) -> str:
    """Put an apostrophe before a formula, with or without apostrophes, so that none gets lost.

    >>> [shielded(text) for text in ("hip", "=1+1", "'=1+1")]
    ['hip', "'=1+1", "''=1+1"]
    """
    cell = cell.replace("\r", "\n")  # which is quoted, so that a row stays one
    return f"'{cell}" if cell.lstrip("'").startswith(FORMULAS) else cell


def unshielded(cell: str) -> str:
    """Undo `shielded`."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'").startswith(FORMULAS) else cell


def _escaped(value: str) -> str:
    """Return a value of a column that may hold several, which a bar separates."""
    return value.replace("|", r"\|")
