"""Clinical trials: conditions and interventions, with NLM's MeSH terms as silver labels.

A trial becomes a `Document`: its title, then each condition and each intervention on a line of its
own. Their mentions have offsets and a type, ``Condition`` or the type of the intervention
(``Drug``, ``Device``, ...), and no ids. A program assigned the terms to the trial as a whole, so
the term of a mention is unknown: the labels are silver, not gold. In XML, since 2021, broader terms
are mixed in; JSON and AACT keep them apart, and they are left out.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.corpora.tables import parse_table
from canonym.errors import ReadError
from canonym.io.streams import open_text
from canonym.io.xml import read_json, read_numbered_elements
from canonym.types import Document, Mention

COLUMNS: tuple[str, ...] = (
    *("nct", "title", "conditions", "condition_mesh", "interventions"),
    *("intervention_other_names", "intervention_mesh", "keywords"),
)
"""Columns of the table of trials; all but the first two hold lists, separated by bars."""

CONDITION = "Condition"
"""Type of the mentions of conditions."""

PHASES: tuple[str, ...] = ("Early Phase 1", "Phase 1", "Phase 2", "Phase 3", "Phase 4")
"""The phases of the U.S. Food and Drug Administration."""

_PHASE = re.compile(r"(early)?[ _]*phase[ _]*([0-4])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Trial:
    """A registered trial.

    The `document` has title, conditions and interventions, one a line. `condition_names` and
    `intervention_names` are NLM's MeSH terms for the trial, `condition_ids` and `intervention_ids`
    their MeSH ids (``"MESH:D003324"``) where the source has them. `other_names` of the
    interventions and `keywords` are the registrant's. `study_type` is ``"Interventional"``,
    ``"Observational"``, …, and empty where the source does not say. `phases` are some of `PHASES`:
    two of a trial in two phases, none of a trial without.
    """

    document: Document
    condition_names: tuple[str, ...] = ()
    intervention_names: tuple[str, ...] = ()
    condition_ids: tuple[str, ...] = ()
    intervention_ids: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    study_type: str = ""
    phases: tuple[str, ...] = ()

    @property
    def conditions(self) -> tuple[Mention, ...]:
        """The mentions of conditions."""
        return tuple(m for m in self.document.mentions if m.type == CONDITION)

    @property
    def interventions(self) -> tuple[Mention, ...]:
        """The mentions of interventions, of whatever type."""
        return tuple(m for m in self.document.mentions if m.type != CONDITION)

    def pairs(self) -> Iterator[tuple[Mention, tuple[str, ...]]]:
        """Yield each mention with NLM's terms for its field, which may be none."""
        for mention in self.document.mentions:
            yield (
                mention,
                self.condition_names if mention.type == CONDITION else self.intervention_names,
            )


def make_trial(
    id_: str,
    title: str,
    conditions: Iterable[str],
    interventions: Iterable[tuple[str, str]],
    *,
    study_type: str = "",
    phase: str = "",
    **silver: Iterable[str],
) -> Trial:
    """Lay a trial out as a document.

    `interventions` are types and names, `silver` the other attributes of `Trial`. White space in
    titles and names is collapsed; fields without a name are left out, and interventions without a
    type are of the type ``Intervention``. `phase` is written as any registry does: ``PHASE1``,
    ``Phase 1/Phase 2``, ``N/A``.
    """
    title = " ".join(title.split())
    fields = [(CONDITION, name) for name in conditions]
    fields += [(kind.strip() or "Intervention", name) for kind, name in interventions]
    text, mentions = title, []
    for kind, name in fields:
        name = " ".join(name.split())
        if name:
            start = len(text) + 1
            text = f"{text}\n{name}"
            mentions.append(Mention(name, start, len(text), kind, document_id=id_, context=title))
    rest = {key: tuple(filter(None, map(str.strip, names))) for key, names in silver.items()}
    return Trial(
        Document(id_, text, tuple(mentions)),
        **rest,
        # The classic XML has "Observational [Patient Registry]".
        study_type=study_type.partition("[")[0].strip().replace("_", " ").capitalize(),
        phases=_phases(phase),
    )


def _phases(written: str) -> tuple[str, ...]:
    """Return the phases of a record; Phase 0 was the name of Early Phase 1."""
    numbers = (0 if early else int(number) for early, number in _PHASE.findall(written))
    return tuple(PHASES[number] for number in numbers)


def read_trials_xml(path: str | Path) -> Iterator[Trial]:
    """Read trials as ClinicalTrials.gov's classic XML has them.

    `path` is a file, plain or compressed, of one or more ``<clinical_study>`` records; or a folder,
    whose ``.xml`` files are read in the order of their names, sub-folders included. Raises
    `ReadError` if a file is no XML, a record has no registry number, or there is no record.
    """
    yield from _counted(path, _xml_trials(path))


