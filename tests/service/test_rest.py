"""The routes of ``/v1``, compared with the linker that they stand before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from canonym import Concept, Document, Linker, Mention, Name
from canonym.service import schemas
from canonym.service.keys import Keys
from tests.memory import at_most
from tests.service.conftest import ANYTHING, build

Serving = Callable[..., TestClient]
JSON = {"Content-Type": "application/json"}
EXPLAINED = "History of myocardial infarction (MI). MI in 2019."


def _link(client: TestClient, **body: Any) -> Any:
    answer = client.post("/v1/link", json=body)
    assert answer.status_code == 200, answer.text
    schemas.LinkResponse.model_validate(answer.json())
    return answer.json()["links"]


def _refused(answer: Any, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    schemas.ProblemAnswer.model_validate(answer.json())
    return str(answer.json()["detail"])


@pytest.fixture(scope="module")
def linker(index: Path) -> Linker:
    """The linker of the small index."""
    return Linker.load(index)


# --- linking --------------------------------------------------------------------------------------


def test_a_batch_is_linked_as_by_the_linker(client: TestClient, linker: Linker) -> None:
    names = ["heart attack", "Diabetes, type 2", "zz", "cold", ""]
    expected = linker.link(names, k=3)
    found = _link(client, mentions=names, k=3, explain=True)
    for one, link in zip(found, json.loads(json.dumps(expected.to_dicts())), strict=True):
        assert {key: one[key] for key in link} == link
    assert [one["id"] for one in found] == [link.id for link in expected]
    assert found[0]["score"] == 1.0
    assert found[0]["candidates"][0]["sieve"] == "verbatim"


def test_requests_at_the_same_time_get_their_own_links(client: TestClient, linker: Linker) -> None:
    names = ["heart attack", "cold", "broken hip", "zz", "type 2 diabetes"] * 8
    expected = [link.id for link in linker.link(names)]

    def ask(place: int) -> Any:
        explain, name = place % 2 == 0, names[place]
        (link,) = _link(client, mentions=[name], explain=explain)
        assert ("steps" in link) is explain
        return link["id"]

    with ThreadPoolExecutor(10) as pool:
        assert [*pool.map(ask, range(len(names)))] == expected


def test_links_are_short_unless_an_explanation_is_wanted(client: TestClient) -> None:
    (link,) = _link(client, mentions=["heart attack"], k=1)
    assert link["candidates"] == [
        {
            "id": "X:1",
            "label": "Myocardial infarction",
            "score": 1.0,
            "name": "heart attack",
            "types": ["Disease"],
        }
    ]
    assert not {"steps", "searched"} & set(link)


def test_candidates_say_what_speaks_against_them(client: TestClient, linker: Linker) -> None:
    mention = "type 1 diabetes"
    expected = linker.link([mention], k=3)[0].to_dict()["candidates"]
    against = [one.get("against") for one in expected]
    assert any(one and one["contradictions"] for one in against)
    for explain in (False, True):
        (link,) = _link(client, mentions=[mention], k=3, explain=explain)
        assert [one.get("against") for one in link["candidates"]] == against
    annotated = _annotate(client, texts=["Type 2 diabetes and hips"], k=3)[0]["links"]
    assert annotated[0]["candidates"][1]["against"]["relation"] != "equal"
    described = client.get("/openapi.json").json()["components"]["schemas"]
    assert "against" in described["CandidateAnswer"]["properties"]
    assert set(described["AgainstAnswer"]["properties"]) == set(next(filter(None, against)))


def test_a_negated_mention_is_nil_unless_it_is_kept(client: TestClient) -> None:
    negated, past = _link(client, mentions=["no heart attack", "h/o heart attack"])
    assert (negated["id"], negated["status"], negated["nil"]) == (None, ["negated"], True)
    assert (past["id"], past["status"]) == ("X:1", ["historical"])
    (kept,) = _link(client, mentions=["no heart attack"], keep_negated=True)
    assert (kept["id"], kept["status"]) == ("X:1", ["negated"])


def test_a_document_explains_its_mentions(client: TestClient, linker: Linker) -> None:
    document = Document("d1", EXPLAINED, (Mention("MI", 39, 41),))
    (link,) = _link(
        client, document={"id": "d1", "text": EXPLAINED}, mentions=[{"start": 39, "end": 41}]
    )
    assert link["mention"] == "MI"
    assert (link["id"], link["start"], link["end"]) == ("X:1", 39, 41)
    assert linker.link_document(document)[0].id == "X:1"
    (alone,) = _link(client, mentions=[{"text": "HA", "context": "heart attack (HA)"}])
    assert alone["id"] == "X:1"
    (given,) = _link(client, mentions=["HIPFX"], abbreviations={"HIPFX": "hip fracture"})
    assert given["id"] == "X:6"


@pytest.mark.parametrize(
    ("mention", "options", "expected"),
    [
        ("cold", {"types": ["phenomenon"]}, ["X:5"]),
        ("cold", {"ids": ["X:4", "X:6"]}, ["X:4", "X:6"]),
        ("cold", {"k": 1}, ["X:4"]),
        ("heart", {"languages": ["de"]}, ["X:1"]),
        ("hip", {"sources": ["Tests"]}, ["X:1"]),
    ],
)
def test_every_filter_changes_the_candidates(
    client: TestClient, mention: str, options: dict[str, Any], expected: list[str]
) -> None:
    (link,) = _link(client, mentions=[mention], **options)
    assert [one["id"] for one in link["candidates"]] == expected


def test_thresholds_make_mentions_nil(
    client: TestClient, serving: Serving, sure_index: Path
) -> None:
    (link,) = _link(client, mentions=["heart of stone"], min_score=0.9)
    assert (link["nil"], link["id"]) == (True, None)
    assert "below 0.9" in link["reason"]
    sure = serving(index=(str(sure_index),))
    (link,) = _link(sure, mentions=["heart of stone"], min_confidence=0.999)
    assert (link["nil"], link["id"]) == (True, None)
    assert 0 < link["confidence"] < 0.999


def test_several_terminologies_are_named(serving: Serving, index: Path, sure_index: Path) -> None:
    client = serving(index=(f"a={index}", f"b={sure_index}"))
    adapted, shipped = (
        _link(client, terminology=name, mentions=["cold"])[0]["confidence"] for name in "ba"
    )
    assert None not in (adapted, shipped)
    assert adapted != shipped
    unnamed = client.post("/v1/link", json={"mentions": ["x"]})
    assert _refused(unnamed, 422) == "none is named; there are a, b"
    unknown = client.get("/v1/search", params={"prefix": "x", "terminology": "c"})
    assert _refused(unknown, 404) == "there is no terminology 'c'; there are a, b"
    assert unknown.json()["terminologies"] == ["a", "b"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "body/mentions: Field required"),
        ({"mentions": ["x"], "kk": 1}, "body/kk: Extra inputs are not permitted"),
        ({"mentions": ["x"], "k": 0}, "body/k: Input should be greater than or equal to 1"),
        ({"mentions": ["x"], "types": ["Drug"]}, "types: 'Drug' does not occur in small; it has"),
        ({"mentions": ["x"], "ids": ["X:99"]}, "'X:99' of 1 are not in small"),
        ({"mentions": [{"start": 1, "end": 2}]}, "needs a document with a text"),
        ({"mentions": [{"text": "x", "start": 3, "end": 9}], "document": {"text": "x"}}, "no span"),
        ({"mentions": ["x" * 10_001]}, "at most 10000 characters"),
    ],
)
def test_wrong_requests_are_explained(
    client: TestClient, body: dict[str, Any], message: str
) -> None:
    detail = _refused(client.post("/v1/link", json=body), 422)
    assert message in detail
    assert "terminology.db" not in detail


def test_what_is_no_json_is_explained(client: TestClient) -> None:
    assert "a JSON object is expected" in _refused(client.post("/v1/link", content=b"["), 422)
    broken = client.post("/v1/link", content=b"{", headers=JSON)
    assert "JSON decode error" in _refused(broken, 422)
    deep = client.post("/v1/link", content=b"[" * 100_000, headers=JSON)
    assert "nested too deeply" in _refused(deep, 400)


@pytest.mark.parametrize(
    "body",
    [
        {"mentions": [{"start": 0, "end": 13}], "document": {"text": "\ud800 heart attack"}},
        {"mentions": ["HA"], "abbreviations": {"HA": "\ud800"}, "explain": True},
        {"mentions": ["x"], "types": ["\ud800"]},
        {"mentions": ["x"], "terminology": "\ud800"},
    ],
)
def test_lone_surrogates_are_refused(client: TestClient, body: dict[str, Any]) -> None:
    answer = client.post("/v1/link", content=json.dumps(body).encode(), headers=JSON)
    _refused(answer, 404 if "terminology" in body else 422)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/link", {"mentions": [[]] * 99_000}),
        ("/v1/annotate", {"texts": [1] * 200_000}),
        ("/v1/link", {"mentions": ["x"], "types": [1] * 200_000}),
        ("/v1/link", {"mentions": ["x"], "abbreviations": {str(n): 1 for n in range(200_000)}}),
        ("/v1/link", {"mentions": ["x"], **{f"a{n}": 1 for n in range(200_000)}}),
        ("/reconcile/small/extend", {"ids": [1] * 200_000, "properties": []}),
    ],
)
def test_a_body_of_faults_takes_no_memory_for_each(
    client: TestClient, path: str, body: dict[str, Any]
) -> None:
    content = json.dumps(body).encode()
    # What was given takes some 20 MB as Python's objects; 200,000 errors would take hundreds.
    with at_most(60_000_000):
        answer = client.post(path, content=content, headers=JSON)
    _refused(answer, 422)


def test_limits_are_named(serving: Serving, index: Path) -> None:
    client = serving(index=(str(index),), max_batch=10, max_body=1000)
    batch = client.post("/v1/link", json={"mentions": ["x"] * 11})
    assert _refused(batch, 413).startswith("at most 10 mentions are taken at once, and 11 were")
    assert batch.json()["limit"] == 10
    assert len(_link(client, mentions=["x"] * 10)) == 10
    body = client.post("/v1/link", json={"mentions": ["x" * 1000]})
    assert _refused(body, 413).startswith("at most 1,000 bytes are taken at once, and 1,")
    assert body.json()["limit"] == 1000

    def chunks() -> Any:
        yield from [b"x" * 600] * 2

    # The length of a body that comes in pieces is not announced.
    assert _refused(client.post("/v1/link", content=chunks()), 413).startswith("at most 1,000 byt")


def test_a_list_far_beyond_the_limit_is_not_read(client: TestClient) -> None:
    answer = client.post("/v1/link", json={"mentions": [{}] * 100_001})
    assert _refused(answer, 413).startswith("at most 1,000 members of a list are taken at once")
    assert answer.json()["limit"] == 1000


@pytest.mark.parametrize(
    ("path", "body"), [("link", {"mentions": ["x"]}), ("annotate", {"texts": ["x"]})]
)
def test_a_full_queue_refuses_whole_batches(
    serving: Serving, index: Path, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    client = serving(index=(str(index),), threads=1, queue=0)
    monkeypatch.setattr(client.app.state.canonym.work, "_room", 0)  # type: ignore[attr-defined]
    refused = client.post(f"/v1/{path}", json=body)
    assert "too many batches are waiting" in _refused(refused, 503)
    assert refused.headers["retry-after"] == "1"
    monkeypatch.undo()
    assert client.post(f"/v1/{path}", json=body).status_code == 200


def test_links_are_counted_by_what_became_of_them(serving: Serving, index: Path) -> None:
    client = serving(index=(f"mine={index}",))
    _link(client, mentions=["heart attack", "cold", ""])
    _annotate(client, texts=["A common cold after a heart attack.", "no"])
    counted = client.get("/metrics").text
    assert 'canonym_mentions_total{outcome="linked",terminology="mine"} 4.0' in counted
    assert 'canonym_mentions_total{outcome="nil",terminology="mine"} 1.0' in counted
    assert "canonym_batches_open 0.0" in counted


# --- texts ----------------------------------------------------------------------------------------


def _annotate(client: TestClient, **body: Any) -> Any:
    answer = client.post("/v1/annotate", json=body)
    assert answer.status_code == 200, answer.text
    schemas.AnnotateResponse.model_validate(answer.json())
    return answer.json()["documents"]


def test_texts_are_annotated_as_by_the_linker(client: TestClient, linker: Linker) -> None:
    texts = [
        EXPLAINED,
        "",
        "Nothing here.",
        "Broken hips and a common COLD\nafter a heart\nattack.",
    ]
    found = _annotate(client, texts=texts, k=2, explain=True)
    for text, document in zip(texts, found, strict=True):
        expected = json.loads(json.dumps(linker.annotate(text, k=2).to_dicts()))
        for link, of in zip(document["links"], expected, strict=True):
            assert {key: link[key] for key in of} == of
            assert text[link["start"] : link["end"]] == link["mention"]
    assert [len(document["links"]) for document in found] == [3, 0, 0, 3]


def test_annotations_say_their_status(client: TestClient) -> None:
    (document,) = _annotate(client, texts=["No heart attack. History of broken hip."])
    assert [link["status"] for link in document["links"]] == [["negated"], ["historical"]]
    assert [link["id"] for link in document["links"]] == ["X:1", "X:6"]


def test_offsets_of_annotations_count_code_points(client: TestClient) -> None:
    (document,) = _annotate(client, texts=[{"id": "n1", "text": "🫀 é\0 heart attack"}])
    (link,) = document["links"]
    assert (document["id"], link["document"]) == ("n1", "n1")
    assert (link["start"], link["end"], link["type"]) == (5, 17, "Disease")
    assert [one["id"] for one in link["candidates"]] == ["X:1"]


def test_filters_and_thresholds_hold_for_annotations(
    client: TestClient, serving: Serving, sure_index: Path
) -> None:
    text = "A common cold, cold temperature, a broken hip and HIPFX."

    def ids(client: TestClient, **options: Any) -> list[str]:
        return [link["id"] for link in _annotate(client, texts=[text], **options)[0]["links"]]

    assert ids(client) == ["X:4", "X:5", "X:6"]
    assert ids(client, types=["Phenomenon"]) == ["X:5"]
    assert ids(client, ids=["X:6"]) == ["X:6"]
    assert ids(client, abbreviations={"HIPFX": "hip fracture"}) == ["X:4", "X:5", "X:6", "X:6"]
    assert len(_annotate(client, texts=[text], k=3)[0]["links"][0]["candidates"]) == 3
    sure = serving(index=(str(sure_index),))
    assert ids(sure, min_confidence=0.0) == ["X:4", "X:5", "X:6"]
    assert ids(sure, min_confidence=1.0) == []


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 422, "body/texts: Field required"),
        ({"texts": "a cold"}, 422, "body/texts: Input should be a valid list"),
        ({"texts": [1]}, 422, "body/texts/0"),
        ({"texts": [{"id": "n1"}]}, 422, "body/texts/0"),
        ({"texts": ["x"], "mentions": ["x"]}, 422, "body/mentions: Extra inputs"),
        ({"texts": ["\ud800"]}, 422, "body/texts/0"),
        ({"texts": ["x"], "types": ["Drug"]}, 422, "types: 'Drug' does not occur in small"),
        ({"texts": ["x"], "terminology": "\0"}, 404, "there is no terminology"),
        ({"texts": ["x"] * 1001}, 413, "at most 1,000 texts are taken at once, and 1,001 were"),
        ({"texts": ["x" * 99_999] * 11}, 413, "at most 1,000,000 characters with k = 1 are taken"),
        ({"texts": ["x" * 100_001]}, 413, "at most 100,000 characters of a text are taken"),
        ({"texts": ["x" * 10_001], "k": 100}, 413, "at most 10,000 characters with k = 100"),
    ],
)
def test_wrong_texts_are_explained(
    client: TestClient, body: dict[str, Any], status: int, message: str
) -> None:
    content = json.dumps(body).encode()  # as ASCII, for a lone surrogate is no UTF-8
    answer = client.post("/v1/annotate", content=content, headers=JSON)
    assert message in _refused(answer, status)


def test_the_text_of_a_document_is_as_long_as_one_that_is_annotated(client: TestClient) -> None:
    body = {"document": {"text": "cold " * 20_000}, "mentions": [{"start": 0, "end": 4}]}
    assert client.post("/v1/link", json=body).status_code == 200
    body["document"]["text"] += "x"
    told = _refused(client.post("/v1/link", json=body), 413)
    assert told.startswith("at most 100,000 characters of a text are taken at once, and 100,001")


def test_texts_that_take_too_long_are_given_up(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("canonym.service.rest._SECONDS", -1)
    answer = client.post("/v1/annotate", json={"texts": ["a cold"]})
    assert "send several requests" in _refused(answer, 413)


@pytest.mark.parametrize("several", [1, 20])
def test_mentions_that_take_too_long_are_given_up(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, several: int
) -> None:
    body = {"mentions": [f"a cold, {n} of {several}" for n in range(several)]}  # none is known yet
    monkeypatch.setattr("canonym.service.rest._SECONDS", -1)
    assert "send several requests" in _refused(client.post("/v1/link", json=body), 413)
    monkeypatch.undo()
    assert client.post("/v1/link", json=body).status_code == 200


def test_the_time_is_looked_at_inside_a_text(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(range(10_000))
    clock = SimpleNamespace(monotonic=lambda: float(next(looks)))
    monkeypatch.setattr("canonym.io.time_limit.time", clock)
    text = "a cold and a heart attack, " * 50
    answer = client.post("/v1/annotate", json={"texts": [text]})
    assert "more than 30 seconds" in _refused(answer, 413)
    assert next(looks) < 40
    body = {"document": {"text": text}, "mentions": ["cold", "heart attack"] * 50}
    assert "more than 30 seconds" in _refused(client.post("/v1/link", json=body), 413)


def test_the_switch_of_before_has_no_effect(client: TestClient) -> None:
    body = {"texts": ["He denies a heart attack."]}
    now = client.post("/v1/annotate", json=body)
    assert now.json()["documents"][0]["links"][0]["status"] == ["negated"]
    for flags in (True, False):
        assert client.post("/v1/annotate", json={**body, "flags": flags}).json() == now.json()


def test_texts_that_are_no_utf_8_are_refused(client: TestClient) -> None:
    answer = client.post("/v1/annotate", content=b'{"texts": ["caf\xe9"]}', headers=JSON)
    assert "no JSON in UTF-8" in _refused(answer, 400)


def test_an_index_without_sieves_annotates_nothing(serving: Serving, tmp_path: Path) -> None:
    build(tmp_path / "bare", sieves=[])
    client = serving(index=(str(tmp_path / "bare"),))
    refused = client.post("/v1/annotate", json={"texts": ["x"]})
    assert "built without sieves" in _refused(refused, 409)


# --- looking up -----------------------------------------------------------------------------------


def test_a_concept_is_described_with_its_neighbours(client: TestClient, linker: Linker) -> None:
    answer = client.get("/v1/concepts/X:1").json()
    schemas.ConceptAnswer.model_validate(answer)
    assert answer["label"] == "Myocardial infarction"
    assert answer["definition"] == "Death of heart muscle <by> lack of blood."
    assert [(one["text"], one["scope"], one["language"]) for one in answer["names"]] == [
        ("Myocardial infarction", "label", "en"),
        ("heart attack", "exact", "en"),
        ("MI", "abbreviation", "en"),
        ("Herzinfarkt", "exact", "de"),
    ]
    assert answer["parents"] == [{"id": "X:0", "label": "Disease"}]
    assert (answer["children"], answer["n_children"]) == ([], 0)
    assert answer["xrefs"] == ["ICD10:I21"]
    assert (answer["source"], answer["version"], answer["deprecated"]) == ("Tests", "1", False)
    assert [one.target for one in linker.terminology.xrefs("X:1")] == answer["xrefs"]


def test_a_concept_is_found_by_an_alternative_id(client: TestClient) -> None:
    answer = client.get("/v1/concepts/D434", params={"terminology": "small"}).json()
    assert (answer["id"], answer["alternative_ids"]) == ("X:3", ["D434"])
    assert answer["xrefs"] == ["ICD10:E11"]
    old = client.get("/v1/concepts/X:7").json()
    assert (old["deprecated"], old["replaced_by"]) == (True, ["X:6"])
    missing = client.get("/v1/concepts/http://example.org/1")
    assert "no concept with the id 'http://example.org/1'" in _refused(missing, 404)


def test_only_the_first_children_are_listed(serving: Serving, tmp_path: Path) -> None:
    from canonym import Concept, Relation

    children = [Concept(f"Y:{number:03d}", f"child {number}") for number in range(150)]
    below = [Relation(one.id, "is_a", "Y") for one in children]
    build(tmp_path / "wide", [Concept("Y", "parent"), *children, *below])
    answer = serving(index=(str(tmp_path / "wide"),)).get("/v1/concepts/Y").json()
    assert answer["n_children"] == 150
    assert [one["label"] for one in answer["children"]] == [f"child {n}" for n in range(100)]


def test_names_are_completed(client: TestClient) -> None:
    answer = client.get("/v1/search", params={"prefix": "heart", "limit": 3}).json()
    assert answer == {
        "terminology": "small",
        "concepts": [
            {
                "id": "X:1",
                "label": "Myocardial infarction",
                "name": "heart attack",
                "types": ["Disease"],
            }
        ],
    }
    assert _refused(client.get("/v1/search", params={"prefix": "x", "limit": 0}), 422)


def test_names_are_found_by_words_in_any_order(client: TestClient) -> None:
    def found(prefix: str, **more: object) -> list[str]:
        answer = client.get("/v1/search", params={"prefix": prefix, **more}).json()
        return [one["id"] for one in answer["concepts"]]

    assert found("diabetes type") == []
    assert found("diabetes type", anywhere=True) == ["X:3"]
    assert found("diabetes", anywhere=True) == ["X:2", "X:3"]  # what begins so comes first
    assert found("diabetes", anywhere=True, limit=1) == ["X:2"]
    assert found("fracture of the hip", anywhere=True) == ["X:6"]
    assert found("nothing such", anywhere=True) == []


@pytest.mark.parametrize("spelling", ["X:1", "x:1", "X_1", "x 1 ", "https://bioregistry.io/X:1"])
def test_a_concept_is_found_by_any_spelling_of_its_id(client: TestClient, spelling: str) -> None:
    answer = client.get("/v1/search", params={"prefix": spelling, "limit": 1}).json()
    expected = [] if spelling == "x 1 " else ["X:1"]  # one digit behind a space is no id
    assert [one["id"] for one in answer["concepts"]] == expected
    if expected and "/" not in spelling:
        assert client.get(f"/v1/concepts/{spelling}").json()["id"] == "X:1"


def test_an_id_beside_its_label_completes_to_the_concept(client: TestClient) -> None:
    answer = client.get("/v1/search", params={"prefix": "D434 - type 2 diabetes"}).json()
    assert [one["id"] for one in answer["concepts"]] == ["X:3"]


def test_a_name_is_completed_before_a_bare_code(serving: Any, tmp_path: Path) -> None:
    records = [
        Concept("ICD:C35", "a code"),
        Concept("ICD:J45", "protein C35"),
        Name("C35", "ICD:J45"),
    ]
    build(tmp_path / "codes", records)
    client = serving(index=(str(tmp_path / "codes"),))

    def completed(prefix: str) -> list[str]:
        answer = client.get("/v1/search", params={"prefix": prefix}).json()
        return [one["id"] for one in answer["concepts"]]

    assert completed("c35") == ["ICD:J45", "ICD:C35"]
    assert completed("ICD:C35") == ["ICD:C35"]
    linked = client.post("/v1/link", json={"mentions": ["ICD:C35", "c35"]}).json()["links"]
    assert [link["ids"] for link in linked] == [["ICD:C35"], ["ICD:J45"]]


def test_terminologies_are_described(client: TestClient, linker: Linker) -> None:
    (found,) = client.get("/v1/terminologies").json()["terminologies"]
    assert found == {
        "name": "small",
        "fingerprint": linker.fingerprint,
        "concepts": 8,
        "names": 16,
        "sources": ["Tests 1"],
        "types": {"Disease": 5, "Finding": 2, "Phenomenon": 1},
        "hierarchy": True,
        "languages": {"de": 1, "en": 15},
        "encoders": ["chargrams"],
        "reconciliation": "http://localhost:8000/reconcile/small",
    }


# --- synonyms and forbidden pairs -----------------------------------------------------------------


@pytest.fixture
def reviewing(serving: Serving, index: Path, tmp_path: Path) -> TestClient:
    """A client with a key of the scope review, of a service with an index of its own."""
    keys = Keys.create(tmp_path / "keys.db")
    folder = shutil.copytree(index, tmp_path / "index")
    client = serving(index=(str(folder),), keys=str(keys.path))
    client.headers["Authorization"] = f"Bearer {keys.add('reviewer', 'review')}"
    return client


def test_synonyms_are_added_listed_and_removed(reviewing: TestClient) -> None:
    body = {"synonyms": [{"name": "the big one", "id": "X:1"}, {"name": "zap", "id": "D434"}]}
    assert reviewing.post("/v1/synonyms", json=body).json() == {"terminology": "index", "added": 2}
    assert reviewing.post("/v1/synonyms", json=body).json()["added"] == 0
    assert _link(reviewing, mentions=["The Big One"])[0]["id"] == "X:1"
    assert reviewing.get("/v1/synonyms").json()["synonyms"] == [
        {"name": "the big one", "id": "X:1", "language": "en"},
        {"name": "zap", "id": "X:3", "language": "en"},
    ]
    assert reviewing.get("/v1/concepts/X:1").json()["names"][-1]["source"] == "added"
    gone = reviewing.delete("/v1/synonyms", params={"name": "zap", "id": "X:3"})
    assert (gone.status_code, gone.text) == (204, "")
    assert len(reviewing.get("/v1/synonyms").json()["synonyms"]) == 1
    again = reviewing.delete("/v1/synonyms", params={"name": "zap", "id": "X:3"})
    assert "was not added" in _refused(again, 422)


def test_a_wrong_synonym_adds_none(reviewing: TestClient) -> None:
    body = {"synonyms": [{"name": "fine", "id": "X:1"}, {"name": "lost", "id": "X:99"}]}
    assert "no concept has the id 'X:99' in index" in _refused(
        reviewing.post("/v1/synonyms", json=body), 422
    )
    assert reviewing.get("/v1/synonyms").json()["synonyms"] == []


def test_too_many_changes_at_once_are_refused(
    serving: Serving, index: Path, tmp_path: Path
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    key = {"X-API-Key": keys.add("reviewer", "review")}
    client = serving(index=(str(index),), keys=str(keys.path), max_batch=10)
    for path, one in (
        ("synonyms", {"name": "x", "id": "X:1"}),
        ("forbidden", {"mention": "x", "id": "X:1"}),
    ):
        answer = client.post(f"/v1/{path}", json={path: [one] * 11}, headers=key)
        assert "at most 10" in _refused(answer, 413)
        assert client.get(f"/v1/{path}", headers=key).json()[path] == []


def test_pairs_are_forbidden_and_allowed_again(reviewing: TestClient) -> None:
    body = {"forbidden": [{"mention": "heart attack", "id": "X:1"}]}
    assert reviewing.post("/v1/forbidden", json=body).json()["added"] == 1
    assert _link(reviewing, mentions=["heart attack"])[0]["id"] != "X:1"
    assert reviewing.get("/v1/forbidden").json()["forbidden"] == body["forbidden"]
    pair = {"mention": "heart attack", "id": "X:1"}
    assert reviewing.delete("/v1/forbidden", params=pair).status_code == 204
    assert _link(reviewing, mentions=["heart attack"])[0]["id"] == "X:1"


def test_changes_need_a_key_of_the_right_scope(
    client: TestClient, serving: Serving, index: Path, tmp_path: Path
) -> None:
    body = {"synonyms": [{"name": "the big one", "id": "X:1"}]}
    assert "was started without keys" in _refused(client.post("/v1/synonyms", json=body), 403)
    assert client.get("/v1/synonyms").status_code == 200
    keys = Keys.create(tmp_path / "keys.db")
    key = keys.add("robot", "read")
    locked = serving(index=(str(index),), keys=str(keys.path))
    assert locked.get("/v1/synonyms").status_code == 401
    reading = {"X-API-Key": key}
    assert locked.get("/v1/synonyms", headers=reading).status_code == 200
    refused = locked.post("/v1/synonyms", json=body, headers=reading)
    assert "has the scope read; review is expected" in _refused(refused, 403)


def test_an_admin_lists_and_revokes_keys(serving: Serving, index: Path, tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    robot, admin = keys.add("robot", "review"), {"X-API-Key": keys.add("admin", "admin")}
    client = serving(index=(str(index),), keys=str(keys.path))
    assert client.get("/v1/keys", headers={"X-API-Key": robot}).status_code == 403
    listed = client.get("/v1/keys", headers=admin).json()["keys"]
    assert [(one["name"], one["scope"], one["revoked"]) for one in listed] == [
        ("robot", "review", None),
        ("admin", "admin", None),
    ]
    assert robot.split("_", 2)[2] not in json.dumps(listed)
    path = f"/v1/keys/{listed[0]['id']}"
    assert client.delete(path, headers=admin).status_code == 204
    assert client.get("/v1/terminologies", headers={"X-API-Key": robot}).status_code == 401
    assert "no key in use" in _refused(client.delete(path, headers=admin), 422)


def test_an_index_that_cannot_be_written_to_says_so(
    reviewing: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("canonym.terminology.overlay.Overlay._write", fail)
    body = {"synonyms": [{"name": "the big one", "id": "X:1"}]}
    detail = _refused(reviewing.post("/v1/synonyms", json=body), 409)
    assert detail == "the folder of index cannot be written to: nothing was changed"


# --- the description, and anything at all ---------------------------------------------------------


def test_the_description_has_examples_that_work(client: TestClient) -> None:
    description = client.get("/openapi.json").json()
    for name, ask in (("LinkRequest", _link), ("AnnotateRequest", _annotate)):
        for example in description["components"]["schemas"][name]["examples"]:
            ask(client, **example)
    answers = description["paths"]["/v1/link"]["post"]["responses"]
    assert "application/problem+json" in answers["4XX"]["content"]
    assert {"HTTPBearer", "APIKeyHeader"} <= set(description["components"]["securitySchemes"])


_MEMBERS = st.sampled_from([*schemas.LinkRequest.model_fields, *schemas.GivenMention.model_fields])
_WHOLE = [{"mentions": ["x", {"text": "y"}]}, {"texts": ["x", {"text": "a cold"}]}, {}]
_BODIES = ANYTHING | st.builds(
    lambda whole, members: whole | members,
    st.sampled_from(_WHOLE),
    st.dictionaries(_MEMBERS, ANYTHING, max_size=4),
)
_PATHS = ["/v1/link", "/v1/annotate", "/v1/synonyms", "/v1/forbidden"]


@given(st.sampled_from(_PATHS), _BODIES)
def test_no_body_breaks_the_service(client: TestClient, path: str, body: Any) -> None:
    answer = client.post(path, content=json.dumps(body).encode(), headers=JSON)
    assert answer.status_code in (200, 400, 403, 409, 413, 422), answer.text


@given(st.text(), st.text())
def test_no_query_breaks_the_service(client: TestClient, one: str, other: str) -> None:
    one, other = (text.encode("utf-8", "replace").decode() for text in (one, other))
    for path, query in (
        ("/v1/search", {"prefix": one}),
        ("/v1/search", {"prefix": one, "terminology": other}),
        ("/v1/search", {"prefix": one, "limit": other}),
        ("/v1/synonyms", {"terminology": one}),
    ):
        assert client.get(path, params=query).status_code in (200, 404, 422)


def test_a_separator_parts_the_names_of_a_mention(client: TestClient) -> None:
    (link,) = _link(client, mentions=["common cold | hip fracture"], separator="|")
    assert [part["mention"] for part in link["parts"]] == ["common cold", "hip fracture"]
