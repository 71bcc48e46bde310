"""Replaced ids: read from a table, and followed when a terminology is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from canonym import Concept, Name, ReadError, Relation, Terminology, Xref
from canonym.cli import main
from canonym.terminology.formats import read_records
from canonym.terminology.ids import ConceptIds
from canonym.terminology.replaced import (
    current_id,
    current_owners,
    read_replaced,
    with_replaced,
)

TABLE = "id\tname\nD1\tQuetiapine\nC7\tquetiapin\nC7\tquetiapine fumarate\nD2\tIron\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "drugs.tsv").write_text(TABLE)
    (tmp_path / "old.tsv").write_text("C7\tC8\tquetiapin\nC8\tD1\nC9\tD9\nC5\tD1\nC5\tD2\n")
    return tmp_path


def test_ids_are_followed_to_the_one_in_use_and_split_ones_left_out(place: Path) -> None:
    found = read_replaced(place / "old.tsv", prefix="MESH:")
    assert found == {"MESH:C7": "MESH:D1", "MESH:C8": "MESH:D1", "MESH:C9": "MESH:D9"}
    (place / "self.tsv").write_text("MESH:D1\tD1\n")
    assert read_replaced(place / "self.tsv", prefix="MESH:") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C7\n", "1 cells"),
        ("C7\t\n", "an empty id"),
        ("C7\tC8\nC8\tC7\n", "in a circle: C7 → C8"),
    ],
)
def test_a_bad_table_is_refused(place: Path, text: str, message: str) -> None:
    (place / "bad.tsv").write_text(text)
    with pytest.raises(ReadError, match=message):
        read_replaced(place / "bad.tsv")


def test_records_of_an_old_id_go_to_the_new_one() -> None:
    given = [
        Concept("D1", "Quetiapine"),
        Concept("C7", "quetiapin", source="old"),
        Concept("C0"),
        Name("seroquel", "C7"),
        Relation("C7", "is_a", "D1"),
        Relation("D3", "is_a", "C7"),
        Xref("C7", "CAS:1"),
    ]
    assert list(with_replaced(given, {"C7": "D1", "C0": "D0", "C9": "D9"})) == [
        Concept("D1", "Quetiapine"),
        Name("quetiapin", "D1"),
        Name("seroquel", "D1"),
        Relation("D3", "is_a", "D1"),
        Xref("D1", "CAS:1"),
        Xref("D1", "C7", "alternative"),
        Xref("D0", "C0", "alternative"),
    ]


def test_types_and_definitions_of_old_ids_are_kept() -> None:
    old = Concept("C7", "quetiapin", "An old one.", ("Drug",), deprecated=True)
    for first in ([Concept("D1", "Quetiapine", types=("Chemical",)), old], [old]):
        last = [] if first[0] is not old else [Concept("D1", "Quetiapine", types=("Chemical",))]
        terminology = Terminology.build(with_replaced([*first, *last], {"C7": "D1"}))
        found = terminology.concept("C7")
        assert (found.id, found.definition, set(found.types)) == (
            *("D1", "An old one."), {"Drug", "Chemical"},
        )  # fmt: skip
        assert (found.label, found.deprecated) == ("Quetiapine", False)


def test_a_terminology_knows_both_ids(place: Path) -> None:
    records = read_records(place / "drugs.tsv", prefix="MESH:", replaced=place / "old.tsv")
    terminology = Terminology.build(records)
    assert terminology.n_concepts == 2
    assert terminology.resolve("MESH:C7") == "MESH:D1"
    assert [name.text for name in terminology.names("MESH:D1")] == [
        *("Quetiapine", "quetiapin", "quetiapine fumarate")
    ]
    assert terminology.resolve("MESH:C9") is None


def test_the_command_line_takes_the_table(place: Path) -> None:
    output = place / "drugs.db"
    options = ["--prefix", "MESH:", "--replaced", str(place / "old.tsv"), "-q"]
    first = ["import", str(place / "drugs.tsv"), "-o", str(output), *options]
    done = CliRunner().invoke(main, first)
    assert done.exit_code == 0, done.output
    with Terminology(output) as terminology:
        assert terminology.resolve("MESH:C7") == "MESH:D1"
    (place / "old.tsv").write_text("C7 D1\n")
    done = CliRunner().invoke(main, [*first, "--overwrite"])
    assert done.exit_code == 2
    assert "line 1" in done.output
    with Terminology(output) as terminology:  # what was there stays
        assert terminology.n_concepts == 2


def test_promoted_concepts_of_mesh_are_one_with_their_descriptors(data: Path) -> None:
    replaced = data / "mesh-supplementary" / "promoted_c2d.tsv"
    assert read_replaced(replaced, prefix="MESH:")["MESH:C069541"] == "MESH:D000069348"


RETIRED = [
    Concept("X:1", "hip joint"),
    Concept("X:2", "articulation of the hip", deprecated=True, replaced_by=("X:3",)),
    Concept("X:3", "coxa", deprecated=True, replaced_by=("X:1",)),
    Concept("X:4", "hip vapours", deprecated=True),
    Concept("X:5", "knee or hip", deprecated=True, replaced_by=("X:1", "X:7")),
    Concept("X:6", "turning knee", deprecated=True, replaced_by=("X:8",)),
    Concept("X:7", "knee"),
    Concept("X:8", "knee that turns", deprecated=True, replaced_by=("X:6",)),
    Concept("X:9", "elbow", deprecated=True, replaced_by=("X:99",)),
    Concept("X:10", "wrist", deprecated=True, replaced_by=("OLD:7",)),
    Xref("X:7", "OLD:7", "alternative"),
]


def test_what_is_in_the_place_of_a_deprecated_concept() -> None:
    with Terminology.build(RETIRED) as terminology:
        assert [current_id(terminology, f"X:{n}") for n in range(1, 11)] == [
            *("X:1", "X:1", "X:1", None, None, None, "X:7", None, None, "X:7"),
        ]
        owners, retired = current_owners(terminology)
        assert owners.tolist() == [0, 0, 0, 3, 4, 5, 6, 7, 8, 6]
        assert retired is not None
        assert np.flatnonzero(retired).tolist() == [3, 4, 5, 7, 8]
        assert ConceptIds(terminology).find("X:2") == "X:1"
        assert ConceptIds(terminology).find("X:4") == "X:4"
    with Terminology.build(RETIRED[:1]) as terminology:
        assert current_owners(terminology)[1] is None
