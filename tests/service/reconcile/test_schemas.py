"""Every answer against the official schemas, and the traffic that OpenRefine was seen to send."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.service.reconcile.asking import BASE, FORM, match, name, post_form, property_is

SCHEMAS = Path(__file__).parents[4] / "shared" / "reconciliation-schemas"
Check = Callable[[str, str, Any], None]

GUESS_TYPES = (
    '{"q1":{"query":"type 2 diabetes","limit":3},"q2":{"query":"broken hip","limit":3},'
    '"q0":{"query":"heart attack","limit":3}}'
)
RECONCILE = (
    '{"q0":{"query":"type 2 diabetes","type":"Disease","limit":5,"type_strict":"should"},'
    '"q1":{"query":"heart attack","type":"Disease","properties":[{"pid":"xref","v":"acute"}],'
    '"limit":5,"type_strict":"should"}}'
)
EXTEND = '{"ids":["D434"],"properties":[{"id":"xref"}]}'


@pytest.fixture(scope="module")
def check() -> Check:
    """A function that compares an answer with a schema of a version."""
    jsonschema = pytest.importorskip("jsonschema")
    referencing = pytest.importorskip("referencing")
    if not SCHEMAS.is_dir():
        pytest.skip("needs the schemas of the Reconciliation API beside the repository")

    def check(version: str, schema: str, content: Any) -> None:
        def retrieve(uri: str) -> Any:
            path = SCHEMAS / version / uri.rpartition("/")[2]
            # The manifest refers to a schema of another host for its authentication.
            found = json.loads(path.read_text()) if "swagger.io" not in uri else _SWAGGER
            specification = referencing.jsonschema.DRAFT7
            return referencing.Resource.from_contents(found, default_specification=specification)

        registry = referencing.Registry(retrieve=retrieve)
        whole = json.loads((SCHEMAS / version / f"{schema}.json").read_text())
        whole["$schema"] = "http://json-schema.org/draft-07/schema#"
        jsonschema.Draft7Validator(whole, registry=registry).validate(content)

    return check


_SWAGGER: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {"securityDefinitions": {"additionalProperties": {"type": "object"}}},
}


def test_the_check_refuses_what_is_wrong(check: Check) -> None:
    import jsonschema

    check("0.2", "reconciliation-result-batch", {"q": {"result": []}})
    with pytest.raises(jsonschema.ValidationError):
        check("0.2", "reconciliation-result-batch", {"q": {"result": [{"id": 1}]}})
    with pytest.raises(jsonschema.ValidationError):
        check("0.2", "suggest-types-response", {"result": [{"id": "x"}]})


def test_manifests(client: TestClient, check: Check) -> None:
    check("0.2", "manifest", client.get(BASE).json())
    check("1.0-draft", "manifest", client.get(f"{BASE}/v1").json())


def test_candidates(client: TestClient, check: Check) -> None:
    queries = {
        "name": {"query": "heart attack"},
        "type": {"query": "cold", "type": "Disease", "type_strict": "should"},
        "parts": {"query": "hip fracture and heart attack"},
        "xref": {"properties": [{"pid": "xref", "v": "ICD10:I21"}]},
        "broken": {"limit": 3},
    }
    found = post_form(client, queries=queries)
    check("0.2", "reconciliation-result-batch", found)
    assert [len(found[key]["result"]) > 0 for key in queries] == [True, True, True, True, False]
    conditions = [name("cold"), property_is("type", "Disease"), property_is("xref", "x")]
    answer = client.post(
        f"{BASE}/match", json={"queries": [{"conditions": conditions, "limit": 3}, {}]}
    )
    check("1.0-draft", "reconciliation-result-batch", answer.json())
    assert [len(one["candidates"]) for one in answer.json()["results"]] == [3, 0]


@pytest.mark.parametrize("version", ["0.2", "1.0-draft"])
def test_suggestions(client: TestClient, check: Check, version: str) -> None:
    for kind, schema, prefix in (
        ("entity", "suggest-entities-response", "heart"),
        ("type", "suggest-types-response", "dis"),
        ("property", "suggest-properties-response", "x"),
    ):
        base = BASE if version == "0.2" else f"{BASE}/v1"
        found = client.get(f"{base}/suggest/{kind}", params={"prefix": prefix}).json()
        check(version, schema, found)
        assert found["result"]


def test_data_extension(client: TestClient, check: Check) -> None:
    proposed = client.get(f"{BASE}/extend/propose", params={"type": "Disease", "limit": 50}).json()
    wanted = {
        "ids": ["X:1", "X:3", "X:7", "nothing"],
        "properties": [{"id": one["id"]} for one in proposed["properties"]],
    }
    check("0.2", "data-extension-query", wanted)
    check("0.2", "data-extension-response", post_form(client, extend=wanted))
    check("1.0-draft", "data-extension-response", client.post(f"{BASE}/extend", json=wanted).json())
    for version in ("0.2", "1.0-draft"):
        check(version, "data-extension-property-proposal", proposed)


def test_what_openrefine_sends_is_answered(client: TestClient, check: Check) -> None:
    def post(field: str, text: str) -> Any:
        # As recorded: a form, with an address that ends in a slash.
        from urllib.parse import urlencode

        answer = client.post(f"{BASE}/", content=urlencode({field: text}), headers=FORM)
        assert answer.status_code == 200
        assert answer.headers["content-language"] == "en"
        return answer.json()

    guessed = post("queries", GUESS_TYPES)
    check("0.2", "reconciliation-query-batch", json.loads(GUESS_TYPES))
    check("0.2", "reconciliation-result-batch", guessed)
    assert list(guessed) == ["q1", "q2", "q0"]
    assert {key: one["result"][0]["id"] for key, one in guessed.items()} == {
        "q0": "X:1",
        "q1": "X:3",
        "q2": "X:6",
    }
    assert all(len(one["result"]) <= 3 for one in guessed.values())
    reconciled = post("queries", RECONCILE)
    check("0.2", "reconciliation-result-batch", reconciled)
    for one in reconciled.values():
        scores = [candidate["score"] for candidate in one["result"]]
        assert scores == sorted(scores, reverse=True)
        assert one["result"][0]["match"] is True
        assert sum(candidate["match"] for candidate in one["result"]) == 1
    extended = post("extend", EXTEND)
    check("0.2", "data-extension-response", extended)
    assert extended["rows"] == {"D434": {"xref": [{"str": "ICD10:E11"}]}}


def test_what_the_python_client_sends_is_answered(client: TestClient, check: Check) -> None:
    queries = {"0": {"query": "heart attack", "type": "Disease"}, "1": {"query": "broken hip"}}
    found = client.get(BASE, params={"queries": json.dumps(queries)}).json()
    check("0.2", "reconciliation-result-batch", found)
    assert [found[key]["result"][0]["id"] for key in "01"] == ["X:1", "X:6"]


def test_conditions_of_all_kinds(client: TestClient, check: Check) -> None:
    conditions = [
        name("heart attack"),
        {"matchType": "id", "propertyValue": {"id": "X:1"}},
        property_is("parent", ["X:0", {"id": "X:2", "name": "x"}], matchQuantifier="any"),
        property_is("deprecated", True, required=False),
        property_is("age", 3.5),
    ]
    check("1.0-draft", "reconciliation-query-batch", {"queries": [{"conditions": conditions}]})
    assert match(client, *conditions)[0]["id"] == "X:1"
