"""The home page and the pages of concepts over HTTP: what they say, and to whom."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from canonym import Concept, Name
from canonym.errors import InvalidInput
from canonym.service.home.pasted import read_pasted
from canonym.service.keys import Keys
from tests.service.conftest import RECORDS, build
from tests.tables import cases

PAGE = {"Accept": "text/html"}
EVIL = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\" onclick='x"


def _ask(client: TestClient, text: str, **fields: str) -> str:
    """Return the words of the results, without their tags."""
    answer = client.post("/", data={"text": text, **fields}, headers=PAGE)
    assert answer.status_code == 200, answer.text
    return _words(answer.text)


def _words(page: str) -> str:
    results = page.partition('<div id="results">')[2] or page.partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", results)).split())


# --- links ----------------------------------------------------------------------------------------


def test_a_name_has_its_concept_and_why(client: TestClient) -> None:
    found = _ask(client, "heart attack")
    assert "Read as one name" in found
    assert "Myocardial infarction X:1" in found
    assert "likely right confidence" in found
    assert "“heart attack” is a name of it" in found
    assert "Death of heart muscle <by> lack of blood." in found
    assert "Herzinfarkt de" in found
    assert re.search(r"confidence \d\d %", found)


def test_what_looks_like_another_language_is_said(client: TestClient) -> None:
    said = _ask(client, "heart attack\ndolor de cabeza y cuello\nfractura de la cadera")
    assert "2 of these look like a language or a script that this index hardly reads" in said
    assert "hardly reads" not in _ask(client, "heart attack")


def test_a_confidence_is_shown_and_never_certain(
    serving: Callable[..., TestClient], sure_index: Path
) -> None:
    client = serving(index=(str(sure_index),))
    found = _ask(client, "heart attacks")
    assert re.search(r"confidence (\d\d? %|over 99 %)", found)
    assert "100 %" not in found
    assert "not known" not in found


def test_what_is_not_a_name_has_nothing_but_what_is_near(client: TestClient) -> None:
    found = _ask(client, "??")
    assert "Nothing fits" in found
    assert "likely right" not in found


def test_a_negated_name_is_not_linked(client: TestClient) -> None:
    found = _ask(client, "no heart attack")
    assert "Not linked negated" in found
    assert "The mention is negated." in found
    assert "likely right" not in found


def test_an_abbreviation_says_what_else_it_may_stand_for(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    palsy = [Concept("X:1", "Cerebral palsy"), Name("CP", "X:1"), Concept("X:2", "Chest pain")]
    build(tmp_path / "short", palsy)
    found = _ask(serving(index=(str(tmp_path / "short"),)), "CP")
    assert "“CP” may also stand for: chest pain" in found
    assert "likely right" not in found


def test_what_contradicts_is_said(client: TestClient) -> None:
    found = _ask(client, "type 1 diabetes")
    assert "contradiction of number: asked is “1”, the name has “2”" in found
    assert "likely right" not in found


def test_an_everyday_name_is_not_passed_off_as_one_of_the_terminology(
    client: TestClient,
) -> None:
    found = _ask(client, "hip crack")
    assert "an everyday name that canonym knows; the terminology does not have it" in found


@pytest.mark.parametrize(
    ("text", "likely"), [("MI", True), ("X:1", True), ("broken right hip", False), ("cold", False)]
)
def test_a_name_is_likely_right_where_its_confidence_says_so(
    client: TestClient, text: str, likely: bool
) -> None:
    found = _ask(client, text)
    assert ("likely right" in found) == likely
    assert ("check it" in found) != likely


def test_what_begins_so_comes_before_what_is_near_to_half_a_name(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    texts = [*(f"{letter}abra" for letter in "cdfglz"), "abracadabra with a long tail of words"]
    build(tmp_path / "words", [Concept(f"X:{n}", text) for n, text in enumerate(texts)])
    found = _ask(serving(index=(str(tmp_path / "words"),)), "abra")
    assert found.index("Names that begin with this abracadabra with") < found.index("Nothing fits")


def test_names_of_one_line_have_a_concept_each(client: TestClient) -> None:
    found = _ask(client, "heart attack and broken hip")
    assert "Several names in one" in found
    assert "X:1" in found
    assert "X:6" in found


@cases("text", "kind", "expected")
def test_what_is_pasted_is_read_and_said_to_be(
    client: TestClient, text: str, kind: str, expected: str
) -> None:
    assert f"Read as {expected}" in _ask(client, text, kind=kind)


def test_a_text_has_its_names_where_they_stand(client: TestClient) -> None:
    text = "She denies heart attacks.\nBroken hip <b>& more</b>, broken hip."
    page = client.post("/", data={"text": text}, headers=PAGE).text
    shown = page.partition('<p class="text">')[2].partition("</p>")[0]
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == text
    assert re.findall(r'<a href="#row-(\d)">([^<]*)', shown) == [
        ("0", "heart attacks"), ("1", "Broken hip"), ("1", "broken hip"),
    ]  # fmt: skip
    found = _words(page)
    assert re.search(r"heart attacks Myocardial infarction X:1 negated check it related", found)
    assert "Broken hip ×2" in found
    table = html.unescape(re.search(r'data-table="([^"]*)"', page)[1]).split("\n")  # type: ignore[index]
    assert table[0] == "mention\tcontext"
    assert table[2].startswith("Broken hip\tShe denies heart attacks. Broken hip <b>")


def test_the_column_with_the_names_is_found_or_chosen(client: TestClient) -> None:
    cells = "code\tdiagnosis\tplace\n1\theart attack\tbroken hip\n2\tcold\tbroken hip"
    assert "Myocardial infarction" in _ask(client, cells)
    chosen = _ask(client, cells, column="2")
    assert "a list of 2 names, 1 of them different" in chosen
    assert "broken hip ×2 Hip fracture" in chosen


def test_a_long_list_is_shown_in_part_and_says_so(client: TestClient) -> None:
    found = _ask(client, "\n".join(f"hip {n}" for n in range(150)))
    assert "a list of 150 names; the first 100 are shown" in found


# --- tables in and out ----------------------------------------------------------------------------


def _table(client: TestClient, text: str, **fields: str) -> list[list[str]]:
    answer = client.post("/table", data={"text": text, **fields})
    assert answer.status_code == 200, answer.text
    return [line.split("\t") for line in answer.text.split("\n")]


def test_a_copied_table_has_a_row_for_each_that_was_pasted(client: TestClient) -> None:
    head, *rows = _table(client, "heart attack\n\nno cold\nheart attack and broken hip\n=1\n")
    assert head == ["mention", "code", "id", "label", "confidence", "status", "left_over"]
    assert [row[:3] for row in rows] == [
        ["heart attack", "1", "X:1"], ["", "", ""], ["no cold", "", ""],
        ["heart attack and broken hip", "1|6", "X:1|X:6"], ["'=1", "", ""],
    ]  # fmt: skip
    assert 0 < float(rows[0][4]) < 1
    assert rows[2][5] == "negated"
    cells = "ward\tdx\n1\tcold\n\n2\tbroken hip"
    names = [row[0] for row in _table(client, cells, header="yes")]
    assert names == ["mention", "cold", "", "broken hip"]
    assert [row[0] for row in _table(client, cells)][1] == "dx"  # which may be a name
    text = "He had a heart attack. A broken hip followed."
    assert [row[2] for row in _table(client, text)] == ["id", "X:1", "X:6"]
    refused = client.post("/table", data={"text": "hip\n" * 1_001})
    assert refused.status_code == 422
    assert "1,001 rows are too many to be copied here, where 1,000" in refused.json()["detail"]


def test_a_workbook_is_read_as_if_its_cells_were_pasted(client: TestClient) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in (["ward", "dx"], ["a\tb", "broken\nhip"], [3, "cold"]):
        book.active.append(row)
    book.save(stream)
    answer = client.post("/file?name=wards.xlsx", content=stream.getvalue())
    assert answer.text == "ward\tdx\na b\tbroken hip\n3\tcold"
    assert client.post("/file?name=a.csv", content=b"dx\ncold\n\xe9\n").text == "cold\né"
    refused = client.post("/file?name=a.xlsx", content=b"PK\x03\x04 no workbook")
    assert refused.status_code == 422
    assert "a.xlsx" in refused.json()["detail"]


# --- what was pasted ------------------------------------------------------------------------------


@cases("text", "kind", "n")
def test_a_kind_is_guessed(text: str, kind: str, n: int) -> None:
    pasted = read_pasted(text)
    assert (pasted.kind, pasted.n_rows) == (kind, n)


@pytest.mark.parametrize(
    ("cells", "column", "header", "names"),
    [
        ("mention\tn\ngout\t2", 0, True, ["gout"]),
        ("12\tgout\n13\tfever", 1, False, ["gout", "fever"]),
        ("id\tother\n1\tgout\n2\tfever\textra", 1, True, ["gout", "fever"]),
        ("n\tdiagnosis\n1\t\n2\tgout", 1, True, ["gout"]),
    ],
)
def test_cells_have_a_column_of_names(
    cells: str, column: int, header: bool, names: list[str]
) -> None:
    pasted = read_pasted(cells)
    assert (pasted.column, pasted.header, list(pasted.names)) == (column, header, names)


def test_a_line_that_is_no_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"line 2 has 10,001 characters.*read it as a text"):
        read_pasted("gout\n" + "x" * 10_001, "names")


# --- examples -------------------------------------------------------------------------------------


def test_the_empty_page_has_examples_of_the_terminology_that_link(client: TestClient) -> None:
    page = client.get("/", headers=PAGE).text
    examples = [html.unescape(one) for one in re.findall(r'name="example" value="([^"]*)"', page)]
    assert len(examples) > 3
    texts = {record.text for record in RECORDS if isinstance(record, Name)}
    labels = {record.label for record in RECORDS if isinstance(record, Concept)}
    assert examples[0] in texts | labels
    for example in examples:
        answer = client.post("/", data={"example": example}, headers=PAGE)
        assert "Myocardial infarction" in answer.text or "likely right" in answer.text
        assert "Nothing fits" not in _words(answer.text)


def test_a_terminology_without_plain_names_has_a_page_too(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    build(tmp_path / "odd", [Concept("X:1", "TP53-2"), Concept("X:2", "α7β2")])
    page = serving(index=(str(tmp_path / "odd"),)).get("/", headers=PAGE)
    assert page.status_code == 200
    assert "example" not in page.text


def test_the_terminology_is_chosen(
    serving: Callable[..., TestClient], index: Path, tmp_path: Path
) -> None:
    build(tmp_path / "other", [Concept("Y:1", "Heart attack of others")])
    client = serving(index=(str(index), str(tmp_path / "other")))
    assert "Y:1" in _ask(client, "heart attack of others", **{"in": "other"})
    assert "X:1" in _ask(client, "heart attack")
    assert "<option selected>other</option>" in client.get("/?in=other").text
    answer = client.post("/", data={"text": "x", "in": "third"}, headers=PAGE)
    assert answer.status_code == 404
    assert "There is no terminology &#39;third&#39;" in answer.text


# --- concepts -------------------------------------------------------------------------------------


def test_a_concept_has_a_page_of_its_own(client: TestClient) -> None:
    page = client.get("/concepts/small/X:3", headers=PAGE)
    found = _words(page.text)
    assert page.status_code == 200
    assert "<title>Type 2 diabetes mellitus (X:3) – canonym</title>" in page.text
    for words in (
        *("Disease · Finding", "type 2 diabetes", "Above it Diabetes mellitus X:2"),
        *("ICD10:E11", "D434 earlier or alternative"),
    ):
        assert words in found
    assert '<a href="/concepts/small/X:0"' in page.text
    assert "replaced by Hip fracture X:6" in _words(client.get("/concepts/small/X:7").text)


def test_ids_of_any_spelling_have_an_address(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    ids = ["http://a.example/b#c?d=1&e", "X:1 2", "ä/ö", "<b>"]
    build(tmp_path / "odd", [Concept(id_, f"Concept number {n}") for n, id_ in enumerate(ids)])
    client = serving(index=(str(tmp_path / "odd"),))
    for n in range(len(ids)):
        page = client.post("/", data={"text": f"Concept number {n}"}).text
        address = html.unescape(re.search(r'<h2 id="best"><a href="([^"]*)"', page)[1])  # type: ignore[index]
        assert f"<h1>Concept number {n} <code>" in client.get(address).text


@pytest.mark.parametrize("path", ["/concepts/small/X:99", "/concepts/none/X:1", "/concepts/small/"])
def test_what_is_not_there_is_told_in_words(client: TestClient, path: str) -> None:
    page = client.get(path, headers=PAGE)
    assert page.status_code == 404
    assert "No concept to show" in page.text
    problem = client.get(path, headers={"Accept": "*/*"})
    assert (problem.status_code, problem.json()["status"]) == (404, 404)


def test_a_circle_in_the_hierarchy_ends(serving: Callable[..., TestClient], tmp_path: Path) -> None:
    from canonym import Relation

    circle = [Relation("X:1", "is_a", "X:2"), Relation("X:2", "is_a", "X:1")]
    build(tmp_path / "odd", [Concept("X:1", "One"), Concept("X:2", "Two"), *circle])
    client = serving(index=(str(tmp_path / "odd"),))
    assert client.get("/concepts/odd/X:1").status_code == 200


# --- who may, and what cannot be -----------------------------------------------------------------


@pytest.fixture
def keyed(serving: Callable[..., TestClient], index: Path, tmp_path: Path) -> Any:
    """A client of a service with keys, and a key of each of two scopes."""
    keys = Keys.create(tmp_path / "keys.db")
    made = {scope: keys.add(scope, scope) for scope in ("read", "review")}
    settings = {"keys": str(keys.path), "reviews": str(tmp_path / "reviews.db")}
    return serving(index=(str(index),), **settings), made


def test_without_a_key_pages_have_nothing_in_them(keyed: Any) -> None:
    client, _ = keyed
    shell = client.get("/", headers=PAGE)
    assert shell.status_code == 200
    assert "This service needs a key" in shell.text
    assert 'name="key" form="ask"' in shell.text
    concept = client.get("/concepts/small/X:1", headers=PAGE)
    assert concept.status_code == 401
    refused = client.post("/", data={"text": "heart attack"}, headers=PAGE)
    assert refused.status_code == 401
    assert "Give it at the top of the page" in refused.text
    wrong = client.get("/concepts/small/X:1", headers={**PAGE, "X-API-Key": "ck_wrong"})
    assert wrong.status_code == 401
    for page in (shell, concept, refused, wrong):
        assert "infarction" not in page.text


def test_a_key_opens_pages_from_a_header_or_a_form(keyed: Any) -> None:
    client, keys = keyed
    headers = {**PAGE, "X-API-Key": keys["read"]}
    assert "Myocardial" in client.get("/concepts/small/X:1", headers=headers).text
    for answer in (
        client.post("/", data={"text": "heart attack"}, headers=headers),
        client.post("/", data={"text": "heart attack", "key": keys["read"]}, headers=PAGE),
        client.post("/concepts/small/X:1", data={"key": keys["read"]}, headers=PAGE),
    ):
        assert answer.status_code == 200
        assert "Myocardial infarction" in answer.text
        assert keys["read"] not in answer.text


def test_a_review_is_for_keys_that_may_make_one(keyed: Any, client: TestClient) -> None:
    other, keys = keyed
    for scope, offered in (("read", False), ("review", True)):
        headers = {**PAGE, "X-API-Key": keys[scope]}
        page = other.post("/", data={"text": "heart attack"}, headers=headers).text
        assert ('id="review"' in page) == offered
        assert ("A key of the scope" in page) != offered
    assert 'id="review"' in client.post("/", data={"text": "heart attack"}).text


def test_a_large_form_without_a_key_in_a_header_is_not_read(keyed: Any) -> None:
    client, keys = keyed
    answer = client.post("/", data={"text": "x" * 100_001, "key": keys["read"]}, headers=PAGE)
    assert answer.status_code == 413
    assert "100,000 bytes" in answer.text


def test_who_asks_too_often_is_told_when_to_come_again(
    serving: Callable[..., TestClient], index: Path
) -> None:
    client = serving(index=(str(index),), rate_limit=1)
    assert client.post("/", data={"text": "gout"}, headers=PAGE).status_code == 200
    page = client.post("/", data={"text": "broken hip"}, headers=PAGE)
    assert (page.status_code, page.headers["retry-after"].isdigit()) == (429, True)
    assert "More than the 1 requests a minute" in page.text
    problem = client.post("/", data={"text": "broken hip"}, headers={"Accept": "*/*"})
    assert problem.json()["status"] == 429


@pytest.mark.parametrize(
    ("fields", "status", "words"),
    [
        (
            {"text": "word " * 30_000, "kind": "text"},
            422,
            "150,000 characters, and 100,000 are read",
        ),
        ({"text": "x" * 10_001, "kind": "names"}, 422, "Line 1 has 10,001 characters"),
        ({"text": "x" * 10_000_001}, 413, "at most 10,000,000 bytes"),
    ],
)
def test_what_is_too_much_is_told_and_what_was_typed_stays(
    client: TestClient, fields: dict[str, str], status: int, words: str
) -> None:
    page = client.post("/", data=fields, headers=PAGE)
    assert page.status_code == status
    assert words.lower() in page.text.lower()
    assert 'id="ask"' in page.text


def test_a_body_that_is_no_form_is_told(client: TestClient) -> None:
    for content in (b"text=%ff", b"a=1&" * 200, b"\xff\xfe"):
        page = client.post("/", content=content, headers=PAGE)
        assert page.status_code == 422, content
        assert 'role="alert"' in page.text


def test_names_are_text_wherever_they_stand(
    serving: Callable[..., TestClient], tmp_path: Path
) -> None:
    records = [
        Concept("X:<i>", EVIL, EVIL, types=(EVIL,), source=EVIL),
        Name(f"odd {EVIL}", "X:<i>"),
    ]
    build(tmp_path / "evil", records)
    client = serving(index=(str(tmp_path / "evil"),))
    pages = [client.get("/"), client.get("/concepts/evil/X:%3Ci%3E")]
    for text in (EVIL, f"{EVIL}\n{EVIL}", f"a\t{EVIL}\n{EVIL}\tb"):
        forms = [{"text": text, "kind": kind, "column": EVIL} for kind in ("names", "text", EVIL)]
        pages += [client.post("/", data=form) for form in forms]
    for answer in pages:
        assert answer.status_code == 200
        assert not re.search(r"<script(?! type=\"module\" src=\"/)|<img|onclick='", answer.text)


def test_pages_run_and_fetch_nothing_of_others(client: TestClient) -> None:
    for path in ("/", "/concepts/small/X:1"):
        page = client.get(path)
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "form-action 'self'" in policy
        assert not re.search(r'(src|href|action)="(https?:)?//', page.text)
        assert "style=" not in page.text
    assert "form-action 'none'" in client.get("/reviews").headers["content-security-policy"]
    for name in ("home.js", "concept.js", "home.css"):
        assert "innerHTML" not in client.get(f"/assets/{name}").text
    assert client.get("/assets/missing.js").status_code == 404
