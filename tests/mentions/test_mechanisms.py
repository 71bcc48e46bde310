"""The table of mechanisms that `benchmarks/rules.py` switches off names what is there."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from canonym.mentions import prepare
from canonym.mentions.prepare import Preparation

TABLE = Path(__file__).parents[2] / "benchmarks" / "mechanisms.py"


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    return runpy.run_path(str(TABLE))


def test_every_mechanism_is_there_and_comes_back(table: dict[str, Any]) -> None:
    assert len(table["mechanisms"]()) > 250
    before = {module.__name__: dict(vars(module)) for module in table["modules"]()}
    for mechanism in table["mechanisms"]():
        with table["switched_off"](mechanism):
            pass
    with table["watched"](lambda _: None):
        pass
    assert before == {module.__name__: dict(vars(module)) for module in table["modules"]()}


def test_a_mechanism_that_is_off_does_nothing(table: dict[str, Any]) -> None:
    (mechanism,) = (
        row for row in table["mechanisms"]() if row.id == "mentions.measurements.finding_name"
    )
    with table["switched_off"](mechanism):
        assert prepare.finding_name("low plasma glucose") == ""
        assert not Preparation().prepare("low plasma glucose").whole.readings
    readings = Preparation().prepare("low plasma glucose").whole.readings
    assert [reading.step.after for reading in readings] == ["hypoglycemia"]


def test_a_mechanism_tells_where_it_counts(table: dict[str, Any]) -> None:
    told = set[str]()
    with table["watched"](told.add):
        Preparation().prepare("low plasma glucose")
    names = ("finding_name", "measurement_name")
    assert {f"mentions.measurements.{name}" for name in names} <= told
    assert "mentions.measurements._INFLAMMATION" not in told
