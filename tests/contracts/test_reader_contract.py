"""Duties of every reader of a terminology, checked on every format."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import inspect
import json
import lzma
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology import FORMATS, Terminology, read_records, recognise
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

# --- a small source of each format ----------------------------------------------------------------


class Source(NamedTuple):
    """How to write a source of n concepts: one file under "", or the files of a folder."""

    files: Callable[[int], dict[str, str]]
    suffix: str = ""
    streams: bool = True  # whether the first record may come before the end has been read


def obo(n: int) -> dict[str, str]:
    terms = (
        f"[Term]\nid: T:{i:07d}\nname: disease {i}\nnamespace: diseases\n"
        f'def: "Definition {i}." [a:b]\nsynonym: "sickness {i}" EXACT []\nxref: UMLS:C{i:07d}\n'
        f"is_a: T:{i // 2:07d} ! disease\n\n"
        for i in range(1, n + 1)
    )
    return {"": "format-version: 1.2\nontology: t\n\n" + "".join(terms)}


def owl(n: int) -> dict[str, str]:
    classes = (
        f'ex:T{i} a owl:Class ; rdfs:label "disease {i}" ; rdfs:subClassOf ex:T{i // 2} ;\n'
        f'  oio:hasExactSynonym "sickness {i}" .\n'
        for i in range(1, n + 1)
    )
    prefixes = (
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .\n"
        "@prefix ex: <http://example.org/t#> .\n"
    )
    return {"": prefixes + "".join(classes)}


def mesh(n: int) -> dict[str, str]:
    records = (
        f"<DescriptorRecord><DescriptorUI>D{i:06d}</DescriptorUI><DescriptorName><String>disease "
        f"{i}</String></DescriptorName>\n<TreeNumberList><TreeNumber>C{i:03d}</TreeNumber>"
        f'</TreeNumberList><ConceptList><Concept PreferredConceptYN="Y"><ConceptUI>M{i}</ConceptUI>'
        f"\n<TermList><Term><String>disease {i}</String></Term><Term><String>sickness {i}</String>"
        "</Term></TermList></Concept></ConceptList></DescriptorRecord>\n"
        for i in range(1, n + 1)
    )
    head = '<?xml version="1.0"?>\n<DescriptorRecordSet LanguageCode="eng">\n'
    return {"": head + "".join(records) + "</DescriptorRecordSet>\n"}


def ctd(n: int) -> dict[str, str]:
    head = (
        "# Report created: Mon Jan 05 10:00:00 EST 2026\n#\n# Fields:\n# DiseaseName\tDiseaseID\t"
        "AltDiseaseIDs\tDefinition\tParentIDs\tTreeNumbers\tParentTreeNumbers\tSynonyms\t"
        "SlimMappings\n#\n"
    )
    rows = (
        f"disease {i}\tMESH:D{i:06d}\tOMIM:{i:06d}\tDefinition.\tMESH:D{i // 2:06d}\tC{i}\tC\t"
        f"sickness {i}|illness {i}\tCancer\n"
        for i in range(1, n + 1)
    )
    return {"": head + "".join(rows)}


def medic(n: int) -> dict[str, str]:
    return {"": "".join(f"D{i:06d}|{i:06d}||disease {i}|sickness {i}\n" for i in range(1, n + 1))}


def drugbank(n: int) -> dict[str, str]:
    head = "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
    rows = (
        f'DB{i:05d},BIOD{i:05d} | BTD{i:05d},drug {i},50-00-{i % 10},,"agent {i} | drug, no. {i}",'
        f"KEY{i}\n"
        for i in range(1, n + 1)
    )
    return {"": head + "".join(rows)}


def genes(n: int) -> dict[str, str]:
    head = "#tax_id\tGeneID\tSymbol\tSynonyms\tdbXrefs\n"
    rows = (f"9606\t{i}\tgene {i}\tsickness {i}|-\tMIM:{i}\n" for i in range(1, n + 1))
    return {"": head + "".join(rows)}


def babelon(n: int) -> dict[str, str]:
    head = (
        "source_language\ttranslation_language\tsubject_id\tsource_value\tpredicate_id\t"
        "translation_value\ttranslation_status\n"
    )
    rows = (
        f"en\tes\tX:{i}\tdisease {i}\trdfs:label\tsickness {i}\tOFFICIAL\n" for i in range(1, n + 1)
    )
    return {"": head + "".join(rows)}


def po(n: int) -> dict[str, str]:
    head = (
        'msgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    )
    rows = (
        f'msgctxt "X:{i}"\nmsgid "disease {i}"\nmsgstr "sickness {i}"\n\n' for i in range(1, n + 1)
    )
    return {"": head + "".join(rows)}


def umls(n: int) -> dict[str, str]:
    cuis = [f"C{i:07d}" for i in range(1, n + 1)]
    return {
        "MRCONSO.RRF": "".join(
            f"{cui}|ENG|P|L1|PF|S1|Y|A1||||MSH|MH|D{cui}|disease {cui}|0|N||\n"
            f"{cui}|ENG|S|L2|VO|S2|N|A2||||NCI|SY|C{cui}|sickness {cui}|0|N||\n"
            for cui in cuis
        ),
        "MRSTY.RRF": "".join(f"{cui}|T047|B2.2|Disease or Syndrome|AT1||\n" for cui in cuis),
        "MRDEF.RRF": "".join(f"{cui}|A1|AT2||MSH|A definition.|N||\n" for cui in cuis),
        "MRREL.RRF": "".join(
            f"{one}|A1|AUI|PAR|{other}|A1|AUI||R1||MSH|MSH|||N||\n" for one, other in pairwise(cuis)
        ),
    }


def rxnorm(n: int) -> dict[str, str]:
    cuis = [f"{i}" for i in range(1, n + 1)]
    return {
        "RXNCONSO.RRF": "".join(
            f"{cui}|ENG||||||1|1|{cui}||RXNORM|IN|{cui}|drug {cui}||N|4096|\n"
            f"{cui}|ENG||||||2|2|{cui}||RXNORM|SY|{cui}|agent {cui}||N|4096|\n"
            for cui in cuis
        ),
        "RXNSTY.RRF": "".join(f"{cui}|T109|A1.4|Organic Chemical|||\n" for cui in cuis),
        "RXNREL.RRF": "".join(
            f"{one}||CUI|RO|{other}||CUI|has_ingredient|||RXNORM|||||4096|\n"
            for one, other in pairwise(cuis)
        ),
    }


def snomed(n: int) -> dict[str, str]:
    ids = [f"{i}00{i % 10}" for i in range(1, n + 1)]
    fully_specified, synonym = "900000000000003001", "900000000000013009"
    head = {
        "sct2_Concept_Snapshot_INT_20260101.txt": "id\teffectiveTime\tactive\tmoduleId\t"
        "definitionStatusId\n",
        "sct2_Description_Snapshot-en_INT_20260101.txt": "id\teffectiveTime\tactive\tmoduleId\t"
        "conceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId\n",
        "sct2_Relationship_Snapshot_INT_20260101.txt": "id\teffectiveTime\tactive\tmoduleId\t"
        "sourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId\n",
        "der2_cRefset_LanguageSnapshot-en_INT_20260101.txt": "id\teffectiveTime\tactive\tmoduleId\t"
        "refsetId\treferencedComponentId\tacceptabilityId\n",
    }
    rows = (
        [f"{id_}\t20260101\t1\t9\t9\n" for id_ in ids],
        [
            f"{id_}1\t20260101\t1\t9\t{id_}\ten\t{fully_specified}\tdisease {id_} (disorder)\t9\n"
            f"{id_}2\t20260101\t1\t9\t{id_}\ten\t{synonym}\tsickness {id_}\t9\n"
            for id_ in ids
        ],
        [
            f"1\t20260101\t1\t9\t{id_}\t{ids[0]}\t0\t116680003\t900000000000011006\t9\n"
            for id_ in ids[1:]
        ],
        [f"u\t20260101\t1\t9\t900000000000509007\t{id_}2\t900000000000548007\n" for id_ in ids],
    )
    return {
        f"Snapshot/Terminology/{name}": line + "".join(body)
        for (name, line), body in zip(head.items(), rows, strict=True)
    }


def athena(n: int) -> dict[str, str]:
    return {
        "CONCEPT.csv": "concept_id\tconcept_name\tdomain_id\tvocabulary_id\tconcept_class_id\t"
        "standard_concept\tconcept_code\tvalid_start_date\tvalid_end_date\tinvalid_reason\n"
        + "".join(
            f"{i}\tdisease {i}\tCondition\tSNOMED\tDisorder\tS\t{i}000\t20020131\t20991231\t\n"
            for i in range(1, n + 1)
        ),
        "CONCEPT_SYNONYM.csv": "concept_id\tconcept_synonym_name\tlanguage_concept_id\n"
        + "".join(f"{i}\tsickness {i}\t4180186\n" for i in range(1, n + 1)),
        "CONCEPT_RELATIONSHIP.csv": "concept_id_1\tconcept_id_2\trelationship_id\t"
        "valid_start_date\tvalid_end_date\tinvalid_reason\n"
        + "".join(f"{i}\t1\tIs a\t20020131\t20991231\t\n" for i in range(2, n + 1)),
    }


def meddra(n: int) -> dict[str, str]:
    numbers = range(10_000_001, 10_000_001 + n)
    return {
        "soc.asc": "10900001$Cardiac disorders$Card$$$$$$$$\n",
        "hlgt.asc": "10900002$Coronary disorders$$$$$$$$\n",
        "hlt.asc": "10900003$Ischaemic disorders$$$$$$$$\n",
        "pt.asc": "".join(f"{i}$disease {i}$$10900001$$$$$$$$\n" for i in numbers),
        "llt.asc": "".join(f"{i + 500_000}$sickness {i}${i}$$$$$$$Y$$\n" for i in numbers),
        "soc_hlgt.asc": "10900001$10900002$\n",
        "hlgt_hlt.asc": "10900002$10900003$\n",
        "hlt_pt.asc": "".join(f"10900003${i}$\n" for i in numbers),
    }


def table(n: int) -> dict[str, str]:
    rows = "".join(
        f"T:{i}\tdisease {i}\tY\tDisease\tT:{i // 2}\nT:{i}\tsickness {i}\tN\tDisease\tT:{i // 2}\n"
        for i in range(1, n + 1)
    )
    return {"": "id\tname\tpreferred\ttype\tparent\n" + rows}


def obographs(n: int) -> dict[str, str]:
    base = "http://purl.obolibrary.org/obo/T_"
    nodes = [
        {
            "id": f"{base}{i}", "lbl": f"disease {i}", "type": "CLASS",
            "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": f"sickness {i}"}]},
        }
        for i in range(1, n + 1)
    ]  # fmt: skip
    edges = [{"sub": f"{base}{i}", "pred": "is_a", "obj": f"{base}1"} for i in range(2, n + 1)]
    return {"": json.dumps({"graphs": [{"id": "t", "nodes": nodes, "edges": edges}]}, indent=1)}


SOURCES = {
    "obo": Source(obo, ".obo"),
    "owl": Source(owl, ".ttl", streams=False),  # a graph is complete or nothing
    "obographs": Source(obographs, ".json", streams=False),  # JSON is parsed as a whole
    "mesh": Source(mesh, ".xml"),
    "ctd": Source(ctd, ".tsv"),
    "medic": Source(medic, ".txt", streams=False),  # its form shows over all lines
    "drugbank": Source(drugbank, ".csv"),
    "genes": Source(genes, ".tsv"),
    "umls": Source(umls),
    "rxnorm": Source(rxnorm),
    "snomed": Source(snomed, streams=False),  # labels are chosen over all descriptions
    "athena": Source(athena),
    "meddra": Source(meddra),
    "babelon": Source(babelon, ".tsv"),
    "po": Source(po, ".po", streams=False),  # a catalogue is parsed as a whole
    "table": Source(table, ".tsv"),
}
ARRIVING = {
    "rxnorm": "RXNCONSO.RRF",
    "umls": "MRCONSO.RRF",
    "athena": "CONCEPT.csv",
    "meddra": "pt.asc",
}
WITH_SOURCE = pytest.mark.parametrize("name", SOURCES)
# ICD-10-CM comes whole or not at all, and counting its lines would take half a minute.
EVERY = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.no_cover) if name == "icd10cm" else name
        for name in FORMATS
    ],
)


@pytest.fixture(autouse=True)
def _needs_its_extra(request: pytest.FixtureRequest) -> None:
    needed = {"owl": "rdflib", "po": "babel"}
    if "name" in request.fixturenames and request.getfixturevalue("name") in needed:
        pytest.importorskip(needed[request.getfixturevalue("name")])


def write(name: str, folder: Path, n: int = 5) -> Path:
    """Write a source of a format; returns what `read_records` takes."""
    files = SOURCES[name].files(n)
    if list(files) == [""]:
        path = folder / f"source{SOURCES[name].suffix}"
        path.write_text(files[""], encoding="utf-8")
        return path
    for inner, text in files.items():
        path = folder / "release" / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "release"


def files_of(source: Path) -> list[Path]:
    return sorted(each for each in source.rglob("*") if each.is_file()) or [source]


def records_of(name: str, folder: Path) -> list[Record]:
    source = None if name == "icd10cm" else write(name, folder)
    return list(read_records(source, format=name))


# --- what comes out -------------------------------------------------------------------------------


def test_every_format_is_under_contract() -> None:
    assert set(SOURCES) | {"icd10cm"} == set(FORMATS)


@EVERY
def test_records_are_complete_and_consistent(name: str, tmp_path: Path) -> None:
    records = records_of(name, tmp_path)
    concepts = [record for record in records if isinstance(record, Concept)]
    names = [record for record in records if isinstance(record, Name)]
    assert len(concepts) >= 5
    assert names
    ids = {concept.id for concept in concepts}
    for record in records:
        if isinstance(record, Concept):
            assert record.id.strip()
            assert isinstance(record.types, tuple)
            assert isinstance(record.replaced_by, tuple)
        elif isinstance(record, Name):
            assert record.text.strip()
            assert record.concept_id in ids
            assert record.scope in SCOPES
        elif isinstance(record, Relation):
            assert record.head in ids
            assert record.relation
            assert record.tail
        else:
            assert isinstance(record, Xref)
            assert record.concept_id in ids
            assert record.target
            assert record.kind in ("xref", "alternative")
    labels = {(concept.id, concept.label) for concept in concepts}
    assert not [name for name in names if (name.concept_id, name.text) in labels]


@WITH_SOURCE
def test_the_content_arrives(name: str, tmp_path: Path) -> None:
    terminology = Terminology.build(records_of(name, tmp_path))
    assert terminology.n_concepts == 5 + (3 if name == "meddra" else 0)
    labels = {concept.label for concept in terminology.iter_concepts()}
    texts = {text.split()[0] for texts in terminology.iter_texts() for text in texts}
    assert len(labels) == terminology.n_concepts
    assert texts >= ({"drug", "agent"} if name in ("drugbank", "rxnorm") else {"sickness"})
    assert terminology.n_relations or name in (
        *("medic", "drugbank", "mesh", "babelon", "po", "genes"),
    )
    assert not [key for key in terminology.remarks if "alone" in key]


@WITH_SOURCE
def test_concepts_come_before_their_names(name: str, tmp_path: Path) -> None:
    seen = set()
    for record in records_of(name, tmp_path):
        if isinstance(record, Concept):
            seen.add(record.id)
        elif isinstance(record, Name):
            assert record.concept_id in seen


@EVERY
def test_readers_are_generators_with_keyword_options(name: str) -> None:
    reader = FORMATS[name].load()
    assert inspect.isgeneratorfunction(reader)
    first, *options = inspect.signature(reader).parameters.values()
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    for option in options:
        assert option.kind is inspect.Parameter.KEYWORD_ONLY
        assert option.default is not inspect.Parameter.empty
        assert option.name in (reader.__doc__ or "")
    assert "version" in FORMATS[name].options


@WITH_SOURCE
def test_the_version_given_is_recorded(name: str, tmp_path: Path) -> None:
    records = read_records(write(name, tmp_path), format=name, version="of today")
    versions = {record.version for record in records if isinstance(record, Concept)}
    assert versions == {"of today"}


@WITH_SOURCE
def test_the_same_records_every_time(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    first = list(read_records(source, format=name))
    assert list(read_records(str(source), format=name)) == first
    one, two = read_records(source, format=name), read_records(source, format=name)
    mixed = [record for pair in zip(one, two, strict=True) for record in pair]
    assert mixed[::2] == mixed[1::2] == first


@WITH_SOURCE
def test_a_reader_that_is_left_early_lets_go(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path, 50)
    records = read_records(source, format=name)
    assert isinstance(records, Iterator)
    list(islice(records, 3))
    records.close()  # type: ignore[attr-defined]
    shutil.rmtree(source) if source.is_dir() else source.unlink()


@WITH_SOURCE
def test_line_ends_of_windows_change_nothing(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    expected = list(read_records(source, format=name))
    for file in files_of(source):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert list(read_records(source, format=name)) == expected


# --- compressed -----------------------------------------------------------------------------------


def pack_zip(path: Path, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(path.with_suffix("").name, content)


PACKERS: dict[str, Callable[[Path, bytes], object]] = {
    ".gz": lambda path, content: path.write_bytes(gzip.compress(content)),
    ".xz": lambda path, content: path.write_bytes(lzma.compress(content)),
    ".bz2": lambda path, content: path.write_bytes(bz2.compress(content)),
    ".zip": pack_zip,
}


@WITH_SOURCE
@pytest.mark.parametrize("packing", PACKERS)
def test_compressed_copies_give_the_same_records(name: str, packing: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    expected = list(read_records(source, format=name))
    for file in files_of(source):
        # SNOMED CT files keep their names; compression is recognised by content.
        kept = name == "snomed"
        packed = file if kept else file.with_name(file.name + packing)
        content = file.read_bytes()
        if content:
            file.unlink()
            PACKERS[packing](packed, content)
        source = packed if file == source else source
    assert recognise(source) == name
    assert list(read_records(source, format=name)) == expected


# --- recognised -----------------------------------------------------------------------------------


@WITH_SOURCE
def test_the_format_is_recognised_by_content(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    assert recognise(source) == name
    if source.is_file():  # whatever the file is called
        assert recognise(source.rename(source.with_suffix(".dat"))) == name


# --- streaming ------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("name", [name for name, source in SOURCES.items() if source.streams])
def test_records_come_before_the_end_has_been_read(name: str, tmp_path: Path) -> None:
    # Decoding works on blocks of 1 MiB, so the damage must be further away than one of them.
    (tmp_path / "few").mkdir()
    few = write(name, tmp_path / "few", 100)
    size = (few if few.is_file() else few / ARRIVING[name]).stat().st_size
    source = write(name, tmp_path, 100 * 1_200_000 // size)
    file = source if source.is_file() else source / ARRIVING[name]
    assert file.stat().st_size > 1 << 20
    file.write_bytes(file.read_bytes() + b"\x00 this is the end: \xff\n")
    records = read_records(source, format=name)
    assert isinstance(next(records), Concept)
    with pytest.raises(ReadError, match=file.name):
        list(records)


# --- bad input ------------------------------------------------------------------------------------


def read_all(name: str, source: Path) -> list[Record]:
    return list(read_records(source, format=name))


@WITH_SOURCE
def test_a_source_that_is_missing(name: str, tmp_path: Path) -> None:
    for missing in (tmp_path / "missing", tmp_path / "missing" / "file.tsv"):
        with pytest.raises(ReadError, match="missing"):
            read_all(name, missing)


@WITH_SOURCE
def test_a_folder_for_a_file_and_a_file_for_a_folder(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    if source.is_dir():
        with pytest.raises(ReadError, match=f"{files_of(source)[0].name}.*folder"):
            read_all(name, files_of(source)[0])
        (tmp_path / "empty").mkdir()
        with pytest.raises(ReadError, match="empty"):
            read_all(name, tmp_path / "empty")
    else:
        with pytest.raises(ReadError, match="is a folder"):
            read_all(name, tmp_path)


JUNK = {
    "empty": b"",
    "blank": b"\n \n\t\n",
    "binary": bytes(random.Random(0).randrange(256) for _ in range(4000)),
    "zeros": bytes(4000),
    "prose": b"Lorem ipsum dolor sit amet,\nconsectetur adipiscing elit.\n" * 40,
    "utf16": "id\tname\nT:1\tdisease\n".encode("utf-16-le"),
    "truncated gzip": gzip.compress(b"id\tname\n" * 3000)[:40],
    "corrupt xz": lzma.compress(b"id\tname\n" * 3000)[:-20] + b"x" * 20,
    "html": b"<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n",
    "json": b'{"concepts": [{"id": "T:1"}]}\n',
    "surrogate": "id\tname\nT:1\t\udcff\n".encode("utf-8", "surrogatepass"),
    "database": b"SQLite format 3\x00" + bytes(200),
    "long": b"a" * 11_000_000,
}
MAY_BE_EMPTY = {"MRDEF.RRF", "MRREL.RRF", "MRSTY.RRF", "RXNREL.RRF", "RXNSTY.RRF"}  # of a subset


@WITH_SOURCE
@pytest.mark.parametrize("junk", JUNK)
def test_junk_is_a_read_error_that_names_the_file(name: str, junk: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    for file in files_of(source)[:2]:
        if junk == "empty" and file.name in MAY_BE_EMPTY:
            continue
        whole = file.read_bytes()
        file.write_bytes(JUNK[junk])
        with pytest.raises(InvalidInput) as caught:
            Terminology.build(read_records(source, format=name))
        assert file.name in str(caught.value) or "no names" in str(caught.value)
        file.write_bytes(whole)
    file = files_of(source)[0]
    file.write_bytes(JUNK[junk])
    if source.is_file() and junk != "surrogate":
        with pytest.raises(InvalidInput, match=source.name):
            recognise(source)


@WITH_SOURCE
def test_text_in_another_encoding_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    for file in files_of(source):
        text = file.read_text(encoding="utf-8")
        if "disease 3" in text or "drug 3" in text:
            damaged = text.replace("disease 3", "Ménière 3").replace("drug 3", "Ménière 3")
            file.write_bytes(damaged.encode("latin-1"))
            with pytest.raises(ReadError, match=file.name) as caught:
                read_all(name, source)
            # RDF is parsed from bytes, by a parser that does not count its lines.
            assert caught.value.line is not None or name == "owl"


def mutate(content: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(6)
    at = rng.randrange(len(content))
    if kind == 0:  # a cut end
        return content[:at]
    if kind == 1:  # bytes lost
        return content[:at] + content[at + rng.randint(1, 30) :]
    if kind == 2:  # bytes changed
        changed = bytearray(content)
        for _ in range(rng.randint(1, 5)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed)
    lines = content.splitlines(keepends=True)
    where = rng.randrange(len(lines))
    if kind == 3:  # a line lost
        return b"".join(lines[:where] + lines[where + 1 :])
    if kind == 4:  # a line twice
        return b"".join(lines[: where + 1] + lines[where:])
    rng.shuffle(lines)
    return b"".join(lines)


@WITH_SOURCE
def test_damage_is_refused_or_read_but_never_another_error(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    files = [file for file in files_of(source) if file.stat().st_size]
    rng = random.Random(name)
    problems: list[InvalidInput] = []
    rounds = 120
    for _ in range(rounds):
        file = rng.choice(files)
        whole = file.read_bytes()
        file.write_bytes(mutate(whole, rng))
        try:
            for record in read_records(source, format=name):
                assert isinstance(record, Concept | Name | Relation | Xref)
        except InvalidInput as error:
            problems.append(error)
        with contextlib.suppress(InvalidInput):
            recognise(source)
        file.write_bytes(whole)
    assert all(str(source) in str(problem) for problem in problems)
    assert 0 < len(problems) < rounds
