"""The catalogue of public terminologies."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.catalogue import (
    Entry,
    catalogue_entry,
    own_catalogue,
    read_catalogue,
)
from canonym.terminology.formats import FORMATS

MINE = """
[mine]
title = "Codes of the house"
address = "http://intranet/codes%20of%202026.csv?a=b"
format = "table"
options = { id_column = "code", separator = ";" }
licence = "internal"
size = "2MB"
looked_up = 2026-11-27
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's catalogue would be."""
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path))
    return own_catalogue()


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", sorted(read_catalogue()))
def test_entries_say_where_from_and_when(name: str) -> None:
    entry = catalogue_entry(name)
    assert entry.source
    assert entry.looked_up is not None
    assert entry.looked_up >= datetime.date(2026, 11, 27)
    assert entry.terms.startswith("https://") or not entry.address
    assert entry.address.startswith("https://") or entry.by_hand
    assert set(entry.options) <= set(FORMATS[entry.format].options if entry.format else ())
    assert entry.take == "" or entry.format
    assert not entry.accept or entry.terms


@pytest.mark.usefixtures("own")
def test_what_a_newcomer_looks_for_is_there() -> None:
    names = {
        *("hpo", "mondo", "doid", "uberon", "cl", "go", "so", "chebi", "ncbi-genes-human"),
        *("ncbi-genes-mouse", "ncbi-taxonomy", "hgnc", "mesh", "mesh-supplementary"),
        *("ctd-diseases", "ctd-chemicals", "medic", "ordo", "rxnorm", "icd10cm-2027", "omim"),
    }
    entries = read_catalogue()
    assert names <= set(entries)
    for name in ("loinc", "snomedct", "umls", "meddra"):  # these are for who has a licence
        assert not entries[name].address
        assert entries[name].take


def test_an_entry_of_the_user(own: Path) -> None:
    own.write_text(MINE)
    entry = catalogue_entry("mine")
    assert entry == Entry(
        name="mine",
        title="Codes of the house",
        address="http://intranet/codes%20of%202026.csv?a=b",
        format="table",
        options={"id_column": "code", "separator": ";"},
        licence="internal",
        size="2MB",
        looked_up=datetime.date(2026, 11, 27),
    )
    assert entry.file == "codes of 2026.csv"
    assert entry.limit == 8_000_000
    assert catalogue_entry("hpo").file == "hp.obo"
    own.write_text(MINE.replace("mine", "hpo"))
    assert catalogue_entry("hpo").title == "Codes of the house"


def test_an_unknown_name_lists_the_known_ones(own: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        catalogue_entry("yours")
    for phrase in ("'yours' is not in the catalogue", "doid, ", "hpo, ", str(own)):
        assert phrase in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "phrase"),
    [
        ("[mine]", "[mine", "no catalogue in TOML"),
        ("[mine]", '["../mine"]', "small letters"),
        ("[mine]", "[Mine]", "small letters"),
        ("title =", "titel =", "titel is no field; the fields are title, "),
        ('"internal"', '""', "lacks licence"),
        ('title = "Codes of the house"', "title = 7", "title is 7; expected a text"),
        ("licence =", 'accept = "yes"\nlicence =', "expected true or false"),
        ("2026-11-27", '"today"', "expected a date"),
        ('"table"', '"tabel"', "expected one of obo, "),
        (
            "id_column",
            "id_colum",
            "id_colum is no option of the format 'table', which has id_column",
        ),
        ('format = "table"', "", "id_column is no option of the format '', which has none"),
        ("http://intranet", "ftp://intranet", "expected https://HOST/PATH"),
        ("http://intranet", "file://", "expected https://HOST/PATH"),
        ("codes%20of%202026.csv", "", "the name of a file"),
        ("codes%20of%202026.csv", "%2e%2e", "the name of a file"),
        ("codes%20of%202026.csv", ".lock", "the name of a file"),
        ("codes%20of%202026.csv", "a%2Fb%2F..", "the name of a file"),
        ("2MB", "large", "expected a size"),
        ("licence =", 'by_hand = "ask"\nlicence =', "either an address or what to do by_hand"),
        ("licence =", 'digest = "abc"\nlicence =', "expected md5 or sha1"),
        ("licence =", 'checksum = "file:///a"\nlicence =', "expected https://HOST/PATH"),
        (MINE, "mine = 3", "expected a table [mine]"),
    ],
)
def test_mistakes_of_the_user(own: Path, before: str, after: str, phrase: str) -> None:
    assert before in MINE
    own.write_text(MINE.replace(before, after))
    with pytest.raises(ReadError) as caught:
        read_catalogue()
    assert phrase in str(caught.value)
    assert str(own) in str(caught.value)
