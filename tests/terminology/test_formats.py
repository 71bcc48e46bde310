"""Formats: recognised by content, read and imported by name, options checked."""

from __future__ import annotations

import gzip
import inspect
import zipfile
from pathlib import Path

import pytest

import canonym
from canonym.errors import InvalidInput, ReadError
from canonym.terminology import (
    FORMATS,
    ReaderOptions,
    Terminology,
    import_terminology,
    read_records,
    read_terminology,
    recognise,
)
from canonym.terminology.sqlite_file import is_sqlite
from canonym.types import Concept, Name
from tests.files import written
from tests.logs import Log

TABLE = "id\tname\nX:1\tflu\nX:1\tgrippe\nX:2\tcold\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(tmp_path / "names.tsv", TABLE)


# --- the catalogue --------------------------------------------------------------------------------


def test_every_format_has_a_reader_that_can_be_imported() -> None:
    for name, format_ in FORMATS.items():
        assert format_.name == name
        assert callable(format_.load())
        assert format_.title
        assert format_.expects
        assert all(
            parameter.default is not inspect.Parameter.empty
            for parameter in format_.options.values()
        )


def test_options_are_those_of_the_reader() -> None:
    assert list(FORMATS["medic"].options) == ["style", "prefixes", "source", "version", "encoding"]
    assert "languages" in FORMATS["umls"].options
    assert "format" not in FORMATS["owl"].options  # the name is taken by `read_records`


def test_the_typed_options_are_those_of_the_readers() -> None:
    of_readers = {name for format_ in FORMATS.values() for name in format_.options}
    assert set(ReaderOptions.__annotations__) == of_readers


def test_the_functions_are_where_users_look() -> None:
    assert canonym.import_terminology is import_terminology
    assert canonym.read_terminology is read_terminology


# --- recognised by content ------------------------------------------------------------------------

