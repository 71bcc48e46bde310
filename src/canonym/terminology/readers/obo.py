"""OBO files (format 1.0 to 1.4): Human Phenotype, Disease, Gene Ontology and their like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from canonym.io.curies import last_part, ontology_name, ontology_version
from canonym.io.streams import TextStream, open_text
from canonym.regex import regex
from canonym.types import Concept, Name, Record, Relation, Xref

_TAG = regex(r"([A-Za-z][\w.-]*)\s*:\s*(.*)", re.DOTALL)
# What may follow a quoted text: a scope, a type or both, cross-references, modifiers, a comment.
_SOUND_END = regex(
    r'(?:\s+(?:EXACT|NARROW|BROAD|RELATED)(?:\s+[^\s"\[\]{}!]+)?(?![^\s\[{!])'
    r'|\s+[^\s"\[\]{}!]+(?=\s*\[)|\s+xsd:\w+)?\s*'
    r'(?:\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\]\s*(?:\{.*\})?\s*(?:!.*)?'
    r'|(?:\{.*\})?\s*(?:![^"]*)?)',
    re.DOTALL,
)
# The same where the cross-references are damaged, or have quotes that are not escaped either.
_POOR_END = regex(r'(?:\s+(?:EXACT|NARROW|BROAD|RELATED)(?:\s+[^\s"\[\]{}!]+)?)?\s*\[.*', re.DOTALL)
_ANY_END = regex(r'(?:\s[^"]*(?:[\[{].*)?)?', re.DOTALL)
_QUOTE = regex(r'\\.|(")', re.DOTALL)
# A hidden comment, or a block of key="value" modifiers, at the end of a value. A brace that holds
# anything else belongs to the text: older files do not escape it ("2-{[...]}").
_COMMENT = regex(r"(?:^|(?<=\s))!(?:\s.*|$)", re.DOTALL)
_MODIFIERS = regex(r'\{(?:\s*[\w:./#-]+\s*=\s*"(?:[^"\\]|\\.)*"\s*(?:,|(?=\})))+\}$')
_ESCAPE = regex(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
_SCOPES = {"EXACT": "exact", "NARROW": "narrow", "BROAD": "broad", "RELATED": "related"}
_OLD_SYNONYMS = {f"{scope}_synonym": scope for scope in _SCOPES.values()}
_OLD_SYNONYMS |= {f"has_{tag}": scope for tag, scope in _OLD_SYNONYMS.items()}
# UBERON's word for what belongs to an organ: renal, of the kidney.
_ADJECTIVES = ("has_relational_adjective", "UBPROP:0000007")
PROPERTIES = {f"has{scope}synonym": scope for scope in _SCOPES.values()}
"""Scopes of the synonyms that are stated as properties, such as ``oboInOwl:hasExactSynonym``."""

_STANZA = regex(r"\[(\w+)\]\s*(?:!.*)?$")
# OBO Metadata Ontology: abbreviation and acronym, in files whose header does not define them.
_ABBREVIATION_TYPES = {"OMO:0003000", "OMO:0003012"}


def says_abbreviation(text: str) -> bool:
    """Tell whether a type of synonyms is called abbreviations or acronyms, or described as such."""
    text = text.lower()
    return "abbrev" in text or "acronym" in text


@dataclass(slots=True)
class _Header:
    tags: dict[str, str] = field(default_factory=dict)
    abbreviations: set[str] = field(default_factory=lambda: set(_ABBREVIATION_TYPES))
    default_scopes: dict[str, str] = field(default_factory=dict)

    def define_synonym_type(self, value: str) -> None:
        """Remember a ``synonymtypedef: ID "description" SCOPE`` line."""
        id_ = value.split(maxsplit=1)[0] if value else ""
        if says_abbreviation(value):
            self.abbreviations.add(id_)
        scope = value.rsplit(maxsplit=1)[-1] if value else ""
        if scope in _SCOPES:
            self.default_scopes[id_] = _SCOPES[scope]

    @property
    def source(self) -> str:
        ontology = ontology_name(self.tags.get("ontology", "")).upper()
        return ontology or self.tags.get("default-namespace", "")

    @property
    def version(self) -> str:
        if version := self.tags.get("data-version", ""):
            return ontology_version(version)
        # "date: 14:05:2015 16:40" is how OBO-Edit wrote the day.
        day = re.match(r"(\d{2}):(\d{2}):(\d{4})", self.tags.get("date", ""))
        return f"{day[3]}-{day[2]}-{day[1]}" if day else self.tags.get("date", "")


def read_obo(
    path: str | Path, *, version: str | None = None, encoding: str = "utf-8"
) -> Iterator[Record]:
    """Read an ontology in OBO format.

    Every ``[Term]`` becomes a concept, obsolete ones with ``deprecated=True``; ``[Typedef]`` and
    ``[Instance]`` stanzas are skipped. Memory holds one stanza.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    version : str, optional
        The version to record; by default the date in ``data-version``, else ``date``.
    encoding : str
        Encoding of the file.

    Yields
    ------
    Concept, Name, Relation or Xref
        Term by term, the concept first. The namespace of a term is its type.

    Raises
    ------
    ReadError
        If the file is not OBO, or a line is malformed.

    Notes
    -----
    A synonym whose type is an abbreviation or acronym, by its id or by its description in the
    header, gets the scope ``abbreviation``. A synonym without a scope is ``related``, as the format
    defines, unless its type names a scope. The relational adjective of an organ in UBERON (*renal*)
    is a ``related`` name.

    References
    ----------
    The OBO Flat File Format 1.4 Syntax and Semantics.
    https://owlcollab.github.io/oboformat/doc/obo-syntax.html
    """
    with open_text(path, encoding=encoding) as stream:
        header = _Header()
        stanza, start, terms = "", 0, 0
        tags: list[tuple[str, str, int]] = []
        for line in _logical_lines(stream):
            opening = _STANZA.match(line)
            if opening:
                if stanza == "Term":
                    yield from _term(stream, header, tags, start, version)
                stanza, start, tags = opening[1], stream.line, []
                terms += stanza == "Term"
                continue
            tag = _TAG.match(line)
            if tag is None:
                raise stream.error(
                    f"{line[:60]!r} is neither 'tag: value' nor '[Term]': an OBO file was expected"
                )
            if stanza:
                tags.append((tag[1], tag[2], stream.line))
            elif tag[1] == "synonymtypedef":
                header.define_synonym_type(_plain(tag[2]))
            else:
                header.tags.setdefault(tag[1], _plain(tag[2]))
        if stanza == "Term":
            yield from _term(stream, header, tags, start, version)
        if not terms:
            raise stream.error("the file ends without a [Term]: an OBO file was expected")


def _logical_lines(stream: TextStream) -> Iterator[str]:
    """Lines without blank ones and comments; a backslash at the end goes on with the next."""
    whole = ""
    for raw in stream:
        line = whole + raw.strip()
        if line.endswith("\\") and (len(line) - len(line.rstrip("\\"))) % 2:
            whole = line[:-1]
            continue
        whole = ""
        if line and not line.startswith("!"):
            yield line
    if whole:
        yield whole


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _plain(value: str) -> str:
    """Cut the comment and the modifiers off an unquoted value, and undo its escapes."""
    if "!" in value:
        value = _COMMENT.sub("", value)
    value = value.strip()
    if value.endswith("}"):
        value = _MODIFIERS.sub("", value).rstrip()
    return _unescape(value)


def _quoted(stream: TextStream, tag: str, value: str, line: int) -> tuple[str, str]:
    """Split ``"text" rest`` into the text, unescaped, and the rest."""
    end = _end_of_text(value)
    if end is None:
        stream.line = line
        raise stream.error(
            f'{tag}: {value[:60]!r} should begin with a text in "double quotes", and quotes inside '
            "it should be escaped with a backslash"
        )
    return _unescape(value[1 : end - 1]), value[end:]


def _end_of_text(value: str) -> int | None:
    """Return where the quoted text that begins a value ends, behind its quote; None if nowhere.

    Many files do not escape the quotes inside a text. The text ends at the first quote behind which
    the format goes on.
    """
    quotes = [quote.end() for quote in _QUOTE.finditer(value) if quote[1]]
    if not value.startswith('"') or len(quotes) < 2:
        return None
    for pattern in (_SOUND_END, _POOR_END):
        for end in quotes[1:]:
            if pattern.fullmatch(value, end):
                return end
    return quotes[1] if len(quotes) == 2 or _ANY_END.fullmatch(value, quotes[1]) else None


def _synonym(header: _Header, rest: str) -> str:
    """Scope of a synonym from what follows its text: ``SCOPE TYPE [xrefs]``."""
    words = rest.split("[", 1)[0].split()
    scope = _SCOPES.get(words[0]) if words else None
    kind = words[-1] if words and words[-1] not in _SCOPES else ""
    if kind and (kind in header.abbreviations or says_abbreviation(kind)):
        return "abbreviation"
    return scope or header.default_scopes.get(kind, "related")


def _term(
    stream: TextStream,
    header: _Header,
    tags: list[tuple[str, str, int]],
    start: int,
    version: str | None,
) -> Iterator[Record]:
    single = {"id": "", "name": "", "namespace": header.tags.get("default-namespace", "")}
    definition, deprecated = "", False
    replaced_by: list[str] = []
    rest: list[tuple[str, str, str]] = []
    for tag, value, line in tags:
        if tag in single:
            single[tag] = _plain(value)
        elif tag == "def":
            definition, _ = _quoted(stream, tag, value, line)
        elif tag == "synonym":
            text, after = _quoted(stream, tag, value, line)
            rest.append(("name", text, _synonym(header, after)))
        elif tag == "property_value":
            property, text, *_ = (*value.split(None, 1), "", "")
            scope = PROPERTIES.get(last_part(property).replace("_", "").lower())
            if property in _ADJECTIVES and len(text) > 1 and text[0] == '"':
                rest.append(("name", _unescape(text[1 : (_end_of_text(text) or 1) - 1]), "related"))
            elif scope and len(text) > 1 and text[0] == '"':
                rest.append(("name", _quoted(stream, tag, text, line)[0], scope))
        elif tag in _OLD_SYNONYMS:
            rest.append(("name", _quoted(stream, tag, value, line)[0], _OLD_SYNONYMS[tag]))
        elif tag == "is_obsolete":
            deprecated = _plain(value).lower() == "true"
        elif tag == "replaced_by":
            replaced_by.append(_plain(value))
        elif tag in ("is_a", "consider"):  # the latter is worth a look, but no successor
            rest.append(("relation", tag, _plain(value)))
        elif tag == "relationship":
            relation, _, tail = _plain(value).partition(" ")
            if not tail.strip():
                stream.line = line
                raise stream.error(f"relationship: {value[:60]!r} should be 'type id'")
            rest.append(("relation", relation, tail.strip()))
        elif tag == "alt_id":
            rest.append(("alternative", _plain(value), ""))
        elif tag in ("xref", "xref_analog"):
            # An xref may carry a description: `xref: UMLS:C0000000 "words"`.
            rest.append(("xref", _plain(value.partition(' "')[0]), ""))
    id_, label, namespace = single.values()
    if not id_:
        stream.line = start
        raise stream.error("the [Term] that starts here has no id")
    types = (namespace,) if namespace else ()
    version = header.version if version is None else version
    source, successors = header.source, tuple(replaced_by)
    yield Concept(id_, label, definition, types, source, version, deprecated, successors)
    for kind, first, second in rest:
        if kind == "name" and first.strip():
            yield Name(first, id_, second)
        elif kind == "relation":
            yield Relation(id_, first, second)
        elif kind in ("alternative", "xref") and first:
            yield Xref(id_, first, kind)
