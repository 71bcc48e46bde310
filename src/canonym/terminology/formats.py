"""Terminologies of any format: named, or recognised by their content."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import itertools
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from canonym.errors import InvalidInput, ReadError
from canonym.io.packaged import packaged_rows
from canonym.io.streams import members, open_bytes, open_text
from canonym.io.tables import open_table
from canonym.io.workbooks import workbook_suffix
from canonym.io.xml import read_prolog
from canonym.regex import regex
from canonym.terminology.language_tags import check_language
from canonym.terminology.readers.table import find_columns
from canonym.terminology.replaced import read_replaced, with_replaced
from canonym.terminology.sqlite_file import is_sqlite
from canonym.terminology.store import Terminology
from canonym.types import Concept, Name, Record, Xref

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Format:
    """A format and its reader.

    ``name`` is used in ``format=...`` and ``--format``, ``title`` describes the format in a line,
    and ``expects`` the file or folder that the reader takes. ``reader`` is ``"module:function"``;
    the module is imported when the reader is needed.
    """

    name: str
    reader: str
    title: str
    expects: str

    def load(self) -> Callable[..., Iterator[Record]]:
        """Import the reader: a function of a path and of keyword-only options."""
        module, _, function = self.reader.partition(":")
        reader: Callable[..., Iterator[Record]] = getattr(importlib.import_module(module), function)
        return reader

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Options of the reader by name, as the docstring of the reader explains them."""
        return {
            name: parameter
            for name, parameter in inspect.signature(self.load()).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }


FORMATS: dict[str, Format] = {
    name: Format(name, f"canonym.terminology.readers.{reader}", title, expects)
    for name, reader, title, expects in packaged_rows(__file__)
}
"""Formats by name."""


class ReaderOptions(TypedDict, total=False):
    """Options of the readers; each format takes some of them, as its reader documents."""

    # several formats
    version: str | None
    encoding: str
    language: str
    languages: Sequence[str] | None
    source: str | None
    sources: Collection[str] | None
    types: Collection[str] | None
    relations: bool | Collection[str]
    definitions: bool
    suppress: Collection[str]
    prefixes: bool | Mapping[str, str] | None
    # one format
    ancestors: bool
    everyday: bool
    fuzzy: bool
    includes: bool
    llt: str
    non_current: bool
    refset: str | None
    standard_only: bool
    style: str
    syntax: str | None
    unreviewed: bool
    untagged: str
    vocabularies: Collection[str] | None
    # tables
    id_column: str | None
    name_column: str | None
    label_column: str | None
    label_flag_column: str | None
    synonym_column: str | None
    language_column: str | None
    type_column: str | None
    scope_column: str | None
    definition_column: str | None
    parent_column: str | None
    source_column: str
    tree_column: str | None
    trees: str | Path | None
    tree_id_column: str | None
    tree_types: bool
    separator: str
    id_separator: str
    delimiter: str | None
    quoted: bool | None
    sheet: str | None
    header_row: int | None
    header: bool
    skip_incomplete: bool
    prefix: str


_PACKAGED = "icd10cm"


def recognise(source: str | Path | None, *, options: Collection[str] = ()) -> str:
    """Recognise the format of a source by its content.

    Parameters
    ----------
    source : str or Path, optional
        A file, which may be compressed, or the folder of a release. None and the word ``icd10cm``
        mean the packaged ICD-10-CM.
    options : collection of str
        Names of the options that come with it; an option about columns makes it a table.

    Returns
    -------
    str
        A key of `FORMATS`.

    Raises
    ------
    InvalidInput
        If the content is of no known format.
    ReadError
        If the file is missing or cannot be read.
    """
    if source is None or is_packaged(source):
        return _PACKAGED
    path = Path(source)
    if path.is_dir():
        recognised, looked_at = recognise_folder(path)
    else:
        recognised, looked_at = recognise_file(path)
    of_table = any(name in {"header", "delimiter"} or name.endswith("_column") for name in options)
    if recognised is None and path.is_file() and of_table:
        recognised = "table"  # the caller says which columns it has
    if recognised is None:
        known = "; ".join(f"{format_.name} ({format_.title})" for format_ in FORMATS.values())
        raise InvalidInput(
            f"{path}: the format is not recognised ({looked_at}). Of a table, name the columns "
            "with id_column=... and name_column=..., or `canonym import --id-column ... "
            "--name-column ...`. Name another format with format=... or `canonym import --format`: "
            f"{known}"
        )
    return recognised


