"""The routes of reviews: from a table to decisions, and who may see or make them."""

from __future__ import annotations

import io
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from canonym import Concept, Relation
from canonym.errors import InvalidInput
from canonym.service import Settings, create_app
from canonym.service.keys import Keys
from tests.cli.running import run
from tests.service.conftest import RECORDS, build
from tests.service.review.conftest import BASE, TABLE, decide, items_of, linked, make

EVIL = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"


def test_a_table_is_shown_before_anything_is_kept(start: Callable[..., TestClient]) -> None:
    client = start()
    shown = client.post("/v1/tables", params={"filename": "t.csv"}, content=TABLE.encode()).json()
    assert shown["columns"] == ["term", "near", "n"]
    assert shown["rows"][1] == ["broken hip", "", "2"]
    assert shown["n_rows"] == 3
    assert client.get("/v1/reviews").json() == {"reviews": []}
    wrong = client.post("/v1/tables", params={"filename": "t.csv"}, content=b"a,b\n1,2,3\n")
    assert wrong.status_code == 422
    assert wrong.json()["detail"].startswith("t.csv")


def test_how_a_table_is_read_is_chosen(start: Callable[..., TestClient]) -> None:
    client = start()
    table = b"From ward 7\nterm;n\nheart attack;3\n"
    how = {"filename": "t.csv", "separator": "semicolon", "header_row": 2}
    shown = client.post("/v1/tables", params=how, content=table).json()
    assert (shown["columns"], shown["rows"]) == (["term", "n"], [["heart attack", "3"]])
    assert shown["sheets"] == []
    made = {**how, "name": "ward", "column": "term", "frequency_column": "n"}
    review = client.post("/v1/reviews", params=made, content=table)
    assert (review.status_code, review.json()["columns"]) == (201, ["term", "n"])
    for wrong in ({"separator": "x"}, {"header_row": 0}, {"header_row": "a"}):
        answer = client.post("/v1/tables", params={**how, **wrong}, content=table)
        assert answer.status_code == 422


def test_the_sheets_of_a_workbook_are_told(start: Callable[..., TestClient]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, stream = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["nothing"])
    for row in (["term"], ["cold"]):
        (book["Ward"] if "Ward" in book.sheetnames else book.create_sheet("Ward")).append(row)
    book.save(stream)
    how = {"filename": "t.xlsx", "sheet": "Ward"}
    shown = start().post("/v1/tables", params=how, content=stream.getvalue()).json()
    assert (shown["sheets"], shown["columns"], shown["n_rows"]) == (["Sheet", "Ward"], ["term"], 1)


