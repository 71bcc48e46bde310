"""Which pages may ask a service without keys: its own, and OpenRefine on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from canonym.errors import InvalidInput
from canonym.service import Settings
from canonym.service.keys import Keys
from tests.logs import Log
from tests.service.conftest import BASE

Serving = Callable[..., TestClient]
FOREIGN = "https://evil.example"
RECONCILE = "/reconcile/small"
READ = ("/v1/search?prefix=h", "/v1/concepts/X:1", "/v1/terminologies", "/openapi.json", "/healthz")


def _script(site: str = "cross-site") -> dict[str, str]:
    """Headers of a script, picture or sheet that another page includes."""
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}


def _opened(dest: str, site: str = "cross-site") -> dict[str, str]:
    """Headers of a page that another page leads to, or frames."""
    return {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": dest}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": FOREIGN},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost:3333"},  # of this machine, and may only reconcile
        {"Origin": "http://localhost:8000.evil.example"},
        {"Origin": "http://evil.example:8000", "Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"},
        {"Host": "evil.example:8000", "Sec-Fetch-Site": "same-origin"},
        {"Host": "localhost.evil.example"},
        {"Host": "192.0.2.1:8000"},
        {"Host": "0.0.0.0:8000"},
        {"Host": "[::1"},
        {"Host": ""},
        _script(),
        _script("same-site"),
        _opened("iframe"),
        _opened("object"),
    ],
)
def test_pages_of_others_read_nothing(client: TestClient, headers: dict[str, str]) -> None:
    for path in READ:
        refused = client.get(path, headers=headers)
        assert refused.status_code == 403, path
        assert "access-control-allow-origin" not in refused.headers
        assert refused.headers["content-type"] == "application/problem+json"
        assert "--allow-origin" in refused.json()["detail"]
    for path in ("/v1/link", "/v1/annotate", "/"):
        sent = client.post(path, json={"mentions": ["cold"]}, headers=headers)
        assert sent.status_code == 403, path
    if "localhost:3333" not in headers.get("Origin", "") and headers != _opened("iframe"):
        assert client.get(f"{RECONCILE}/suggest/entity", headers=headers).status_code == 403


def test_a_foreign_page_gets_no_permission_before_it_asks(client: TestClient) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x"}
    for path in ("/v1/link", RECONCILE):
        refused = client.options(path, headers={"Origin": FOREIGN, **asked})
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


def test_a_refusal_is_in_the_log_and_counted(client: TestClient, caplog: Log) -> None:
    caplog.set_level("INFO", "canonym.service.requests")
    refused = client.get("/v1/search?prefix=h", headers={"Origin": FOREIGN, "X-Request-ID": "r9"})
    assert refused.headers["x-request-id"] == "r9"
    (line,) = (one for one in caplog.records if one.name == "canonym.service.requests")
    assert line.facts["status"] == 403  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": BASE},
        {"Origin": BASE, "Sec-Fetch-Site": "same-origin"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},  # a form of a page without a referrer
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        _script("same-origin"),
        _opened("document"),
        {"Host": "127.0.0.1:8000", "Origin": "http://127.0.0.1:8000"},
        {"Host": "[::1]:8000", "Origin": "http://[::1]:8000"},
        {"Host": "LOCALHOST"},
        {"Host": "127.9.9.9"},
    ],
)
def test_programs_and_own_pages_may_ask(client: TestClient, headers: dict[str, str]) -> None:
    for path in READ:
        assert client.get(path, headers=headers).status_code == 200, path
    answer = client.post("/v1/link", json={"mentions": ["heart attack"]}, headers=headers)
    assert answer.json()["links"][0]["id"] == "X:1"


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:3333", "http://localhost:3333", "http://[::1]:3333"]
)
def test_openrefine_on_this_machine_reconciles(client: TestClient, origin: str) -> None:
    page = {"Origin": origin, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    for path in (
        RECONCILE,
        f"{RECONCILE}/",
        "/reconcile",
        f"{RECONCILE}/suggest/entity?prefix=h",
        f"{RECONCILE}/flyout/entity?id=X:1",
        f"{RECONCILE}/v1/suggest/type?prefix=d",
        f"{RECONCILE}/extend/propose",
    ):
        answer = client.get(path, headers=page)
        assert answer.status_code == 200, path
        assert answer.headers["access-control-allow-origin"] == "*"
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-y"}
    assert client.options(RECONCILE, headers={**page, **asked}).status_code == 200
    for dest in ("document", "iframe"):
        framed = client.get(f"{RECONCILE}/preview?id=X:1", headers=_opened(dest))
        assert framed.status_code == 200
    assert client.get("/v1/search?prefix=h", headers=page).status_code == 403
    assert client.get("/reconciled", headers=page).status_code == 403


def test_no_answer_is_a_script(client: TestClient) -> None:
    for path in (f"{RECONCILE}/suggest/entity?prefix=h", RECONCILE):
        answer = client.get(path, params={"callback": "jQuery1", "jsonp": "jQuery1"})
        assert b"jQuery1" not in answer.content
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_pages_may_ask_that_somebody_allows(serving: Serving, index: Path) -> None:
    settings = {"index": (f"small={index}",), "allow_origin": ("https://app.example:8443",)}
    client = serving(**settings)
    allowed = client.get(READ[0], headers={"Origin": "https://app.example:8443"})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == "*"
    policy = client.get(f"{RECONCILE}/preview?id=X:1").headers["content-security-policy"]
    assert policy.endswith("http://127.0.0.1:* https://app.example:8443")
    for other in ("https://app.example", "http://app.example:8443", FOREIGN):
        assert client.get(READ[0], headers={"Origin": other}).status_code == 403
    for host in ("app.example:8443", "evil.example"):
        assert client.get(READ[0], headers={"Host": host}).status_code == 403


def test_all_pages_may_ask_under_any_host_where_somebody_says_so(
    serving: Serving, index: Path, tmp_path: Path
) -> None:
    reviews = str(tmp_path / "reviews.db")
    client = serving(index=(f"small={index}",), reviews=reviews, allow_origin=("*",))
    for headers in ({"Origin": FOREIGN}, {"Host": "evil.example"}, _script()):
        assert client.get(READ[0], headers=headers).status_code == 200
        # What people decide is for one machine all the same.
        assert client.get("/v1/reviews", headers=headers).status_code == 403
    policy = client.get(f"{RECONCILE}/preview?id=X:1").headers["content-security-policy"]
    assert policy.endswith("frame-ancestors *")


def test_behind_a_proxy_the_public_address_is_its_own(serving: Serving, index: Path) -> None:
    public = "https://terms.example/canonym"
    client = serving(index=(f"small={index}",), public_url=public)
    for host in ("terms.example", "localhost:8000"):
        own = {"Host": host, "Origin": "https://terms.example"}
        assert client.get(READ[0], headers=own).status_code == 200
    assert client.get(READ[0], headers={"Host": "other.example"}).status_code == 403


def test_where_there_are_keys_they_decide(serving: Serving, index: Path, tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    key = keys.add("robot", "read")
    client = serving(index=(f"small={index}",), keys=str(keys.path))
    for headers in ({"Origin": FOREIGN}, {"Host": "terms.example"}, _script()):
        assert client.get(READ[0], headers=headers).status_code == 401
        answer = client.get(READ[0], headers={**headers, "X-API-Key": key})
        assert answer.status_code == 200
        expected = "*" if "Origin" in headers else None
        assert answer.headers.get("access-control-allow-origin") == expected


def test_origins_are_read_from_the_environment() -> None:
    settings = Settings(index=("a=b", "c=d"), allow_origin=("http://a.example:1", "*"))
    assert Settings.from_environment(settings.to_environment()) == settings
    variable = {"CANONYM_ALLOW_ORIGIN": " http://a.example:1   https://b.example"}
    read = Settings.from_environment(variable).allow_origin
    assert read == ("http://a.example:1", "https://b.example")


@pytest.mark.parametrize(
    "origin", ["example.org", "https://example.org/", "https://Example.org", "null", "http://"]
)
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(InvalidInput, match=r"such as https://example\.org"):
        Settings(allow_origin=(origin,))