def is_packaged(source: str | Path) -> bool:
    """Whether a source is the word for ICD-10-CM, and no file."""
    word = str(source).lower().replace("-", "").replace("_", "")
    return word == _PACKAGED and not Path(source).exists()


def read_records(
    source: str | Path | None,
    /,
    *,
    format: str | None = None,
    replaced: str | Path | None = None,
    translations: Sequence[str | Path] = (),
    **options: Unpack[ReaderOptions],
) -> Iterator[Record]:
    """Read a terminology of any format as a stream of records.

    Parameters
    ----------
    source : str or Path, optional
        As of `recognise`.
    format : str, optional
        A key of `FORMATS`; recognised by the content where it is not given.
    replaced : str or Path, optional
        A table of replaced ids, see `canonym.terminology.replaced.read_replaced`. The option
        ``prefix`` is put before them too.
    translations : sequence of str or Path
        Files of further names for concepts of the source, such as translations in Babelon or
        gettext format. Names of other concepts are left out, with a logged warning.
    **options
        Options of that format's reader; see `ReaderOptions` and the reader. One string will do for
        an option that takes several.

    Returns
    -------
    iterator of Concept, Name, Relation or Xref
        Content of the source, read lazily.

    Raises
    ------
    InvalidInput
        If the format is unknown or not recognised, or has no such option; while reading, if the
        content is malformed (`ReadError`).

    Examples
    --------
    >>> from itertools import islice
    >>> [record.id for record in islice(read_records("icd10cm"), 1)]
    ['ICD10CM:1']
    """
    if translations:
        own = read_records(source, format=format, replaced=replaced, **options)
        return _with_translations(own, translations)
    if replaced is not None:
        successors = read_replaced(replaced, prefix=options.get("prefix", ""))
        return with_replaced(read_records(source, format=format, **options), successors)
    if format is None:
        format = recognise(source, options=options)
    chosen_format = FORMATS.get(format)
    if chosen_format is None:
        raise InvalidInput(f"format={format!r} is unknown; use one of {', '.join(FORMATS)}")
    known = chosen_format.options
    arguments: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            raise InvalidInput(
                f"the format {chosen_format.name!r} has no option {name!r}; its options are "
                f"{', '.join(known)}"
            )
        if name in ("language", "untagged") and value is not None:
            check_language(value)
        several = str(known[name].annotation)
        alone = isinstance(value, str) and re.search(r"(Collection|Sequence)\[str\]", several)
        arguments[name] = (value,) if alone else value
    if chosen_format.name == _PACKAGED:
        return chosen_format.load()(
            None if source is None or is_packaged(source) else source, **arguments
        )
    if source is None:
        raise InvalidInput(
            f"the format {chosen_format.name!r} needs a source: {chosen_format.expects}"
        )
    return chosen_format.load()(source, **arguments)


def _with_translations(
    records: Iterator[Record], translations: Sequence[str | Path]
) -> Iterator[Record]:
    """Add names of other files to the concepts that the records have."""
    known: dict[str, str] = {}
    for record in records:
        if isinstance(record, Concept):
            known[record.id] = record.id
        elif isinstance(record, Xref) and record.kind == "alternative":
            known.setdefault(record.target, record.concept_id)
        yield record
    for path in translations:
        taken = left = 0
        for record in read_records(path):
            if isinstance(record, Name) and record.concept_id in known:
                taken += 1
                yield replace(record, concept_id=known[record.concept_id])
            else:
                left += isinstance(record, Name)
        if not taken:
            raise ReadError(path, f"none of its {left:,} names is of a concept of the terminology")
        if left:
            _log.warning(
                "%s: %s of %s names are of concepts that the terminology does not have, and are "
                "left out", path, f"{left:,}", f"{taken + left:,}",
            )  # fmt: skip