def test_a_workbook_without_its_extra_is_a_message(
    start: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    stream = io.BytesIO()
    openpyxl.Workbook().save(stream)
    (tmp_path / "openpyxl.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    answer = start().post("/v1/tables", params={"filename": "t.xlsx"}, content=stream.getvalue())
    assert answer.status_code == 422
    assert "canonym[tables]" in answer.json()["detail"]


def test_a_review_is_linked_and_decided(start: Callable[..., TestClient]) -> None:
    client = start()
    review = make(client, context_column="near", frequency_column="n")
    assert (review["total"], review["rows"]["open"], review["created_by"]) == (2, 8, "ann")
    assert review["current"]
    item = items_of(client, review["id"])["heart attack"]
    whole = client.get(f"/v1/reviews/{review['id']}/items/{item['id']}").json()
    best = whole["candidates"][0]
    assert (best["id"], best["parents"]) == ("X:1", ["Disease"])
    assert best["definition"] == "Death of heart muscle <by> lack of blood."
    given = {"kind": "link", "concepts": [{"id": "X:0", "relation": "broader"}], "comment": "hm"}
    now = decide(client, review["id"], item, **given).json()
    assert (now["state"], now["version"], now["decision"]["who"]) == ("linked", 3, "ann")
    assert now["decision"]["concepts"] == [
        {"id": "X:0", "label": "Disease", "relation": "broader", "parents": []}
    ]
    assert list(items_of(client, review["id"], "todo")) == ["broken hip"]
    back = decide(client, review["id"], now, kind="undo").json()
    assert (back["state"], back["decision"]) == ("open", None)
    assert [one["kind"] for one in back["history"]] == ["link", "undo"]


def test_who_was_slower_is_told_and_gets_the_present_state(
    start: Callable[..., TestClient],
) -> None:
    client = start()
    review = make(client)["id"]
    item = items_of(client, review)["broken hip"]
    decide(client, review, item, kind="link", concepts=[{"id": "X:6"}])
    client.headers["X-Reviewer"] = quote("Bär")
    late = decide(client, review, item, kind="nil")
    assert late.status_code == 409
    assert late.json()["item"]["decision"]["who"] == "ann"
    assert late.json()["item"]["state"] == "linked"
    again = decide(client, review, late.json()["item"], kind="nil").json()
    assert (again["state"], again["decision"]["who"]) == ("nil", "Bär")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "link"}, "concepts are expected for a link"),
        ({"kind": "nil", "concepts": [{"id": "X:1"}]}, "concepts are expected for a link"),
        ({"kind": "link", "concepts": [{"id": "Y:1"}]}, "no concept with the id 'Y:1'"),
        ({"kind": "comment", "comment": " "}, "the comment is empty"),
        ({"kind": "undo"}, "nothing to undo"),
        ({"kind": "shrug"}, "body/kind"),
        ({"kind": "nil", "version": 2**70}, "version"),
    ],
)
def test_decisions_that_say_nothing_are_refused(
    reviews: TestClient, given: dict[str, Any], message: str
) -> None:
    review = make(reviews)["id"]
    item = items_of(reviews, review)["broken hip"]
    answer = decide(reviews, review, item, **given)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]
    assert items_of(reviews, review)["broken hip"] == item


def test_what_is_not_there_is_not_found(start: Callable[..., TestClient]) -> None:
    client = start()
    first, second = make(client)["id"], make(client)["id"]
    item = items_of(client, first)["broken hip"]
    for path in (
        "/v1/reviews/99",
        f"/v1/reviews/{second}/items/{item['id']}",
    ):
        assert client.get(path).status_code == 404, path


def test_many_are_accepted_with_the_errors_to_expect(
    start: Callable[..., TestClient], sure_index: Path
) -> None:
    client = start(index=(str(sure_index),))
    review = make(client)["id"]
    found = client.get(f"/v1/reviews/{review}/acceptable", params={"least": 0.5}).json()
    assert found["items"] == 2
    sure = [one["confidence"] for one in items_of(client, review).values()]
    assert found["errors"] == pytest.approx(sum(1 - one for one in sure))
    path = f"/v1/reviews/{review}/accept"
    assert client.post(path, json={"least": 0.5, "expected": 7}).status_code == 409
    assert client.post(path, json={"least": 0.5, "expected": 2}).json() == {"decided": 2}
    assert client.get(f"/v1/reviews/{review}").json()["items"]["accepted"] == 2


def test_what_was_decided_last_is_undone_wherever_it_stands(
    start: Callable[..., TestClient],
) -> None:
    client = start()
    review = make(client)["id"]
    path = f"/v1/reviews/{review}/undo"
    refused = client.post(path)
    assert refused.status_code == 422
    assert "decided nothing" in refused.json()["detail"]
    items = items_of(client, review)
    heart, hip = items["heart attack"], items["broken hip"]
    also = [{"id": heart["id"], "version": heart["version"]}]
    assert decide(client, review, hip, kind="link").status_code == 422
    given = {"kind": "link", "proposed": True, "concepts": [{"id": "X:1"}]}
    assert decide(client, review, hip, **given).status_code == 422
    assert decide(client, review, hip, kind="nil", proposed=True).status_code == 422
    decided = decide(client, review, hip, kind="link", proposed=True, also=also).json()
    assert [one["id"] for one in decided["decision"]["concepts"]] == ["X:6"]
    undone = client.post(path).json()
    assert undone == {"id": heart["id"], "mention": "heart attack", "undone": 2}
    assert {one["state"] for one in items_of(client, review).values()} == {"open"}
    assert client.get(f"/v1/reviews/{review}").json()["changed_by"] == "ann"


