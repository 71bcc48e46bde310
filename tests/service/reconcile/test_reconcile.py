"""Reconciliation: which candidates, in which order, and which of them may be accepted unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from canonym import Concept, Linker
from canonym.service.keys import Keys
from canonym.service.reconcile.answers import _of_link
from canonym.service.reconcile.queries import MOST
from canonym.types import Candidate, Link, Mention
from tests.service.conftest import ANYTHING, build
from tests.service.reconcile.asking import (
    BASE,
    FORM,
    ask,
    ids,
    match,
    name,
    post_form,
    property_is,
)

Serving = Callable[..., TestClient]


def _features(candidate: dict[str, Any]) -> dict[str, Any]:
    return {one["id"]: one["value"] for one in candidate["features"]}


# --- candidates -----------------------------------------------------------------------------------


def test_a_candidate_has_the_label_a_score_and_what_speaks_for_it(client: TestClient) -> None:
    best, second = ask(client, query="heart attack", limit=2)
    assert {key: best[key] for key in ("id", "name", "score", "match", "type", "description")} == {
        "id": "X:1",
        "name": "Myocardial infarction",
        "score": 100.0,
        "match": True,
        "type": [{"id": "Disease", "name": "Disease"}],
        "description": "Death of heart muscle <by> lack of blood.",
    }
    features = _features(best)
    assert 0.85 < features.pop("confidence") < 1
    assert features == {"similarity": 1.0, "verbatim": 1.0, "exact": True}
    assert not second["match"]
    assert 0 <= second["score"] < 100
    assert set(_features(second)) == {"similarity", "chargrams", "exact"}


def test_what_a_cell_says_besides_is_told(client: TestClient) -> None:
    for query, said in (("no heart attack", "negated"), ("h/o heart attack", "historical")):
        best, *_ = ask(client, query=query)
        assert (best["id"], best["match"], _features(best)[said]) == ("X:1", False, True)
        assert best["description"].startswith(f"{said}; Death of heart muscle")


def test_scores_are_those_of_the_linker_from_0_to_100(client: TestClient, index: Path) -> None:
    (link,) = Linker.load(index).link(["hart attacks of the hip"], k=6)
    found = ask(client, query="hart attacks of the hip", limit=6)
    assert ids(found) == [one.id for one in link.candidates]
    assert [one["score"] for one in found] == [round(100 * one.score, 2) for one in link.candidates]


def test_only_the_name_of_one_concept_is_a_match(client: TestClient) -> None:
    for query, expected in (
        ("HEART attack", True),
        ("heart attacks", True),
        ("cold", False),  # of two concepts
        ("MI", False),  # an abbreviation
        ("hart attack", False),  # corrected
        ("heart attack and hip fracture", False),
        ("Old name of nothing", True),  # of a concept that another one replaces
        ("hip crack", False),  # an everyday name, which is no coding advice
        ("broken hip", True),
    ):
        found = ask(client, query=query)
        assert [one["match"] for one in found[:1]] == [expected], query
        assert not any(one["match"] for one in found[1:])


def test_the_limit_does_not_hide_a_homonym(client: TestClient) -> None:
    (only,) = ask(client, query="cold", limit=1)
    assert (only["score"], only["match"]) == (100.0, False)


def test_a_confidence_that_is_high_enough_makes_a_match(serving: Serving, sure_index: Path) -> None:
    confidence = Linker.load(sure_index).link(["heart attacks"])[0].confidence
    assert confidence is not None
    for threshold, expected in ((confidence - 0.01, True), (confidence + 0.001, False)):
        client = serving(index=(f"small={sure_index}",), match_confidence=threshold)
        best, *others = ask(client, query="heart attacks")
        assert (best["id"], best["match"]) == ("X:1", expected)
        assert _features(best)["confidence"] == round(confidence, 4)
        assert not any(one["match"] or "confidence" in _features(one) for one in others)


def test_an_id_in_the_place_of_a_name_finds_its_concept(client: TestClient) -> None:
    for query in ("X:6", "D434 "):
        best = ask(client, query=query)[0]
        assert (best["score"], best["match"]) == (100.0, True)
        assert best["id"] == {"X:6": "X:6", "D434 ": "X:3"}[query]
    assert ids(match(client, {"matchType": "id", "propertyValue": ["X:1", "X:99", "D434"]})) == [
        "X:1",
        "X:3",
    ]


def test_the_parts_of_a_composite_name_are_candidates(client: TestClient) -> None:
    found = ask(client, query="heart attack and hip fracture", limit=10)
    assert {"X:1", "X:6"} <= set(ids(found)[:2])


def test_limits_hold_and_have_a_bound(client: TestClient) -> None:
    assert len(ask(client, query="heart attack", limit=1)) == 1
    assert len(ask(client, query="heart attack", limit=2.0)) == 2
    assert len(ask(client, query="heart attack", limit=10 * MOST)) <= 8
    assert len(ask(client, query="heart attack")) == 5


# --- types and properties -------------------------------------------------------------------------


def test_types_are_demanded_or_preferred(client: TestClient) -> None:
    assert ids(ask(client, query="cold", type="Phenomenon", type_strict="any")) == ["X:5"]
    assert ids(ask(client, query="cold", type="phenomenon")) == ["X:5"]
    assert set(ids(ask(client, query="cold", type=["Phenomenon", "Finding"], limit=9))) == {
        *("X:3", "X:5", "X:6"),
    }
    assert ids(ask(client, query="cold", type=["Disease", "Finding"], type_strict="all")) == ["X:3"]
    preferred = ask(client, query="cold", type="Phenomenon", type_strict="should", limit=2)
    assert [(one["id"], one["score"]) for one in preferred] == [("X:5", 100.0), ("X:4", 95.0)]
    assert [_features(one)["type"] for one in preferred] == [True, False]


def test_a_type_tells_homonyms_apart_so_that_one_is_a_match(client: TestClient) -> None:
    for strict in ("any", "should"):
        best = ask(client, query="cold", type="Disease", type_strict=strict)[0]
        assert (best["id"], best["match"]) == ("X:4", True)


def test_a_verbatim_name_outweighs_a_preferred_type(client: TestClient) -> None:
    plain = ask(client, query="heart attack", limit=8)
    best, *others = ask(client, query="heart attack", type="Finding", type_strict="should", limit=8)
    assert (best["id"], best["score"], best["match"]) == ("X:1", 100.0, True)
    assert _features(best)["type"] is False
    scores = {one["id"]: one["score"] for one in plain}
    for one in others:
        cost = 1 if _features(one)["type"] else 0.95
        assert one["score"] == pytest.approx(cost * scores[one["id"]], abs=0.01)
    (other, *_) = ask(client, query="heart attacks", type="Finding", type_strict="should")
    assert (other["id"], other["score"], other["match"]) == ("X:1", 99.0, True)


def test_a_sure_name_outweighs_a_wish_for_a_type(
    sure_index: Path, serving: Callable[..., TestClient]
) -> None:
    asked = {"query": "heart attacks", "type": "Finding", "type_strict": "should"}
    sure = serving(index=(f"small={sure_index}",), match_confidence=0.5)
    assert ask(sure, query="heart attacks")[0]["match"] is True
    best, *_ = ask(sure, **asked)
    assert (best["id"], best["match"]) == ("X:1", True)
    stricter = serving(index=(f"small={sure_index}",), match_confidence=0.999)
    assert ask(stricter, **asked)[0]["match"] is False


def test_an_unknown_type_finds_nothing_where_it_is_demanded(client: TestClient) -> None:
    assert ask(client, query="cold", type="Drug") == []
    assert ask(client, query="cold", type=["Drug", "Finding"], type_strict="all") == []
    assert ids(ask(client, query="cold", type="Drug", type_strict="should"))[0] == "X:4"
    assert ids(ask(client, query="cold", type=""))[0] == "X:4"


@pytest.mark.parametrize(
    ("property_", "value", "expected"),
    [
        ("type", "Phenomenon", "X:5"),
        ("parent", "X:2", "X:3"),
        ("parent", "diabetes mellitus", "X:3"),
        ("xref", "ICD10:I21", "X:1"),
        ("synonym", "Broken Hip", "X:6"),
        ("id", "D434", "X:3"),
        ("source", "tests", "X:1"),
        ("language", "de", "X:1"),
    ],
)
def test_a_required_property_holds_before_candidates_are_ranked(
    client: TestClient, property_: str, value: str, expected: str
) -> None:
    required = property_is(property_, value, required=True)
    assert ids(match(client, name("cold"), required)) == [expected]
    barred = property_is(property_, value, matchQuantifier="none")
    found = ids(match(client, name("cold"), barred, limit=20))
    assert expected not in found
    assert found


def test_an_ancestor_may_stand_far_above(client: TestClient) -> None:
    below = property_is("ancestor", "X:0", required=True)
    found = ids(match(client, name("cold"), below, limit=20))
    assert set(found) == {"X:0", "X:1", "X:2", "X:3", "X:4"}
    assert found[0] == "X:4"
    both = property_is("ancestor", ["X:0", "X:2"], required=True, matchQuantifier="all")
    assert set(ids(match(client, name("cold"), both, limit=20))) == {"X:2", "X:3"}
    either = property_is("ancestor", ["X:2", "X:4"], required=True)
    assert set(ids(match(client, name("cold"), either, limit=20))) == {"X:2", "X:3", "X:4"}


def test_a_property_that_some_candidate_has_costs_the_others(client: TestClient) -> None:
    by_xref = {"pid": "xref", "v": ["ICD10:E11", "x"]}
    found = ask(client, query="diabetes mellitus", properties=[by_xref], limit=2)
    assert [(one["id"], _features(one)["xref"]) for one in found] == [("X:3", True), ("X:2", False)]
    assert found[1]["score"] == 80.0
    assert not any(one["match"] for one in found)  # the name is of one, the property of another
    plain = ask(client, query="diabetes mellitus", limit=2)
    assert [(one["id"], one["match"]) for one in plain] == [("X:2", True), ("X:3", False)]
    assert (plain[0]["score"], plain[1]["score"]) == (100.0, found[0]["score"])


def test_a_property_finds_what_the_name_does_not(client: TestClient) -> None:
    far = ask(client, query="cold", properties=[{"pid": "xref", "v": "ICD10:I21"}], limit=9)
    assert "X:1" in ids(far)


def test_a_property_that_no_candidate_has_changes_nothing(client: TestClient) -> None:
    plain = ask(client, query="heart attack")
    for pid, value in (("xref", "acute"), ("nothing", "x"), ("label", 3), ("context", "x")):
        found = ask(client, query="heart attack", properties=[{"pid": pid, "v": value}])
        assert [(one["id"], one["score"], one["match"]) for one in found] == [
            (one["id"], one["score"], one["match"]) for one in plain
        ]


def test_properties_alone_find_concepts(client: TestClient) -> None:
    found = ask(client, properties=[{"pid": "parent", "v": {"id": "X:0"}}], limit=2)
    assert ids(found) == ["X:1", "X:2"]
    (one,) = match(client, property_is("xref", "ICD10:E11"))
    assert (one["id"], one["score"], one["match"]) == ("X:3", 100.0, True)
    assert match(client, property_is("xref", "nothing")) == []
    assert match(client, property_is("unknown", "x", required=True), name("cold")) == []


def test_the_context_explains_an_abbreviation(client: TestClient) -> None:
    context = {"pid": "context", "v": "He had a hip fracture (HF) in May."}
    assert ids(ask(client, query="HF", properties=[context]))[0] == "X:6"
    assert (
        ids(match(client, name("HF"), property_is(**{"id_": "context", "value": context["v"]})))[0]
        == "X:6"
    )


# --- batches --------------------------------------------------------------------------------------

BROKEN: list[Any] = [
    *(None, 3, [], "heart attack", {}, {"query": ""}, {"query": 3}, {"query": None}),
    *({"query": "x", "limit": 0}, {"query": "x", "limit": "3"}, {"query": "x", "limit": None}),
    *({"query": "x", "type": 3}, {"query": "x", "type": [3]}, {"query": "x", "type": {}}),
    *({"query": "x", "type_strict": "maybe"}, {"query": "x", "properties": {}}),
    *({"query": "x", "properties": [{}]}, {"query": "x", "properties": [{"pid": "p"}]}),
    *({"query": "x", "properties": [{"pid": "p", "v": {}}]}, {"query": "x" * 10_001}),
    {"query": "x", "properties": [{"pid": "p", "v": None}]},
    {"query": "x", "properties": [{"pid": "p", "v": ["x"] * 101}]},
    {"query": "x", "properties": [{"pid": "p", "v": "x"}] * 51},
    {"query": "x", "type": ["x"] * 101},
]


def test_a_broken_query_is_empty_and_the_others_have_their_answers(client: TestClient) -> None:
    queries = {f"q{number}": query for number, query in enumerate(BROKEN)}
    found = post_form(client, queries={**queries, "fine": {"query": "heart attack"}})
    assert list(found) == [*queries, "fine"]
    assert [found[key] for key in queries] == [{"result": []}] * len(queries)
    assert found["fine"]["result"][0]["id"] == "X:1"
    broken = [{}, None, {"conditions": []}, {"conditions": [{"matchType": "x"}]}]
    body = {"queries": [*broken, {"conditions": [name("heart attack")]}]}
    answer = client.post(f"{BASE}/match", json=body).json()
    assert [len(one["candidates"]) > 0 for one in answer["results"]] == [*[False] * 4, True]


@pytest.mark.parametrize("member", ["type", "limit", "properties", "type_strict"])
def test_a_member_that_is_null_counts_as_missing(client: TestClient, member: str) -> None:
    expected = ask(client, query="heart attack")
    assert expected[0]["id"] == "X:1"
    assert ask(client, **{"query": "heart attack", member: None}) == expected
    assert ask(client, query=None, properties=None) == []


@pytest.mark.parametrize("value", [None, [None]])
def test_a_property_without_a_value_is_no_condition(client: TestClient, value: Any) -> None:
    expected = ask(client, query="cold")
    null = {"pid": "type", "v": value}
    assert ask(client, query="cold", properties=[null]) == expected
    of_type = {"pid": "type", "v": "Disease"}
    wanted = ask(client, query="cold", properties=[of_type])
    assert ask(client, query="cold", properties=[null, of_type]) == wanted != expected
    assert ask(client, query="cold", properties=[{"pid": "type", "v": ["Disease", None]}]) == wanted
    assert ask(client, properties=[null]) == []
    named = match(client, name("cold"))
    assert match(client, name("cold"), property_is("type", value, required=True)) == named
    assert match(client, name("cold"), type=None, limit=None) == named
    assert match(client, property_is("type", value)) == []


def test_a_batch_gives_each_query_what_it_gets_alone(client: TestClient) -> None:
    queries: dict[str, Any] = {
        "a": {"query": "cold", "type": "Disease"},
        "b": {"query": "cold", "limit": 1},
        "c": {"query": "cold", "type": "Phenomenon", "type_strict": "should"},
        "d": {"query": "hips", "properties": [{"pid": "type", "v": "Finding"}]},
        "e": {"query": "heart attack", "type": "Disease", "limit": 3},
    }
    together = post_form(client, queries=queries)
    for key, query in queries.items():
        assert together[key]["result"] == ask(client, **query)
    assert post_form(client, queries={}) == {}


def test_queries_come_as_form_json_or_address(client: TestClient) -> None:
    queries = {"q": {"query": "heart attack", "limit": 1}}
    expected = post_form(client, queries=queries)
    text = json.dumps(queries)
    for answer in (
        client.post(BASE, json={"queries": queries}),
        client.post(BASE, json={"queries": text}),
        client.get(BASE, params={"queries": text}),
        client.post(f"{BASE}/", data={"queries": text}),
        client.post(BASE, params={"queries": text}),
        client.post("/reconcile", data={"queries": text}),
        client.post("/reconcile/", data={"queries": text}),
    ):
        assert answer.json() == expected


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"data": {"queries": "{"}}, "no JSON that can be read (JSONDecodeError)"),
        ({"data": {"queries": "[" * 100_000}}, "no JSON that can be read (RecursionError)"),
        ({"data": {"queries": "[]"}}, "queries is no JSON object"),
        ({"data": {"extend": "[]"}}, "extend is no object with ids and properties"),
        ({"data": {"other": "x"}}, "queries or extend is expected"),
        ({"json": []}, "the body is no JSON object"),
        ({"content": b"\xff=\xff", "headers": FORM}, "the body is no form in UTF-8"),
        ({"content": b"a&" * 200, "headers": FORM}, "the body is no form"),
    ],
)
def test_a_request_that_is_no_batch_is_explained(
    client: TestClient, sent: dict[str, Any], message: str
) -> None:
    answer = client.post(BASE, **sent)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


def test_too_many_queries_are_refused_with_the_limit(serving: Serving, index: Path) -> None:
    client = serving(index=(f"small={index}",), max_batch=10, max_body=5000)
    assert client.post(BASE, data={"queries": "x" * 5000}).json()["limit"] == 5000
    assert client.get(BASE).json()["batchSize"] == 10
    ten = {f"q{number}": {"query": "cold"} for number in range(10)}
    assert len(post_form(client, queries=ten)) == 10
    for answer in (
        client.post(BASE, json={"queries": {**ten, "more": {"query": "cold"}}}),
        client.post(f"{BASE}/match", json={"queries": [{}] * 11}),
        client.post(f"{BASE}/extend", json={"ids": ["X:1"] * 11, "properties": []}),
    ):
        assert answer.status_code == 413
        assert answer.json()["limit"] == 10


# --- manifest and access --------------------------------------------------------------------------


def test_the_version_is_chosen_by_address_or_media_type(client: TestClient) -> None:
    assert client.get(BASE).json()["versions"] == ["0.2"]
    wanted = {"Accept": "application/reconciliation.v1+json"}
    by_type = client.get(BASE, headers=wanted).json()
    assert by_type["versions"] == ["1.0-draft"]
    for path in (f"{BASE}/v1", f"{BASE}/v1/", "/reconcile/v1"):
        assert client.get(path).json() == by_type
    assert by_type["standardizedScore"] is True
    query = {"queries": [{"conditions": [name("heart attack")]}]}
    first, second = (client.post(f"{path}/match", json=query) for path in (BASE, f"{BASE}/v1"))
    assert first.json() == second.json()


def test_the_manifest_names_addresses_that_answer(client: TestClient) -> None:
    manifest = client.get(BASE).json()
    assert manifest["batchSize"] == 500
    assert [one["id"] for one in manifest["defaultTypes"]] == ["Disease", "Finding", "Phenomenon"]
    for kind, found in manifest["suggest"].items():
        answer = client.get(found["service_url"] + found["service_path"], params={"prefix": "d"})
        first = answer.json()["result"][0]["id"]
        path = found["flyout_service_path"].replace("${id}", first)
        assert client.get(found["flyout_service_url"] + path).json()["id"] == first, kind
    for page in (manifest["view"]["url"], manifest["preview"]["url"]):
        assert client.get(page.replace("{{id}}", "X:1")).status_code == 200
    proposed = manifest["extend"]["propose_properties"]
    assert client.get(proposed["service_url"] + proposed["service_path"]).status_code == 200


def test_addresses_are_those_of_the_public(serving: Serving, index: Path) -> None:
    client = serving(index=(f"small={index}",), public_url="https://example.org/terms/")
    manifest = client.get(BASE).json()
    assert manifest["view"]["url"] == "https://example.org/terms/reconcile/small/view?id={{id}}"
    assert manifest["identifierSpace"] == "https://example.org/terms/v1/concepts/"


def test_all_but_the_manifest_needs_a_key_where_there_are_keys(
    serving: Serving, index: Path, tmp_path: Path
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    key = keys.add("robot", "read")
    client = serving(index=(f"small={index}",), keys=str(keys.path))
    authentication = client.get(BASE).json()["authentication"]
    assert authentication == {"type": "apiKey", "name": "X-API-Key", "in": "header"}
    origin = {"Origin": "https://example.org"}
    for method, path, sent in (
        ("POST", BASE, {"data": {"queries": "{}"}}),
        ("GET", BASE, {"params": {"queries": "{}"}}),
        ("POST", f"{BASE}/v1/match", {"json": {"queries": []}}),
        ("GET", f"{BASE}/suggest/entity", {"params": {"prefix": "x"}}),
        ("GET", f"{BASE}/preview", {"params": {"id": "X:1"}}),
    ):
        refused = client.request(method, path, headers=origin, **sent)  # type: ignore[arg-type]
        assert refused.status_code == 401
        assert refused.headers["access-control-allow-origin"] == "*"
        allowed = client.request(method, path, headers={"X-API-Key": key}, **sent)  # type: ignore[arg-type]
        assert allowed.status_code == 200


def test_several_terminologies_have_an_address_each(
    serving: Serving, index: Path, tmp_path: Path
) -> None:
    build(tmp_path / "other", [Concept("Y:1", "heart attack")])
    client = serving(index=(str(index), str(tmp_path / "other")))
    assert ids(ask(client, "/reconcile/other", query="heart attack")) == ["Y:1"]
    assert ids(ask(client, query="heart attack"))[0] == "X:1"
    assert client.get("/reconcile").status_code == 422
    assert client.get("/reconcile/third").status_code == 404


# --- suggestions, pages, data extension -----------------------------------------------------------


def test_entities_are_suggested_page_by_page(client: TestClient) -> None:
    def suggested(**query: Any) -> list[str]:
        answer = client.get(f"{BASE}/suggest/entity", params=query)
        assert answer.headers["content-language"] == "en"
        return ids(answer.json()["result"])

    everything = suggested(prefix="h")
    assert everything == ["X:6", "X:1"]
    assert suggested(prefix="h", limit=1) == ["X:6"]
    assert suggested(prefix="h", limit=1, offset=1) == ["X:1"]
    assert suggested(prefix="h", cursor=1) == ["X:1"]
    assert suggested(prefix="X:5")[0] == "X:5"
    assert suggested() == []
    (found,) = client.get(f"{BASE}/suggest/entity", params={"prefix": "heart"}).json()["result"]
    assert found == {
        "id": "X:1",
        "name": "Myocardial infarction",
        "description": "also called heart attack",
        "notable": [{"id": "Disease", "name": "Disease"}],
    }


@pytest.mark.parametrize("spelling", ["X:1", "x:1", "X_1", "D434", "d434", "X:3 (type 2 diabetes)"])
def test_an_id_is_reconciled_and_suggested_in_any_spelling(
    client: TestClient, spelling: str
) -> None:
    expected = "X:1" if "1" in spelling else "X:3"
    queries = json.dumps({"q": {"query": spelling}})
    (best,) = client.post(BASE, data={"queries": queries}).json()["q"]["result"]
    assert (best["id"], best["match"], best["score"]) == (expected, True, 100)
    assert {"id": "exact", "name": "exact", "value": True} in best["features"]
    found = client.get(f"{BASE}/suggest/entity", params={"prefix": spelling}).json()["result"]
    assert ids(found)[0] == expected
    flyout = client.get(f"{BASE}/flyout/entity", params={"id": spelling})
    assert flyout.status_code == (404 if "(" in spelling else 200)


def test_an_id_and_a_label_that_disagree_match_nothing(client: TestClient) -> None:
    queries = json.dumps({"q": {"query": "X:1 - common cold"}})
    found = client.post(BASE, data={"queries": queries}).json()["q"]["result"]
    assert ids(found) == ["X:1", "X:4"]
    assert not any(one["match"] for one in found)


def test_types_and_properties_are_suggested(client: TestClient) -> None:
    def suggested(kind: str, prefix: str) -> list[str]:
        return ids(client.get(f"{BASE}/suggest/{kind}", params={"prefix": prefix}).json()["result"])

    assert suggested("type", "") == ["Disease", "Finding", "Phenomenon"]
    assert suggested("type", "PHEN") == ["Phenomenon"]
    assert suggested("type", "Finding") == ["Finding"]
    assert suggested("type", "ease") == []
    assert suggested("property", "cross") == ["xref"]
    assert suggested("property", "xref") == ["xref"]
    assert {"parent", "synonym", "definition", "context"} <= set(suggested("property", ""))


class _Pages(HTMLParser):
    """Collects tags and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, _attributes: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_pages_show_a_concept_and_run_nothing(client: TestClient) -> None:
    small = client.get(f"{BASE}/preview", params={"id": "X:1"})
    whole = client.get(f"{BASE}/view", params={"id": "X:1"})
    for page in (small, whole):
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        read = _Pages(page.text)
        assert "Death of heart muscle <by> lack of blood." in read.text
        assert "heart attack · MI · Herzinfarkt" in read.text
        assert "ICD10:I21" in read.text
        assert not {"script", "by", "img", "link"} & set(read.tags)
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'nonce-")
        assert policy.split("nonce-")[1].split("'")[0] in page.text
    framing = "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*"
    assert small.headers["content-security-policy"].endswith(framing)
    assert "frame-ancestors 'none'" in whole.headers["content-security-policy"]
    old = client.get(f"{BASE}/view", params={"id": "X:7"}).text
    assert "Deprecated; replaced by X:6." in old
    assert client.get(f"{BASE}/preview", params={"id": "X:99"}).status_code == 404