TEXTS = {
    "obo": [
        "format-version: 1.2\n\n[Term]\nid: X:1\n",
        "! a comment\ndate: 14:05:2015 16:40\nformat-version: 1.2\n",
        "\ufeffformat-version: 1.0\n",
        "[Term]\nid: X:1\nname: flu\n",
    ],
    "owl": [
        "@prefix ex: <http://example.org/> .\n",
        "# Turtle of today\nPREFIX ex: <http://example.org/>\n",
        "@base <http://example.org/> .\n",
        "<http://example.org/a> <http://example.org/b> <http://example.org/c> .\n",
        '_:a <http://example.org/b> "flu" .\n',
        '<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http://x"></rdf:RDF>\n',
        '<RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></RDF>',
        '{"@context": {"a": "http://example.org/"}, "a": 1}\n',
        '[{"@id": "http://example.org/a"}]\n',
    ],
    "mesh": [
        '<?xml version="1.0"?>\n<!DOCTYPE DescriptorRecordSet SYSTEM "a.dtd">\n'
        "<DescriptorRecordSet></DescriptorRecordSet>",
        "  <SupplementalRecordSet/>",
    ],
    "ctd": [
        "# The Comparative Toxicogenomics Database (CTD)\n#\n# Fields:\n# DiseaseName\tDiseaseID\n",
        "# Fields:\n# ChemicalName\tChemicalID\n",
        "DiseaseName,DiseaseID,ParentIDs\n",
    ],
    "medic": ["D003924|125853||diabetes|NIDDM\n", "D003924||diabetes\n\nD003920||DM\n"],
    "drugbank": ["DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms\n"],
    "athena": ["concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\n"],
    "umls": [f"C0000005|ENG|P|L1|PF|S1|Y|A1||M1|D1|MSH|PEN|D1|{'a'}|0|N|256|\n"],
    "rxnorm": ["3|ENG||||||8717795||58488005||RXNORM|PT|58488005|1,4-alpha||N||\n"],
    "table": [
        TABLE,
        "Concept ID,Preferred Label\n1,flu\n",
        '"code";"term"\n"1";"flu, not cold"\n',
        "cui|str\nC1|flu\n",
        "id\tlabel\nX:1\tflu\nX:2\tMénière\n",
    ],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts]
)
@pytest.mark.parametrize("packed", [False, True])
def test_files_are_recognised_by_their_beginning(
    name: str, text: str, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / "source"
    content = text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert recognise(path) == recognise(str(path)) == name


def test_the_beginning_is_enough_and_may_be_in_another_encoding(tmp_path: Path) -> None:
    path = written(tmp_path / "latin.tsv", "id\tname\nX:1\tMénière\n".encode("latin-1"))
    assert recognise(path) == "table"
    with pytest.raises(ReadError, match="line 2: the line is not UTF-8"):
        list(read_records(path))
    assert next(read_records(path, encoding="latin-1")) == Concept("X:1", "Ménière")
    path.write_bytes("D003924||Ménière\n".encode("latin-1") * 9)
    assert recognise(path) == "medic"
    for text in ("id\tname\n" + "X:1\té\n" * 40_000, "id\tname\n " + "X:1\té\n" * 40_000):
        path.write_text(text, encoding="utf-8")  # a character is cut in two by the first look
        assert recognise(path) == "table"


def test_parquet_is_a_table(tmp_path: Path) -> None:
    assert recognise(written(tmp_path / "names.parquet", b"PAR1 and more PAR1")) == "table"


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("umls", ["MRCONSO.RRF", "MRSTY.RRF"]),
        ("umls", ["META/MRCONSO.RRF.gz"]),
        ("umls", ["META/mrconso.rrf.aa.gz", "META/MRCONSO.RRF.ab.gz"]),
        ("rxnorm", ["rrf/RXNCONSO.RRF", "readme.txt"]),
        ("rxnorm", ["RXNCONSO.RRF.xz"]),
        ("meddra", ["MedAscii/llt.asc", "MedAscii/pt.asc"]),
        ("meddra", ["LLT.ASC"]),
        ("athena", ["CONCEPT.csv", "CONCEPT_SYNONYM.csv"]),
        ("athena", ["concept.csv.gz"]),
        ("snomed", ["Snapshot/Terminology/sct2_Concept_Snapshot_INT_20260101.txt"]),
        ("snomed", ["sct2_Concept_Snapshot_INT_20260101.txt"]),
        ("snomed", ["Snapshot/Terminology/xsct2_Concept_Snapshot_INT_20260101.txt"]),
    ],
)
def test_folders_are_recognised_by_their_files(name: str, files: list[str], tmp_path: Path) -> None:
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    assert recognise(tmp_path) == name


@pytest.mark.parametrize("word", ["icd10cm", "ICD-10-CM", "icd10_cm", None])
def test_the_packaged_terminology_is_a_word(
    word: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert recognise(word) == "icd10cm"
    assert next(read_records(word)).id == "ICD10CM:1"  # type: ignore[union-attr]
    if word == "icd10cm":  # unless there is something of that name
        Path(word).write_text(TABLE)
        assert recognise(word) == "table"
        assert next(read_records(word)).id == "X:1"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"flu\ncold\n", r"the first line is 'flu'"),
        (b"\n\nflu cold\n", r"the first line is 'flu cold'"),
        (b"colour\tsize\nred\t3\n", "the first line is 'colour"),
        (b"id\tcolour\nX\tred\n", "the first line is"),
        (b"<html></html>", "XML with the root element 'html'"),
        (b'{"a": 1}', "JSON without the keys of OBO Graphs or JSON-LD"),
        (b"D1||a\n||b\n", r"the first line is 'D1\|\|a'"),
        (b"D1||a||b\n", r"the first line is"),
    ],
)
def test_what_is_not_recognised_is_described(content: bytes, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "source", content)
    with pytest.raises(InvalidInput, match=message) as caught:
        recognise(path)
    assert "source: the format is not recognised" in str(caught.value)
    assert all(f"{name} (" in str(caught.value) for name in FORMATS)


def test_folders_that_are_not_recognised_are_described(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="a folder with nothing in it"):
        recognise(tmp_path)
    for i in range(9):
        (tmp_path / f"{i}.txt").touch()
    with pytest.raises(InvalidInput, match=r"a folder with 0\.txt, .*7\.txt and 1 more"):
        recognise(tmp_path)


