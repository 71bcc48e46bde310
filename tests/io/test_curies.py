"""Ids as addresses, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.io.curies import compact, expand, namespaces, split_id, with_prefix


@pytest.mark.parametrize(
    ("id_", "address"),
    [
        ("MESH:D009203", "http://id.nlm.nih.gov/mesh/D009203"),
        ("HP:0000001", "http://purl.obolibrary.org/obo/HP_0000001"),
        ("ICD10CM:I21.02", "https://bioregistry.io/ICD10CM:I21.02"),
        ("I21.02", "https://bioregistry.io/local:I21.02"),
        ("X:a b|c/d", "https://bioregistry.io/X:a%20b%7Cc%2Fd"),
        ("http://example.org/1", "http://example.org/1"),
    ],
)
def test_an_id_has_one_address(id_: str, address: str) -> None:
    assert expand(id_) == address
    assert compact(address) == id_


@given(
    st.sampled_from(["", "DOID:", "MESH:", "X:", "x-y.z:", "NCIT:", "EFO:", "SNOMEDCT:", "OMIM:"]),
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1),
)
def test_every_address_leads_back_to_its_id(prefix: str, local: str) -> None:
    id_ = prefix + local
    if id_.startswith(("http://", "https://", "local:")):
        return
    assert compact(expand(id_)) == id_


def test_an_id_without_a_prefix_is_local() -> None:
    assert split_id("http://example.org/1") == ("", "http://example.org/1")
    assert (with_prefix("I21"), with_prefix("X:1")) == ("local:I21", "X:1")
    assert namespaces(["", "DOID"]) == {
        "DOID": "http://purl.obolibrary.org/obo/DOID_",
        "local": "https://bioregistry.io/local:",
    }
