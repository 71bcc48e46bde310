"""What counts as a fault of the service; ``benchmarks/hostile.py`` sends requests to servers."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import pytest
from fastapi.testclient import TestClient

from hostile import Answer, fault_of
from hostile_drawn import drawn
from hostile_requests import Case, Target

SAFE = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
    "content-type": "application/json",
}
HTML = SAFE | {"content-type": "text/html"}


@pytest.mark.parametrize(
    ("expected", "answer", "fault"),
    [
        ("2xx", Answer(200, SAFE, b"{}"), ""),
        ("2xx", Answer(422, SAFE, b"{}"), "answer 422 where 2xx is right"),
        ("4xx", Answer(200, SAFE, b"{}"), "answer 200 where 4xx is right"),
        ("any", Answer(500, SAFE, b"{}"), "answer 500"),
        ("any", Answer(503, SAFE, b"{}"), "503 without Retry-After"),
        ("2xx", Answer(503, SAFE | {"retry-after": "1"}, b"{}"), ""),
        ("any", Answer(0, {}, b""), "no answer"),
        ("any", Answer(-1, {}, b""), "neither an answer nor an end"),
        ("any", Answer(200, {}, b"{}"), "an answer without nosniff"),
        ("any", Answer(400, SAFE, b'"Traceback (most"'), "a trace in the answer"),
        ("any", Answer(200, HTML, b"<p>root:x:0:0</p>"), "a file of the machine in the answer"),
        ("any", Answer(200, HTML, b"<script>hostile(1)</script>"), "HTML with a script of ours"),
        ("any", Answer(200, HTML, b"&lt;script>hostile(1)"), ""),
        ("any", Answer(200, SAFE, b'{"html": "<svg/onload=hostile(1)>"}'), "HTML with a script"),
        ("any", Answer(200, SAFE, b'{"name": "<svg/onload=hostile(1)>"}'), ""),
        (
            "any",
            Answer(
                200,
                HTML | {"content-security-policy": "default-src 'none'; x 'unsafe-inline'"},
                b"x",
            ),
            "an answer without a policy",
        ),
        ("any", Answer(200, SAFE | {"x-injected": "yes"}, b"{}"), "a header of the request"),
    ],
)
def test_faults_are_seen(expected: str, answer: Answer, fault: str) -> None:
    found = fault_of(Case("test", b"", expected), answer)
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


def test_drawn_requests_are_no_faults(client: TestClient) -> None:
    description: dict[str, Any] = client.get("/openapi.json").json()
    client.post("/v1/reviews?name=first", content=b"cold", headers={"X-Reviewer": "hostile"})
    for case in islice(drawn(Target("", description), random.Random(1)), 150):
        head, _, body = case.content.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = dict(line.split(": ", 1) for line in lines)
        answer = client.request(method, path, content=body, headers=headers)
        found = Answer(answer.status_code, dict(answer.headers), answer.content)
        assert fault_of(case, found) == "", case
