"""Addresses of concepts written as short ids (CURIEs)."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["compact"]

_OBO = re.compile(r"https?://purl\.obolibrary\.org/obo/([A-Za-z][A-Za-z0-9.-]*)_([A-Za-z0-9.-]+)$")
_BIOPORTAL = re.compile(r"https?://purl\.bioontology\.org/ontology/([A-Z0-9-]+)/([^/#]+)$")
_IDENTIFIERS = re.compile(r"https?://identifiers\.org/([A-Za-z0-9._-]+)[/:]([^/#]+)$")
_ORPHANET = re.compile(r"https?://www\.orpha\.net/(?:ORDO/)?Orphanet_(\w+)$")
_SCHEME = re.compile(r"https?://")

# Namespaces after the scheme, each with the prefix that canonym writes for it.
_NAMESPACES = {
    "id.nlm.nih.gov/mesh/": "MESH",
    "id.nlm.nih.gov/mesh/2024/": "MESH",
    "snomed.info/id/": "SNOMEDCT",
    "ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#": "NCIT",
    "www.ebi.ac.uk/efo/EFO_": "EFO",
    "linkedlifedata.com/resource/umls/id/": "UMLS",
    "omim.org/entry/": "OMIM",
    "www.omim.org/entry/": "OMIM",
    "id.who.int/icd/entity/": "ICD11",
    "www.wikidata.org/entity/": "WIKIDATA",
    "rxnav.nlm.nih.gov/REST/rxcui/": "RXNORM",
    "www.drugbank.ca/drugs/": "DRUGBANK",
    "go.drugbank.com/drugs/": "DRUGBANK",
}
# Spellings of prefixes -> the one that canonym writes.
_PREFIXES = {"MSH": "MESH", "MDR": "MEDDRA", "SNOMEDCT_US": "SNOMEDCT", "MIM": "OMIM"}


def compact(address: str, prefixes: Mapping[str, str] | None = None) -> str:
    """Shorten the address of a concept to ``PREFIX:local`` where its namespace is known.

    Parameters
    ----------
    address : str
        An address (IRI), or anything else, which is returned as it is.
    prefixes : mapping of str to str, optional
        Further namespaces and their prefixes; the longest that fits wins, before the known ones.

    Returns
    -------
    str
        The CURIE, or `address`.

    Examples
    --------
    >>> compact("http://purl.obolibrary.org/obo/HP_0000001")
    'HP:0000001'
    >>> compact("http://example.org/thesaurus#42", {"http://example.org/thesaurus#": "EX"})
    'EX:42'
    >>> compact("http://example.org/other#42")
    'http://example.org/other#42'
    """
    for namespace in sorted(prefixes or {}, key=len, reverse=True):
        if address.startswith(namespace) and len(address) > len(namespace):
            return f"{(prefixes or {})[namespace]}:{address[len(namespace) :]}"
    if not _SCHEME.match(address):
        return address
    orphanet = _ORPHANET.match(address)
    if orphanet:
        return f"ORPHA:{orphanet[1]}"
    for pattern in (_OBO, _BIOPORTAL, _IDENTIFIERS):
        match = pattern.match(address)
        if match:
            prefix = match[1] if pattern is _OBO else match[1].upper()
            return f"{_PREFIXES.get(prefix, prefix)}:{match[2]}"
    bare = _SCHEME.sub("", address, count=1)
    for namespace in sorted(_NAMESPACES, key=len, reverse=True):
        local = bare.removeprefix(namespace)
        if local != bare and local and "/" not in local:
            return f"{_NAMESPACES[namespace]}:{local}"
    return address
