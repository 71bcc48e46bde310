"""The service as its description says: few requests; ``benchmarks/described.py`` makes many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from fastapi.testclient import TestClient

pytest.importorskip("schemathesis")

from described import begin_review, faults, make_app


def test_the_service_answers_as_it_is_described(tmp_path: Path) -> None:
    app, key = make_app(tmp_path)
    answers: Counter[tuple[str, int]] = Counter()
    with TestClient(app) as client:
        begin_review(client, key)
        assert [*faults(app, key, 1, 0, answers)] == []
        routes = {
            f"{method.upper()} {path}"
            for path, operations in client.get("/openapi.json").json()["paths"].items()
            for method in operations
        }
    assert {operation for operation, _ in answers} == routes
    assert {"POST /v1/link", "POST /v1/annotate"} <= {at for at, status in answers if status == 200}


def test_what_is_not_described_is_a_fault() -> None:
    app = FastAPI()

    @app.get("/number", response_model=int)
    def number() -> Any:
        return JSONResponse({"no": "number"})

    @app.get("/teapot")
    def teapot() -> Any:
        return JSONResponse(1, status_code=418)

    wrong = [*faults(app, "", 1, 0, Counter())]
    assert [one.split(":")[0] for one in wrong] == ["GET /number", "GET /teapot"]
