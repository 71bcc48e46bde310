"""A small index, and tables to link with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym import Concept, Linker, Name, Terminology

RECORDS = [
    Concept("X:1", "Myocardial infarction", types=("disease",)),
    Name("heart attack", "X:1"),
    Concept("X:2", "Breast cancer"),
    Concept("X:3", "Ovarian cancer"),
]
MENTIONS = ("heart attack", "brest cancre", "", "breast and ovarian cancer", "007")


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of three concepts."""
    folder = tmp_path_factory.mktemp("bulk") / "index"
    Linker.build(Terminology.build(RECORDS), encoders=["chargrams"]).save(folder)
    return folder


@pytest.fixture
def own_index(tmp_path: Path) -> Path:
    """The folder of an index of one concept, which a test may change or remove."""
    terminology = Terminology.build([Concept("Y:1", "Gout")])
    Linker.build(terminology, encoders=["chargrams"]).save(tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """A CSV file of 23 rows."""
    path = tmp_path / "visits.csv"
    rows = [f'{n:03d},{MENTIONS[n % 5]},"line 1\nline {n}"\n' for n in range(23)]
    path.write_text("id,dx,note\n" + "".join(rows), encoding="utf-8")
    return path
