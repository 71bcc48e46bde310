"""Hostile requests to the service, made by hand; ``hostile.json`` has the texts that are in them.

A `Case` has the bytes that are sent and what may come back: ``2xx`` for what is valid, ``4xx`` for
what is not, ``any`` for either. ``503`` is right for each. ``cut`` marks what a server may also
leave without an answer, such as a request that never ends.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from hostile_files import bombs

_DATA: dict[str, Any] = json.loads(Path(__file__).with_name("hostile.json").read_text())
HTML = tuple(_DATA["html"])
"""What runs where a page holds it as it is; all of it calls ``hostile``."""

SQL = tuple(_DATA["sql"])
PARAMETERS: dict[str, list[Any]] = _DATA["parameters"]
"""Values by the names of parameters that find something."""

_LONG = {
    "\u0300": 500,
    "😀": 900,
    "x": 9_999,
    "and ": 2000,
    "ﷺ": 500,
    "(": 3000,
    "a,": 3000,
    "𝒽": 10,
}
STRINGS = (
    *(*HTML, *SQL, *_DATA["paths"], *_DATA["texts"], "x" * 10_001),
    *(text * times for text, times in _LONG.items()),
)
NUMBERS = (
    *(0, -1, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400, 0.1, -0.0, 1e308),
    *(5e-324, float("nan"), float("inf"), float("-inf"), 101, 1e5, 1.0000000001),
)
ODD = (None, True, False, [], {}, [[]], [None], {"": None}, [[[[[[]]]]]], {"a": {"b": {"c": []}}})


class Case(NamedTuple):
    """A request: its family, its bytes, what may come back, and how slowly it is sent."""

    family: str
    content: bytes
    expected: str = "any"
    pause: float = 0.0  # seconds between its pieces
    pieces: int = 1
    cut: bool = False


class Target(NamedTuple):
    """What the requests are for: the key of the server, or none, and its description."""

    key: str
    description: dict[str, Any]

    @property
    def who(self) -> dict[str, str]:
        """The headers by which a request is taken."""
        return {"X-API-Key": self.key} if self.key else {"X-Reviewer": "hostile"}


def request(
    method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> bytes:
    """Return a request as bytes; the path is taken as it is."""
    given = {"Host": "localhost", "Connection": "close", **(headers or {})}
    if body or method in ("POST", "PUT"):
        given.setdefault("Content-Length", str(len(body)))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogatepass") + body


def dumped(value: Any) -> bytes:
    """Return JSON, with NaN and lone surrogates where there are some."""
    return json.dumps(value).encode()


JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BYTES = {"Content-Type": "application/octet-stream"}


# --- by hand --------------------------------------------------------------------------------------


def by_hand(target: Target) -> list[Case]:
    """Return the list made by hand."""
    families: Sequence[Callable[[Target], Iterator[Case]]] = (
        *(_bodies, _deep, _many, _strings, _paths, _heads, _slow, _uploads, _stored, _valid),
    )
    return [case for family in families for case in family(target)]


def _post(target: Target, family: str, path: str, body: bytes, expected: str = "4xx") -> Case:
    return Case(family, request("POST", path, body, target.who | JSON), expected)


def _bodies(target: Target) -> Iterator[Case]:
    """Yield what is no JSON, or JSON of another kind."""
    broken = [text.encode("latin-1") for text in _DATA["broken JSON"]]
    broken += ['{"mentions": ["x"]}'.encode(encoding)[:-1] for encoding in ("utf-16", "utf-32")]
    for path in _DATA["posted"]:
        for body in (*broken, b'{"k": ' + b"9" * 5000 + b"}"):
            yield _post(target, "broken JSON", path, body)
    for value in (*NUMBERS, *ODD):
        for path, member in (("/v1/link", "mentions"), ("/v1/annotate", "texts")):
            expected = "2xx" if value == [] else "4xx"
            yield _post(target, "wrong types", path, dumped({member: value}), expected)
            yield _post(target, "wrong types", path, dumped({member: ["x"], "ids": [value]}))
    for value in ("1", 1.5, -1, 0, 101, None, True, [], {}, 10**400, float("nan"), float("inf")):
        # JSON schema takes true for no number, and pydantic takes "1" and True for one.
        expected = "any" if value in ("1", True) else "4xx"
        yield _post(
            target, "huge numbers", "/v1/link", dumped({"mentions": ["x"], "k": value}), expected
        )
    for name, value in (("seed", 2**70), ("min_score", 1e308), ("min_confidence", float("nan"))):
        body = dumped({"mentions": ["x"], name: value})
        yield _post(target, "huge numbers", "/v1/link", body, "any" if name == "seed" else "4xx")


def _deep(target: Target) -> Iterator[Case]:
    """Yield what is nested deeply, where that is broken and where it is not."""
    for depth in (100, 900, 5_000, 100_000, 1_000_000):
        for path in _DATA["posted"]:
            yield _post(target, "deep nesting", path, b"[" * depth + b"]" * depth)
            inner = b'{"a":' * depth + b"1" + b"}" * depth
            yield _post(target, "deep nesting", path, b'{"mentions": ' + inner + b"}")
            queries = b'{"queries": [' + b"[" * depth + b"]" * depth + b"]}"
            yield _post(target, "deep nesting", path, queries, "any")
    form = urlencode({"queries": "[" * 50_000}).encode()
    yield Case("deep nesting", request("POST", "/reconcile/small", form, target.who | FORM), "4xx")


def _many(target: Target) -> Iterator[Case]:
    """Yield bodies near the limit of bytes, which are large in memory or have many faults."""
    n = 1_500_000
    for path, member in (("/v1/link", "mentions"), ("/v1/annotate", "texts")):
        for one in (b"[]", b"1", b"{}", b'""', b'{"a":1}'):
            body = b'{"%s": [' % member.encode() + b",".join([one] * n) + b"]}"
            yield _post(target, "huge JSON", path, body[:9_900_000].rpartition(b",")[0] + b"]}")
        extra = dumped({member: ["x"], **{f"a{number}": 1 for number in range(600_000)}})
        yield _post(target, "huge JSON", path, extra)
        faulty = dumped({member: ["x"], "abbreviations": {f"a{n}": 1 for n in range(600_000)}})
        yield _post(target, "huge JSON", path, faulty)
        faulty = dumped({member: ["x"], "types": [1] * 2_000_000})
        yield _post(target, "huge JSON", path, faulty)
    for path in ("/reconcile/small/match", "/reconcile/small/v1/match"):
        yield _post(target, "huge JSON", path, dumped({"queries": [[]] * 2_000_000}))
        yield _post(target, "huge JSON", path, dumped({"queries": 1, "a": [{}] * 2_000_000}))
    queries = {f"q{number}": {} for number in range(500_000)}
    yield _post(target, "huge JSON", "/reconcile/small", dumped({"queries": queries}))
    extend = {"ids": [1] * 2_000_000, "properties": []}
    yield _post(target, "huge JSON", "/reconcile/small/extend", dumped(extend))
    extend = {"ids": ["X:1"] * 1000, "properties": [{"id": "ancestor"}, {"id": "child"}] * 400}
    yield _post(target, "huge JSON", "/reconcile/small/extend", dumped(extend), "any")
    many = dumped({"mentions": ["a, b and c disease " * 500] * 990, "k": 100})
    yield _post(target, "huge JSON", "/v1/link", many, "any")
    text = {"text": "heart attack (HA) " * 400_000}
    body = dumped({"document": text, "mentions": [{"start": 0, "end": 12}] * 900, "k": 100})
    yield _post(target, "huge JSON", "/v1/link", body, "any")
    yield _post(target, "huge JSON", "/v1/annotate", dumped({"texts": ["cold " * 19_000]}), "any")
    yield _post(target, "huge JSON", "/v1/annotate", dumped({"texts": ["cold " * 190_000]}), "4xx")
    for size in (10_000_001, 12_000_000):
        yield Case(
            "huge JSON",
            request("POST", "/v1/link", b"x" * size, target.who | JSON),
            "4xx",
            cut=True,
        )


def _strings(target: Target) -> Iterator[Case]:
    """Yield every string in every place that takes one."""
    for text in STRINGS:
        right = "4xx" if any("\ud800" <= letter <= "\udfff" for letter in text) else "2xx"
        known = {
            "2xx": right,
            "2xx if short": right if len(text) <= 10_000 else "4xx",
            "any if empty": "4xx" if text else "any",  # the index has concepts without a source
        }
        for path, expected, body in _DATA["with a text"]:
            expected = known.get(expected, expected)
            yield _post(target, "strings", path, _filled(body, text), expected)
        query = quote(_filled(_DATA["query"], text))
        whole = request("GET", f"/reconcile/small?queries={query}", b"", target.who)
        # A head that is too long is answered and closed while the rest still comes.
        yield Case("strings", whole, cut=len(whole) > 60_000)


def _filled(template: Any, text: str) -> bytes:
    """Return JSON with a text where ``{text}`` stands."""
    return json.dumps(template).replace("{text}", json.dumps(text)[1:-1]).encode()


def _paths(target: Target) -> Iterator[Case]:
    """Yield every string in every path and query, quoted and as it is."""
    for text in (*STRINGS, *map(repr, NUMBERS)):
        if len(text) > 9_000:
            continue  # longer heads are a family of their own
        whole = quote(text.encode("utf-8", "surrogatepass"), safe="")
        for pattern in _DATA["read"]:
            yield Case("paths", request("GET", pattern.format(whole), b"", target.who))
        raw = re.sub(r"[\s\0-\x1f]", "", text) or "-"
        for pattern in _DATA["read"][:6]:
            yield Case("paths", request("GET", pattern.format(raw), b"", target.who))
    for path in _DATA["odd paths"]:
        yield Case("paths", request("GET", path, b"", target.who))
    for name in ("review.css", "common.js"):
        yield Case("paths", request("GET", f"/review/{name}", b""), "2xx")
        yield Case("paths", request("GET", f"/review/../review/{name}"), "4xx")
        yield Case("paths", request("GET", f"/review/..%2freview%2f{name}"), "4xx")


def _heads(target: Target) -> Iterator[Case]:
    """Yield heads that break the rules of HTTP, or bend them."""
    body = dumped({"mentions": ["x"]})
    start = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    start += "".join(f"{name}: {value}\r\n" for name, value in target.who.items()).encode()
    for length in (*_DATA["lengths"], "9" * 400):
        head = f"Content-Length: {length}\r\n\r\n".encode("latin-1")
        yield Case("heads", start + head + body, cut=True)
    both = b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(body)
    yield Case("heads", start + both + b"13\r\n" + body + b"\r\n0\r\n\r\n", cut=True)
    for chunk in (*_DATA["chunks"], "f" * 40 + "\r\n", "1;" + "x" * 9000):
        head = b"Transfer-Encoding: chunked\r\n\r\n"
        yield Case("heads", start + head + chunk.encode(), cut=True)
    yield Case("heads", start + b"Transfer-Encoding: gzip\r\n\r\n" + gzip.compress(body), cut=True)
    for line in _DATA["first lines"]:
        yield Case("heads", line.encode() + b"\r\n\r\n", "any", cut=True)
    yield Case("heads", b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "4xx")
    yield Case("heads", b"GET /healthz HTTP/1.0\r\n\r\n", "2xx")
    odd = (*HTML[:3], *SQL[:2], *_DATA["paths"][:3], "\0", "é", "a\tb", "", "100-continue")
    for name in _DATA["headers"]:
        for text in (*odd, "x" * 20_000):
            plain = {**target.who, name: text}
            yield Case("heads", request("GET", "/v1/terminologies", b"", plain), cut=True)
    yield Case("heads", request("GET", "/healthz", b"", {"X: y\r\nInjected": "1"}), "any", cut=True)
    yield Case(
        "heads", request("GET", "/healthz", b"", {f"A{n}": "x" for n in range(5000)}), cut=True
    )
    yield Case("heads", request("GET", "/" + "a" * 200_000), "4xx", cut=True)
    for method in (*_DATA["methods"], "X" * 300):
        for path in ("/v1/link", "/healthz", "/v1/reviews/1", "/reconcile/small"):
            yield Case("heads", request(method, path, b"", target.who), cut=True)
    for kind in (*_DATA["kinds"], "application/json" * 500):
        given = target.who | {"Content-Type": kind}
        yield Case("heads", request("POST", "/v1/link", body, given))
        yield Case("heads", request("POST", "/reconcile/small", b"queries=" + body, given))
    squeezed = target.who | JSON | {"Content-Encoding": "gzip"}
    yield Case(
        "heads", request("POST", "/v1/link", gzip.compress(b" " * 10_000_000), squeezed), "4xx"
    )
    for who in _DATA["strangers"]:
        yield Case("heads", request("POST", "/v1/synonyms", body, who | JSON), "4xx")


def _slow(target: Target) -> Iterator[Case]:
    """Yield requests whose pieces come slowly, or never come."""
    body = dumped({"mentions": ["heart attack"]})
    whole = request("POST", "/v1/link", body, target.who | JSON)
    for pieces in (3, 7, 20):
        yield Case("slow", whole, "2xx", 0.1, pieces)
    never = (
        *(whole[:5], whole[:60], whole[:-5], whole[: -len(body)]),
        request("POST", "/v1/link", b"{", target.who | JSON | {"Content-Length": "9000000"}),
    )
    for start in never * 6:
        yield Case("slow", start, "4xx", 2.0, 4, cut=True)


# --- what is kept --------------------------------------------------------------------------------


def _uploads(target: Target) -> Iterator[Case]:
    """Yield every file to be looked at, and small ones to be kept."""
    given = target.who | BYTES
    for name, (content, expected) in bombs().items():
        path = f"/v1/tables?filename={name}"
        yield Case("uploads", request("POST", path, content, given), expected)
        if len(content) < 20_000 and expected != "2xx":
            path = f"/v1/reviews?name={name}&filename={name}"
            yield Case("uploads", request("POST", path, content, given))
    for text in STRINGS:
        if len(text) < 3000:
            name = quote(text.encode("utf-8", "surrogatepass"), safe="")
            for ending in ("", ".xlsx", ".csv"):
                path = f"/v1/tables?filename={name}{ending}"
                yield Case("uploads", request("POST", path, b"mention,b\ncold,1\n", given))
    for text in ("mention\tb\ncold\t1", "cold", "\t\t\n\t", "a\tb\n" * 3):
        yield Case("uploads", request("POST", "/v1/tables", text.encode(), given), "2xx")


def _stored(target: Target) -> Iterator[Case]:
    """Yield what is kept and shown later: names of reviews, mentions, comments, synonyms."""
    for number, text in enumerate((*HTML, *SQL)):
        table = f"mention\tcontext\n{text}\t{text}\ncold\t{text}\n".encode()
        path = f"/v1/reviews?name={quote(text)}&column=mention&context_column=context"
        yield Case("stored", request("POST", path, table, target.who | BYTES), "2xx")
        csv = f"{text.replace(',', ' ')},b\ncold,{text.replace(',', ' ')}\n".encode()
        path = f"/v1/reviews?name=csv&filename=a.csv&column={quote(text.replace(',', ' '))}"
        yield Case("stored", request("POST", path, csv, target.who | BYTES))
        item = str(1 + number % 2)
        for path, body in _DATA["stored"]:
            whole = _filled(body, text)
            yield _post(target, "stored", path.replace("{item}", item), whole, "any")
        who = {**target.who, "X-Reviewer": quote(text)}
        path = f"/v1/reviews/1/items/{item}/decisions"
        flag = dumped({"version": 3, "kind": "flag", "comment": text})
        yield Case("stored", request("POST", path, flag, who | JSON))
    for path in ("/v1/reviews/1/link", "/v1/reviews/1/lessons"):
        yield Case("stored", request("POST", path, b"", target.who))


def _valid(target: Target) -> Iterator[Case]:
    """Yield requests that are right, and must be answered in the midst of all others."""
    for path in _DATA["pages"]:
        yield Case("valid", request("GET", path, b"", target.who), "2xx")
    for path, body in _DATA["valid"]:
        yield _post(target, "valid", path, dumped(body), "2xx")
    queries = _DATA["two queries"]
    yield _post(target, "valid", "/reconcile/small", dumped({"queries": queries}), "2xx")
    form = urlencode({"queries": json.dumps(queries)}).encode()
    yield Case("valid", request("POST", "/reconcile/small", form, target.who | FORM), "2xx")