def test_a_small_page_says_how_much_it_leaves_out(serving: Serving, tmp_path: Path) -> None:
    from canonym import Name

    names = [Name(f"name {number}", "Y:1") for number in range(20)]
    build(tmp_path / "index", [Concept("Y:1", "label"), *names])
    client = serving(index=(str(tmp_path / "index"),))
    small = client.get("/reconcile/preview", params={"id": "Y:1"}).text
    assert "name 7 … 12 more" in small
    assert "more" not in client.get("/reconcile/view", params={"id": "Y:1"}).text


def test_flyouts_exist_for_what_there_is(client: TestClient) -> None:
    for kind, id_, text in (
        ("entity", "D434", "Type 2 diabetes mellitus"),
        ("type", "Finding", "2 concepts"),
        ("property", "xref", "cross-reference"),
    ):
        found = client.get(f"{BASE}/flyout/{kind}", params={"id": id_}).json()
        assert found["id"] == id_
        assert text in _Pages(found["html"]).text
        assert client.get(f"{BASE}/flyout/{kind}", params={"id": "none"}).status_code == 404
    assert client.get(f"{BASE}/flyout/x", params={"id": "Finding"}).status_code == 404


def test_data_extension_gives_values_of_all_kinds(client: TestClient) -> None:
    wanted = ("label", "synonym", "definition", "type", "parent", "child", "xref", "id", "source")
    wanted += ("ancestor", "code", "alternative_id")
    properties = [{"id": one} for one in wanted]
    found = post_form(client, extend={"ids": ["X:3", "X:2", "X:99"], "properties": properties})
    assert found["rows"]["X:3"] == {
        "label": [{"str": "Type 2 diabetes mellitus"}],
        "synonym": [{"str": "type 2 diabetes"}],
        "definition": [],
        "type": [{"str": "Disease"}, {"str": "Finding"}],
        "parent": [{"id": "X:2", "name": "Diabetes mellitus"}],
        "child": [],
        "xref": [{"str": "ICD10:E11"}],
        "id": [{"str": "X:3"}],
        "source": [],
        "ancestor": [
            {"id": "X:2", "name": "Diabetes mellitus"},
            {"id": "X:0", "name": "Disease"},
        ],
        "code": [{"str": "3"}],
        "alternative_id": [{"str": "D434"}],
    }
    assert found["rows"]["X:2"]["child"] == [{"id": "X:3", "name": "Type 2 diabetes mellitus"}]
    assert set(map(tuple, found["rows"]["X:99"].values())) == {()}
    assert found["meta"][6] == {"id": "xref", "name": "cross-reference"}


