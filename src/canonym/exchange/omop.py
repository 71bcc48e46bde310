"""Links for OHDSI: the save file of Usagi, and ``source_to_concept_map`` of the OMOP CDM 5.4."""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import IO, NamedTuple

from canonym.errors import InvalidInput
from canonym.exchange.mappings import Codes, Mapping, Origin, mappings_of, tool
from canonym.export.rows import number
from canonym.io.curies import split_id
from canonym.io.encodings import without_surrogates
from canonym.terminology import Terminology
from canonym.text.qualifiers import names_side
from canonym.types import Link

USAGI_COLUMNS: tuple[str, ...] = (
    "sourceCode", "sourceName", "sourceFrequency", "sourceAutoAssignedConceptIds", "matchScore",
    "mappingStatus", "equivalence", "statusSetBy", "statusSetOn", "conceptId", "conceptName",
    "domainId", "mappingType", "comment", "createdBy", "createdOn", "assignedReviewer",
)  # fmt: skip
"""Columns of a save file of Usagi; further columns of the source stand before ``matchScore``."""

INFO = "ADD_INFO:"
"""What the name of a further column of the source begins with."""

MAP_COLUMNS: tuple[str, ...] = (
    "source_code", "source_concept_id", "source_vocabulary_id", "source_code_description",
    "target_concept_id", "target_vocabulary_id", "valid_start_date", "valid_end_date",
    "invalid_reason",
)  # fmt: skip
"""Columns of ``source_to_concept_map``."""

EQUIVALENCES: dict[str, str] = {
    "equal": "EQUAL",
    "equivalent": "EQUIVALENT",
    "broader": "WIDER",
    "narrower": "NARROWER",
    "close": "INEXACT",
    "related": "INEXACT",
}
"""The words of Usagi for relations."""

LONGEST_CODE = 50
LONGEST_VOCABULARY = 20
_SAME = ("equal", "equivalent")
_LONGEST_DESCRIPTION = 255
_FIRST_DAY, _LAST_DAY = "1970-01-01", "2099-12-31"


class Target(NamedTuple):
    """A standard concept: its id, its vocabulary, and its types, the domain first."""

    id: str
    vocabulary: str
    types: tuple[str, ...]


def is_omop(id_: str) -> bool:
    """Tell whether an id can be that of a concept of OMOP."""
    prefix, local = split_id(id_)
    return prefix in ("", "OMOP") and local.isascii() and local.isdecimal()


def omop_number(id_: str) -> int:
    """Return the ``concept_id`` of an id; an id that is none is an `InvalidInput`."""
    if not is_omop(id_):
        raise InvalidInput(
            f"{id_!r} is no concept of OMOP, whose ids are numbers: link to a terminology that was "
            "imported from Athena (`canonym import FOLDER --format athena`), or write sssom"
        )
    return int(split_id(id_)[1])


class StandardConcepts:
    """Finds the standard concepts that a concept maps to, itself if it is one.

    A terminology without any "Maps to" holds standard concepts alone. A concept that is gone maps
    to none.
    """

    def __init__(self, terminology: Terminology) -> None:
        self._terminology = terminology
        self._maps = next(terminology.iter_relations("maps_to"), None) is not None

    def __call__(self, id_: str) -> list[Target]:
        known = self._terminology.resolve(id_)
        if known is None:
            return []
        ids = self._terminology.related(known, "maps_to") if self._maps else (known,)
        concepts = map(self._terminology.concept, ids)
        return [Target(concept.id, concept.source, concept.types) for concept in concepts]


