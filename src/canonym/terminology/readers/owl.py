"""OWL ontologies and SKOS thesauri, as RDF/XML, Turtle, N-Triples or JSON-LD, through rdflib.

Nothing is fetched.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.sax.saxutils import XMLFilterBase
from xml.sax.xmlreader import AttributesNSImpl, InputSource

from canonym.errors import InvalidInput, ReadError, require
from canonym.io.curies import compact, last_part, ontology_name, ontology_version
from canonym.io.streams import open_bytes
from canonym.io.xml import check_xml
from canonym.terminology.readers.obographs import SCOPES, is_abbreviation
from canonym.types import Concept, Name, Record, Relation, Xref

_log = logging.getLogger(__name__)

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_OBO = "http://purl.obolibrary.org/obo/"
_OIO = "http://www.geneontology.org/formats/oboInOwl#"
_DCT = "http://purl.org/dc/terms/"
_STY = "http://bioportal.bioontology.org/ontologies/umls/"

_LABELS = (f"{_SKOS}prefLabel", f"{_RDFS}label")
_NAMES = {
    **{f"{_OIO}{property}": scope for property, scope in SCOPES.items()},
    f"{_OIO}hasSynonym": "related",
    f"{_SKOS}altLabel": "exact",
    f"{_SKOS}hiddenLabel": "related",
    f"{_OBO}IAO_0000118": "exact",
    "http://www.ebi.ac.uk/efo/alternative_term": "exact",
}
_DEFINITIONS = (f"{_OBO}IAO_0000115", f"{_SKOS}definition", "http://www.ebi.ac.uk/efo/definition")
_SUCCESSORS = (f"{_OBO}IAO_0100001", f"{_DCT}isReplacedBy")
_TITLES = (f"{_DCT}title", "http://purl.org/dc/elements/1.1/title")
_SPELT = {last_part(address).lower(): scope for address, scope in _NAMES.items()}
# Lists without parseType="Collection" are the deepest nesting of an ontology. What is nested deeper
# keeps rdflib busy for long.
_DEEPEST = 2_000
_CONTEXTS = ("@context", "@import")
_CLASSES = (f"{_OWL}Class", f"{_SKOS}Concept")


def read_owl(
    path: str | Path,
    *,
    language: str = "en",
    untagged: str = "en",
    prefixes: Mapping[str, str] | None = None,
    syntax: str | None = None,
    version: str | None = None,
) -> Iterator[Record]:
    """Read an OWL ontology or a SKOS thesaurus.

    Every named ``owl:Class`` and ``skos:Concept`` becomes a concept. Nothing is fetched: imports
    are not followed. The graph is held in memory, some 1 kB a triple; an OBO file of the same
    ontology is read much faster.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed: RDF/XML, Turtle, N-Triples or JSON-LD.
    language : str
        Language of the label and the definition, where there is a choice; labels in other languages
        become names of scope ``label`` in theirs.
    untagged : str
        Language of texts without a language tag.
    prefixes : mapping of str to str, optional
        Namespaces (the beginnings of addresses) and the prefixes to write instead, beside the known
        ones.
    syntax : str, optional
        ``"xml"``, ``"turtle"`` (also N-Triples) or ``"json-ld"``; by default recognised by the
        content.
    version : str, optional
        The version to record; by default the date in ``owl:versionIRI``, else ``owl:versionInfo``.

    Yields
    ------
    Concept, Name, Relation or Xref
        Concept by concept, in the order of the file.

    Raises
    ------
    MissingExtra
        If rdflib is not installed.
    InvalidInput
        If `syntax` is unknown.
    ReadError
        If the file is in another syntax, malformed, refers to a remote JSON-LD context, or has
        neither classes nor concepts.

    Notes
    -----
    A synonym whose type (an ``oboInOwl:hasSynonymType`` annotation of the axiom) is an abbreviation
    or acronym gets that scope. ``rdfs:subClassOf`` and ``skos:broader`` are ``is_a``; a restriction
    "some" becomes a relation named after its property.

    References
    ----------
    OWL 2 Web Ontology Language; SKOS Simple Knowledge Organization System Reference, W3C.
    """
    rdflib = require("rdflib", "reading OWL and SKOS", "owl")
    graph = _parse_rdf(path, syntax=syntax)
    reader = _Reader(rdflib, graph, language, untagged, prefixes or {}, version)
    any_concept = False
    for subject in reader.subjects():
        any_concept = True
        yield from reader.records(subject)
    if not any_concept:
        raise ReadError(
            path, f"has {len(graph):,} statements, but no owl:Class and no skos:Concept among them"
        )


class _Reader:
    """The records of one graph; the options are those of `read_owl`."""

    def __init__(
        self, rdflib: Any, graph: Any, language: str, untagged: str,
        prefixes: Mapping[str, str], version: str | None,
    ) -> None:  # fmt: skip
        self.graph = graph
        self.iri = rdflib.URIRef
        self.literal = rdflib.Literal
        self.language = language
        self.untagged = untagged
        self.prefixes = prefixes
        self.source, own_version = self._ontology()
        self.version = own_version if version is None else version
        self.abbreviations = self._find_abbreviations()
        self.names = self._find_names()

    def subjects(self) -> Iterator[Any]:
        seen: set[Any] = set()
        for class_ in _CLASSES:
            for subject in self.graph.subjects(self.iri(_RDF + "type"), self.iri(class_)):
                builtin = str(subject) in (f"{_OWL}Thing", f"{_OWL}Nothing")
                if isinstance(subject, self.iri) and subject not in seen and not builtin:
                    seen.add(subject)
                    yield subject

    def records(self, subject: Any) -> Iterator[Record]:
        id_ = self.id(subject)
        labels = list(dict.fromkeys(t for name in _LABELS for t in self.texts(subject, name)))
        label, tag = self._choose(labels)
        definitions = [d for name in _DEFINITIONS for d in self.texts(subject, name)]
        definition, types = self._choose(definitions)[0], self._types(subject)
        flags = {str(value).lower() for value in self.values(subject, f"{_OWL}deprecated")}
        new = tuple(self.ids(subject, *_SUCCESSORS))
        own = label if tag == "en" else ""  # the label of a concept counts as English
        deprecated = not flags.isdisjoint(("true", "1"))
        yield Concept(id_, own, definition, types, self.source, self.version, deprecated, new)
        if label and tag != "en":
            yield Name(label, id_, "label", tag)
        languages = {tag}
        for text, other in labels:
            if (text, other) != (label, tag):
                yield Name(text, id_, "exact" if other in languages else "label", other)
                languages.add(other)
        for name, scope in self.names.items():
            for text, other in self.texts(subject, name):
                short = (subject, text) in self.abbreviations
                yield Name(text, id_, "abbreviation" if short else scope, other)
        yield from self._relations(subject, id_)
        yield from self._xrefs(subject, id_)

    def values(self, subject: Any, predicate: str) -> Iterator[Any]:
        yield from self.graph.objects(subject, self.iri(predicate))

    def texts(self, subject: Any, predicate: str) -> Iterator[tuple[str, str]]:
        """Literals and their languages."""
        for value in self.values(subject, predicate):
            if isinstance(value, self.literal) and value.strip():
                yield str(value).strip(), value.language or self.untagged

    def id(self, node: Any) -> str:
        return compact(str(node), self.prefixes)

    def ids(self, subject: Any, *predicates: str) -> Iterator[str]:
        """Addresses or written ids, compacted."""
        for predicate in predicates:
            for value in self.values(subject, predicate):
                if isinstance(value, self.iri | self.literal) and value.strip():
                    yield self.id(value.strip())

    def _choose(self, texts: list[tuple[str, str]]) -> tuple[str, str]:
        def rank(text: tuple[str, str]) -> int:
            tag = text[1].lower()
            language = self.language.lower()
            return 0 if tag == language else 1 if tag.split("-")[0] == language.split("-")[0] else 2

        return min(texts, key=rank, default=("", self.untagged))

    def _types(self, subject: Any) -> tuple[str, ...]:
        types = [text for text, _ in self.texts(subject, f"{_OIO}hasOBONamespace")]
        types += [str(value).strip() for value in self.values(subject, f"{_STY}hasSTY")]
        for scheme in self.values(subject, f"{_SKOS}inScheme"):
            titles = [t for name in (*_LABELS, *_TITLES) for t in self.texts(scheme, name)]
            types.append(self._choose(titles)[0] or self.id(scheme))
        return tuple(dict.fromkeys(self.id(type_) for type_ in types))

    def _relations(self, subject: Any, id_: str) -> Iterator[Record]:
        parents = [*self.values(subject, f"{_RDFS}subClassOf")]
        parents += self.values(subject, f"{_SKOS}broader")
        parents += self.values(subject, f"{_SKOS}broaderTransitive")
        for parent in dict.fromkeys(parents):
            if not isinstance(parent, self.iri):
                yield from self._restriction(id_, parent)
            elif str(parent) != f"{_OWL}Thing":
                yield Relation(id_, "is_a", self.id(parent))
        for child in self.ids(subject, f"{_SKOS}narrower"):
            yield Relation(child, "is_a", id_)
        for relation in (f"{_SKOS}related", f"{_OIO}consider"):
            for other in self.ids(subject, relation):
                yield Relation(id_, relation.rsplit("#", 1)[-1], other)

    def _restriction(self, id_: str, node: Any) -> Iterator[Record]:
        """Yield "part of some heart" as a relation; other class expressions say nothing here."""
        for target in self.values(node, f"{_OWL}someValuesFrom"):
            for relation in self.values(node, f"{_OWL}onProperty"):
                if isinstance(target, self.iri) and isinstance(relation, self.iri):
                    shorthand = [text for text, _ in self.texts(relation, f"{_OIO}shorthand")]
                    label = self._choose(list(self.texts(relation, _LABELS[1])))[0]
                    name = (shorthand or [label.replace(" ", "_") or self.id(relation)])[0]
                    yield Relation(id_, name, self.id(target))

    def _xrefs(self, subject: Any, id_: str) -> Iterator[Record]:
        for other in dict.fromkeys(self.ids(subject, f"{_OIO}hasAlternativeId")):
            if other != id_:
                yield Xref(id_, other, "alternative")
        local = id_.rsplit(":", 1)[-1].rsplit("/", 1)[-1].rsplit("#", 1)[-1]
        for notation, _ in self.texts(subject, f"{_SKOS}notation"):
            if notation not in (local, id_):
                yield Xref(id_, notation, "alternative")
        for other in dict.fromkeys(self.ids(subject, f"{_OIO}hasDbXref", f"{_SKOS}exactMatch")):
            yield Xref(id_, other)

    def _ontology(self) -> tuple[str, str]:
        """Name and version of the ontology or the only scheme."""
        is_a = self.iri(_RDF + "type")
        for class_ in (f"{_OWL}Ontology", f"{_SKOS}ConceptScheme"):
            for node in self.graph.subjects(is_a, self.iri(class_)):
                if not isinstance(node, self.iri):
                    continue
                name = ontology_name(str(node))
                for property in ("versionIRI", "versionInfo"):
                    for value in self.values(node, f"{_OWL}{property}"):
                        return name, ontology_version(str(value))
                return name, ""
        return "", ""

    def _find_names(self) -> dict[str, str]:
        """Return the properties of names with their scopes, however they are spelt."""
        names = dict(_NAMES)
        others = []
        for property in sorted(map(str, set(self.graph.predicates(unique=True)))):
            word = last_part(property).replace("_", "").lower()
            if property not in names and word in _SPELT:
                names[property] = _SPELT[word]
            elif property not in names and "synonym" in word and "synonymtype" not in word:
                others.append(property)
        if others:
            _log.warning("the properties %s may hold names, and are not read", ", ".join(others))
        return names

    def _find_abbreviations(self) -> set[tuple[Any, str]]:
        """Synonyms (subject, text) whose axiom says that they are abbreviations."""
        pairs: set[tuple[Any, str]] = set()
        for axiom, kind in self.graph.subject_objects(self.iri(_OIO + "hasSynonymType")):
            if is_abbreviation(kind):
                for subject in self.values(axiom, f"{_OWL}annotatedSource"):
                    for text in self.values(axiom, f"{_OWL}annotatedTarget"):
                        pairs.add((subject, str(text).strip()))
        return pairs


# --- parsing --------------------------------------------------------------------------------------


def _parse_rdf(path: str | Path, *, syntax: str | None = None) -> Any:
    """Parse RDF in one of `_SYNTAXES`, by default recognised by the content, into a graph."""
    if syntax is not None and syntax not in _SYNTAXES:
        raise InvalidInput(f"syntax={syntax!r} is unknown: use one of {', '.join(_SYNTAXES)}")
    rdflib = require("rdflib", "reading OWL and SKOS", "owl")
    path = Path(path)
    with open_bytes(path) as source:
        content = source.read()
    if syntax is None:
        syntax = _detect(path, content)
    data: Any = content
    if syntax == "json-ld":
        data = _local_json(path, content)
    elif syntax == "xml":
        check_xml(path, content, most=_DEEPEST)
    graph = rdflib.Graph()
    with _quiet():
        try:
            _PARSERS[syntax](graph, data)
        except Exception as error:  # rdflib lets the errors of its parsers through, of every kind
            raise ReadError(
                path,
                f"is not well-formed {syntax} ({' '.join(str(error).split())[:200]})",
                line=_line(error),
            ) from error
    return graph


def _parse_xml(graph: Any, content: bytes) -> None:
    from rdflib.plugins.parsers.rdfxml import create_parser

    source = InputSource()
    source.setByteStream(io.BytesIO(content))
    source.setPublicId(_BASE)
    parser = create_parser(source, graph)
    whole = _WholeTexts(parser)
    whole.setContentHandler(parser.getContentHandler())
    whole.parse(source)


def _parse_turtle(graph: Any, content: bytes) -> None:
    graph.parse(data=content, format="turtle", publicID=_BASE)


def _parse_json(graph: Any, value: Any) -> None:
    from rdflib.parser import PythonInputSource

    graph.parse(source=PythonInputSource(value), format="json-ld", publicID=_BASE)


_BASE = "file:///"
_PARSERS = {"xml": _parse_xml, "turtle": _parse_turtle, "json-ld": _parse_json}
_SYNTAXES = tuple(_PARSERS)  # N-Triples are Turtle


class _WholeTexts(XMLFilterBase):
    """Hands each text on in one piece, and of XML in a property its text.

    rdflib copies what it has of a text with each piece, and an ``&amp;`` makes two of one.
    """

    def __init__(self, parser: Any) -> None:
        super().__init__(parser)
        self._pieces: list[str] = []
        self._inside = 0  # elements that are open in the XML of a property, itself among them

    def characters(self, content: str) -> None:
        self._pieces.append(content)

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:  # noqa: N802
        if self._inside:
            self._inside += 1
            return
        values = dict(attrs.items())
        kinds = [values.get((space, "parseType")) for space in (_RDF, None)]
        if any(kind not in (None, "Resource", "Collection") for kind in kinds):
            self._inside = 1
            values = {key: value for key, value in values.items() if key[1] != "parseType"}
            attrs = AttributesNSImpl(values, {})
        self._hand_on()
        super().startElementNS(name, qname, attrs)

    def endElementNS(self, name: Any, qname: Any) -> None:  # noqa: N802
        if self._inside > 1:
            self._inside -= 1
            return
        self._inside = 0
        self._hand_on()
        super().endElementNS(name, qname)

    def _hand_on(self) -> None:
        if self._pieces:
            super().characters("".join(self._pieces))
            self._pieces.clear()


def _line(error: Exception) -> int | None:
    """Line of a parser's error, counted from 1."""
    if hasattr(error, "getLineNumber"):  # XML
        return int(error.getLineNumber())
    lines = getattr(error, "lines", None)  # Turtle: line ends before the error
    return lines + 1 if isinstance(lines, int) else None


