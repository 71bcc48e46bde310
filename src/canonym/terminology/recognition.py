"""Formats told by content: the files of a folder, the first lines of a file."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from canonym.errors import ReadError
from canonym.io.streams import members, open_bytes, open_text
from canonym.terminology.headers import open_table
from canonym.terminology.headers import recognise as recognise_columns
from canonym.terminology.markup import read_prolog

__all__ = ["is_sqlite", "recognise_file", "recognise_folder"]

_SQLITE = b"SQLite format 3\0"
_LINES = 60
_HEAD = 1 << 16
_SUFFIX = r"(\.gz|\.xz|\.bz2|\.zip)?$"
# A file that only this release has, and the subfolders it may be in; the deepest search last.
_RELEASES: tuple[tuple[str, str, str], ...] = (
    ("umls", rf"mrconso\.rrf(\.aa)?{_SUFFIX}", "meta"),
    ("rxnorm", rf"rxnconso\.rrf{_SUFFIX}", "rrf"),
    ("meddra", rf"llt\.asc{_SUFFIX}", "medascii"),
    ("athena", rf"concept\.csv{_SUFFIX}", ""),
)
_ROOTS = {
    "DescriptorRecordSet": "mesh",
    "SupplementalRecordSet": "mesh",
    "rdf:RDF": "owl",
    "RDF": "owl",
}
_TRIPLE = re.compile(r"(<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*>|_:\S+)\s+<[^\s<>]+>\s+\S")
_TURTLE = re.compile(r"@?(prefix|base)\s", re.IGNORECASE)
_JSON_LD = re.compile(r'"@(context|graph|id)"')


def recognise_folder(folder: Path) -> tuple[str | None, str]:
    """Tell which release a folder holds.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Returns
    -------
    str or None
        The name of the format.
    str
        What was looked at, for a message.
    """
    inside = sorted(folder.iterdir())
    names = [each.name for each in inside]
    for format_, pattern, subfolder in _RELEASES:
        below = [
            file.name
            for each in inside
            if each.is_dir() and each.name.lower() == subfolder
            for file in each.iterdir()
        ]
        if any(re.match(pattern, name.lower()) for name in [*names, *below]):
            return format_, ""
    if any(folder.rglob("*sct2_Concept_Snapshot_*")):
        return "snomed", ""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return None, f"a folder with {shown or 'nothing in it'}"


def recognise_file(path: Path) -> tuple[str | None, str]:
    """Tell the format of a file, compressed or not, by its beginning.

    Parameters
    ----------
    path : Path
        A file.

    Returns
    -------
    str or None
        The name of the format.
    str
        What was looked at, for a message.

    Raises
    ------
    ReadError
        If the file is missing, empty or damaged, or is no text.
    """
    if is_sqlite(path):
        raise ReadError(
            path, "is a database, not a source: a terminology that was imported is opened as it is"
        )
    inside = members(path)
    if len(inside) > 1:
        shown = ", ".join(inside[:5]) + (f" and {len(inside) - 5} more" if len(inside) > 5 else "")
        raise ReadError(path, f"is a zip archive with {shown}: unpack it and name what to read")
    with open_bytes(path) as source:
        head = source.read(_HEAD)
    if head.startswith(b"PAR1"):
        return "table", ""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    text = start.decode("utf-8", errors="replace")
    if start.startswith(b"<") and not _TRIPLE.match(text):
        root = read_prolog(path).root
        return _ROOTS.get(root), f"XML with the root element {root!r}"
    if start.startswith((b"{", b"[")) and not text.startswith("[Term]"):
        return ("owl" if _JSON_LD.search(text) else None), "JSON without the keys of JSON-LD"
    encoding = _encoding(head)
    with open_text(path, encoding=encoding) as stream:
        lines = [line.rstrip("\n") for line in itertools.islice(stream, _LINES)]
    found = _recognise_lines(lines)
    if found is None:
        found = _recognise_table(path, encoding)
    first = next((line for line in lines if line.strip()), "")
    return found, f"the first line is {first[:80]!r}"


def is_sqlite(path: Path) -> bool:
    """Tell whether a path is a SQLite file."""
    with contextlib.suppress(OSError, ValueError), path.open("rb") as stream:
        return stream.read(len(_SQLITE)) == _SQLITE
    return False


def _encoding(head: bytes) -> str:
    """An encoding good enough to look at the first lines; the reader insists on the right one."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:  # not just a character cut in two at the end
            return "latin-1"
    return "utf-8"


def _recognise_lines(lines: Sequence[str]) -> str | None:
    filled = [line.strip() for line in lines if line.strip()]
    first = filled[0] if filled else ""
    if any(line.startswith(("format-version:", "[Term]")) for line in filled):
        return "obo"
    bare = [line.lstrip("# ") for line in filled if line.startswith("#")]
    if any(
        line.startswith(
            ("Fields:", "DiseaseName", "ChemicalName", "The Comparative Toxicogenomics")
        )
        for line in bare
    ) or re.match(r"(Disease|Chemical)Name[,\t].*\1ID", first):
        return "ctd"
    content = [line for line in filled if not line.startswith("#")]
    if content and (_TURTLE.match(content[0]) or _TRIPLE.match(content[0])):
        return "owl"
    if "DrugBank ID" in first and "Common name" in first:
        return "drugbank"
    if first.startswith("concept_id\tconcept_name\tdomain_id\tvocabulary_id"):
        return "athena"
    if first.endswith("|") and first.count("|") == 18:
        return "rxnorm" if "|RXNORM|" in first else "umls"
    if filled and all(line.count("||") == 1 and not line.startswith("||") for line in filled):
        return "medic"
    return None


def _recognise_table(path: Path, encoding: str) -> str | None:
    roles = dict.fromkeys(("id", "name", "label"))
    with contextlib.suppress(ReadError), open_table(path, encoding=encoding) as table:
        found = recognise_columns(table, roles)
        if "id" in found and len(found) > 1:
            return "table"
    return None
