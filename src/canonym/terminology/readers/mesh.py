"""MeSH XML: descriptors (``desc2024.xml``) and supplementary concepts (``supp2024.xml``)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from string import ascii_uppercase, digits
from xml.etree.ElementTree import Element

from canonym.errors import ReadError
from canonym.io.packaged import packaged_rows
from canonym.io.xml import Prolog, read_elements, read_prolog
from canonym.regex import regex
from canonym.types import Concept, Name, Record, Relation, Xref

CATEGORIES: dict[str, str] = dict(packaged_rows(__file__))
"""The branches of the MeSH tree: first letter of a tree number -> name."""

# Class of a supplementary record (chemical, protocol, disease, organism, population group, anatomy)
# -> the branch in which its kind of concept would be.
_CLASSES = {"1": "D", "2": "E", "3": "C", "4": "B", "5": "M", "6": "A"}
_SUPPLEMENTARY = "Supplementary Concept"
_ABBREVIATIONS = {"ABB", "ABX", "ACR", "ACX"}
_SCOPES = {"NRW": "narrow", "BRD": "broad", "REL": "related"}
_INVERSE = {"narrow": "broad", "broad": "narrow", "related": "related"}
_RECORDS = {
    "DescriptorRecordSet": "DescriptorRecord",
    "SupplementalRecordSet": "SupplementalRecord",
}
_NINES = str.maketrans(digits, "9" * 10)
_UNII = frozenset(f"{digits}{ascii_uppercase}")
_YEAR = regex(r"(?:19|20)\d{2}")


def read_mesh_xml(path: str | Path, *, version: str | None = None) -> Iterator[Record]:
    """Read MeSH descriptors or supplementary concepts in XML.

    The root element tells the two apart. Memory holds one record, and of the tree only its numbers.

    Parameters
    ----------
    path : str or Path
        ``desc*.xml`` or ``supp*.xml``, plain or compressed.
    version : str, optional
        The version to record; by default the year in the document type, else in the file name.

    Yields
    ------
    Concept, Name, Relation or Xref
        Record by record, the concept first; ``is_a`` relations, which need the whole tree, last.

    Raises
    ------
    ReadError
        If the file has another root element, is malformed, ends too early, or declares entities.

    Notes
    -----
    A MeSH record groups several concepts. Terms of the preferred one are exact names. Terms of the
    others have the scope of their relation to the preferred concept (narrow, broad, related), or
    exact without one. Terms tagged as abbreviations or acronyms get the scope ``abbreviation``.
    Permuted terms ("Infarction, Myocardial") are names like any other.

    The types of a descriptor are the letters of its branches and their names, as in `CATEGORIES`; a
    supplementary concept has the branch of its class and ``"Supplementary Concept"``.

    References
    ----------
    XML MeSH Data Elements. https://www.nlm.nih.gov/mesh/xml_data_elements.html
    """
    prolog = read_prolog(path)
    tag = _RECORDS.get(prolog.root)
    if tag is None:
        raise ReadError(
            path,
            f"has the root element {prolog.root!r}: {' or '.join(_RECORDS)} was expected "
            "(desc*.xml or supp*.xml of MeSH)",
        )
    if version is None:
        version = _find_version(path, prolog)
    tree: dict[str, str] = {}
    for element in read_elements(path, {tag}):
        if tag == "DescriptorRecord":
            yield from _descriptor(path, element, version, tree)
        else:
            yield from _supplementary(path, element, version)
    if tag == "DescriptorRecord":
        yield from _parents(tree)


def _find_version(path: str | Path, prolog: Prolog) -> str:
    for text in (prolog.doctype, Path(path).name):
        year = _YEAR.search(text.rsplit("/", 1)[-1])
        if year:
            return year.group()
    return ""


def _text(element: Element, path: str) -> str:
    return (element.findtext(path) or "").strip()


def _texts(element: Element, path: str) -> list[str]:
    texts = ((child.text or "").strip() for child in element.iterfind(path))
    return [text for text in texts if text]


def _id(path: str | Path, element: Element, tag: str) -> str:
    ui = _text(element, tag)
    if not ui:
        label = _text(element, ".//String")
        raise ReadError(path, f"a {element.tag} (near {label!r}) has no {tag}")
    return f"MESH:{ui}"


def _descriptor(
    path: str | Path, element: Element, version: str, tree: dict[str, str]
) -> Iterator[Record]:
    id_ = _id(path, element, "DescriptorUI")
    numbers = _texts(element, "TreeNumberList/TreeNumber")
    tree.update(dict.fromkeys(numbers, id_))
    types: dict[str, None] = {}
    for letter in dict.fromkeys(number[0] for number in numbers):
        types[letter] = None
        types[CATEGORIES.get(letter, letter)] = None
    label = _text(element, "DescriptorName/String")
    yield from _described(element, id_, label, tuple(types), version)


def _supplementary(path: str | Path, element: Element, version: str) -> Iterator[Record]:
    id_ = _id(path, element, "SupplementalRecordUI")
    letter = _CLASSES.get(element.get("SCRClass", ""))
    types = (_SUPPLEMENTARY,) if letter is None else (_SUPPLEMENTARY, letter, CATEGORIES[letter])
    label = _text(element, "SupplementalRecordName/String")
    yield from _described(element, id_, label, types, version)
    where = "HeadingMappedToList/HeadingMappedTo/DescriptorReferredTo/DescriptorUI"
    for ui in dict.fromkeys(_texts(element, where)):
        # A star marks the headings that are indexed as a main topic.
        yield Relation(id_, "mapped_to", f"MESH:{ui.lstrip('*')}")


def _described(
    element: Element, id_: str, label: str, types: tuple[str, ...], version: str
) -> Iterator[Record]:
    preferred = element.find("ConceptList/Concept[@PreferredConceptYN='Y']")
    note = "" if preferred is None else " ".join(_text(preferred, "ScopeNote").split())
    # Supplementary records have a note of the record instead.
    note = note or " ".join(_text(element, "Note").split())
    yield Concept(id_, label, note, types, "MeSH", version)
    scopes = _concept_scopes(element)
    numbers: dict[str, None] = {}
    for concept in element.iterfind("ConceptList/Concept"):
        scope = scopes.get(_text(concept, "ConceptUI"), "exact")
        for term in concept.iterfind("TermList/Term"):
            text = _text(term, "String")
            if text and text != label:
                short = term.get("LexicalTag", "").strip() in _ABBREVIATIONS
                yield Name(text, id_, "abbreviation" if short else scope)
        if concept.get("PreferredConceptYN") == "Y":
            numbers.update(dict.fromkeys(_texts(concept, ".//RegistryNumber")))
    for number in numbers:
        if number.translate(_NINES).lstrip("9") == "-99-9" and 7 <= len(number) <= 12:
            yield Xref(id_, f"CAS:{number}")
        elif number.startswith("EC "):
            yield Xref(id_, f"EC:{number[3:].strip()}")
        elif len(number) == 10 and _UNII.issuperset(number):
            yield Xref(id_, f"UNII:{number}")
    where = "PharmacologicalActionList/PharmacologicalAction/DescriptorReferredTo/DescriptorUI"
    for ui in _texts(element, where):
        yield Relation(id_, "has_pharmacological_action", f"MESH:{ui}")


def _concept_scopes(element: Element) -> dict[str, str]:
    """Scope of the terms of each concept that is not the preferred one, by its id."""
    preferred = _text(element, "ConceptList/Concept[@PreferredConceptYN='Y']/ConceptUI")
    scopes: dict[str, str] = {}
    for relation in element.iterfind("ConceptList/Concept/ConceptRelationList/ConceptRelation"):
        # NRW: the second is narrower than the first.
        first, second = _text(relation, "Concept1UI"), _text(relation, "Concept2UI")
        scope = _SCOPES.get(relation.get("RelationName", ""))
        if scope is None:
            continue
        if first == preferred:
            scopes.setdefault(second, scope)
        elif second == preferred:
            scopes.setdefault(first, _INVERSE[scope])
    scopes.pop(preferred, None)
    return scopes


def _parents(tree: dict[str, str]) -> Iterator[Record]:
    """Yield an edge from each place in the tree to the place above it."""
    seen: set[tuple[str, str]] = set()
    for number, child in tree.items():
        parent = tree.get(number.rpartition(".")[0])
        if parent is not None and parent != child and (child, parent) not in seen:
            seen.add((child, parent))
            yield Relation(child, "is_a", parent)