def test_data_extension_can_be_limited(client: TestClient) -> None:
    def names(limit: Any) -> int:
        properties = [{"id": "synonym", "settings": {"limit": limit}}, {"id": "unknown"}]
        body = {"ids": ["X:1"], "properties": properties}
        answer = client.post(f"{BASE}/extend", json=body).json()
        (row,) = answer["rows"]
        assert row["properties"][1] == {"id": "unknown", "values": []}
        return len(row["properties"][0]["values"])

    assert [names(limit) for limit in (1, "2", 0, "", "-1", "x", None, 3.5)] == [
        *(1, 2, 3, 3, 3, 3, 3, 3),
    ]
    (deprecated,) = client.post(
        f"{BASE}/extend", json={"ids": ["X:7"], "properties": [{"id": "replaced_by"}]}
    ).json()["rows"]
    assert deprecated["properties"][0]["values"] == [{"id": "X:6", "name": "Hip fracture"}]


# --- anything at all ------------------------------------------------------------------------------

_PIDS = st.sampled_from(["type", "parent", "ancestor", "xref", "synonym", "id", "context"]) | (
    st.text()
)
_VALUES = st.sampled_from(["X:0", "Disease", "cold", "ICD10:I21"]) | ANYTHING
_QUERIES = st.fixed_dictionaries(
    {},
    optional={
        "query": st.sampled_from(["cold", "heart attack"]) | st.text(),
        "type": st.sampled_from(["Disease", ["Finding", "Drug"]]) | ANYTHING,
        "limit": st.integers() | ANYTHING,
        "type_strict": st.sampled_from(["any", "all", "should"]) | ANYTHING,
        "properties": st.lists(st.fixed_dictionaries({"pid": _PIDS, "v": _VALUES})) | ANYTHING,
    },
)


