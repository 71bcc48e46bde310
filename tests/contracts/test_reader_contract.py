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
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology import FORMATS, Terminology, read_records, recognise
from canonym.types import SCOPES, Concept, Name, Record, Relation, Xref

# --- a small source of each format ----------------------------------------------------------------


SOURCES: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("sources.toml").read_text(encoding="utf-8")
)


def text_of(n: int, *, head: str = "", row: str = "", foot: str = "", first: int = 1) -> str:
    """Return a file of so many concepts."""
    rows = (row.format(i=i, before=i - 1, half=i // 2, digit=i % 10) for i in range(first, n + 1))
    return head + "".join(rows) + foot


def obographs(n: int) -> str:
    """Return a graph of so many concepts."""
    base = "http://purl.obolibrary.org/obo/T_"
    nodes = [
        {
            "id": f"{base}{i}", "lbl": f"disease {i}", "type": "CLASS",
            "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": f"sickness {i}"}]},
        }
        for i in range(1, n + 1)
    ]  # fmt: skip
    edges = [{"sub": f"{base}{i}", "pred": "is_a", "obj": f"{base}1"} for i in range(2, n + 1)]
    return json.dumps({"graphs": [{"id": "t", "nodes": nodes, "edges": edges}]}, indent=1)


def source_files(name: str, n: int) -> dict[str, str]:
    """Return the files of a source of so many concepts by name; one that is alone has none."""
    if name == "obographs":
        return {"": obographs(n)}
    return {inner: text_of(n, **parts) for inner, parts in SOURCES[name]["files"].items()}


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
    texts = source_files(name, n)
    if list(texts) == [""]:
        path = folder / f"source{SOURCES[name]['suffix']}"
        path.write_text(texts[""], encoding="utf-8")
        return path
    for inner, text in texts.items():
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
@pytest.mark.parametrize(
    "name", [name for name, source in SOURCES.items() if source.get("streams", True)]
)
def test_records_come_before_the_end_has_been_read(name: str, tmp_path: Path) -> None:
    # Decoding works on blocks of 1 MiB, so the damage must be further away than one of them.
    (tmp_path / "few").mkdir()
    few = write(name, tmp_path / "few", 100)
    size = (few if few.is_file() else few / SOURCES[name]["arrives"]).stat().st_size
    source = write(name, tmp_path, 100 * 1_200_000 // size)
    file = source if source.is_file() else source / SOURCES[name]["arrives"]
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
