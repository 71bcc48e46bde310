"""Ids as addresses of the web, and back: ``DOID:4`` is ``…/obo/DOID_4``.

`expand` and `compact` undo each other for every id. An id without a prefix has the prefix `LOCAL`
in an address, and in a format that takes no id without one.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterable, Mapping
from urllib.parse import quote, unquote

from canonym.io.systems import SYSTEMS
from canonym.regex import regex

LOCAL = "local"
"""Prefix of ids that have none, where a format asks for one."""

_OBO = "http://purl.obolibrary.org/obo/"
_ANY = "https://bioregistry.io/"
_OBO_IRI = regex(r"https?://purl\.obolibrary\.org/obo/([A-Za-z][A-Za-z0-9.-]*)_([A-Za-z0-9.-]+)$")
_BIOPORTAL = regex(r"https?://purl\.bioontology\.org/ontology/([A-Z0-9-]+)/([^/#]+)$")
_IDENTIFIERS = regex(r"https?://identifiers\.org/([A-Za-z0-9._-]+)[/:]([^/#]+)$")
_SCHEMES = ("http://", "https://")
_SUFFIXES = (".owl", ".obo", ".json", ".ttl", ".rdf")
_CURIE = regex(r"([A-Za-z_][\w.-]*):(?!//)(.*)", re.DOTALL)
_PLAIN = frozenset(f"{string.ascii_letters}{string.digits}.-")
_DATE = regex(r"\d{4}-\d{2}-\d{2}")

# Namespaces after the scheme, each with the prefix that canonym writes for it.
_NAMESPACES = {start: system.prefix for system in SYSTEMS for start in system.read.split()}
# Spellings of prefixes -> the one that canonym writes.
_PREFIXES = {other: system.prefix for system in SYSTEMS for other in system.other_prefixes.split()}
# Other words for a prefix, in small letters and digits alone -> the family that they belong to.
_FAMILIES = {word: system.family for system in SYSTEMS for word in system.other_words.split()}
# Namespaces to write, of prefixes that are not written as `_ANY` is.
_WRITTEN = {system.prefix: system.written for system in SYSTEMS if system.written}


def split_id(id_: str) -> tuple[str, str]:
    """Split an id into its prefix, empty where it has none, and the rest.

    >>> split_id("MESH:D009203"), split_id("I21.02")
    (('MESH', 'D009203'), ('', 'I21.02'))
    """
    match = _CURIE.fullmatch(id_)
    return (match[1], match[2]) if match else ("", id_)


def usual(id_: str) -> tuple[str, str]:
    """Return prefix and rest of an id, the prefix as canonym writes it, whatever its case.

    >>> usual("MeSH:D009203") == usual("MSH:D009203") == usual("MESH:D009203")
    True
    """
    prefix, local = split_id(id_)
    return _PREFIXES.get(prefix.upper(), prefix.upper()), local


@functools.lru_cache(maxsize=1 << 14)
def family(prefix: str) -> str:
    """Return one word for all spellings of a prefix, those of related systems among them.

    >>> family("ICD-10") == family("ICD10CM"), family("SNOMED CT"), family("hp")
    (True, 'snomedct', 'hp')
    """
    word = "".join(mark for mark in prefix.lower() if mark.isascii() and mark.isalnum())
    return _FAMILIES.get(word, word)


def namespace(prefix: str) -> str:
    """Return the beginning of the addresses of a prefix.

    >>> namespace("DOID"), namespace("X")
    ('http://purl.obolibrary.org/obo/DOID_', 'https://bioregistry.io/X:')
    """
    return _WRITTEN.get(prefix, f"{_ANY}{prefix}:")


def namespaces(prefixes: Iterable[str]) -> dict[str, str]:
    """Return the namespaces of prefixes, sorted; `LOCAL` stands for an empty one."""
    return {
        prefix: namespace(prefix)
        for prefix in sorted({written_prefix or LOCAL for written_prefix in prefixes})
    }


def with_prefix(id_: str) -> str:
    """Return an id with a prefix: its own, or `LOCAL`."""
    return id_ if split_id(id_)[0] or id_.startswith(_SCHEMES) else f"{LOCAL}:{id_}"


def expand(id_: str) -> str:
    """Return the address of an id; `compact` turns it into the id again.

    >>> expand("DOID:4"), expand("I21.02")
    ('http://purl.obolibrary.org/obo/DOID_4', 'https://bioregistry.io/local:I21.02')
    """
    if id_.startswith(_SCHEMES):
        return id_
    prefix, local = split_id(with_prefix(id_))
    base = namespace(prefix)
    if base.startswith(_ANY) or not (local and _PLAIN.issuperset(local)):
        base = f"{_ANY}{prefix}:"
    return base + quote(local, safe="")


def last_part(address: str) -> str:
    """Return what stands behind the last slash, hash or colon of an address or id."""
    return address.replace("#", "/").replace(":", "/").rpartition("/")[2]


def ontology_name(address: str) -> str:
    """Return the name of an ontology by its address, or by the id in an OBO file.

    >>> ontology_name("http://purl.obolibrary.org/obo/uberon/basic.owl"), ontology_name("hp")
    ('UBERON', 'HP')
    >>> ontology_name("http://www.ebi.ac.uk/efo/efo.owl")
    'efo'
    """
    of_obo = address.removeprefix(_OBO).strip("/#")
    is_other = of_obo.startswith(_SCHEMES)
    name = of_obo.replace("#", "/").rpartition("/")[2] if is_other else of_obo.split("/")[0]
    name = name.removesuffix(next(filter(name.endswith, _SUFFIXES), ""))
    return name if is_other else name.upper()


def ontology_version(stated: str) -> str:
    """Return the date in a version or its address, or else the version as it is stated.

    >>> ontology_version("hp/releases/2024-08-13/hp.obo"), ontology_version("4.2")
    ('2024-08-13', '4.2')
    """
    date = _DATE.search(stated)
    return date[0] if date else stated


def compact(address: str, prefixes: Mapping[str, str] | None = None) -> str:
    """Shorten the address of a concept to ``PREFIX:local`` where its namespace is known.

    The longest of the further `prefixes` that fits comes before the known ones. Anything else is
    returned unchanged.
    """
    for start in sorted(prefixes or {}, key=len, reverse=True):
        if address.startswith(start) and len(address) > len(start):
            return f"{(prefixes or {})[start]}:{address[len(start) :]}"
    if not address.startswith(_SCHEMES):
        return address
    bare = address.partition("://")[2]
    site, _, path = bare.partition("/")
    prefix, colon, local = path.partition(":")
    if site == "bioregistry.io" and prefix and colon and "/" not in prefix:
        return unquote(local) if prefix == LOCAL else f"{prefix}:{unquote(local)}"
    for pattern in (_OBO_IRI, _BIOPORTAL, _IDENTIFIERS):
        match = pattern.match(address)
        if match:
            prefix = match[1] if pattern is _OBO_IRI else match[1].upper()
            return f"{_PREFIXES.get(prefix, prefix)}:{match[2]}"
    for start in sorted(_NAMESPACES, key=len, reverse=True):
        local = bare.removeprefix(start)
        if local != bare and local and "/" not in local:
            return f"{_NAMESPACES[start]}:{local}"
    return address
