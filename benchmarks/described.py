"""The service, asked as its OpenAPI description says, and as it does not (Schemathesis).

For every operation of ``/openapi.json``, requests are made from its schemas: half of them fit, half
break a rule. The application answers in this process. A fault is an answer 5xx, one whose status,
headers, media type or JSON the description does not have, and a broken request that is taken.

    pip install schemathesis
    python benchmarks/described.py [--examples 300] [--seed 0] [--only PART-OF-A-PATH]
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
from fastapi.testclient import TestClient

from canonym import Concept, Linker, Name, Relation, Terminology, Xref
from canonym.service import Settings, create_app
from canonym.service.keys import Keys
from record import parser

if TYPE_CHECKING:
    from fastapi import FastAPI

RECORDS = [
    Concept("X:1", "Myocardial infarction", "Death of heart muscle.", types=("Disease",)),
    Name("heart attack", "X:1"),
    Concept("X:2", "Common cold", types=("Disease",)),
    Name("cold", "X:2"),
    Concept("X:3", "Cold temperature", types=("Phenomenon",)),
    Name("cold", "X:3"),
    Relation("X:1", "is_a", "X:2"),
    Xref("X:1", "ICD10:I21"),
]


_THERE = {
    "terminology": ["small"],
    "review_id": [1],
    "item_id": [1],
    "id": ["X:1", "Disease"],
    "kind": ["entity", "type"],
}
"""What parameters of these names may say, so that requests find something."""


def make_app(folder: Path) -> tuple[FastAPI, str]:
    """Make a service with a small index and one review, in a folder; and a key that may all."""
    index = folder / "small"
    Linker.build(Terminology.build(RECORDS), encoders=["chargrams"], folder=index)
    keys = Keys.create(folder / "keys.db")
    settings = Settings(
        index=(str(index),), keys=str(keys.path), reviews=str(folder / "reviews.db")
    )
    return create_app(settings), keys.add("everything", "admin")


def begin_review(client: TestClient, key: str) -> None:
    """Begin a review of two mentions, for the routes that need one."""
    begun = client.post(
        "/v1/reviews?name=first", content="cold\nheart attack", headers={"X-API-Key": key}
    )
    begun.raise_for_status()


def faults(
    app: FastAPI, key: str, n: int, seed: int, answers: Counter[tuple[str, int]], only: str = ""
) -> Iterator[str]:
    """Ask each operation `n` times; count the answers, and yield the first fault of each."""
    from schemathesis.core.failures import Failure
    from schemathesis.generation import GenerationMode
    from schemathesis.openapi import from_asgi
    from schemathesis.specs.openapi import checks

    wanted = [
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
        checks.negative_data_rejection,
    ]
    schema = from_asgi("/openapi.json", app)
    for parameter in _parameters(schema.raw_schema):
        if parameter["name"] in _THERE:
            parameter["schema"] = {"enum": _THERE[parameter["name"]]}
    for operation in (found.ok() for found in schema.get_all_operations()):
        if only not in operation.path:
            continue
        strategies = (operation.as_strategy(mode) for mode in GenerationMode)
        try:
            _ask(hypothesis.strategies.one_of(*strategies), key, n, seed, wanted, answers)
        except (Failure, BaseExceptionGroup) as fault:
            yield f"{operation.label}: {fault!s:.1500}"


def _parameters(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in description["paths"].values():
        for operation in path.values():
            yield from operation.get("parameters", [])


def _ask(
    strategy: Any,
    key: str,
    n: int,
    seed: int,
    checks: list[Any],
    answers: Counter[tuple[str, int]],
) -> None:
    from schemathesis.checks import not_a_server_error

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=n,
        deadline=None,
        database=None,
        suppress_health_check=[*hypothesis.HealthCheck],
        phases=[hypothesis.Phase.generate],
    )
    @hypothesis.given(strategy)
    def ask(case: Any) -> None:
        case.headers.pop("Authorization", None)
        answer = case.call(headers={"X-API-Key": key})
        answers[case.operation.label, answer.status_code] += 1
        case.validate_response(answer, checks=[not_a_server_error, *checks])

    ask()


def main() -> None:
    """Ask, print the faults, and fail where there are any."""
    arguments = parser(__doc__)
    arguments.add_argument("--examples", type=int, default=300, help="requests of each operation")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", default="", help="operations with this in their path")
    options = arguments.parse_args()
    answers: Counter[tuple[str, int]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        app, key = make_app(Path(folder))
        with TestClient(app) as client:
            begin_review(client, key)
            found = [*faults(app, key, options.examples, options.seed, answers, options.only)]
    for (operation, status), number in answers.items():
        print(f"{number:6} {status} {operation}")
    print("\n\n".join(found))
    raise SystemExit(f"{len(found)} faults" if found else 0)


if __name__ == "__main__":
    main()
