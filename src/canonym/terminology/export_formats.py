"""Terminologies written for other programs: tables, OBO, SKOS, and FHIR code systems.

Our own readers read tables, OBO and SKOS back. What a format has no place for is left out and
counted.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import quote

from canonym import __version__
from canonym.errors import InvalidInput
from canonym.io.curies import expand, split_id
from canonym.io.files import format_by_suffix, write_file
from canonym.terminology.store import Terminology
from canonym.types import Concept, Name, Relation, Xref

EXPORTS: dict[str, tuple[str, ...]] = {
    "tsv": (".tsv", ".tab"),
    "csv": (".csv",),
    "obo": (".obo",),
    "skos": (".ttl",),
    "fhir": (".json",),
}
"""Formats by name, each with the suffixes that stand for it."""

COLUMNS: tuple[str, ...] = (
    *("id", "name", "scope", "language", "source", "type", "definition", "parent"),
)
"""Columns of a table, in which a row is a name."""

_BAR = "|"


class Entry(NamedTuple):
    """A concept with everything that is known of it."""

    concept: Concept
    names: tuple[Name, ...]
    relations: tuple[Relation, ...]
    xrefs: tuple[Xref, ...]

    @property
    def parents(self) -> list[str]:
        """Return the ids of the parents."""
        return [relation.tail for relation in self.relations if relation.relation == "is_a"]

    @property
    def other_relations(self) -> list[Relation]:
        """Return the relations that make no hierarchy."""
        return [relation for relation in self.relations if relation.relation != "is_a"]


def export_terminology(
    terminology: Terminology,
    output: str | Path,
    *,
    format: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Write a terminology to a file that other programs read.

    Parameters
    ----------
    terminology : Terminology
        Any.
    output : str or Path
        The file. It appears whole or not at all.
    format : str, optional
        A key of `EXPORTS`; by default the one of the suffix.
    overwrite : bool
        Whether an existing file may be replaced.
    progress : callable, optional
        Called with the number of concepts written so far.

    Returns
    -------
    dict of str to int
        What the format has no place for, and how often that was left out.

    Raises
    ------
    InvalidInput
        If the format is unknown, or the file exists and is not to be replaced.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from canonym import Concept, Terminology, Xref
    >>> terminology = Terminology.build([Concept("X:1", "Migraine"), Xref("X:1", "Y:7")])
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
    >>> export_terminology(terminology, file)
    {'cross-references': 1}
    >>> print(file.read_text().splitlines()[1])
    X:1,Migraine,label,en,,,,
    """
    format = format or format_by_suffix(output, EXPORTS)
    if format not in _WRITERS:
        raise InvalidInput(f"format={format!r} is unknown; expected one of {', '.join(EXPORTS)}")
    lost: Counter[str] = Counter()
    with (
        write_file(output, overwrite=overwrite) as partial,
        partial.open("w", encoding="utf-8", newline="") as stream,
    ):
        _WRITERS[format](terminology, _entries(terminology, progress), stream, lost)
    return {what: count for what, count in sorted(lost.items()) if count}


def _entries(terminology: Terminology, progress: Callable[[int], None] | None) -> Iterator[Entry]:
    for n, concept in enumerate(terminology.iter_concepts(), start=1):
        id_ = concept.id
        yield Entry(
            concept, terminology.names(id_), terminology.relations(id_), terminology.xrefs(id_)
        )
        if progress is not None and n % 1000 == 0:
            progress(n)


def _version(terminology: Terminology) -> tuple[str, str]:
    """Return the source that most concepts have, and its version."""
    sources = terminology.sources()
    return max(sources, key=lambda pair: (sources[pair], pair), default=("", ""))


def _made_by(terminology: Terminology) -> str:
    return f"exported by canonym {__version__} from the terminology {terminology.digest}"


# --- tables ---------------------------------------------------------------------------------------


