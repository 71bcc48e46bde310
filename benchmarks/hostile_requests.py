"""Hostile requests to the service: a list made by hand, and a generator with a seed.

A `Case` has the bytes that are sent and what may come back: ``2xx`` for what is valid, ``4xx`` for
what is not, ``any`` for either. ``503`` is right for each. ``cut`` marks what a server may also
leave without an answer, such as a request that never ends.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from hostile_files import bombs

HTML = (
    *("<script>hostile(1)</script>", '"><img src=x onerror=hostile(1)>', "<svg/onload=hostile(1)>"),
    *("javascript:hostile(1)", "</script><script>hostile(1)//", "{{7*7}}${7*7}<%= 7*7 %>"),
    *("<iframe srcdoc='<script>hostile(1)</script>'>", "' onfocus=hostile(1) autofocus x='"),
)
"""What runs where a page holds it as it is; all of it calls ``hostile``."""

SQL = (
    *("'; DROP TABLE items; DROP TABLE reviews;--", "' OR '1'='1", '" OR ""="', "%' OR 1=1 --"),
    *("1; ATTACH DATABASE 'x.db' AS y; --", "' UNION SELECT hash, 1, 1 FROM keys --", "\\'; --"),
    *("x' AND (SELECT COUNT(*) FROM keys) > 0 --", "%", "_", "[a-z]*"),
)
PATHS = (
    *("../../../../../../etc/passwd", "/etc/passwd", "....//....//etc/passwd", "..\\..\\win.ini"),
    *("file:///etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "../keys.db", "~/.ssh/id_rsa", "."),
    *("..", "con", "a/../../b", "//example.org", "http://169.254.169.254/latest/meta-data"),
)
TEXTS = (
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\ud800",
        "x\udfff",
        "\u202e\u2066",
        "\ufeff",
        "\u0300" * 500,
        "😀" * 900,
    ),
    *(
        "x\r\nX-Injected: yes",
        "x\nSet-Cookie: a=b",
        "=cmd|'/C calc'!A0",
        "@SUM(1)",
        "\x1b[2J",
        "١٢",
    ),
    *("x" * 9_999, "x" * 10_001, "ﷺ" * 500, "(" * 3000, "a," * 3000, "and " * 2000, "𝒽" * 10),
    *("NaN", "Infinity", "null", "true", "__proto__", "constructor", "%s%n%x", "{0.__class__}"),
)
STRINGS = (*HTML, *SQL, *PATHS, *TEXTS)
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


_LINKED = ("/v1/link", "/v1/annotate")
_POSTED = (*_LINKED, "/reconcile/small/match", "/reconcile/small/v1/match", "/reconcile/small")


def _bodies(target: Target) -> Iterator[Case]:
    """Yield what is no JSON, or JSON of another kind."""
    broken: tuple[bytes, ...] = (
        *(b"", b"{", b"[", b'"', b"\xff\xfe", b'{"mentions": ["caf\xe9"]}', b"\0", b"nul", b"{}{}"),
        *(
            b"[]",
            b"1",
            b'"x"',
            b"null",
            b'{"mentions": NaN}',
            b'{"mentions": 1e999}',
            b"\xef\xbb\xbf",
        ),
        *('{"mentions": ["x"]}'.encode(encoding)[:-1] for encoding in ("utf-16", "utf-32")),
        *(b'{"k": ' + b"9" * 5000 + b"}", b'{"mentions": ["\\u12"]}', b"<xml/>", b"a=b&c=d"),
    )
    for path in _POSTED:
        for body in broken:
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
        for path in _POSTED:
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
        lone = any("\ud800" <= letter <= "\udfff" for letter in text)
        long = len(text) > 10_000
        expected = "4xx" if lone or long else "2xx"
        yield _post(target, "strings", "/v1/link", dumped({"mentions": [text]}), expected)
        whole = dumped({"texts": [text + " heart attack"]})
        yield _post(target, "strings", "/v1/annotate", whole, "4xx" if lone else "2xx")
        body = dumped({"document": {"text": text + "x"}, "mentions": [{"start": 0, "end": 1}]})
        yield _post(target, "strings", "/v1/link", body, "4xx" if lone else "2xx")
        forms = {"mentions": ["HA"], "abbreviations": {"HA": text, text: "x"}, "explain": True}
        yield _post(target, "strings", "/v1/link", dumped(forms), "4xx" if lone else "2xx")
        for name in ("types", "sources", "languages", "ids"):
            # The index has such types, and concepts without a source.
            known = name == "types" or (name == "sources" and not text)
            found = "any" if known else "4xx"
            whole = dumped({"mentions": ["x"], name: [text]})
            yield _post(target, "strings", "/v1/link", whole, found)
        yield _post(target, "strings", "/v1/link", dumped({"mentions": ["x"], "terminology": text}))
        queries = {text: {"query": text, "type": text, "properties": [{"pid": text, "v": text}]}}
        yield _post(target, "strings", "/reconcile/small", dumped({"queries": queries}), "any")
        given = quote(json.dumps(queries))
        whole = request("GET", f"/reconcile/small?queries={given}", b"", target.who)
        # A head that is too long is answered and closed while the rest still comes.
        yield Case("strings", whole, cut=len(whole) > 60_000)
        extend = {"ids": [text, "X:1"], "properties": [{"id": text, "settings": {"limit": text}}]}
        for path in ("/reconcile/small/extend", "/reconcile/small/v1/extend"):
            yield _post(target, "strings", path, dumped(extend), "any")
        condition = {
            "matchType": "property",
            "propertyId": text,
            "propertyValue": [text, {"id": text}],
        }
        wanted = {"queries": [{"type": text, "conditions": [condition]}]}
        yield _post(target, "strings", "/reconcile/small/v1/match", dumped(wanted), "any")


_READ = (
    *(
        "/v1/concepts/{}",
        "/v1/search?prefix={}",
        "/v1/search?prefix=x&limit={}",
        "/review/{}",
        "/{}",
    ),
    *("/v1/search?prefix=x&terminology={}", "/v1/synonyms?terminology={}", "/reconcile/{}"),
    *("/reconcile/small/view?id={}", "/reconcile/small/preview?id={}", "/reviews/{}"),
    *("/reconcile/small/suggest/entity?prefix={}", "/reconcile/small/suggest/type?prefix={}"),
    *("/reconcile/small/suggest/property?prefix={}", "/reconcile/small/flyout/{}?id=X:1"),
    *("/reconcile/small/flyout/entity?id={}", "/reconcile/small/extend/propose?type={}"),
    *("/v1/reviews/{}", "/v1/reviews/1/items?text={}", "/v1/reviews/1/items?part={}"),
    *(
        "/v1/reviews/1/items/{}",
        "/v1/reviews/1/export?format={}",
        "/v1/reviews/1/acceptable?least={}",
    ),
    *("/?in={}", "/concepts/small/{}", "/concepts/{}/X:1", "/home/{}"),
)


def _paths(target: Target) -> Iterator[Case]:
    """Yield every string in every path and query, quoted and as it is."""
    for text in (*STRINGS, *map(repr, NUMBERS)):
        if len(text) > 9_000:
            continue  # longer heads are a family of their own
        whole = quote(text.encode("utf-8", "surrogatepass"), safe="")
        for pattern in _READ:
            yield Case("paths", request("GET", pattern.format(whole), b"", target.who))
        raw = re.sub(r"[\s\0-\x1f]", "", text) or "-"
        for pattern in _READ[:6]:
            yield Case("paths", request("GET", pattern.format(raw), b"", target.who))
    for path in ("/%", "/%zz", "/%ff%fe", "/v1/concepts/%00", "/v1/concepts/", "*", "//", "/./../"):
        yield Case("paths", request("GET", path, b"", target.who))
    for path in ("http://example.org/v1/link", "example.org:443", "no-slash", "/a b", "/é"):
        yield Case("paths", request("GET", path, b"", target.who))
    names = ("review.css", "common.js")
    for name in names:
        yield Case("paths", request("GET", f"/review/{name}", b""), "2xx")
        yield Case("paths", request("GET", f"/review/../review/{name}"), "4xx")
        yield Case("paths", request("GET", f"/review/..%2freview%2f{name}"), "4xx")


_HEADERS = (
    *("Host", "X-Request-ID", "X-Forwarded-For", "Authorization", "X-API-Key", "Cookie", "Origin"),
    *("Referer", "X-Reviewer", "Content-Type", "Accept", "Accept-Encoding", "Expect", "Upgrade"),
    *("Range", "If-None-Match", "X-HTTP-Method-Override"),
)
_KINDS = (
    *("text/plain", "application/xml", "multipart/form-data", "application/json; charset=utf-16"),
    *("application/json" * 500, "application/json;;;", '"', "application/x-www-form-urlencoded"),
)


def _heads(target: Target) -> Iterator[Case]:
    """Yield heads that break the rules of HTTP, or bend them."""
    body = dumped({"mentions": ["x"]})
    start = b"POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    start += "".join(f"{name}: {value}\r\n" for name, value in target.who.items()).encode()
    n = str(len(body)).encode()
    lengths = (
        b"-1",
        b"1e3",
        b"0x10",
        b"+5",
        b"5, 6",
        b"9" * 400,
        b"",
        b"\xb2",
        b"12\r\nContent-Length: 3",
    )
    for length in lengths:
        yield Case("heads", start + b"Content-Length: " + length + b"\r\n\r\n" + body, cut=True)
    both = b"Transfer-Encoding: chunked\r\nContent-Length: " + n + b"\r\n\r\n"
    yield Case("heads", start + both + b"13\r\n" + body + b"\r\n0\r\n\r\n", cut=True)
    for chunk in (
        b"zz\r\n",
        b"-5\r\n",
        b"f" * 40 + b"\r\n",
        b"5\r\nxxxxxxxxx",
        b"\0",
        b"1;" + b"x" * 9000,
    ):
        yield Case("heads", start + b"Transfer-Encoding: chunked\r\n\r\n" + chunk, cut=True)
    yield Case("heads", start + b"Transfer-Encoding: gzip\r\n\r\n" + gzip.compress(body), cut=True)
    for line in (
        b"GET",
        b"GET /",
        b"GET / HTTP/9.9",
        b"\0\0\0\0",
        b"\x16\x03\x01\x02\0",
        b"PRI * HTTP/2.0",
    ):
        yield Case("heads", line + b"\r\n\r\n", "any", cut=True)
    yield Case("heads", b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "4xx")
    yield Case("heads", b"GET /healthz HTTP/1.0\r\n\r\n", "2xx")
    for name in _HEADERS:
        for text in (
            *HTML[:3],
            *SQL[:2],
            *PATHS[:3],
            "\0",
            "é",
            "x" * 20_000,
            "a\tb",
            "",
            "100-continue",
        ):
            plain = {**target.who, name: text}
            yield Case("heads", request("GET", "/v1/terminologies", b"", plain), cut=True)
    yield Case("heads", request("GET", "/healthz", b"", {"X: y\r\nInjected": "1"}), "any", cut=True)
    yield Case(
        "heads", request("GET", "/healthz", b"", {f"A{n}": "x" for n in range(5000)}), cut=True
    )
    yield Case("heads", request("GET", "/" + "a" * 200_000), "4xx", cut=True)
    for method in ("PUT", "PATCH", "TRACE", "CONNECT", "BREW", "get", "OPTIONS", "HEAD", "X" * 300):
        for path in ("/v1/link", "/healthz", "/v1/reviews/1", "/reconcile/small"):
            yield Case("heads", request(method, path, b"", target.who), cut=True)
    for kind in _KINDS:
        given = target.who | {"Content-Type": kind}
        yield Case("heads", request("POST", "/v1/link", body, given))
        yield Case("heads", request("POST", "/reconcile/small", b"queries=" + body, given))
    squeezed = target.who | JSON | {"Content-Encoding": "gzip"}
    yield Case(
        "heads", request("POST", "/v1/link", gzip.compress(b" " * 10_000_000), squeezed), "4xx"
    )
    for who in (
        {"X-API-Key": "canonym_00000000_x"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic eA=="},
    ):
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
        path = f"/v1/reviews/1/items/{1 + number % 2}/decisions"
        for version in (1, 2, 3, 4, 5, 6):
            decision = {"version": version, "kind": "comment", "comment": text}
            yield _post(target, "stored", path, dumped(decision), "any")
        link = {"version": 2, "kind": "link", "concepts": [{"id": "X:1"}], "comment": text}
        yield _post(target, "stored", path, dumped(link), "any")
        synonym = {"synonyms": [{"name": f"s {text}", "id": "X:1", "language": text[:100]}]}
        yield _post(target, "stored", "/v1/synonyms", dumped(synonym), "any")
        pair = {"forbidden": [{"mention": f"f {text}", "id": "X:1"}]}
        yield _post(target, "stored", "/v1/forbidden", dumped(pair), "any")
        who = {**target.who, "X-Reviewer": quote(text)}
        flag = dumped({"version": 3, "kind": "flag", "comment": text})
        yield Case("stored", request("POST", path, flag, who | JSON))
    for path in ("/v1/reviews/1/link", "/v1/reviews/1/lessons"):
        yield Case("stored", request("POST", path, b"", target.who))


_PAGES = (
    *("/", "/reviews/1", "/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/terminologies"),
    *("/v1/concepts/X:1", "/v1/search?prefix=hea", "/v1/reviews", "/v1/reviews/1/items"),
    *("/v1/reviews/1/export", "/v1/reviews/1/export?format=sssom", "/v1/reviews/1/lessons"),
    *("/reconcile", "/reconcile/small", "/reconcile/small/v1", "/reconcile/small/view?id=X:1"),
    *("/reconcile/small/preview?id=X:2", "/reconcile/small/flyout/entity?id=X:1"),
)


def _valid(target: Target) -> Iterator[Case]:
    """Yield requests that are right, and must be answered in the midst of all others."""
    for path in _PAGES:
        yield Case("valid", request("GET", path, b"", target.who), "2xx")
    for body in (
        {"mentions": ["heart attack", ""], "k": 100},
        {"mentions": []},
        {"mentions": ["x"], "seed": 0},
    ):
        yield _post(target, "valid", "/v1/link", dumped(body), "2xx")
    yield _post(target, "valid", "/v1/annotate", dumped({"texts": ["a cold", ""]}), "2xx")
    queries = {"queries": {"q": {"query": "heart attack"}, "r": {"query": 1}}}
    yield _post(target, "valid", "/reconcile/small", dumped(queries), "2xx")
    form = urlencode({"queries": json.dumps(queries["queries"])}).encode()
    yield Case("valid", request("POST", "/reconcile/small", form, target.who | FORM), "2xx")
