"""OpenRefine itself against ``canonym serve``: types, candidates, judgments, columns, export."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from canonym import Linker, import_terminology
from canonym.exchange.auto_accept import LEAST_CONFIDENCE
from tests.clients.openrefine import OpenRefine
from tests.service.test_server import Server

Serving = Callable[..., Server]
N_CONDITIONS = 500


def _table(*columns: str, rows: Iterable[tuple[str, ...]]) -> str:
    written = io.StringIO()
    csv.writer(written).writerows([columns, *rows])
    return written.getvalue()


def _matched(cell: dict[str, Any]) -> str:
    return str(cell["m"]["id"]) if cell.get("j") == "matched" else ""


def test_openrefine_matches_what_is_sure_and_leaves_the_rest_open(
    openrefine: OpenRefine, serving: Serving, small_index: Path
) -> None:
    server = serving("--index", str(small_index))
    service, manifest = f"{server.address}/reconcile/small", server.get("/reconcile/small")
    names = ["heart attack", "Type 2 diabetes mellitus", "cold", "hart attack", "broken hip", "MI"]
    rows = [(name, "ICD10:E11" if name == "cold" else "") for name in names]
    project = openrefine.project("small", _table("name", "code", rows=[*rows, ("", "")]))

    guessed = {one["id"] for one in project.guess_types("name", service)}
    assert guessed == {"Disease", "Finding", "Phenomenon"}

    project.reconcile("name", manifest, service, type="Disease")
    cells = project.cells(0)
    # Of two concepts called "cold" one is a disease; the last cell is empty.
    assert [_matched(cell) for cell in cells] == ["X:1", "X:3", "X:4", "", "X:6", "", ""]

    project.reconcile("name", manifest, service, properties={"xref": "code"}, limit=2)
    cells = project.cells(0)
    assert [_matched(cell) for cell in cells] == ["X:1", "X:3", "", "", "X:6", "", ""]
    assert [len(cell["c"]) for cell in cells[2:4]] == [2, 2]
    assert cells[3]["c"][0]["id"] == "X:1"

    wanted = ["xref", "parent", "id", "alternative_id", "definition"]
    project.extend("name", manifest, service, wanted)
    exported = project.export()
    first = {
        "name": "Myocardial infarction",
        "cross-reference": "ICD10:I21",
        "parent": "Disease",
        "id": "X:1",
        "alternative id": "",
        "definition": "Death of heart muscle <by> lack of blood.",
        "code": "",
    }
    assert exported[0] == first
    assert (exported[1]["parent"], exported[1]["id"]) == ("Diabetes mellitus", "X:3")
    assert exported[1]["alternative id"] == "D434"
    assert [row["name"] for row in exported[2:4]] == ["cold", "hart attack"]
    assert server.stop() == 0


@pytest.fixture(scope="module")
def trials(data: Path) -> list[str]:
    """Conditions of clinical trials, as their investigators wrote them."""
    with gzip.open(data / "clinical-trials" / "trials.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t")]
    several = (one.strip() for row in rows for one in row["conditions"].split("|"))
    return [*dict.fromkeys(filter(None, several))][:N_CONDITIONS]


@pytest.mark.slow
def test_conditions_of_trials(
    openrefine: OpenRefine, serving: Serving, trials: list[str], data: Path, tmp_path: Path
) -> None:
    source = data / "ctd-diseases-2017" / "CTD_diseases.tsv.gz"
    terminology = import_terminology(source, tmp_path / "ctd.db")
    linker = Linker.build(terminology, folder=tmp_path / "ctd")
    server = serving("--index", str(tmp_path / "ctd"))
    service, manifest = f"{server.address}/reconcile/ctd", server.get("/reconcile/ctd")
    project = openrefine.project("trials", _table("condition", rows=[(one,) for one in trials]))

    types = project.guess_types("condition", service)
    assert {one["id"] for one in types} <= set(terminology.types())
    project.reconcile("condition", manifest, service)
    cells = project.cells(0)
    assert [cell["value"] for cell in cells] == trials
    judgments = Counter(cell["j"] for cell in cells)
    assert judgments["matched"] + judgments["none"] == N_CONDITIONS
    assert judgments["matched"] > 0.7 * N_CONDITIONS

    # What was matched has the words of a name of that concept, and is sure.
    for cell, link in zip(cells, linker.link(trials, k=5), strict=True):
        if matched := _matched(cell):
            assert link.id == matched
            assert link.candidates[0].against.relation == "equal"
            assert link.confidence is not None
            assert link.confidence >= LEAST_CONFIDENCE
            assert cell["m"]["name"] == link.label
        elif not link.parts:
            assert [one["id"] for one in cell.get("c", [])][:1] == [link.candidates[0].id][:1]

    # The type that OpenRefine proposes, and chooses unless told otherwise, costs no match.
    project.reconcile("condition", manifest, service, type=types[0]["id"])
    again = Counter(cell["j"] for cell in project.cells(0))
    assert again["matched"] >= judgments["matched"] - N_CONDITIONS // 100

    project.reconcile("condition", manifest, service)
    project.extend("condition", manifest, service, ["parent", "synonym", "xref"])
    exported = project.export()
    assert [*exported[0]] == ["condition", "parent", "synonym", "cross-reference"]
    named = [row["condition"] for row in exported if row["condition"]]
    assert named == [cell["m"]["name"] if _matched(cell) else cell["value"] for cell in cells]