def test_a_review_is_renamed_archived_and_deleted_and_comes_back(
    start: Callable[..., TestClient],
) -> None:
    client = start()
    path = f"/v1/reviews/{make(client)['id']}"
    assert client.patch(path, json={"name": " Ward 7 "}).json()["name"] == "Ward 7"
    assert client.patch(path, json={"name": " "}).status_code == 422
    assert client.patch("/v1/reviews/99", json={"name": "x"}).status_code == 404
    assert client.patch(path, json={"shelf": "archived"}).json()["shelf"] == "archived"
    assert [one["shelf"] for one in client.get("/v1/reviews").json()["reviews"]] == ["archived"]
    assert client.patch(path, json={"shelf": "deleted"}).status_code == 200
    assert client.get("/v1/reviews").json()["reviews"] == []
    assert client.get(path).status_code == client.get(f"{path}/items").status_code == 404
    assert client.patch(path, json={"shelf": ""}).json()["name"] == "Ward 7"
    assert client.get(path).json()["changed"] is None


def test_the_page_of_an_item_has_what_its_rows_say(start: Callable[..., TestClient]) -> None:
    client = start()
    review = make(client, TABLE.replace("term,near,n", "term,near,ward"), context_column="near")
    items = items_of(client, review["id"])
    item = client.get(f"/v1/reviews/{review['id']}/items/{items['heart attack']['id']}").json()
    assert item["columns"] == [{"name": "ward", "different": 2, "values": [["5", 1], ["1", 1]]}]
    found = client.get(
        f"/v1/reviews/{review['id']}/items", params={"order": "text", "descending": True}
    ).json()["items"]
    assert [(one["mention"], one["n_alike"]) for one in found] == [
        ("heart attack", 1),
        ("broken hip", 1),
    ]


