"""OBO Graphs in JSON, in which OBO ontologies are released beside OBO and OWL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from canonym.errors import ReadError
from canonym.io.curies import compact, ontology_name, ontology_version
from canonym.io.xml import read_json
from canonym.terminology.readers.obo import says_abbreviation
from canonym.types import Concept, Name, Record, Relation, Xref

SCOPES = {f"has{scope.title()}Synonym": scope for scope in ("exact", "narrow", "broad", "related")}
"""Scopes of synonyms by the local names of their properties."""

_CLASSES = ("CLASS", None)  # older files do not say what a node is
_ABBREVIATION_TYPES = ("omo_0003000", "omo_0003012")


def is_abbreviation(type_: str) -> bool:
    """Tell whether the type of a synonym, an address, is that of abbreviations."""
    return says_abbreviation(type_) or type_.lower().endswith(_ABBREVIATION_TYPES)


def read_obographs(
    path: str | Path, *, prefixes: Mapping[str, str] | None = None, version: str | None = None
) -> Iterator[Record]:
    """Read an ontology in OBO Graphs JSON.

    Every node that is a class with a label or metadata becomes a concept. The file is read as a
    whole.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed.
    prefixes : mapping of str to str, optional
        Namespaces (the beginnings of addresses) and the prefixes to write instead, beside the known
        ones.
    version : str, optional
        The version to record; by default the date in that of the graph.

    Yields
    ------
    Concept, Name, Relation or Xref
        Concept by concept in the order of the file, the relations of a graph behind its concepts.

    Raises
    ------
    ReadError
        If the file is no JSON or holds no graph with classes.

    Notes
    -----
    Names are English: the format has no languages.

    References
    ----------
    OBO Graphs: developer-friendly graph-oriented ontology JSON.
    https://github.com/geneontology/obographs
    """
    has_nodes = False
    for document, line in read_json(path):
        for graph in _objects(document, "graphs"):
            try:
                for record in _Graph(graph, prefixes or {}, version).records():
                    has_nodes = True
                    yield record
            except (TypeError, AttributeError, KeyError) as error:
                raise ReadError(
                    path, f"the graph {graph.get('id')!r} is damaged ({error})", line=line
                ) from error
    if not has_nodes:
        raise ReadError(path, "holds no graph with classes: OBO Graphs JSON was expected")


def _objects(content: Any, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list; none where it is left out."""
    members = content.get(key) if isinstance(content, dict) else None
    if not isinstance(members, list):
        return []
    return [member for member in members if isinstance(member, dict)]


class _Graph:
    """The records of one graph; the options are those of `read_obographs`."""

    def __init__(
        self, graph: dict[str, Any], prefixes: Mapping[str, str], version: str | None
    ) -> None:
        self.nodes = _objects(graph, "nodes")
        self.edges = _objects(graph, "edges")
        self.prefixes = prefixes
        self.source = ontology_name(str(graph.get("id") or ""))
        stated = str((graph.get("meta") or {}).get("version") or "")
        self.version = ontology_version(stated) if version is None else version
        self.labels = {str(node.get("id")): str(node.get("lbl") or "") for node in self.nodes}

    def records(self) -> Iterator[Record]:
        classes = set()
        for node in self.nodes:
            known = node.get("lbl") or node.get("meta")
            if node.get("type") in _CLASSES and node.get("id") and known:
                classes.add(node["id"])
                yield from self._concept(self.id(node["id"]), node, node.get("meta") or {})
        for edge in self.edges:
            if edge.get("sub") in classes and edge.get("obj") and edge.get("pred"):
                property = str(edge["pred"])
                name = self.labels.get(property, "").replace(" ", "_") or self.id(property)
                yield Relation(self.id(edge["sub"]), name, self.id(edge["obj"]))

    def id(self, address: str) -> str:
        return compact(address, self.prefixes)

    def _concept(self, id_: str, node: dict[str, Any], meta: dict[str, Any]) -> Iterator[Record]:
        values: dict[str, list[str]] = {}  # of properties, by their local names
        for value in _objects(meta, "basicPropertyValues"):
            name = str(value.get("pred")).replace("#", "/").rpartition("/")[2]
            values.setdefault(name, []).append(str(value.get("val") or ""))
        label = str(node.get("lbl") or "").strip()
        definition = str((meta.get("definition") or {}).get("val") or "")
        types = tuple(dict.fromkeys(values.get("hasOBONamespace", ())))
        deprecated = bool(meta.get("deprecated"))
        new = tuple(self.id(value) for value in values.get("IAO_0100001", ()) if value)
        yield Concept(id_, label, definition, types, self.source, self.version, deprecated, new)
        for synonym in _objects(meta, "synonyms"):
            text = str(synonym.get("val") or "").strip()
            scope = SCOPES.get(str(synonym.get("pred")), "related")
            if is_abbreviation(str(synonym.get("synonymType") or "")):
                scope = "abbreviation"
            if text and text != label:
                yield Name(text, id_, scope)
        for other in values.get("consider", ()):
            yield Relation(id_, "consider", self.id(other))
        for other in dict.fromkeys(values.get("hasAlternativeId", ())):
            if other and other != id_:
                yield Xref(id_, self.id(other), "alternative")
        for other in dict.fromkeys(str(xref.get("val") or "") for xref in _objects(meta, "xrefs")):
            if other:
                yield Xref(id_, other)
