"""UMLS: exact records of a hand-made release, and every way in which one can be damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology import Terminology
from canonym.terminology.readers.releases import Release, curie
from canonym.terminology.readers.rrf import lat_of, relation_of, rrf_rows
from canonym.terminology.readers.umls import read_umls
from canonym.types import Concept, Name, Relation, Xref

SOURCES = Path(__file__).with_name("sources") / "umls"
NAMES = ("MRCONSO", "MRSTY", "MRDEF", "MRREL")
FILES = {
    name: (SOURCES / f"{name}.RRF").read_text(encoding="utf-8").splitlines(keepends=True)
    for name in NAMES
}


def write(folder: Path, **files: list[str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, lines in (FILES | files).items():
        (folder / f"{name}.RRF").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write(tmp_path / "2024AA")


def test_all_records_of_a_release_in_order(release: Path) -> None:
    (release / "release.dat").write_text("mmsys.version=1\numls.release.name=2024AA\n")
    disease = "Disease or Syndrome"
    patient = ("Patient or Disabled Group",)
    assert list(read_umls(release)) == [
        Concept(
            "UMLS:C0011849", "Diabetes Mellitus", "Chronic high blood sugar.", (disease,), "UMLS",
            "2024AA",
        ),
        Xref("UMLS:C0011849", "MESH:D003920"),
        Name("DM", "UMLS:C0011849", "abbreviation", "en", "NCI"),
        Xref("UMLS:C0011849", "NCIT:C2985"),
        Name("Diabetes Mellitus", "UMLS:C0011849", "exact", "en", "SNOMEDCT_US"),
        Xref("UMLS:C0011849", "SNOMEDCT:73211009"),
        Concept(
            "UMLS:C0027051", "Myocardial Infarction", "", (disease, "Pathologic Function"), "UMLS",
            "2024AA",
        ),
        Name("Heart attack", "UMLS:C0027051", "exact", "en", "MEDLINEPLUS"),
        Xref("UMLS:C0027051", "MEDLINEPLUS:34"),
        Xref("UMLS:C0027051", "MESH:D009203"),
        Concept("UMLS:C0030705", "Patients", "", patient, "UMLS", "2024AA"),
        Xref("UMLS:C0030705", "MESH:D010361"),
        Concept("UMLS:CL000001", "Private concept", "", ("Finding",), "UMLS", "2024AA"),
        Xref("UMLS:CL000001", "HP:0001658"),
        Relation("UMLS:C0011849", "is_a", "UMLS:C0027051"),
        Relation("UMLS:C0011849", "is_a", "UMLS:C0027051"),
        Relation("UMLS:C0027051", "broader", "UMLS:C0030705"),
        Relation("UMLS:C0027051", "treats", "UMLS:C0030705"),
        Relation("UMLS:C0030705", "is_a", "UMLS:CL000001"),
    ]  # fmt: skip


def test_the_store_takes_it(release: Path, tmp_path: Path) -> None:
    terminology = Terminology.build(read_umls(release, languages=None), tmp_path / "umls.db")
    assert terminology.n_concepts == 5


def labels(records: object) -> list[tuple[str, str]]:
    return [
        (record.id, record.label) if isinstance(record, Concept) else (record.text, record.language)
        for record in records  # type: ignore[attr-defined]
        if isinstance(record, Concept) or (isinstance(record, Name) and record.scope == "label")
    ]


def test_the_first_language_gives_the_label(release: Path) -> None:
    assert labels(read_umls(release, languages=("de", "FRE", "eng"))) == [
        ("UMLS:C0011849", ""),
        ("Diabète", "fr"),
        ("UMLS:C0027051", ""),
        ("Herzinfarkt", "de"),
        ("UMLS:C0030705", "Patients"),
        ("UMLS:C0999999", ""),
        ("Kranker", "de"),
        ("UMLS:CL000001", "Private concept"),
    ]


def test_all_languages_prefer_english(release: Path) -> None:
    found = list(read_umls(release, languages=None))
    assert labels(found)[:2] == [
        ("UMLS:C0011849", "Diabetes Mellitus"),
        ("UMLS:C0027051", "Myocardial Infarction"),
    ]
    assert Name("Diabète", "UMLS:C0011849", "exact", "fr", "MSHFRE") in found


def test_a_definition_is_in_a_language_that_was_taken(release: Path) -> None:
    concepts = [r for r in read_umls(release, languages=("FRE",)) if isinstance(r, Concept)]
    assert [concept.definition for concept in concepts] == ["Une maladie."]


def test_sources_filter_names_and_relations(release: Path) -> None:
    found = list(read_umls(release, sources={"NCI"}))
    assert [r.label for r in found if isinstance(r, Concept)] == ["DM", "Private concept"]
    assert not [r for r in found if isinstance(r, Relation)]
    found = list(read_umls(release, sources={"MSH", "MEDLINEPLUS"}))
    assert [r.relation for r in found if isinstance(r, Relation)] == ["is_a", "is_a", "broader"]


@pytest.mark.parametrize("wanted", ["T046", "Pathologic Function"])
def test_types_filter_by_identifier_or_name(release: Path, wanted: str) -> None:
    found = list(read_umls(release, types={wanted}))
    assert [r.id for r in found if isinstance(r, Concept)] == ["UMLS:C0027051"]
    assert not [r for r in found if isinstance(r, Relation)]


def test_suppressed_names_can_be_taken(release: Path) -> None:
    found = list(read_umls(release, suppress=()))
    assert Name("Diabetes NOS", "UMLS:C0011849", "exact", "en", "ICD9CM") in found
    assert found[0] == Concept(
        "UMLS:C0011849", "Diabetes Mellitus", "An old definition.", ("Disease or Syndrome",), "UMLS"
    )
    assert Relation("UMLS:C0030705", "possibly_synonymous", "UMLS:C0027051") in found


def test_relations_can_be_chosen_or_left_out(release: Path) -> None:
    found = read_umls(release, relations={"treats"}, version="x")
    assert [r.relation for r in found if isinstance(r, Relation)] == ["treats"]
    for name in ("MRREL.RRF", "MRDEF.RRF"):
        (release / name).unlink()
    found = read_umls(release, relations=False, definitions=False)
    assert [type(r) for r in found if isinstance(r, Relation)] == []


@pytest.mark.parametrize(
    ("rel", "rela", "expected"),
    [
        ("PAR", "inverse_isa", ("1", "is_a", "2")),
        ("CHD", "isa", ("2", "is_a", "1")),
        ("PAR", "", ("1", "is_a", "2")),
        ("CHD", "", ("2", "is_a", "1")),
        ("RB", "", ("1", "broader", "2")),
        ("RN", "", ("2", "broader", "1")),
        ("AQ", "", ("1", "allowed_qualifier", "2")),
        ("QB", "", ("2", "allowed_qualifier", "1")),
        ("RO", "may_treat", ("2", "may_treat", "1")),
        ("PAR", "part_of", ("2", "part_of", "1")),
        ("SIB", "", None),
        ("DEL", "", None),
    ],
)
def test_directions(rel: str, rela: str, expected: tuple[str, str, str] | None) -> None:
    found = relation_of(rel, rela, "1", "2")
    assert found == (None if expected is None else Relation(*expected))


def test_meta_folder_compression_and_parts(tmp_path: Path) -> None:
    plain = list(read_umls(write(tmp_path / "plain")))
    whole = "".join(FILES["MRCONSO"]).encode()
    middle = whole.index("Diabète".encode()) + 20  # within a row
    meta = write(tmp_path / "meta")
    inner = meta / "META"
    inner.mkdir()
    for name in NAMES[1:]:
        data = (meta / f"{name}.RRF").read_bytes()
        (inner / f"{name.lower()}.rrf.gz").write_bytes(gzip.compress(data))
    for file in meta.glob("*.RRF"):
        file.unlink()
    (inner / "MRCONSO.RRF.aa.gz").write_bytes(gzip.compress(whole[:middle]))
    (inner / "MRCONSO.RRF.ab.gz").write_bytes(gzip.compress(whole[middle:]))
    (inner / "MRCONSO.RRF.ctl.gz").write_bytes(b"not a part")
    (inner / "release.dat").write_text("nothing=here\n")
    assert list(read_umls(meta)) == plain


def test_blank_lines_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "x.RRF"
    file.write_text("a|b|\n\nc|d|\n")
    assert list(rrf_rows([file], 2)) == [["a", "b", "\n"], ["c", "d", "\n"]]


def test_a_row_too_short_in_the_middle_of_a_part(tmp_path: Path) -> None:
    for name, text in (("a", "a|b|\nc|\nd|e|\n"), ("b", "f|g|\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(ReadError, match=r"a, line 2: 1 columns where 2 were expected"):
        list(rrf_rows([tmp_path / "a", tmp_path / "b"], 2))


@pytest.mark.parametrize(
    ("name", "option"),
    [("MRCONSO", ""), ("MRSTY", ""), ("MRDEF", "definitions=False"), ("MRREL", "relations=False")],
)
def test_a_missing_file(release: Path, name: str, option: str) -> None:
    (release / f"{name}.RRF").unlink()
    with pytest.raises(ReadError) as caught:
        list(read_umls(release))
    assert f"{name}.RRF not found" in str(caught.value)
    assert "a UMLS folder must contain MRCONSO.RRF and MRSTY.RRF" in str(caught.value)
    assert option in str(caught.value)


def test_no_folder_or_a_file(release: Path) -> None:
    with pytest.raises(ReadError, match="there is no such folder; a UMLS folder was expected"):
        list(read_umls(release / "nowhere"))
    with pytest.raises(ReadError, match="unpack the release"):
        list(read_umls(release / "MRSTY.RRF"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("damage", ["truncated", "narrow", "wide"])
def test_rows_of_another_width(tmp_path: Path, name: str, damage: str) -> None:
    lines = FILES[name]
    last = lines[-1]
    last = {"truncated": last[: len(last) // 2], "narrow": last[1 + last.index("|") :]}.get(
        damage, "|" + last
    )
    folder = write(tmp_path / "x", **{name: [*lines[:-1], last]})
    with pytest.raises(ReadError, match=rf"{name}\.RRF, line {len(lines)}: .* were expected"):
        list(read_umls(folder))


@pytest.mark.parametrize("name", ["MRCONSO", "MRSTY"])
def test_an_unsorted_file(tmp_path: Path, name: str) -> None:
    *lines, last = FILES[name]
    folder = write(tmp_path / "x", **{name: [last, *lines]})
    with pytest.raises(ReadError, match=r"C0011849 comes after CL000001.*sort"):
        list(read_umls(folder))


def test_wrong_encoding(release: Path) -> None:
    file = release / "MRCONSO.RRF"
    file.write_bytes(file.read_text(encoding="utf-8").encode("latin-1"))
    with pytest.raises(ReadError, match="line 5: the line is not UTF-8"):
        list(read_umls(release))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"languages": ("SPA",)}, r"languages: 'SPA' does not occur in .* which has ENG, FRE, GER"),
        ({"sources": ("MSH", "MESH")}, r"sources: 'MESH' does not occur"),
        ({"types": ("T999",)}, r"types: 'T999' does not occur .*Disease or Syndrome"),
        ({"languages": ("klingon",)}, r"languages: 'klingon' is unknown"),
    ],
)
def test_filters_that_fit_nothing(
    release: Path, options: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        list(read_umls(release, **options))  # type: ignore[arg-type]


def test_languages_by_either_code() -> None:
    assert [lat_of(each) for each in ("ENG", "eng", "de", "PT", "xho")] == [
        "ENG", "ENG", "GER", "POR", "XHO"
    ]  # fmt: skip


def test_curies() -> None:
    assert curie("MDR", "10000001") == "MEDDRA:10000001"
    assert curie("OMIM", "145250") == "OMIM:145250"
    assert curie("GO", "GO:0008150") == "GO:0008150"


def test_the_folder_itself_goes_before_its_subfolder(tmp_path: Path) -> None:
    (tmp_path / "META").mkdir()
    (tmp_path / "META" / "X.RRF").touch()
    (tmp_path / "x.rrf").touch()
    release = Release(tmp_path, "a folder", ("X.RRF",), subfolder="meta")
    assert release.find("X.RRF") == [tmp_path / "x.rrf"]
    assert release.find("Y.RRF") == []


@pytest.mark.parametrize("name", NAMES[1:])
def test_a_subset_may_have_empty_files(release: Path, name: str) -> None:
    whole = list(read_umls(release))
    (release / f"{name}.RRF").write_bytes(b"")
    records = list(read_umls(release))
    assert [record for record in records if isinstance(record, Name)] == [
        record for record in whole if isinstance(record, Name)
    ]
    assert records != whole
    (release / "MRCONSO.RRF").write_bytes(b"")
    with pytest.raises(ReadError, match=r"MRCONSO\.RRF: is empty"):
        list(read_umls(release))


def test_all_missing_files_are_listed_at_once(release: Path) -> None:
    for name in NAMES[1:]:
        (release / f"{name}.RRF").unlink()
    with pytest.raises(ReadError) as caught:
        list(read_umls(release))
    assert str(caught.value).startswith(f"{release}: MRSTY.RRF, MRDEF.RRF, MRREL.RRF not found: ")
    assert str(caught.value).endswith(
        "; pass definitions=False to do without MRDEF.RRF; pass relations=False to do without "
        "MRREL.RRF"
    )
