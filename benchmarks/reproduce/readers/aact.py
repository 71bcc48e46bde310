"""Clinical trials from the pipe-delimited files of the AACT database.

``docs/formats/corpora.md`` lists the files and columns; studies, intervention_other_names and
keywords are optional.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from canonym.corpora.tables import parse_table
from canonym.errors import ReadError
from canonym.io.streams import members, open_text

from .trials import Trial, make_trial

_Lists = dict[str, list[list[str]]]


def read_aact(path: str | Path) -> Iterator[Trial]:
    """Read the trials of an AACT export of flat files: a folder, or the downloaded zip archive.

    They come in the order of ``studies.txt``, without it in that of the conditions and
    interventions; their fields are held in memory until then. Raises `ReadError` if a file or
    column is missing, a row is ragged, a study occurs twice or is missing, or there is no trial.
    """
    export = _Export(Path(path))
    conditions = export.grouped("conditions", "name")
    interventions = export.grouped("interventions", "intervention_type", "name")
    lists = {
        "condition_names": export.terms("browse_conditions"),
        "intervention_names": export.terms("browse_interventions"),
        "other_names": export.grouped("intervention_other_names", "name", optional=True),
        "keywords": export.grouped("keywords", "name", optional=True),
    }
    studies = export.studies()
    named = conditions.keys() | interventions.keys()
    if studies is None:
        studies = dict.fromkeys((*conditions, *interventions), ("", "", ""))
    elif strays := sorted(named - studies.keys()):
        raise ReadError(
            path,
            f"{len(strays):,} trials of the conditions and interventions are not in studies.txt, "
            f"the first is {strays[0]!r}: are all files of one export?",
        )
    if not studies:
        raise ReadError(path, "holds no trial")
    for id_, (title, study_type, phase) in studies.items():
        yield make_trial(
            id_,
            title,
            [name for (name,) in conditions.get(id_, ())],
            # Some exports shout their types, as the API does.
            [(_plain(kind), name) for kind, name in interventions.get(id_, ())],
            study_type=study_type,
            phase=phase,
            **{key: [cells[0] for cells in columns.get(id_, ())] for key, columns in lists.items()},
        )


def _plain(kind: str) -> str:
    return kind.replace("_", " ").title() if kind.isupper() else kind


def is_aact(path: Path) -> bool:
    """Tell whether a folder or an archive has the files of AACT."""
    return (path.is_dir() or zipfile.is_zipfile(path)) and _Export(path).has("conditions.txt")


class _Export:
    """The files of a folder or of a zip archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        inside = None if path.is_dir() else members(path)
        # Name of a file: its place in the archive; None for a folder.
        self.inside = None if inside is None else {name.split("/")[-1]: name for name in inside}

    def has(self, name: str) -> bool:
        return (self.path / name).is_file() if self.inside is None else name in self.inside

    def grouped(self, table: str, *columns: str, optional: bool = False) -> _Lists:
        """Cells of the columns, row by row, for each trial."""
        rows_of: _Lists = {}
        if optional and not self.has(f"{table}.txt"):
            return rows_of
        for id_, *cells in self.rows(table, *columns):
            rows_of.setdefault(id_, []).append(cells)
        return rows_of

    def terms(self, table: str) -> _Lists:
        rows = self.grouped(table, "mesh_term", "mesh_type?")
        return {
            id_: [cells for cells in those if cells[1] != "mesh-ancestor"]
            for id_, those in rows.items()
        }

    def studies(self) -> dict[str, tuple[str, str, str]] | None:
        """Title, study type and phase of each trial; None without the file."""
        if not self.has("studies.txt"):
            return None
        studies: dict[str, tuple[str, str, str]] = {}
        columns = ("brief_title", "official_title?", "study_type?", "phase?")
        for id_, brief, official, study_type, phase in self.rows("studies", *columns):
            if id_ in studies:
                raise ReadError(self.path, f"studies.txt has the trial {id_!r} twice")
            studies[id_] = (brief or official, study_type, phase)
        return studies

    def rows(self, table: str, *columns: str) -> Iterator[list[str]]:
        """Yield the trial and the columns of each row; a column that ends in "?" may be missing."""
        name = f"{table}.txt"
        if not self.has(name):
            raise ReadError(
                self.path, f"has no {name}: a folder or archive of AACT's flat files is needed"
            )
        file, member = (
            (self.path / name, None) if self.inside is None else (self.path, self.inside[name])
        )
        with open_text(file, member=member) as lines:
            rows = parse_table(lines, self.path / name, column="nct_id", delimiter="|")
            for column in columns:
                if column not in rows.columns and not column.endswith("?"):
                    raise ReadError(self.path / name, f"has no column {column!r}", line=1)
            names = [column.rstrip("?") for column in columns]
            at = [rows.columns.index(name) if name in rows.columns else -1 for name in names]
            for cells, mention in rows:
                yield [mention.text, *("" if i < 0 else cells[i] for i in at)]
