"""The guide to OpenRefine, followed on its page in a browser."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chromium import chromium
from tests.clients.openrefine import OpenRefine
from tests.clients.page import Walk, table_of_the_guide
from tests.service.test_server import Server


@pytest.mark.slow
def test_the_guide_leads_to_a_table_with_codes(
    openrefine: OpenRefine,
    serving: Callable[..., Server],
    packaged: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CANONYM_DATA_HOME", str(packaged))
    server = serving()
    table = tmp_path / "visits.csv"
    table.write_text(table_of_the_guide(), encoding="utf-8")
    with chromium() as browser:
        walk = Walk(browser.new_page(), f"{server.address}/reconcile/icd10cm")
        exported = walk.whole(openrefine.address, table)
    with exported.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines)]
    assert [row["code"] for row in rows] == [
        *("ICD10CM:K35", "ICD10CM:E11", "ICD10CM:J44.9", "ICD10CM:I21", "ICD10CM:S72.0"),
        *("ICD10CM:G43", "ICD10CM:M54.5", "ICD10CM:M06.9", ""),
    ]
    assert rows[4]["diagnosis"] == "Fracture of head and neck of femur"
    assert rows[4]["parent"] == "Fracture of femur"
    assert rows[8]["diagnosis"] == "walking stick broken"