def _detect(path: Path, content: bytes) -> str:
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith((b"{", b"[")):
        return "json-ld"
    head = content[:65536]
    if b"<Ontology" in head and b"<rdf:RDF" not in head:
        raise ReadError(path, "is OWL/XML: save it as RDF/XML or Turtle (ROBOT and Protégé do)")
    if start.startswith((b"Prefix(", b"Ontology(", b"Prefix:", b"Ontology:")):
        raise ReadError(
            path, "is in OWL functional or Manchester syntax: save it as RDF/XML or Turtle"
        )
    if start.startswith((b"<?xml", b"<!DOCTYPE", b"<!--", b"<rdf:")) or b"<rdf:RDF" in head:
        return "xml"
    return "turtle"


def _local_json(path: Path, content: bytes) -> Any:
    """Parse JSON-LD, and keep rdflib from fetching a context: canonym works offline."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ReadError(
            path, f"is not JSON ({error})", line=getattr(error, "lineno", None)
        ) from error
    pending = [(value, False)]
    while pending:
        item, is_context = pending.pop()
        if isinstance(item, list):
            pending.extend((part, is_context) for part in item)
        elif isinstance(item, dict):
            pending.extend((part, key in _CONTEXTS) for key, part in item.items())
        elif is_context and isinstance(item, str):
            raise ReadError(
                path,
                f"refers to the context {item!r}, which is not fetched: put the context itself "
                "into the file, or convert it to Turtle",
            )
    return value


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib from logging every ill-typed date with a traceback."""
    logger = logging.getLogger("rdflib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