def _xml_trials(path: str | Path) -> Iterator[Trial]:
    for file in _files(path, ".xml"):
        for element in read_numbered_elements(file, ("clinical_study",)):
            id_ = (element.findtext("id_info/nct_id") or "").strip()
            if not id_:
                raise ReadError(file, "the study has no <nct_id>", line=element.line)
            yield make_trial(
                id_,
                element.findtext("brief_title") or element.findtext("official_title") or "",
                _texts(element, "condition"),
                [
                    (
                        part.findtext("intervention_type") or "",
                        part.findtext("intervention_name") or "",
                    )
                    for part in element.iterfind("intervention")
                ],
                condition_names=_texts(element, "condition_browse/mesh_term"),
                intervention_names=_texts(element, "intervention_browse/mesh_term"),
                other_names=_texts(element, "intervention/other_name"),
                keywords=_texts(element, "keyword"),
                study_type=element.findtext("study_type") or "",
                phase=element.findtext("phase") or "",
            )


def _texts(element: ET.Element, path: str) -> list[str]:
    return [child.text or "" for child in element.iterfind(path)]


def read_trials_json(path: str | Path) -> Iterator[Trial]:
    """Read trials as version 2 of ClinicalTrials.gov's API gives them.

    `path` is a file, plain or compressed: a study, a list of studies, a page (``{"studies":
    [...]}``), or one of these on each line; or a folder, whose ``.json`` files are read in the
    order of their names, sub-folders included. Raises `ReadError` if a file is no JSON, a study has
    no ``protocolSection`` or no registry number, or there is no study.
    """
    yield from _counted(path, _json_trials(path))


def _json_trials(path: str | Path) -> Iterator[Trial]:
    for file in _files(path, ".json"):
        for value, line in read_json(file):
            studies = value.get("studies", [value]) if isinstance(value, dict) else value
            for study in studies if isinstance(studies, list) else [studies]:
                try:
                    yield _study(study)
                except (AttributeError, KeyError, TypeError) as error:
                    raise ReadError(
                        file,
                        "a study of API version 2 was expected, with a protocolSection and its "
                        f"nctId; found {json.dumps(study)[:60]} ({error!r})",
                        line=line,
                    ) from error


def _study(study: dict[str, Any]) -> Trial:
    protocol, derived = study["protocolSection"], study.get("derivedSection", {})
    identification = protocol["identificationModule"]
    interventions = protocol.get("armsInterventionsModule", {}).get("interventions", [])
    conditions = protocol.get("conditionsModule", {})
    design = protocol.get("designModule", {})
    silver: dict[str, list[str]] = {}
    for field in ("condition", "intervention"):
        meshes = derived.get(f"{field}BrowseModule", {}).get("meshes", [])
        silver[f"{field}_names"] = [mesh["term"] for mesh in meshes]
        silver[f"{field}_ids"] = [f"MESH:{mesh['id']}" for mesh in meshes]
    return make_trial(
        identification["nctId"],
        identification.get("briefTitle") or identification.get("officialTitle") or "",
        conditions.get("conditions", []),
        # The API shouts its types: COMBINATION_PRODUCT is "Combination Product" everywhere else.
        [(part.get("type", "").replace("_", " ").title(), part["name"]) for part in interventions],
        other_names=[name for part in interventions for name in part.get("otherNames", [])],
        keywords=conditions.get("keywords", []),
        study_type=design.get("studyType", ""),
        phase="/".join(design.get("phases", [])),
        **silver,
    )


def read_trials_table(path: str | Path, *, encoding: str = "utf-8") -> Iterator[Trial]:
    """Read a tab-separated table of trials with the columns of `COLUMNS`, plain or compressed.

    Interventions are written ``TYPE:NAME``. Raises `ReadError` if a column is missing, a row has
    another number of cells than the header or no registry number, or there is no row.
    """
    yield from _counted(path, _table_trials(path, encoding))


def _table_trials(path: str | Path, encoding: str) -> Iterator[Trial]:
    with open_text(path, encoding=encoding) as lines:
        table = parse_table(lines, path, column=COLUMNS[0], delimiter="\t")
        missing = [column for column in COLUMNS if column not in table.columns]
        if missing:
            raise ReadError(path, f"the columns {', '.join(missing)} are missing", line=1)
        at = [table.columns.index(column) for column in COLUMNS]
        for cells, _ in table:
            id_, title, *lists = (cells[i] for i in at)
            if not id_.strip():
                raise ReadError(path, "a trial has no registry number", line=lines.line)
            conditions, condition_mesh, interventions, others, mesh, keywords = (
                cell.split("|") for cell in lists
            )
            yield make_trial(
                id_.strip(),
                title,
                conditions,
                [_typed(written) for written in interventions],
                condition_names=condition_mesh,
                intervention_names=mesh,
                other_names=others,
                keywords=keywords,
            )


def _typed(written: str) -> tuple[str, str]:
    kind, colon, name = written.partition(":")
    return (kind, name) if colon else ("", written)


def _files(path: str | Path, suffix: str) -> Sequence[Path]:
    path = Path(path)
    return sorted(path.rglob(f"*{suffix}")) if path.is_dir() else [path]


def _counted(path: str | Path, trials: Iterator[Trial]) -> Iterator[Trial]:
    n = 0
    for trial in trials:
        yield trial
        n += 1
    if not n:
        raise ReadError(path, "holds no trial")