def _write_csv(
    _: Terminology, entries: Iterable[Entry], stream: IO[str], lost: Counter[str]
) -> None:
    csv.writer(stream, lineterminator="\n").writerows(_table_rows(entries, lost))


def _write_tsv(
    _: Terminology, entries: Iterable[Entry], stream: IO[str], lost: Counter[str]
) -> None:
    for row in _table_rows(entries, lost):
        stream.write("\t".join(map(_tsv_cell, row)) + "\n")


def _tsv_cell(cell: str) -> str:
    if not cell.isprintable():
        cell = "".join(" " if letter.isspace() else letter for letter in cell)
    # Readers take quotes around a whole cell for quotes, so such a cell gets further ones.
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = '"' + cell.replace('"', '""') + '"'
    return cell


def _table_rows(entries: Iterable[Entry], lost: Counter[str]) -> Iterator[tuple[str, ...]]:
    yield COLUMNS
    for entry in entries:
        concept = entry.concept
        about = (_BAR.join(concept.types), concept.definition, _BAR.join(entry.parents))
        lost["cross-references"] += len(entry.xrefs)
        lost["relations other than is_a"] += len(entry.other_relations)
        lost["marks of retired concepts"] += concept.deprecated
        lost["concepts without a name"] += not entry.names
        labels = [name for name in entry.names if name.scope == "label"]
        lost["scopes of labels in further languages"] += len(labels[1:])
        for name in entry.names:
            # Of two labels a reader takes the first one: it has to be the concept's.
            scope = "exact" if name in labels and name.text != concept.label else name.scope
            yield concept.id, name.text, scope, name.language, name.source, *about


# --- OBO ------------------------------------------------------------------------------------------

_OBO_SCOPES = {"exact": "EXACT", "narrow": "NARROW", "broad": "BROAD", "related": "RELATED"}
_ABBREVIATION = "ABBREVIATION"


def _write_obo(
    terminology: Terminology, entries: Iterable[Entry], stream: IO[str], lost: Counter[str]
) -> None:
    source, version = _version(terminology)
    lines = ["format-version: 1.4"]
    lines += [f"data-version: {_plain(version)}"] if version else []
    lines.append(f'synonymtypedef: {_ABBREVIATION} "abbreviation"')
    lines += [f"ontology: {_plain(source)}"] if source else []
    lines.append(f"remark: {_made_by(terminology)}")
    stream.write("\n".join(lines) + "\n")
    for entry in entries:
        stream.write("\n[Term]\n")
        stream.writelines(f"{tag}: {value}\n" for tag, value in _obo_tags(entry, lost))


def _obo_tags(entry: Entry, lost: Counter[str]) -> Iterator[tuple[str, str]]:
    concept = entry.concept
    yield "id", _plain(concept.id)
    if concept.label:
        yield "name", _plain(concept.label)
    lost["types after the first"] += len(concept.types[1:])
    lost["languages of names"] += sum(name.language != "en" for name in entry.names)
    lost["vocabularies of names"] += sum(bool(name.source) for name in entry.names)
    if concept.types:
        yield "namespace", _plain(concept.types[0])
    if concept.definition:
        yield "def", f"{_obo_quoted(concept.definition)} []"
    for xref in entry.xrefs:
        if xref.kind == "alternative":
            yield "alt_id", _plain(xref.target)
    for name in entry.names:
        if name.text != concept.label:
            scope = _OBO_SCOPES.get(name.scope, "EXACT")
            kind = f" {_ABBREVIATION}" if name.scope == "abbreviation" else ""
            yield "synonym", f"{_obo_quoted(name.text)} {scope}{kind} []"
    for xref in entry.xrefs:
        if xref.kind != "alternative":
            yield "xref", _plain(xref.target)
    for parent in entry.parents:
        yield "is_a", _plain(parent)
    for relation in entry.other_relations:
        if relation.relation == "consider":
            yield "consider", _plain(relation.tail)
        else:
            yield (
                "relationship",
                f"{'_'.join(_plain(relation.relation).split())} {_plain(relation.tail)}",
            )
    if concept.deprecated:
        yield "is_obsolete", "true"
    for successor in concept.replaced_by:
        yield "replaced_by", _plain(successor)


