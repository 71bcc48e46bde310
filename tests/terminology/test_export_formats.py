"""Terminologies written for other programs, and read back by our own readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canonym import Concept, Name, Terminology, Xref
from canonym.errors import InvalidInput
from canonym.io.files import format_by_suffix
from canonym.terminology.export_formats import COLUMNS, EXPORTS, export_terminology
from canonym.terminology.formats import read_terminology
from canonym.types import Relation
from tests.cli.running import run

RECORDS = (
    Concept("X:1", "Disease", 'A "bad", {x="y"} ! really\nbad', ("T",), "ONT", "2024-05-01"),
    Concept("X:2", "Heart disease", "", ("T", "U"), "ONT", "2024-05-01"),
    Name("cardiopathy", "X:2", "exact"),
    Name("HD", "X:2", "abbreviation"),
    Name("bad heart ! {z=\"w\"}", "X:2", "narrow"),
    Name("back\\slash", "X:2", "broad"),
    Name('"quoted"', "X:2", "related"),
    Name("Herzkrankheit", "X:2", "label", "de"),
    Name("Herz|leiden, schwer", "X:2", "exact", "de", "VOC"),
    Concept("Y:a b", "Old; heart", "", (), "ONT", "2024-05-01", True, ("X:2",)),
    Relation("X:2", "is_a", "X:1"),
    Relation("Y:a b", "is_a", "X:1"),
    Relation("X:2", "part of", "X:1"),
    Relation("X:2", "consider", "X:1"),
    Xref("X:2", "UMLS:C1"),
    Xref("X:2", "X:0", "alternative"),
)  # fmt: skip


@pytest.fixture(scope="module")
def terminology() -> Terminology:
    return Terminology.build(RECORDS)


def round_trip(terminology: Terminology, file: Path, **options: Any) -> Terminology:
    export_terminology(terminology, file, overwrite=True)
    return read_terminology(file, **options)


def content(terminology: Terminology, *, forget: Callable[[Any], Any] = lambda one: one) -> Any:
    """Return everything in a terminology but the order, and what a format has to forget."""
    names = sorted(map(forget, terminology.iter_names()), key=repr)
    concepts = sorted(map(forget, terminology.iter_concepts()), key=repr)
    relations = sorted(map(forget, terminology.iter_relations()), key=repr)
    xrefs = sorted(terminology.iter_xrefs(), key=repr)
    return concepts, names, relations, xrefs


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_table_keeps_concepts_names_and_parents(
    terminology: Terminology, tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"x.{suffix}"
    lost = export_terminology(terminology, file)
    assert lost == {
        "cross-references": 2,
        "marks of retired concepts": 1,
        "relations other than is_a": 2,
        "scopes of labels in further languages": 1,
    }
    back = read_terminology(file, source_column="source", source="ONT", version="2024-05-01")

    def forget(one: Any) -> Any:
        if isinstance(one, Concept):
            definition = " ".join(one.definition.split())
            return replace(one, definition=definition, deprecated=False, replaced_by=())
        known = isinstance(one, Name) and (one.scope, one.language) == ("label", "de")
        return replace(one, scope="exact") if known else one

    concepts, names, relations, _ = content(terminology, forget=forget)
    assert content(back, forget=forget) == (
        concepts,
        names,
        [one for one in relations if one.relation == "is_a"],
        [],
    )
    assert file.read_text().splitlines()[0].replace("\t", ",").split(",") == list(COLUMNS)


def test_obo_keeps_all_but_languages(terminology: Terminology, tmp_path: Path) -> None:
    file = tmp_path / "x.obo"
    assert export_terminology(terminology, file) == {
        "languages of names": 2,
        "types after the first": 1,
        "vocabularies of names": 1,
    }

    def forget(one: Any) -> Any:
        if isinstance(one, Concept):
            return replace(one, types=one.types[:1])
        if isinstance(one, Relation):
            return replace(one, relation=one.relation.replace(" ", "_"))
        scope = "exact" if one.language == "de" else one.scope
        return replace(one, language="en", source="", scope=scope)

    assert content(read_terminology(file)) == content(terminology, forget=forget)


def test_skos_keeps_everything_but_vocabularies(terminology: Terminology, tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    file = tmp_path / "x.ttl"
    assert export_terminology(terminology, file) == {"vocabularies of names": 1}

    def forget(one: Any) -> Any:
        return replace(one, source="") if isinstance(one, Name) else one

    assert content(read_terminology(file)) == content(terminology, forget=forget)


texts = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1).filter(
    lambda text: text.strip() == text and any(map(str.isalnum, text))
)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "obo", "ttl"])
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, suffix: str) -> None:
    if suffix == "ttl":
        pytest.importorskip("rdflib")
    file = tmp_path_factory.mktemp("names") / f"x.{suffix}"

    @settings(max_examples=6)  # each builds two terminologies
    @given(st.lists(texts, min_size=8, max_size=40, unique_by=lambda text: " ".join(text.split())))
    def check(names: list[str]) -> None:
        names = [" ".join(name.split()) for name in names]
        records = [Concept("X:1", names[0]), *(Name(name, "X:1") for name in names[1:])]
        with Terminology.build(records) as one, round_trip(one, file) as back:
            assert [name.text for name in back.names("X:1")] == names
            assert back.concept("X:1").label == names[0]

    check()


def test_fhir_is_a_code_system_with_everything_but_relations(
    terminology: Terminology, tmp_path: Path
) -> None:
    file = tmp_path / "x.json"
    lost = export_terminology(terminology, file)
    assert lost == {"relations other than is_a": 2, "vocabularies of names": 1}
    whole = json.loads(file.read_text())
    assert (whole["count"], whole["version"], whole["name"]) == (3, "2024-05-01", "ONT")
    assert terminology.digest in whole["url"]
    heart = whole["concept"][1]
    assert (heart["code"], heart["display"]) == ("X:2", "Heart disease")  # two prefixes: whole ids
    assert heart["property"] == [
        {"code": "parent", "valueCode": "X:1"},
        {"code": "type", "valueString": "T"},
        {"code": "type", "valueString": "U"},
        {"code": "alternative", "valueString": "X:0"},
        {"code": "xref", "valueString": "UMLS:C1"},
    ]
    assert heart["designation"][1] == {
        "language": "en",
        "use": {"system": "urn:canonym:scope", "code": "abbreviation"},
        "value": "HD",
    }
    assert {"code": "inactive", "valueBoolean": True} in whole["concept"][2]["property"]
    with Terminology.build([Concept("X:1", "a")]) as one:
        export_terminology(one, file, overwrite=True)
    assert json.loads(file.read_text())["concept"][0]["code"] == "1"


def test_the_models_of_fhir_accept_the_code_system(
    terminology: Terminology, tmp_path: Path
) -> None:
    pytest.importorskip("fhir.resources")
    import importlib

    export_terminology(terminology, tmp_path / "x.json")
    whole = json.loads((tmp_path / "x.json").read_text())
    for name in ("fhir.resources.R4B.codesystem", "fhir.resources.codesystem"):
        model = importlib.import_module(name).CodeSystem
        assert len(model.model_validate(whole).concept) == 3


def test_the_command_writes_a_file_and_tells_what_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(
        "format-version: 1.4\nontology: x\n\n[Term]\nid: X:1\nname: hip\nxref: Y:1\n"
    )
    source, out = str(tmp_path / "x.obo"), tmp_path / "x.tsv"
    done = run("terminology", "export", source, "-o", str(out))
    assert out.read_text().splitlines()[1] == "X:1\thip\tlabel\ten\t\t\t\t"
    assert "Left out, for tsv has no place for it: 1 cross-references." in done.stderr
    assert "exists already" in run("terminology", "export", source, "-o", str(out), code=2).stderr
    run("terminology", "export", source, "-o", str(out), "--format", "obo", "--overwrite")
    assert "[Term]\nid: X:1\nname: hip\n" in out.read_text()
    same = run("terminology", "export", source, "-o", source, "--overwrite", code=2)
    assert "is an input as well" in same.stderr
    unknown = run("terminology", "export", source, "-o", str(tmp_path / "x.zip"), code=2).stderr
    assert "the suffix names no format; use one of .tsv" in unknown


def test_an_unknown_format_is_refused(terminology: Terminology, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="format='rdf' is unknown"):
        export_terminology(terminology, tmp_path / "x", format="rdf")
    assert format_by_suffix("a.TTL", EXPORTS) == "skos"
    assert not list(tmp_path.iterdir())
