"""Babelon tables and ROBOT templates of synonyms."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.terminology import Terminology
from canonym.terminology.formats import read_records, recognise
from canonym.terminology.readers.babelon import read_babelon
from canonym.types import Concept, Name
from tests.files import written
from tests.logs import Log

HEADER = (
    "source_language\ttranslation_language\tsubject_id\tsource_value\tpredicate_id\t"
    "translation_value\ttranslation_status\n"
)
ROWS = [
    ("X:1", "Seizure", "rdfs:label", "Convulsiones", "OFFICIAL"),
    ("X:1", "Fit", "oboInOwl:hasRelatedSynonym", "Ataque", "OFFICIAL"),
    ("X:1", "A long text", "IAO:0000115", "Un texto largo", "OFFICIAL"),
    ("X:2", "Hip", "http://www.w3.org/2000/01/rdf-schema#label", 'La "cadera"', "CANDIDATE"),
    ("X:3", "All", "rdfs:label", "NA", "NOT_TRANSLATED"),
]


def table(rows: list[tuple[str, ...]], language: str = "es") -> str:
    return HEADER + "".join(
        "\t".join(("en", language, id_, label, predicate, value, status)) + "\n"
        for id_, label, predicate, value, status in rows
    )


TABLE = table(ROWS)
TEMPLATE = (
    "subject_id\ttranslation_value\tsynonym_type\n"
    "ID\tAL oboInOwl:hasExactSynonym@de SPLIT=|\t>AI oboInOwl:hasSynonymType\n"
    "X:1\tAnfall | Krampfanfall\t\n"
    "X:2\tHüfte\t\n"
)


def test_labels_and_synonyms_are_names_of_their_language(tmp_path: Path, caplog: Log) -> None:
    path = written(tmp_path / "x-es.tsv.gz", gzip.compress(TABLE.encode()))
    assert recognise(path) == "babelon"
    assert list(read_babelon(path, source="X")) == [
        Concept("X:1", "Seizure", source="X"),
        Name("Convulsiones", "X:1", language="es"),
        Name("Ataque", "X:1", scope="related", language="es"),
    ]
    assert "1 names are not reviewed and left out; unreviewed=True takes them" in caplog.text
    caplog.clear()
    both = list(read_babelon(path, unreviewed=True))
    assert not caplog.text
    assert both[3:] == [Concept("X:2", "Hip"), Name('La "cadera"', "X:2", language="es")]
    assert list(read_babelon(path, languages=["fr"])) == []
    with Terminology.build(read_records(path)) as found:
        assert found.concept("X:1").label == "Seizure"
        assert found.languages() == {"en": 1, "es": 2}


def test_columns_may_have_other_names_and_cells_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text(
        "source_id\tpredicate\tsource_text\ttranslation_text\ttranslation_lang\tstatus\tnotes\n"
        'D:1\thasExactSynonym\tflu\tgripe\tes\tMANUALLY TRANSLATED\t"two\nlines"\n'
    )
    assert recognise(path) == "babelon"
    assert list(read_babelon(path, quoted=True)) == [
        Concept("D:1"),
        Name("gripe", "D:1", language="es"),
    ]
    with pytest.raises(ReadError, match="needs quotes"):
        list(read_babelon(path))


def test_a_template_tells_its_language_in_the_second_row(tmp_path: Path) -> None:
    path = written(tmp_path / "x-de.synonyms.tsv", TEMPLATE)
    assert recognise(path) == "babelon"
    assert [one for one in read_babelon(path) if isinstance(one, Name)] == [
        Name("Anfall", "X:1", language="de"),
        Name("Krampfanfall", "X:1", language="de"),
        Name("Hüfte", "X:2", language="de"),
    ]
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[2]]) + "\n")
    with pytest.raises(ReadError, match="line 2: neither a column predicate_id nor"):
        list(read_babelon(path))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tb\n1\t2\n", "no column subject_id or source_id"),
        (HEADER.replace("translation_language", "x"), "no column translation_language"),
        (table([("", "a", "rdfs:label", "b", "OFFICIAL")]), "line 2: the id of 'b' is empty"),
        (table(ROWS, "span ish"), "line 2: the language is 'span ish'"),
        (TABLE[:-20], "cells where"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.tsv", text)
    with pytest.raises(ReadError, match=problem):
        list(read_babelon(path))
    with pytest.raises(InvalidInput, match="tag of BCP 47"):
        list(read_babelon(path, languages=["no tag"]))