def test_decisions_teach_the_index_and_the_queue_is_linked_again(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    build(tmp_path / "own")
    client = start(index=(str(tmp_path / "own"),))
    review = make(client, "term\nwidow maker\nwidow makers\n")["id"]
    items = items_of(client, review)
    decide(client, review, items["widow maker"], kind="link", concepts=[{"id": "X:1"}])
    path = f"/v1/reviews/{review}/lessons"
    assert client.get(path).json()["names"] == 1
    assert client.post(path).json()["names"] == 1
    assert client.get(path).json() == {"names": 0, "forbidden": 0}
    assert linked(client, review)["current"]
    after = items_of(client, review)
    assert after["widow maker"]["state"] == "linked"
    assert after["widow makers"]["proposal"]["concepts"][0]["id"] == "X:1"


def test_a_new_version_opens_what_it_changes_and_nothing_else(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    build(folder)
    client = start(index=(str(folder),))
    review = make(client)["id"]
    items = items_of(client, review)
    decide(client, review, items["heart attack"], kind="link", concepts=[{"id": "X:1"}])
    decide(client, review, items["broken hip"], kind="link", concepts=[{"id": "X:6"}])
    assert client.get(f"/v1/reviews/{review}").json()["current"]
    moved = [one for one in RECORDS if one != Relation("X:1", "is_a", "X:0")]
    heart = [Concept("X:8", "Heart disease"), Relation("X:1", "is_a", "X:8")]
    build(folder, [*moved, *heart], overwrite=True)
    assert not client.get(f"/v1/reviews/{review}").json()["current"]
    client.post(f"/v1/reviews/{review}/link")
    assert linked(client, review)["current"]
    after = items_of(client, review)
    assert after["broken hip"]["state"] == "linked"
    assert after["heart attack"]["state"] == "reopened"
    assert "stands below Heart disease now" in after["heart attack"]["decision"]["comment"]


def test_what_was_being_linked_is_linked_after_the_next_start(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    from canonym.review.store import Store
    from canonym.review.table import as_table

    store = Store(str(tmp_path / "reviews.db"))
    review = store.create("left", "small", as_table(["m"], [["broken hip"]]), who="ann")
    store.close()
    client = start()
    linked(client, review)
    assert items_of(client, review)["broken hip"]["proposal"]["concepts"][0]["id"] == "X:6"


def test_linking_that_failed_says_so_and_is_tried_again(
    start: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start()
    with monkeypatch.context() as patch:
        patch.setattr("canonym.service.review.jobs.link_waiting", _fail)
        query = {"name": "Mine", "filename": "t.csv", "column": "term"}
        review = client.post("/v1/reviews", params=query, content=TABLE.encode()).json()["id"]
        for _ in range(200):
            found = client.get(f"/v1/reviews/{review}").json()
            if found["problem"]:
                break
            time.sleep(0.02)
        assert (found["problem"], found["waiting"]) == ("no room left", 2)
    assert client.post(f"/v1/reviews/{review}/link").json()["problem"] == ""
    assert linked(client, review)["total"] == 2
    assert items_of(client, review)["broken hip"]["proposal"]["concepts"][0]["id"] == "X:6"


def _fail(*_: object) -> None:
    raise InvalidInput("no room left")


def test_the_export_has_every_row_as_it_was_given(start: Callable[..., TestClient]) -> None:
    client = start()
    review = make(client)["id"]
    item = items_of(client, review)["broken hip"]
    decide(client, review, item, kind="nil", comment='no, "really"')
    answer = client.get(f"/v1/reviews/{review}/export")
    assert answer.headers["content-disposition"].endswith(f'filename="review-{review}.csv"')
    lines = answer.text.splitlines()
    assert lines[0].startswith("term,near,n,canonym_mention,canonym_state,canonym_id")
    assert [line.split(",")[0] for line in lines[1:]] == [
        "heart attack",
        "broken hip",
        "heart attack",
    ]
    mappings = client.get(f"/v1/reviews/{review}/export", params={"format": "sssom"})
    assert mappings.headers["content-disposition"].endswith(f'"review-{review}.sssom.tsv"')
    assert "\nbroken hip\trdfs literal\tskos:exactMatch\t\tsssom:NoTermFound" in mappings.text
    assert lines[2].endswith(',"no, ""really""",')


@pytest.mark.parametrize(
    ("format", "suffix", "begins"),
    [
        ("tsv", ".tsv", b"term\tnear"),
        ("xlsx", ".xlsx", b"PK"),
        ("sssom", ".sssom.tsv", b"#curie_map"),
        ("fhir", ".fhir.json", b"{"),
        ("corpus", ".corpus.tsv", b"document\tmention"),
    ],
)
def test_a_review_is_exported_in_every_format(
    reviews: TestClient, format: str, suffix: str, begins: bytes
) -> None:
    review = make(reviews)["id"]
    item = items_of(reviews, review)["broken hip"]
    decide(reviews, review, item, kind="link", concepts=[{"id": "X:6", "relation": "close"}])
    answer = reviews.get(f"/v1/reviews/{review}/export", params={"format": format})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].endswith(f'"review-{review}{suffix}"')
    assert answer.content.startswith(begins)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"format": "doc"}, "format"),
        ({"format": "usagi"}, "is no concept of OMOP"),
        ({"format": "omop"}, "omop needs a source vocabulary"),
        ({"format": "fhir", "code_column": "kode"}, "no such column, or several: 'kode'"),
        ({"format": "fhir", "fhir_version": "R3"}, "fhir_version"),
        ({"format": "csv", "colour": "red"}, "colour"),
    ],
)
def test_an_export_that_cannot_be_is_refused(
    reviews: TestClient, query: dict[str, str], message: str
) -> None:
    review = make(reviews)["id"]
    item = items_of(reviews, review)["broken hip"]
    decide(reviews, review, item, kind="link", concepts=[{"id": "X:6"}])
    answer = reviews.get(f"/v1/reviews/{review}/export", params=query)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


