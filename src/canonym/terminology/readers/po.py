"""Translations in the format of gettext, as translation sites such as Weblate deliver them.

::

    msgctxt "model:gnuhealth.pathology,name:A00"
    msgid "Cholera"
    msgstr "Cholera-Infektion"
"""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError, require
from canonym.io.streams import open_text
from canonym.regex import regex
from canonym.terminology.language_tags import check_language
from canonym.types import Concept, Name, Record

_log = logging.getLogger(__name__)

# A field of a record, as Tryton writes it: the id stands behind the last colon.
_FIELD = regex(r"[\w.]+:[\w.]+,\w+:(?P<id>.+)")
_LINE = regex(
    r"""\s*(?:\#.*|(?:(?P<keyword>msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?)\s+)?
    "(?:[^"\\]|\\.)*"\s*)?""",
    re.VERBOSE,
)
_OF_A_NAME = regex(r"(?:.*[-_.])?(?P<language>[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?)")


def read_po(
    path: str | Path,
    *,
    language: str | None = None,
    fuzzy: bool = False,
    prefix: str = "",
    source: str = "",
    version: str = "",
    encoding: str = "utf-8",
) -> Iterator[Record]:
    """Read the translated labels of a gettext file; needs the extra ``owl``.

    Parameters
    ----------
    path : str or Path
        A ``.po`` file, which may be compressed. The context of an entry (``msgctxt``) is the id of
        its concept, or a field of a record that ends in the id.
    language : str, optional
        Tag of the language; by default that of the header, or of the name of the file:
        ``pt_BR.po`` is ``pt-BR``.
    fuzzy : bool
        Also entries that are marked as fuzzy, which nobody has confirmed.
    prefix : str
        Put before ids that do not begin with it.
    source, version, encoding
        As of `canonym.terminology.readers.babelon.read_babelon`.

    Yields
    ------
    Concept or Name
        For each entry its concept, labelled as in English, and its translation.

    Raises
    ------
    ReadError
        If the file is no gettext file, or an entry is cut, there twice or without a context.
    InvalidInput
        If the language is not known.
    MissingExtra
        If Babel is not installed.
    """
    catalog = _parsed(path, encoding)
    language = language or _language(Path(path), catalog.locale_identifier or "")
    check_language(language)
    n_fuzzy = 0
    for entry in catalog:
        if not entry.id:  # the header
            continue
        label, name = (_text(path, entry, text) for text in (entry.id, entry.string))
        context = (entry.context or "").strip()
        if not context:
            raise ReadError(
                path,
                f"{label[:60]!r} has no msgctxt, from which the id of its concept is taken",
                line=entry.lineno,
            )
        field = _FIELD.fullmatch(context)
        id_ = field["id"] if field else context
        id_ = id_ if id_.startswith(prefix) else prefix + id_
        yield Concept(id_, label, source=source, version=version)
        if name and (fuzzy or not entry.fuzzy):
            yield Name(name, id_, language=language)
        n_fuzzy += bool(name) and entry.fuzzy
    if n_fuzzy and not fuzzy:
        _log.warning(
            "%s: %s fuzzy translations are left out; fuzzy=True takes them", path, f"{n_fuzzy:,}"
        )


def _text(path: str | Path, entry: Any, text: str | tuple[str, ...]) -> str:
    if not isinstance(text, str):
        problem = f"{text[0][:60]!r} has plural forms, which names do not have"
        raise ReadError(path, problem, line=entry.lineno)
    return text.strip()


def _parsed(path: str | Path, encoding: str) -> Any:
    """Return the catalog of a file; what Babel would skip or complete is refused."""
    pofile = require("babel.messages.pofile", "reading gettext files", "owl")
    lines: list[str] = []
    keywords: Counter[str] = Counter()
    with open_text(path, encoding=encoding) as stream:
        for line in stream:
            lines.append(line.rstrip("\r\n"))
            match = _LINE.fullmatch(lines[-1])
            if not match:
                raise stream.error(f"this is no line of a gettext file: {lines[-1][:60]!r}")
            keywords[match["keyword"]] += 1
    text = "\n".join(lines)
    try:
        catalog = pofile.read_po(io.StringIO(text), abort_invalid=True)
    except (pofile.PoFileError, ValueError) as error:
        raise ReadError(path, f"is no gettext file: {error}") from None
    entries = [entry for entry in catalog if entry.id]
    headed = re.search(r'(?m)^msgid +""\n(?!")', text) is not None
    met = {
        "msgid": len(entries) + headed,
        "msgctxt": sum(entry.context is not None for entry in entries),
    }
    for keyword, n in met.items():
        if keywords[keyword] != n:
            raise ReadError(
                path,
                f"has {keywords[keyword]:,} lines of {keyword} and {n:,} different entries with "
                "one: an entry is cut, or there twice",
            )
    return catalog


def _language(path: Path, told: str) -> str:
    match = _OF_A_NAME.fullmatch(path.name.split(".po")[0])
    language = told or (match["language"] if match else "")
    if not language:
        raise InvalidInput(
            f"{path}: neither the header nor the name of the file tells the language; name it with "
            "language=..., or `canonym import --language`"
        )
    return language.replace("_", "-")
