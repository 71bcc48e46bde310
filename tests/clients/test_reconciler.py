"""The Python client `reconciler` against ``canonym serve``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.service.test_server import Server

Reconcile = Callable[..., Any]
pd = pytest.importorskip("pandas", reason="needs the extra pandas")
# Version 0.2.2 uses what pandas 3 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.fixture(scope="module")
def reconcile(serving: Callable[..., Server], small_index: Path) -> Reconcile:
    """Its one function, which asks a service of the small index."""
    reconciler = pytest.importorskip("reconciler", reason="reconciler is not installed")
    address = serving("--index", str(small_index)).address

    def ask(column: Any, **options: Any) -> Any:
        endpoint = f"{address}/reconcile/small"
        return reconciler.reconcile(column, reconciliation_endpoint=endpoint, **options)

    return ask


def test_a_column_gets_the_best_candidates(reconcile: Reconcile) -> None:
    # It sends ten names at a time, each name once.
    names = ["heart attack", "hart attack", *(f"hip fracture {n}" for n in range(12)), "cold"]
    found = reconcile(pd.Series([*names, "cold"]))
    assert [*found["input_value"]] == names
    assert [*found["id"][:2]] == ["X:1", "X:1"]
    assert [*found["name"][:2]] == ["Myocardial infarction"] * 2
    assert [*found["match"][:2]] == [True, False]
    assert set(found["id"][2:14]) == {"X:6"}
    assert found["score"].iloc[-1] == 100
    assert not found["match"].iloc[-1]


def test_all_candidates_of_a_type(reconcile: Reconcile) -> None:
    found = reconcile(pd.Series(["cold"]), type_id="Phenomenon", top_res="all")
    assert [*found["id"]] == ["X:5"]
    assert [*found["type_id"]] == ["Phenomenon"]
    assert len(reconcile(pd.Series(["cold"]), top_res="all")) == 5


def test_another_column_as_a_property(reconcile: Reconcile) -> None:
    table = pd.DataFrame({"name": ["diabetes", "cold"], "code": ["ICD10:E11", "ICD10:I21"]})
    found = reconcile(table["name"], property_mapping={"xref": table["code"]})
    assert [*found["id"]] == ["X:3", "X:4"]
