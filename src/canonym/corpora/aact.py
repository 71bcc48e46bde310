"""Clinical trials from the pipe-delimited files of the AACT database.

=========================  =============================  ========================================
file                       columns that are read          becomes
=========================  =============================  ========================================
``studies.txt``            nct_id, brief_title (else      the order of the trials and their titles
(optional)                 official_title)
``conditions.txt``         nct_id, name                   mentions of conditions
``interventions.txt``      nct_id, intervention_type,     mentions of interventions
                           name
``browse_conditions.txt``  nct_id, mesh_term, mesh_type   NLM's terms; those of the type
``browse_interventions.    (optional)                     ``mesh-ancestor`` are left out
txt``
``intervention_other_      nct_id, name                   other names
names.txt`` (optional)
``keywords.txt``           nct_id, name                   keywords
(optional)
=========================  =============================  ========================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from canonym.corpora.delimited import parse_table
from canonym.corpora.trials import Trial, make_trial
from canonym.errors import ReadError
from canonym.io.streams import members, open_text

__all__ = ["read_aact"]


def read_aact(path: str | Path) -> Iterator[Trial]:
    """Read the trials of an AACT export of flat files.

    The fields of all trials are held in memory until they are yielded.

    Parameters
    ----------
    path : str or Path
        The folder with the files, or the zip archive as it is downloaded.

    Yields
    ------
    Trial
        In the order of ``studies.txt``, without it in that of the conditions and interventions.

    Raises
    ------
    ReadError
        If a file is missing, a column is missing, a row has another number of cells than the
        header, a study is there twice, a row of the conditions or interventions belongs to no
        study, or there is no trial at all.
    """
    path = Path(path)
    inside = None if path.is_dir() else members(path)
    conditions = _lists(path, inside, "conditions", ("name",))
    interventions = _lists(path, inside, "interventions", ("intervention_type", "name"))
    silver = {
        f"{field}_names": _terms(path, inside, f"browse_{field}s")
        for field in ("condition", "intervention")
    }
    further = {
        "other_names": _lists(path, inside, "intervention_other_names", ("name",), optional=True),
        "keywords": _lists(path, inside, "keywords", ("name",), optional=True),
    }
    titles = _titles(path, inside)
    if titles is None:
        titles = dict.fromkeys((*conditions, *interventions), "")
    elif not titles.keys() >= conditions.keys() | interventions.keys():
        strays = sorted((conditions.keys() | interventions.keys()) - titles.keys())
        raise ReadError(
            path,
            f"{len(strays):,} trials of the conditions and interventions are not in studies.txt, "
            f"the first is {strays[0]!r}: are all files of one export?",
        )
    if not titles:
        raise ReadError(path, "holds no trial")
    for id_, title in titles.items():
        lists = {
            key: [cells[0] for cells in found.get(id_, ())]
            for key, found in (silver | further).items()
        }
        yield make_trial(
            id_,
            title,
            [cells[0] for cells in conditions.get(id_, ())],
            [(cells[0], cells[1]) for cells in interventions.get(id_, ())],
            **lists,
        )


_Lists = dict[str, list[list[str]]]


def _lists(
    path: Path,
    inside: Sequence[str] | None,
    table: str,
    columns: Sequence[str],
    *,
    optional: bool = False,
) -> _Lists:
    found: _Lists = {}
    for id_, *cells in _rows(path, inside, table, columns, optional=optional):
        found.setdefault(id_, []).append(cells)
    return found


def _terms(path: Path, inside: Sequence[str] | None, table: str) -> _Lists:
    found: _Lists = {}
    for id_, term, kind in _rows(path, inside, table, ("mesh_term", "mesh_type?")):
        if kind != "mesh-ancestor":
            found.setdefault(id_, []).append([term])
    return found


def _titles(path: Path, inside: Sequence[str] | None) -> dict[str, str] | None:
    if not _is_there(path, inside, "studies.txt"):
        return None
    found: dict[str, str] = {}
    for id_, brief, official in _rows(path, inside, "studies", ("brief_title", "official_title?")):
        if id_ in found:
            raise ReadError(path, f"studies.txt has the trial {id_!r} twice")
        found[id_] = brief or official
    return found


def _rows(
    path: Path,
    inside: Sequence[str] | None,
    table: str,
    columns: Sequence[str],
    *,
    optional: bool = False,
) -> Iterator[list[str]]:
    """Yield the trial and the columns of each row; a column that ends in "?" may be missing."""
    name = f"{table}.txt"
    if optional and not _is_there(path, inside, name):
        return
    if not _is_there(path, inside, name):
        raise ReadError(path, f"has no {name}: a folder or archive of AACT's flat files is needed")
    file = path / name if inside is None else path
    member = None if inside is None else next(m for m in inside if m.split("/")[-1] == name)
    with open_text(file, member=member) as lines:
        rows = parse_table(lines, path / name, column="nct_id", delimiter="|")
        at = []
        for column in columns:
            if column.rstrip("?") in rows.columns:
                at.append(rows.columns.index(column.rstrip("?")))
            elif column.endswith("?"):
                at.append(-1)
            else:
                raise ReadError(path / name, f"has no column {column!r}", line=1)
        for cells, mention in rows:
            yield [mention.text, *("" if i < 0 else cells[i] for i in at)]


def _is_there(path: Path, inside: Sequence[str] | None, name: str) -> bool:
    if inside is None:
        return (path / name).is_file()
    return any(member.split("/")[-1] == name for member in inside)