def test_what_people_write_is_data_and_never_part_of_a_page(
    start: Callable[..., TestClient],
) -> None:
    client = start()
    client.headers["X-Reviewer"] = quote(EVIL)
    review = make(client, f'term\n"{EVIL}"\nheart attack\n', name=EVIL)
    assert review["name"] == EVIL
    item = items_of(client, review["id"])[EVIL]
    now = decide(client, review["id"], item, kind="nil", comment=EVIL)
    assert now.json()["decision"]["comment"] == EVIL
    assert now.headers["content-type"] == "application/json"
    for path in ("/reviews", f"/reviews/{review['id']}"):
        page = client.get(path)
        assert "owned" not in page.text
        policy = page.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
    scripts = [
        client.get(f"/review/{name}.js").text for name in ("common", "start", "queue", "item")
    ]
    assert not any("innerHTML" in one or "insertAdjacentHTML" in one for one in scripts)
    assert client.get("/review/missing.js").status_code == 404


def test_pages_of_other_addresses_see_and_change_nothing(start: Callable[..., TestClient]) -> None:
    client = start()
    make(client)
    for headers in (
        {"Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Origin": "null"},
    ):
        assert client.get("/v1/reviews", headers=headers).status_code == 403, headers
        answer = client.post("/v1/tables", content=b"x", headers=headers)
        assert answer.status_code == 403, headers
    own = {"Origin": BASE}
    assert client.get("/v1/reviews", headers=own).status_code == 200


def test_decisions_need_a_name(start: Callable[..., TestClient]) -> None:
    client = start()
    answer = client.post("/v1/tables", content=b"x", headers={"X-Reviewer": " "})
    assert answer.status_code == 422
    assert "the name of the reviewer is expected" in answer.json()["detail"]


def test_with_keys_the_holder_of_a_key_is_the_reviewer(
    start: Callable[..., TestClient], tmp_path: Path
) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    reader, reviewer = keys.add("reader", "read"), keys.add("Dr. Bo", "review")
    client = start(keys=str(keys.path))
    client.headers["X-API-Key"] = reviewer
    review = make(client)
    assert review["created_by"] == "Dr. Bo"
    item = items_of(client, review["id"])["broken hip"]
    client.headers["X-API-Key"] = reader
    assert decide(client, review["id"], item, kind="nil").status_code == 403
    del client.headers["X-API-Key"]
    assert client.get("/v1/reviews").status_code == 401
    assert client.get("/reviews").status_code == 200


def test_without_an_index_the_page_is_on_icd_10_cm(tmp_path: Path) -> None:
    settings = Settings(reviews=str(tmp_path / "reviews.db"))
    app = create_app(settings)  # not started: only the page is asked for
    assert "<option>icd10cm</option>" in TestClient(app, BASE).get("/reviews").text


