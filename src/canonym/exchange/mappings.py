"""Links as mappings: a text means a concept, or none.

A composite mention is several mappings, one for each of its parts.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from canonym import __version__
from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import LEAST_CONFIDENCE
from canonym.io.curies import split_id
from canonym.io.tables import whole_count
from canonym.linking.settings import IDS, SIEVES
from canonym.terminology import Terminology
from canonym.text import STEPS
from canonym.text.qualifiers import BROADER
from canonym.types import CORRECTION, OTHER_READINGS, USUAL_READING, Candidate, Link, Step

UNSEEN = "accept"
"""The kind of a verdict on a text that nobody looked at: it was accepted along with others."""

LIKELY = 0.5
"""From this confidence on a link is more likely right than wrong."""

_WHOLE_NAMES = frozenset(sieve.name for sieve in SIEVES if not sieve.bare)
_RELATIONS = {"narrow": "broader", "broad": "narrower", "related": "related"}


class Origin(NamedTuple):
    """Where mappings come from.

    Parameters
    ----------
    version : str
        Version of canonym.
    fingerprint : str
        Fingerprint of the index (`canonym.Linker.fingerprint`).
    prefixes : tuple of str
        Prefixes of the ids of the terminology, the most frequent first; ``""`` for ids without one.
    source, source_version : str
        Name and version of the terminology, may be empty.
    date : str
        The day of the run as ``2024-12-31``; empty if it is not to be written.
    added : frozenset of (str, str)
        Names that people added to the index, each with the id of its concept.
    """

    version: str
    fingerprint: str
    prefixes: tuple[str, ...] = ("",)
    source: str = ""
    source_version: str = ""
    date: str = ""
    added: frozenset[tuple[str, str]] = frozenset()

    @property
    def tool(self) -> str:
        """Name, version and index in one line."""
        return tool(self.version, self.fingerprint)

    @property
    def milliseconds(self) -> int | None:
        """The day in milliseconds since 1970, None if it is not to be written."""
        if not self.date:
            return None
        day = datetime.date.fromisoformat(self.date)
        return (day - datetime.date(1970, 1, 1)).days * 86_400_000


def origin_of(
    terminology: Terminology,
    fingerprint: str,
    date: str = "",
    added: frozenset[tuple[str, str]] = frozenset(),
) -> Origin:
    """Return where mappings to a terminology come from."""
    sources = terminology.sources()
    source, version = max(sources, key=lambda pair: sources[pair], default=("", ""))
    prefixes = tuple(terminology.prefixes()) or ("",)
    return Origin(__version__, fingerprint, prefixes, source, version, date, added)


class Verdict(NamedTuple):
    """What a person decided on a text."""

    # ``link``, ``nil`` or ``flag``; ``accept`` for a link that was accepted along with many others,
    # unseen; empty where nothing was decided yet.
    kind: str
    # ``equal``, ``equivalent`` (the same in other words), ``broader``, ``narrower``, ``close`` or
    # ``related``; ``refused`` where the concept is nothing to the text.
    relation: str = "equal"
    who: str = ""  # the name of the person
    comment: str = ""
    made: float = 0.0  # seconds since 1970
    fingerprint: str = ""  # of the index that proposed concepts then
    context: str = ""  # the surroundings of the text, if it was decided for these alone
    together: bool = False  # whether only several concepts together are what the text means

    @property
    def is_unseen(self) -> bool:
        """Whether nobody looked at the text: what the evidence says of it counts."""
        return self.kind == UNSEEN

    @property
    def moment(self) -> str:
        """When it was decided, as ``2024-12-31T23:59:59+00:00``; empty if it was not."""
        if not self.made:
            return ""
        return datetime.datetime.fromtimestamp(self.made, datetime.UTC).isoformat(
            timespec="seconds"
        )


class Mapping(NamedTuple):
    """A text and the concept it means, or None with the `reason`.

    `whole` is the composite mention that the text is a part of, else empty. `searched` is the text
    as it was looked up, `steps` what preparation did to it. `verdict` is what a person decided, if
    somebody looked at it. `status` is that of the link: "h/o asthma" is not asthma.
    """

    text: str
    whole: str
    searched: str
    candidate: Candidate | None
    confidence: float | None
    reason: str
    verdict: Verdict | None = None
    steps: tuple[Step, ...] = ()
    status: tuple[str, ...] = ()

    @property
    def relation(self) -> str:
        """What the concept is to the text, in the words of `Verdict`.

        A person's word counts. Of several concepts together none is the same as the text. A text
        with a status is related to the concept that it names. Else three things say it: words that
        only the text or only the name has, a detail that was left out, and the scope of the name.
        Where they disagree, the concept is close, or related where one of them says no more.
        """
        if self.verdict is not None and not self.verdict.is_unseen:
            alike = self.verdict.relation in ("equal", "equivalent")
            return "related" if self.verdict.together and alike else self.verdict.relation
        if self.status:
            return "related"
        if self.candidate is None or self.by_id:
            return "equal"
        by_detail = "broader" if any(step.name == BROADER for step in self.steps) else "equal"
        by_scope = _RELATIONS.get(self.candidate.scope, "equal")
        relations = {self.candidate.against.relation, by_detail, by_scope} - {"equal"}
        if len(relations) > 1:
            return "related" if "related" in relations else "close"
        return relations.pop() if relations else "equal"

    @property
    def supported(self) -> str:
        """The relation as far as the evidence goes.

        It is that of the name that matched where a person who looked at it said so, where the text
        is an id or that name, or from the confidence `LEAST_CONFIDENCE` on. Else it is ``close``
        from `LIKELY` on, and ``related`` below, or where no confidence is known. No confidence
        makes more than ``related`` of names that contradict each other. What was corrected is never
        the same, nor a short form of several meanings: *polyamide* is one letter from *polyamine*.
        """
        sure = self.confidence or 0.0
        guessed = any(
            step.name in (CORRECTION, USUAL_READING, OTHER_READINGS) for step in self.steps
        )
        seen = self.verdict is not None and not self.verdict.is_unseen
        known = seen or self.candidate is None
        known = known or (self.by_string and not guessed)
        if known or (self.by_id and self.certainty[1] >= 1):
            return self.relation
        if sure >= LEAST_CONFIDENCE:
            return "close" if guessed and self.relation == "equal" else self.relation
        return "close" if sure >= LIKELY and self.relation != "related" else "related"

    @property
    def by_string(self) -> bool:
        """Whether the text is a name of the concept, and not only similar to one."""
        return self.candidate is not None and self.candidate.sieve in _WHOLE_NAMES

    @property
    def by_id(self) -> bool:
        """Whether the text is an id of the concept, or has it beside a label."""
        return self.candidate is not None and self.candidate.sieve == IDS

    @property
    def certainty(self) -> tuple[float, float]:
        """How sure it is, to compare: confidence and score."""
        return self.confidence or 0.0, self.candidate.score if self.candidate else 0.0

    @property
    def evidence(self) -> str:
        """How it was found and how sure it is, in a line."""
        if self.candidate is None:
            return f"no concept fits: {self.reason}" if self.reason else "no concept fits"
        known_by = self.candidate.id if self.by_id else repr(self.candidate.name)
        method = f"{self.candidate.sieve}: {known_by}"
        facts = [method, f"score {self.candidate.score:.6g}"]
        if self.confidence is not None:
            facts.append(f"confidence {self.confidence:.6g}")
        if self.searched not in ("", self.text):
            names = dict.fromkeys(step.name for step in self.steps if step.name not in STEPS)
            how = f" ({', '.join(names)})" if names else ""
            facts.append(f"read as {self.searched!r}{how}")
        if self.status:
            facts.append(f"status {', '.join(self.status)}")
        if self.whole:
            facts.append(f"part of {self.whole!r}")
        return ", ".join(facts)


def tool(version: str, fingerprint: str) -> str:
    """Return name, version and index in one line."""
    return f"canonym {version}, index {fingerprint}"


def mappings_of(link: Link) -> Iterator[Mapping]:
    """Yield what a link says; nothing for a mention without a text."""
    for part in link.parts or (link,):
        if text := part.mention.text.strip():
            best = None if part.id is None else part.candidates[0]
            whole = link.mention.text if link.parts else ""
            yield Mapping(
                *(text, whole, part.searched, best, part.confidence, part.reason),
                steps=part.steps,
                status=part.status,
            )


def local_id(id_: str) -> str:
    """Return an id without its prefix, the code of a code system."""
    return split_id(id_)[1]


class Codes(NamedTuple):
    """Codes of the texts that are mapped: cells of a table's column, or else the texts.

    `column` and `frequency_column` are places in a row.
    """

    column: int | None = None
    frequency_column: int | None = None

    def code(self, text: str, cells: Sequence[str]) -> str:
        """Return the code of a text."""
        code = "" if self.column is None else cells[self.column]
        return " ".join(code.split() or text.split())

    def frequency(self, cells: Sequence[str]) -> int:
        """Return how often the text of a row occurs."""
        if self.frequency_column is None:
            return 1
        cell = cells[self.frequency_column]
        if (frequency := whole_count(cell)) is None:
            raise InvalidInput(
                f"the frequency of a row is {cell[:40]!r}; a whole number is expected"
            )
        return frequency
