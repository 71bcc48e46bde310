"""RxNorm: exact records of a hand-made release, filters and damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology.readers.rxnorm import read_rxnorm
from canonym.types import Concept, Name, Relation, Xref
from tests.logs import Log

SOURCES = Path(__file__).with_name("sources") / "rxnorm"
NAMES = ("RXNCONSO", "RXNSTY", "RXNREL", "RXNCUI")
FILES = {
    name: (SOURCES / f"{name}.RRF").read_text(encoding="utf-8").splitlines(keepends=True)
    for name in NAMES
}


def write(folder: Path, **files: list[str]) -> Path:
    inner = folder / "rrf"
    inner.mkdir(parents=True)
    for name, lines in (FILES | files).items():
        (inner / f"{name}.RRF").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write(tmp_path / "RxNorm_full_01062025")


def test_all_records_of_a_release_in_order(release: Path) -> None:
    drug = "RxNorm", "01062025"
    assert list(read_rxnorm(release)) == [
        Concept(
            "RXNORM:161", "acetaminophen", "",
            ("IN", "Organic Chemical", "Pharmacologic Substance"), *drug,
        ),
        Concept(
            "RXNORM:313782", "acetaminophen 325 MG Oral Tablet", "", ("SCD", "Clinical Drug"), *drug
        ),
        Concept("RXNORM:202433", "Tylenol", "", ("BN",), *drug),
        Name("acetaminophen 325 mg tablet", "RXNORM:313782", "exact", "en", "RXNORM"),
        Name("APAP 325 MG Oral Tablet", "RXNORM:313782", "exact", "en", "RXNORM"),
        Name("Tylenol (doubled)", "RXNORM:202433", "exact", "en", "RXNORM"),
        Relation("RXNORM:313782", "has_ingredient", "RXNORM:161"),
        Relation("RXNORM:161", "ingredient_of", "RXNORM:313782"),
        Relation("RXNORM:202433", "tradename_of", "RXNORM:161"),
        Concept("RXNORM:100", "", "", (), *drug, True, ("RXNORM:161",)),
        Concept("RXNORM:101", "", "", (), *drug, True, ("RXNORM:161", "RXNORM:313782")),
    ]  # fmt: skip


def test_further_sources_give_names_and_codes(release: Path) -> None:
    found = list(read_rxnorm(release, sources={"DRUGBANK", "MMSL"}))
    assert Name("Paracetamol", "RXNORM:161", "exact", "en", "DRUGBANK") in found
    assert [r for r in found if isinstance(r, Xref)] == [Xref("RXNORM:161", "DRUGBANK:DB00316")]
    assert not [r for r in found if isinstance(r, Name) and r.text == "ACETAMINOPHEN"]


@pytest.mark.parametrize("wanted", ["SCD", "Clinical Drug"])
def test_types_filter_by_term_type_or_semantic_type(release: Path, wanted: str) -> None:
    found = list(read_rxnorm(release, types={wanted}, version="1"))
    assert [r.id for r in found if isinstance(r, Concept)] == [
        "RXNORM:313782",
        "RXNORM:101",
        "RXNORM:161",
    ]
    assert not [r for r in found if isinstance(r, Relation)]


def test_obsolete_concepts_can_be_taken(release: Path) -> None:
    found = list(read_rxnorm(release, suppress=(), relations={"has_ingredient"}))
    assert Concept("RXNORM:999", "withdrawn drug", "", ("SCD",), "RxNorm", "01062025") in found
    assert [r.head for r in found if isinstance(r, Relation)] == ["RXNORM:313782", "RXNORM:999"]


def test_optional_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "rx")
    (folder / "rrf" / "RXNCUI.RRF").unlink()
    with_relations = list(read_rxnorm(folder))
    assert not [r for r in with_relations if isinstance(r, Concept) and r.deprecated]
    assert {r.version for r in with_relations if isinstance(r, Concept)} == {""}
    (folder / "rrf" / "RXNREL.RRF").unlink()
    assert list(read_rxnorm(folder, relations=False)) == [
        r for r in with_relations if not isinstance(r, Relation)
    ]
    with pytest.raises(ReadError, match=r"RXNREL.RRF not found: an RxNorm folder must contain"):
        list(read_rxnorm(folder))


def test_a_missing_file(release: Path) -> None:
    (release / "rrf" / "RXNCONSO.RRF").unlink()
    with pytest.raises(ReadError, match=r"RXNCONSO.RRF not found.*must contain RXNCONSO.RRF"):
        list(read_rxnorm(release))


def test_prescribable_content_has_no_semantic_types(release: Path, caplog: Log) -> None:
    whole = list(read_rxnorm(release))
    for name in ("RXNSTY", "RXNCUI"):
        (release / "rrf" / f"{name}.RRF").unlink()
    concepts = [one for one in read_rxnorm(release) if isinstance(one, Concept)]
    assert {one.id: one.types for one in concepts} == {
        one.id: one.types[:1] for one in whole if isinstance(one, Concept) and not one.deprecated
    }
    assert "no RXNSTY.RRF" in caplog.text


@pytest.mark.parametrize("name", NAMES)
def test_a_truncated_file(release: Path, name: str) -> None:
    file = release / "rrf" / f"{name}.RRF"
    file.write_text(file.read_text()[:-9])
    with pytest.raises(ReadError, match=rf"{name}.RRF, line \d+: .* columns where"):
        list(read_rxnorm(release))


def test_filters_that_fit_nothing(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="types: 'XYZ' does not occur"):
        list(read_rxnorm(release, types={"XYZ"}))
    with pytest.raises(InvalidInput, match=r"sources: 'NDDF' does not occur .*MTHSPL"):
        list(read_rxnorm(release, sources={"NDDF"}))
    other = write(tmp_path / "x", RXNCONSO=FILES["RXNCONSO"][:1])
    with pytest.raises(InvalidInput, match="has no concept of RxNorm left"):
        list(read_rxnorm(other))


def test_wrong_encoding(release: Path) -> None:
    (release / "rrf" / "RXNSTY.RRF").write_bytes(b"161|T109|A1|Substanz f\xfcr Tests|||\n")
    with pytest.raises(ReadError, match="line 1: the line is not UTF-8"):
        list(read_rxnorm(release))


def test_all_missing_files_are_listed_at_once(release: Path) -> None:
    for name in ("RXNCONSO", "RXNREL"):
        (release / "rrf" / f"{name}.RRF").unlink()
    with pytest.raises(
        ReadError, match=r"RXNCONSO.RRF, RXNREL.RRF not found.*pass relations=False"
    ):
        list(read_rxnorm(release))