def test_archives_of_several_files_have_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(7):
            archive.writestr(f"{i}.txt", TABLE)
    with pytest.raises(ReadError, match=r"a zip archive with 0\.txt, .* and 2 more: unpack it"):
        recognise(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("names.tsv", TABLE)
    assert recognise(path) == "table"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(2):
            archive.writestr(f"{i}.txt", TABLE)
    with pytest.raises(ReadError, match=r"a zip archive with 0\.txt, 1\.txt: unpack it"):
        recognise(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        recognise(tmp_path / "missing.tsv")
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(ReadError, match="empty"):
        recognise(tmp_path / "empty.tsv")
    with pytest.raises(ReadError, match="is no path"):
        recognise("a\0b")
    assert not is_sqlite(Path("a\0b"))
    assert not is_sqlite(tmp_path)


def test_an_imported_terminology_is_no_source(table: Path, tmp_path: Path) -> None:
    import_terminology(table, tmp_path / "t.db")
    with pytest.raises(ReadError, match="is a database, not a source"):
        recognise(tmp_path / "t.db")


# --- reading --------------------------------------------------------------------------------------


def test_records_of_a_recognised_format(table: Path) -> None:
    assert list(read_records(table)) == [
        Concept("X:1", "flu"),
        Name("grippe", "X:1"),
        Concept("X:2", "cold"),
    ]


def test_options_go_to_the_reader(table: Path, tmp_path: Path) -> None:
    records = list(read_records(table, prefix="Y:", version="7"))
    assert records[0] == Concept("Y:X:1", "flu", version="7")
    path = written(tmp_path / "dictionary.txt", "D003924||NIDDM\n")
    assert next(read_records(path, prefixes=False)).id == "D003924"  # type: ignore[union-attr]
    assert next(read_records(path, format="medic")).id == "MESH:D003924"  # type: ignore[union-attr]


def test_columns_that_are_named_make_a_table(tmp_path: Path) -> None:
    path = written(tmp_path / "odd.tsv", "number\tword\n1\tflu\n")
    with pytest.raises(InvalidInput, match="not recognised"):
        read_records(path)
    assert list(read_records(path, id_column="number", name_column="word")) == [Concept("1", "flu")]
    path.write_text("1\tflu\n2\tcold\n")
    assert [record.id for record in read_records(path, header=False)] == ["1", "2"]  # type: ignore[union-attr]


def test_one_string_will_do_where_several_are_taken(tmp_path: Path) -> None:
    (tmp_path / "MRCONSO.RRF").write_text(
        "C0000001|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D1|flu|0|N||\n"
        "C0000001|GER|P|L1|PF|S1|Y|A1||||MSHGER|MH|D1|Grippe|0|N||\n"
    )
    (tmp_path / "MRSTY.RRF").write_text("C0000001|T047|B2.2|Disease or Syndrome|AT1||\n")
    options = {"relations": False, "definitions": False}
    one = list(read_records(tmp_path, languages="GER", **options))
    assert one == list(read_records(tmp_path, languages=["GER"], **options))
    assert Name("Grippe", "UMLS:C0000001", "label", "de", "MSHGER") in one


def test_unknown_formats_and_options_are_named(table: Path) -> None:
    with pytest.raises(
        InvalidInput, match="format='xls' is unknown; use one of obo, owl, obographs"
    ):
        read_records(table, format="xls")
    with pytest.raises(
        InvalidInput,
        match="the format 'medic' has no option 'languages'; its options are style, prefixes",
    ):
        read_records(table, format="medic", languages=("en",))
    with pytest.raises(InvalidInput, match="the format 'table' has no option 'columns'"):
        read_records(table, columns=3)
    with pytest.raises(InvalidInput, match="the format 'medic' needs a source: a text file"):
        read_records(None, format="medic")


def test_the_packaged_terminology_takes_no_table(table: Path) -> None:
    with pytest.raises(InvalidInput, match="is no line of an order file"):
        list(read_records(table, format="icd10cm"))
    assert next(read_records("icd10cm", format="icd10cm", version="x")).version == "x"  # type: ignore[union-attr]


# --- importing ------------------------------------------------------------------------------------


def test_importing_writes_a_file_that_opens(table: Path, tmp_path: Path) -> None:
    counts: list[int] = []
    output = tmp_path / "t.db"
    imported = import_terminology(table, output, progress=counts.append, source="S")
    assert counts == [3]
    assert imported.path == output
    assert (imported.n_concepts, imported.n_names) == (2, 3)
    assert imported.sources() == {("S", ""): 2}
    assert Terminology(output).digest == imported.digest
    with pytest.raises(InvalidInput, match="exists already"):
        import_terminology(table, output)
    again = import_terminology(table, output, overwrite=True, format="table")
    assert again.sources() == {("", ""): 2}


def test_a_source_is_never_overwritten(table: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.tsv"
    link.symlink_to(table)
    for output in (table, link):
        with pytest.raises(InvalidInput, match="is the source itself; choose another file"):
            import_terminology(table, output, overwrite=True)
    assert table.read_text() == TABLE


def test_a_failed_import_leaves_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "names.tsv", TABLE + "X:3\tone cell\ttoo many\n")
    with pytest.raises(ReadError, match="line 5"):
        import_terminology(path, tmp_path / "t.db")
    assert [each.name for each in tmp_path.iterdir()] == ["names.tsv"]


def test_reading_into_a_temporary_terminology(table: Path, tmp_path: Path) -> None:
    terminology = read_terminology(table, language="de")
    assert terminology.languages() == {"de": 3}
    assert not terminology.path.is_relative_to(tmp_path)
    imported = import_terminology(table, tmp_path / "t.db")
    assert read_terminology(tmp_path / "t.db").path == imported.path  # opened as it is
    with pytest.raises(InvalidInput, match="the format 'table' has no option 'x'"):
        read_terminology(table, x=1)


# --- real files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("medic-2012/medic_06Jul2012.txt", "medic"),
        ("biosyn-processed/ncbi-disease/test_dictionary.txt.gz", "medic"),
        ("ctd-diseases-2017/CTD_diseases.tsv.gz", "ctd"),
        ("doid/HumanDO-2015-05-14.obo.gz", "obo"),
        ("hpo/hp-2014-11-14.obo.gz", "obo"),
        ("drugbank-vocabulary/drugbank_vocabulary.csv.gz", "drugbank"),
        ("mesh-2024/terms.tsv.gz", "table"),
        ("mesh-supplementary/scr_names.tsv.gz", "table"),
        ("medquad-synonyms/names.tsv.gz", "table"),
    ],
)
def test_real_files_are_recognised(data: Path, path: str, name: str) -> None:
    assert recognise(data / path) == name