def test_a_database_that_cannot_be_used_is_refused_before_the_server_starts(
    index: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("no database at all " * 100)
    for place in (str(notes), str(notes / "below.db"), "mysql://localhost/x"):
        said = run("serve", "--index", str(index), "--reviews", place, code=2).output
        assert "Serving" not in said
        assert "Traceback" not in said
        assert re.search(r"database of reviews|cannot be made", said), said


def test_a_queue_has_an_order_and_says_how_sure_it_is(start: Callable[..., TestClient]) -> None:
    client = start()
    review = make(client, "term\nno heart attack\nheart attack\nbroken hip\nbroken hip\n")["id"]
    path = f"/v1/reviews/{review}/items"
    orders = {
        order: [one["mention"] for one in client.get(path, params={"order": order}).json()["items"]]
        for order in ("doubt", "text", "row", "frequency")
    }
    assert {*orders["doubt"][:2]} == {"broken hip", "heart attack"}
    assert orders["doubt"][2] == "no heart attack"
    assert orders["text"] == ["broken hip", "heart attack", "no heart attack"]
    assert orders["row"] == ["no heart attack", "heart attack", "broken hip"]
    assert orders["frequency"][0] == "broken hip"
    negated = items_of(client, review)["no heart attack"]
    assert (negated["confidence"], negated["proposal"]["status"]) == (0, ["negated"])
    assert client.get(path, params={"order": "colour"}).status_code == 422


@pytest.mark.parametrize(("prefix", "works"), [("OMOP:", True), ("", True), ("X:", False)])
def test_formats_that_cannot_hold_the_concepts_are_not_offered(
    start: Callable[..., TestClient], tmp_path: Path, prefix: str, works: bool
) -> None:
    build(tmp_path / "ids", [Concept(f"{prefix}1", "Heart attack")])
    client = start(index=(str(tmp_path / "ids"),))
    review = make(client)
    assert ("usagi" in review["formats"]) is ("omop" in review["formats"]) is works
    assert {"csv", "xlsx", "sssom", "fhir", "corpus"} <= set(review["formats"])
    (item, *_) = items_of(client, review["id"]).values()
    decide(client, review["id"], item, kind="link", concepts=[{"id": f"{prefix}1"}])
    given = {"format": "usagi"}
    answer = client.get(f"/v1/reviews/{review['id']}/export", params=given)
    assert (answer.status_code == 200) is works


def test_what_may_mean_the_same_is_decided_along(start: Callable[..., TestClient]) -> None:
    client = start()
    review = make(client, "term\nheart attack\nHeart-Attacks\nbad heart attack\n")["id"]
    item = items_of(client, review)["heart attack"]
    path = f"/v1/reviews/{review}/items/{item['id']}/alike"
    first, *rest = client.get(path).json()["items"]
    assert (first["mention"], first["same"]) == ("Heart-Attacks", True)
    assert [one["same"] for one in rest] == [False] * len(rest)
    also = [{"id": first["id"], "version": first["version"]}]
    given = {"kind": "link", "concepts": [{"id": "X:1"}], "also": also}
    assert decide(client, review, item, **given).status_code == 200
    states = {mention: one["state"] for mention, one in items_of(client, review).items()}
    assert (states["heart attack"], states["Heart-Attacks"]) == ("linked", "linked")
    assert states["bad heart attack"] == "open"
    again = {**item, "version": item["version"] + 1}
    late = decide(client, review, again, **given)
    assert late.status_code == 409
    assert "somebody else changed 'Heart-Attacks' meanwhile" in late.json()["detail"]
    missing = decide(client, review, again, **{**given, "also": [{"id": 999, "version": 2}]})
    assert missing.status_code == 404


def test_all_with_a_text_are_nothing_at_once(start: Callable[..., TestClient]) -> None:
    client = start()
    table = b"term\ntest 1\nTEST 2\n50% test\ncold\n"
    made = client.post("/v1/reviews", params={"name": "w", "filename": "t.csv"}, content=table)
    review = linked(client, made.json()["id"])["id"]
    given = {"text": "test", "expected": 2}
    changed = client.post(f"/v1/reviews/{review}/none", json=given)
    assert (changed.status_code, "look again" in changed.json()["detail"]) == (409, True)
    assert {one["state"] for one in items_of(client, review).values()} == {"open"}
    answer = client.post(f"/v1/reviews/{review}/none", json={**given, "expected": 3})
    assert answer.json() == {"decided": 3}
    found = items_of(client, review)
    assert {mention: one["state"] for mention, one in found.items()} == {
        **{"test 1": "nil", "TEST 2": "nil", "50% test": "nil"},
        "cold": "open",
    }
    assert found["test 1"]["decision"]["comment"] == "decided with all of 'test'"
    assert client.post(f"/v1/reviews/{review}/none", json={**given, "text": ""}).status_code == 422
    wrong = {**given, "part": "decided"}
    assert client.post(f"/v1/reviews/{review}/none", json=wrong).status_code == 422
    assert client.post("/v1/reviews/99/none", json=given).status_code == 404