@given(st.dictionaries(st.text(), _QUERIES | ANYTHING, max_size=4))
def test_no_batch_of_0_2_breaks_the_service(client: TestClient, queries: dict[str, Any]) -> None:
    answer = client.post(BASE, data={"queries": json.dumps(queries)})
    assert answer.status_code == 200
    assert set(answer.json()) == set(json.loads(json.dumps(queries)))
    for one in answer.json().values():
        scores = [candidate["score"] for candidate in one["result"]]
        assert scores == sorted(scores, reverse=True)
        assert not any(candidate["match"] for candidate in one["result"][1:])


_CONDITIONS = st.fixed_dictionaries(
    {"matchType": st.sampled_from(["name", "id", "property"]), "propertyValue": _VALUES},
    optional={
        "propertyId": _PIDS,
        "required": st.booleans(),
        "matchQuantifier": st.sampled_from(["any", "all", "none"]),
    },
)


@given(st.lists(st.fixed_dictionaries({"conditions": st.lists(_CONDITIONS)}) | ANYTHING))
def test_no_batch_of_1_0_breaks_the_service(client: TestClient, queries: list[Any]) -> None:
    body = json.dumps({"queries": queries}).encode()
    answer = client.post(
        f"{BASE}/match", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200
    assert len(answer.json()["results"]) == len(queries)


@given(ANYTHING, st.sampled_from(["queries", "extend"]))
def test_no_form_breaks_the_service(client: TestClient, given: Any, field: str) -> None:
    assert client.post(BASE, data={field: json.dumps(given)}).status_code in (200, 413, 422)
    assert client.post(f"{BASE}/extend", json=json.loads(json.dumps(str(given)))).status_code == 422


def test_lone_surrogates_are_refused_where_an_answer_would_hold_them(client: TestClient) -> None:
    sent = {"Content-Type": "application/json"}
    for path, body in (
        ("/reconcile/small", {"queries": {"\ud800": {"query": "cold"}}}),
        ("/reconcile/small/extend", {"ids": ["\ud800"], "properties": []}),
        ("/reconcile/small/v1/extend", {"ids": [], "properties": [{"id": "\ud800"}]}),
    ):
        answer = client.post(path, content=json.dumps(body).encode(), headers=sent)
        assert answer.status_code == 422, answer.text


def test_a_part_of_a_name_is_not_the_name() -> None:
    part = Link(Mention("knee"), (Candidate("X:1", "Knee", 1.0, "Knee", sieve="verbatim"),))
    whole = replace(part, mention=Mention("knee and hip"), candidates=(), parts=(part,))
    assert [(one.id, one.exact) for one in _of_link(part)] == [("X:1", True)]
    assert [(one.id, one.exact) for one in _of_link(whole)] == [("X:1", False)]