def import_terminology(
    source: str | Path | None,
    output: str | Path,
    /,
    *,
    format: str | None = None,
    replaced: str | Path | None = None,
    translations: Sequence[str | Path] = (),
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ReaderOptions],
) -> Terminology:
    """Import a terminology of any format into a file that opens in milliseconds.

    Parameters
    ----------
    source, format, replaced, translations, **options
        As of `read_records`.
    output : str or Path
        The file to write, usually ``*.db``. It appears whole or not at all.
    overwrite, progress
        As of `Terminology.build`.

    Returns
    -------
    Terminology
        Opened for reading.

    Raises
    ------
    InvalidInput
        If the source cannot be read (`ReadError`), or the output not be written.
    """
    places = [] if source is None else [Path(source), Path(output)]
    if places and all(place.exists() for place in places) and places[0].samefile(places[1]):
        raise InvalidInput(f"{output} is the source itself; choose another file to write")
    records = read_records(
        source, format=format, replaced=replaced, translations=translations, **options
    )
    _log.info("import %s into %s", source, output)
    return Terminology.build(records, output, overwrite=overwrite, progress=progress)


def read_terminology(
    source: str | Path | None,
    /,
    *,
    format: str | None = None,
    replaced: str | Path | None = None,
    translations: Sequence[str | Path] = (),
    **options: Unpack[ReaderOptions],
) -> Terminology:
    """Read a terminology of any format; its file is temporary and is removed with the object.

    A file that `import_terminology` wrote is opened unchanged.

    Parameters
    ----------
    source, format, replaced, translations, **options
        As of `read_records`.

    Returns
    -------
    Terminology
        Opened for reading.

    Raises
    ------
    InvalidInput
        If the source cannot be read.
    """
    plain = format is None and replaced is None and not translations and not options
    if source is not None and plain and is_sqlite(Path(source)):
        return Terminology(source)
    return Terminology.build(
        read_records(source, format=format, replaced=replaced, translations=translations, **options)
    )


# --- recognition ----------------------------------------------------------------------------------

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
_TRIPLE = regex(r"(<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*>|_:\S+)\s+<[^\s<>]+>\s+\S")
_TURTLE = {"prefix", "@prefix", "base", "@base"}
_JSON_LD = ('"@context"', '"@graph"', '"@id"')


def recognise_folder(folder: Path) -> tuple[str | None, str]:
    """Return the format of the release in a folder or None, and what was found, for a message."""
    inside = sorted(folder.iterdir())
    names = [entry.name for entry in inside]
    for format_, pattern, subfolder in _RELEASES:
        below = [
            file.name
            for folder in inside
            if folder.is_dir() and folder.name.lower() == subfolder
            for file in folder.iterdir()
        ]
        if any(re.match(pattern, name.lower()) for name in [*names, *below]):
            return format_, ""
    if any(folder.rglob("*sct2_Concept_*Snapshot[-_]*")):
        return "snomed", ""
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return None, f"a folder with {shown or 'nothing in it'}"


def recognise_file(path: Path) -> tuple[str | None, str]:
    """Return the format of a file by its beginning or None, and what was found, for a message.

    The file may be compressed. A missing, empty or damaged one is a `ReadError`.
    """
    if is_sqlite(path):
        raise ReadError(
            path, "is a database, not a source: a terminology that was imported is opened as it is"
        )
    if workbook_suffix(path):
        return "table", ""
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
        is_json_ld = any(key in text for key in _JSON_LD)
        is_graphs = "".join(text.partition("[")[0].split()).endswith('"graphs":')
        format_ = "obographs" if is_graphs else "owl" if is_json_ld else None
        return format_, "JSON without the keys of OBO Graphs or JSON-LD"
    encoding = _encoding(head)
    with open_text(path, encoding=encoding) as stream:
        lines = [line.rstrip("\n") for line in itertools.islice(stream, _LINES)]
    recognised = _recognise_lines(lines)
    if recognised is None:
        recognised = _recognise_table(path, encoding)
    first = next((line for line in lines if line.strip()), "")
    return recognised, f"the first line is {first[:80]!r}"


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
    words = content[0].split(None, 1) if content else []
    if len(words) > 1 and (words[0].lower() in _TURTLE or _TRIPLE.match(content[0])):
        return "owl"
    if "DrugBank ID" in first and "Common name" in first:
        return "drugbank"
    if first.startswith(("#tax_id\tGeneID\t", "tax_id\tGeneID\t", "hgnc_id\tsymbol\t")):
        return "genes"
    if re.match(r"\d{5} [A-Z][0-9A-Z]{2,6} {1,5}[01] ", first):
        return _PACKAGED
    if content and content[0].startswith(('msgctxt "', 'msgid "')):
        return "po"
    if "\t" in first and re.search(r"\btranslation_(value|text)\b", first):
        return "babelon"
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
        places = find_columns(table, roles)
        if "id" in places and len(places) > 1:
            return "table"
    return None