def test_translations_are_names_of_concepts_that_are_there(tmp_path: Path, caplog: Log) -> None:
    base, spanish = tmp_path / "x.obo", tmp_path / "es.tsv"
    base.write_text("format-version: 1.2\n\n[Term]\nid: X:1\nname: hip\nalt_id: X:9\n")
    head = "subject_id\ttranslation_value\nID\tAL oboInOwl:hasExactSynonym@es\n"
    spanish.write_text(f"{head}X:1\tcadera\nX:9\tla cadera\nX:2\trodilla\n")
    with import_terminology(base, tmp_path / "x.db", translations=[spanish]) as found:
        assert [one.id for one in found.iter_concepts()] == ["X:1"]
        names = {(name.text, name.language) for name in found.names("X:1")}
        assert names == {("hip", "en"), ("cadera", "es"), ("la cadera", "es")}
    assert "1 of 3 names are of concepts that the terminology does not have" in caplog.text
    with read_terminology(base, translations=[spanish]) as again:
        assert again.languages() == {"en": 1, "es": 2}
    spanish.write_text(f"{head}X:2\trodilla\n")
    with pytest.raises(ReadError, match="none of its 1 names is of a concept of the terminology"):
        import_terminology(base, tmp_path / "y.db", translations=[spanish])
    assert not (tmp_path / "y.db").exists()


def test_the_options_of_an_unknown_table_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "foo,bar\nT:1,gout\n")
    with pytest.raises(InvalidInput, match=r"'foo,bar'\)\. Of a table, name .* --id-column \.\.\."):
        recognise(path)
    with read_terminology(path, id_column="foo", name_column="bar") as found:
        assert [name.text for name in found.names("T:1")] == ["gout"]