class UsagiWriter:
    """Writes the save file of Usagi, for a review there, when it is closed.

    A text has a row for each concept. Texts that are equal and have the same code are one, whose
    frequency is their sum, whose further columns are those of the first, and whose concepts are
    those of the surest link. All are ``UNCHECKED``, but for what people decided: links and texts
    without a concept are ``APPROVED``. What was refused stays among the concepts that were assigned
    automatically.

    Parameters
    ----------
    stream, origin
        As of `canonym.exchange.fhir.ConceptMapWriter`.
    columns : dict of str to int
        Further columns of the source, and their places in a row.
    codes : Codes
        Where codes and frequencies are.
    """

    def __init__(
        self,
        stream: IO[str],
        origin: Origin,
        *,
        columns: dict[str, int] | None = None,
        codes: Codes = Codes(),  # noqa: B008 - it cannot be changed
    ) -> None:
        self._origin = origin
        self._columns = columns or {}
        self._codes = codes
        self._found: dict[tuple[str, str], tuple[list[Mapping], list[str]]] = {}
        self._frequency: dict[tuple[str, str], int] = {}
        at = USAGI_COLUMNS.index("matchScore")
        info = [f"{INFO}{name}" for name in self._columns]
        self._header = [*USAGI_COLUMNS[:at], *info, *USAGI_COLUMNS[at:]]
        self._stream = stream

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; explanations have no place here."""
        text = link.mention.text.strip()
        code, frequency = self._codes.code(text, cells), self._codes.frequency(cells)
        self.add(code, text, list(mappings_of(link)), cells, frequency=frequency)

    def add(
        self, code: str, text: str, claims: list[Mapping], cells: Sequence[str], *, frequency: int
    ) -> None:
        """Take what is claimed of a text with its code, and how often it occurs."""
        if not text:
            return
        for claim in claims:
            if claim.candidate is not None:
                omop_number(claim.candidate.id)
        info = [cells[at] for at in self._columns.values()]
        before, info = self._found.setdefault((code, text), (claims, info))
        if _certainty(claims) > _certainty(before):
            self._found[code, text] = (claims, info)
        self._frequency[code, text] = self._frequency.get((code, text), 0) + frequency

    def close(self) -> None:
        """Write everything."""
        writer = csv.writer(self._stream, lineterminator="\n")
        writer.writerow(self._header)
        for key, (claims, info) in self._found.items():
            for row in self._rows(key, claims):
                row |= dict(zip((f"{INFO}{name}" for name in self._columns), info, strict=True))
                writer.writerow([without_surrogates(row.get(name, "")) for name in self._header])

    def _rows(self, key: tuple[str, str], claims: list[Mapping]) -> list[dict[str, str]]:
        mapped = [claim for claim in claims if claim.candidate and claim.relation != "refused"]
        refused = [
            claim.candidate.id for claim in claims if claim.candidate and claim not in mapped
        ]
        rows = []
        for claim in mapped or claims[:1]:
            best = claim.candidate if mapped else None
            row = {
                "sourceCode": key[0],
                "sourceName": key[1],
                "sourceFrequency": str(self._frequency[key]),
                "sourceAutoAssignedConceptIds": ";".join(str(omop_number(id_)) for id_ in refused),
                "matchScore": number(best.score) if best else "0",
                "mappingStatus": "UNCHECKED",
                "equivalence": "UNREVIEWED",
                "statusSetOn": "0",
                "conceptId": str(omop_number(best.id)) if best else "0",
                "conceptName": best.label if best else "Unmapped",
                "domainId": best.types[0] if best and best.types else "",
                "mappingType": "MAPS_TO" if best else "",
                "comment": f"{claim.evidence} ({self._origin.tool})",
                "createdBy": f"canonym {self._origin.version}",
                "createdOn": str(self._origin.milliseconds or 0),
            }
            rows.append(row | self._decided(claim))
        return rows

    def _decided(self, claim: Mapping) -> dict[str, str]:
        """Return what a person decided, in the words of Usagi."""
        verdict = claim.verdict
        if verdict is None:
            return {}
        if not verdict.kind:  # commented, and not decided
            return {"comment": f"{verdict.comment} [{self._origin.tool}]"}
        made_by = tool(self._origin.version, verdict.fingerprint)
        if claim.confidence is not None:
            made_by += f", confidence {number(claim.confidence)}"
        set_ = {
            "mappingStatus": "APPROVED",
            "equivalence": "UNMATCHED",
            "statusSetBy": verdict.who,
            "statusSetOn": str(round(verdict.made * 1000)),
            "comment": f"{verdict.comment} [{made_by}]".strip(),
        }
        if verdict.is_unseen:
            set_ |= {"mappingStatus": "AUTO_MAPPED", "equivalence": "UNREVIEWED"}
        elif verdict.kind == "link":
            set_["equivalence"] = EQUIVALENCES[verdict.relation]
        elif verdict.kind == "flag":
            set_ |= {"mappingStatus": "FLAGGED", "equivalence": "UNREVIEWED"}
        return set_


def may_map(claim: Mapping) -> bool:
    """Tell whether "Maps to" may lead from a text to the concept that is claimed for it.

    A person may choose any concept that is the same or broader. Where nobody looked, the concept
    has to be the same, or to lack a mere detail of the text: how bad something is, or since when.
    Any other word may make another thing of it: *asthma medication*, *migraine diet*.
    """
    verdict, best = claim.verdict, claim.candidate
    if best is None:
        return False
    if verdict is not None and not verdict.is_unseen:
        return verdict.relation in (*_SAME, "broader")
    relation = claim.supported
    if relation == "broader":
        has_side = names_side(claim.text) and not names_side(best.name)
        return best.against.relation == "equal" and not has_side
    return relation in _SAME


class SourceMapWriter:
    """Writes ``source_to_concept_map`` when it is closed, with standard concepts as targets.

    A text whose concept it may not be mapped to (`may_map`), without a concept, or with none in the
    `domains` has the target 0. A code of more than fifty characters is cut, and ends with a part of
    its SHA-256 then.

    Parameters
    ----------
    stream : text stream
        Target.
    origin : Origin
        Its day becomes ``valid_start_date``, 1970-01-01 where there is none.
    vocabulary : str
        The ``source_vocabulary_id``, at most twenty characters.
    standard : callable
        Returns the standard concepts that an id maps to.
    domains : collection of str
        Only targets of these domains; all by default.
    codes : Codes
        Where codes are.
    """

    def __init__(
        self,
        stream: IO[str],
        origin: Origin,
        *,
        vocabulary: str,
        standard: Callable[[str], Sequence[Target]],
        domains: Collection[str] = (),
        codes: Codes = Codes(),  # noqa: B008 - it cannot be changed
    ) -> None:
        self._stream = stream
        self._day = origin.date or _FIRST_DAY
        self._vocabulary = vocabulary
        self._standard = standard
        self._domains = {domain.casefold() for domain in domains}
        self._codes = codes
        self._targets: dict[tuple[str, str], dict[tuple[str, str], None]] = {}

    def write(self, link: Link, cells: Sequence[str] = (), *, explanation: str = "") -> None:  # noqa: ARG002
        """Take one link; explanations have no place here."""
        text = link.mention.text.strip()
        self.add(self._codes.code(text, cells), text, mappings_of(link))

    def add(self, code: str, text: str, claims: Iterable[Mapping]) -> None:
        """Take what is claimed of a text with its code."""
        if not text:
            return
        described = without_surrogates(text)[:_LONGEST_DESCRIPTION]
        targets = self._targets.setdefault((_short(code), described), {})
        ids = [claim.candidate.id for claim in claims if claim.candidate and may_map(claim)]
        for target in itertools.chain.from_iterable(map(self._standard, ids)):
            domain = {type_.casefold() for type_ in target.types[:1]}
            if not self._domains or domain & self._domains:
                targets[str(omop_number(target.id)), target.vocabulary[:LONGEST_VOCABULARY]] = None

    def close(self) -> None:
        """Write everything."""
        writer = csv.writer(self._stream, lineterminator="\n")
        writer.writerow(MAP_COLUMNS)
        for (code, described), targets in self._targets.items():
            head = (code, "0", self._vocabulary, described)
            for target in targets or [("0", "None")]:
                writer.writerow((*head, *target, self._day, _LAST_DAY, ""))


def _certainty(claims: Sequence[Mapping]) -> tuple[float, float]:
    return min((claim.certainty for claim in claims), default=(0.0, 0.0))


def _short(code: str) -> str:
    code = without_surrogates(code)
    if len(code) <= LONGEST_CODE:
        return code
    digest = hashlib.sha256(code.encode()).hexdigest()[:8]
    return f"{code[: LONGEST_CODE - 9]}~{digest}"