def _obo_quoted(text: str) -> str:
    return f'"{_plain(text)}"'


def _plain(text: str) -> str:
    """Escape what ends a value in OBO: quotes, comments, modifiers, line ends."""
    text = re.sub(r'([\\"!{}])', r"\\\1", text.strip())
    return re.sub(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text.replace("\n", r"\n"))


# --- SKOS -----------------------------------------------------------------------------------------

_TURTLE_HEAD = """\
@prefix dct: <http://purl.org/dc/terms/> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
_SKOS_NAMES = {
    "label": "skos:prefLabel",
    "exact": "skos:altLabel",
    "abbreviation": "skos:altLabel",
    "narrow": "oio:hasNarrowSynonym",
    "broad": "oio:hasBroadSynonym",
    "related": "skos:hiddenLabel",
}
_SKOS_RELATIONS = {"is_a": "skos:broader", "related": "skos:related", "consider": "oio:consider"}
_TURTLE_ESCAPES = str.maketrans(
    {chr(code): f"\\u{code:04X}" for code in (*range(0x20), *range(0x7F, 0xA0))}
    | {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
)
_IRI_SAFE = ":/#?&=%@+,;~!$'()*[]"


def _write_skos(
    terminology: Terminology, entries: Iterable[Entry], stream: IO[str], lost: Counter[str]
) -> None:
    source, version = _version(terminology)
    scheme = f"<https://bioregistry.io/registry/{quote(source or 'local', safe='')}>"
    stream.write(_TURTLE_HEAD + f"\n{scheme} a skos:ConceptScheme ;\n")
    stream.write(f"  owl:versionInfo {_literal(version)} ;\n" if version else "")
    stream.write(f"  rdfs:comment {_literal(_made_by(terminology))} .\n")
    relations: set[str] = set()
    for entry in entries:
        subject = _iri(entry.concept.id)
        relations.update(relation.relation for relation in entry.relations)
        facts = [("a", "skos:Concept"), *_skos_facts(entry, lost)]
        lines = " ;\n".join(f"  {predicate} {value}" for predicate, value in facts)
        stream.write(f"\n{subject}\n{lines} .\n")
        for name in entry.names:
            if name.scope == "abbreviation":
                stream.write(
                    f"[] a owl:Axiom ; owl:annotatedSource {subject} ; owl:annotatedProperty "
                    f"skos:altLabel ; owl:annotatedTarget {_literal(name.text, name.language)} ; "
                    "oio:hasSynonymType <http://purl.obolibrary.org/obo/OMO_0003000> .\n"
                )
    for relation in sorted(relations - set(_SKOS_RELATIONS)):
        stream.write(f"\n{_property(relation)} oio:shorthand {_literal(relation)} .\n")


def _skos_facts(entry: Entry, lost: Counter[str]) -> Iterator[tuple[str, str]]:
    concept = entry.concept
    lost["vocabularies of names"] += sum(bool(name.source) for name in entry.names)
    for name in entry.names:
        yield _SKOS_NAMES[name.scope], _literal(name.text, name.language)
    if concept.definition:
        yield "skos:definition", _literal(concept.definition, "en")
    for type_ in concept.types:
        yield "oio:hasOBONamespace", _literal(type_)
    for relation in entry.relations:
        if relation.relation in _SKOS_RELATIONS:
            yield _SKOS_RELATIONS[relation.relation], _iri(relation.tail)
        else:
            property, target = _property(relation.relation), _iri(relation.tail)
            related = f"owl:onProperty {property} ; owl:someValuesFrom {target}"
            yield "rdfs:subClassOf", f"[ a owl:Restriction ; {related} ]"
    for xref in entry.xrefs:
        kind = "oio:hasAlternativeId" if xref.kind == "alternative" else "oio:hasDbXref"
        yield kind, _literal(xref.target)
    if concept.deprecated:
        yield "owl:deprecated", "true"
    for successor in concept.replaced_by:
        yield "dct:isReplacedBy", _iri(successor)


def _property(relation: str) -> str:
    return f"<urn:canonym:relation:{quote(relation, safe='')}>"


def _iri(id_: str) -> str:
    return f"<{quote(expand(id_), safe=_IRI_SAFE)}>"


def _literal(text: str, language: str = "") -> str:
    return f'"{text.translate(_TURTLE_ESCAPES)}"' + (f"@{language}" if language else "")


# --- FHIR -----------------------------------------------------------------------------------------


def _write_fhir(
    terminology: Terminology, entries: Iterable[Entry], stream: IO[str], lost: Counter[str]
) -> None:
    source, version = _version(terminology)
    prefixes = list(terminology.prefixes())
    alone = len(prefixes) == 1
    name = re.sub(r"\W", "", source) or "Terminology"
    head: dict[str, Any] = {
        "resourceType": "CodeSystem",
        "url": f"urn:canonym:terminology:{terminology.digest}",
        "version": version,
        "name": name if name[0].isupper() else f"T{name}",
        "title": source,
        "status": "active",
        "experimental": False,
        "description": _made_by(terminology),
        "hierarchyMeaning": "is-a",
        "content": "complete",
        "count": terminology.n_concepts,
        "property": [
            {"code": "parent", "uri": "http://hl7.org/fhir/concept-properties#parent",
             "type": "code"},
            {"code": "inactive", "uri": "http://hl7.org/fhir/concept-properties#inactive",
             "type": "boolean"},
            {"code": "type", "type": "string"},
            {"code": "xref", "type": "string"},
            {"code": "alternative", "type": "string"},
        ],
    }  # fmt: skip
    filled = {key: value for key, value in head.items() if value != ""}
    stream.write(json.dumps(filled, ensure_ascii=False, indent=1)[:-2] + ',\n "concept": [')
    between = "\n"
    for entry in entries:
        content = json.dumps(_fhir_concept(entry, lost, alone=alone), ensure_ascii=False)
        stream.write(f"{between}  {content}")
        between = ",\n"
    stream.write("\n ]\n}\n")


def _fhir_concept(entry: Entry, lost: Counter[str], *, alone: bool) -> dict[str, Any]:
    def code(id_: str) -> str:
        return split_id(id_)[1] if alone else id_

    concept = entry.concept
    lost["relations other than is_a"] += len(entry.other_relations)
    lost["vocabularies of names"] += sum(bool(name.source) for name in entry.names)
    properties: list[dict[str, Any]] = [
        {"code": "parent", "valueCode": code(parent)} for parent in entry.parents
    ]
    properties += [{"code": "inactive", "valueBoolean": True}] if concept.deprecated else []
    properties += [{"code": "type", "valueString": type_} for type_ in concept.types]
    properties += [{"code": xref.kind, "valueString": xref.target} for xref in entry.xrefs]
    designations = [
        {
            **({"language": name.language} if name.language else {}),
            "use": {"system": "urn:canonym:scope", "code": name.scope},
            "value": name.text,
        }
        for name in entry.names
        if name.text != concept.label
    ]
    content = {
        "code": code(concept.id),
        "display": concept.label,
        "definition": concept.definition,
        "designation": designations,
        "property": properties,
    }
    return {key: value for key, value in content.items() if value}


_WRITERS: dict[str, Callable[[Terminology, Iterable[Entry], IO[str], Counter[str]], None]] = {
    "tsv": _write_tsv,
    "csv": _write_csv,
    "obo": _write_obo,
    "skos": _write_skos,
    "fhir": _write_fhir,
}
