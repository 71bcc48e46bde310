"""Hostile requests to a running ``canonym serve``: its answers, log, pages and memory.

Two servers run, one with keys and one without. Their index has names and definitions with scripts.
Both get every request that was made by hand (`hostile_requests`) and, for the rest, requests from a
generator with a seed (`hostile_drawn`), in a random order. A fault is

- an answer that is neither 2xx, 4xx nor 503; 4xx to a valid request, 2xx to a broken one; none;
- a trace of Python in an answer or the log, an error in the log, a text of a request there;
- HTML that holds a script of ours as it is, or no policy against it; a header of ours;
- a script that runs in a real browser (where there are playwright and Chromium), on the pages of
  the reviews that were made;
- a key or review that is lost, a server that is not ready afterwards, does not stop, or held more
  memory than `MEMORY`.

    python benchmarks/hostile.py [--requests 10000] [--seed 0] [--only FAMILY] [--save]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import shutil
import sys
import threading
import time
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psutil

from canonym import Concept, Linker, Name, Terminology
from canonym.service.keys import Keys
from hostile_drawn import drawn
from hostile_requests import HTML, JSON, SQL, Case, Target, by_hand, dumped
from processes import PATIENCE, Server
from record import parser, save

MEMORY = 1 << 30
"""Bytes that a server may hold at any moment, of which its libraries take some 200 MB."""

_AT_ONCE = 8
_SLOW_AT_ONCE = 60
_SCRIPT = re.compile(rb"<(?:script|img|svg|iframe)\b[^<]*hostile|'\s*onfocus=", re.IGNORECASE)
_TRACE = re.compile(r'Traceback|File \\?"/|\.py\\?", line')
_TEXTS = ("hostile(", "passwd", "DROP TABLE", "heart attack")
_OWN = b"Invalid HTTP request received."  # what uvicorn answers to what is no HTTP


class Answer(NamedTuple):
    """What came back; the status is 0 where nothing did, and -1 where the connection stays open."""

    status: int
    headers: dict[str, str]
    body: bytes


class Hosted(Server):
    """A server with or without keys, whose memory is looked at all the time."""

    def __init__(self, folder: Path, *, keys: bool) -> None:
        self.name = "with keys" if keys else "without keys"
        place = folder / self.name.replace(" ", "-")
        place.mkdir()
        index = shutil.copytree(folder / "index", place / "index")
        self.key = ""
        command = ["--index", f"small={index}", "--reviews", str(place / "reviews.db")]
        if keys:
            made = Keys.create(place / "keys.db")
            self.key = made.add("hostile", "admin")
            command += ["--keys", str(made.path)]
        super().__init__(command, place / "log")
        self.most = self.first = self.processes()[0].memory_info().rss
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            (process, *_) = self.processes()
            while True:
                self.most = max(self.most, process.memory_info().rss)
                time.sleep(0.02)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
        """Return the JSON of an answer that has to be 2xx."""
        status, content = self.request(method, path, body, **self.target({}).who, **headers)
        if not 200 <= status < 300:
            raise SystemExit(f"{method} {path}: {status} {content!r}")
        return json.loads(content or b"null")

    def target(self, description: dict[str, Any]) -> Target:
        """Return what requests to this server are made for."""
        return Target(self.key, description)


# --- asking ---------------------------------------------------------------------------------------


async def ask(port: int, case: Case) -> Answer:
    """Send a request in its pieces, and read what comes back."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 27)
            sending = asyncio.ensure_future(_send(writer, case))
            try:
                return await _read(reader)
            finally:
                sending.cancel()
                writer.close()
    except TimeoutError:
        return Answer(-1, {}, b"")
    except (OSError, asyncio.IncompleteReadError, ValueError):
        return Answer(0, {}, b"")


async def _send(writer: asyncio.StreamWriter, case: Case) -> None:
    size = -(-len(case.content) // case.pieces)
    for first in range(0, len(case.content), size):
        writer.write(case.content[first : first + size])
        await writer.drain()
        await asyncio.sleep(case.pause)


async def _read(reader: asyncio.StreamReader) -> Answer:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        status = int(first.split()[1])
        if status != 100:
            break
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    return Answer(status, headers, await reader.read())


# --- judging --------------------------------------------------------------------------------------


def fault_of(case: Case, answer: Answer) -> str:
    """Return what is wrong with an answer, empty where nothing is."""
    status = answer.status
    if status < 0:
        return "neither an answer nor an end"
    if not status:
        return "" if case.cut else "no answer"
    if status >= 500 and status != 503:
        return f"answer {status}"
    if not (200 <= status < 300 or 400 <= status < 500 or status == 503):
        return f"answer {status}"
    if status != 503 and case.expected not in ("any", f"{status // 100}xx"):
        return f"answer {status} where {case.expected} is right"
    if status == 503 and "retry-after" not in answer.headers:
        return "503 without Retry-After"
    return _fault_of_content(answer)


def _fault_of_content(answer: Answer) -> str:
    headers, body = answer.headers, answer.body
    if _TRACE.search(body[:1_000_000].decode("utf-8", "replace")):
        return "a trace in the answer"
    if b"root:x:0:0" in body:
        return "a file of the machine in the answer"
    if {"x-injected", "set-cookie"} & headers.keys():
        return "a header of the request in the answer"
    if not body or (_OWN in body and len(body) < 60):  # it may come in chunks
        return ""
    if headers.get("x-content-type-options") != "nosniff":
        return "an answer without nosniff"
    policy, shown = headers.get("content-security-policy", ""), body
    if "default-src 'none'" not in policy or "unsafe" in policy:
        return "an answer without a policy"
    kind = headers.get("content-type", "")
    if "json" in kind:
        shown = str(_html_in(json.loads(body))).encode()
    elif not kind.startswith(("text/html", "image/svg", "application/xhtml")):
        return ""
    return "HTML with a script of ours" if _SCRIPT.search(shown) else ""


def _html_in(content: Any) -> Any:
    """Return the HTML that a flyout holds in its JSON."""
    return content.get("html", "") if isinstance(content, dict) else ""


def faults_of_log(server: Hosted) -> Counter[str]:
    """Count the errors in a log, and the texts of requests."""
    found: Counter[str] = Counter()
    for line in server.log.read_text(errors="replace").splitlines()[1:]:
        try:
            record = json.loads(line)
        except ValueError:
            found[f"log: no JSON: {line[:80]}"] += 1
            continue
        if record["level"] not in ("INFO", "WARNING") or "trace" in record:
            where = (record.get("trace") or [""])[-1]
            found[f"log: {record['message']} {record.get('error', '')} {where}"[:300]] += 1
        found.update(f"log: the text {text!r}" for text in _TEXTS if text in line)
    return found


# --- the run --------------------------------------------------------------------------------------


def build_index(folder: Path) -> None:
    """Build an index whose names, types and definitions are hostile themselves."""
    records: list[Any] = [
        Concept("X:1", "Myocardial infarction", HTML[0], types=("Disease",)),
        Name("heart attack", "X:1"),
        Concept("X:2", "Common cold", types=("Disease",)),
        Name("cold", "X:2"),
        Concept("X:3", "Cold temperature", types=("Phenomenon",)),
        Name("cold", "X:3"),
    ]
    for number, text in enumerate((*HTML, *SQL), start=4):
        records += [Concept(f"X:{number}", f"{text} cold", text, types=(text[:40],))]
        records += [Name(f"cold {text}", f"X:{number}")]
    Linker.build(Terminology.build(records), encoders=["chargrams"], folder=folder)


async def run(
    servers: list[Hosted], cases: list[tuple[Hosted, Case]], bad: dict[str, list[str]]
) -> Counter[tuple[str, str]]:
    """Send all requests, a few at once; count the answers by family, and keep what is wrong."""
    answers: Counter[tuple[str, str]] = Counter()
    gates = {True: asyncio.Semaphore(_SLOW_AT_ONCE), False: asyncio.Semaphore(_AT_ONCE)}
    done = 0

    async def one(server: Hosted, case: Case) -> None:
        nonlocal done
        async with gates[case.family == "slow"]:
            answer = await ask(server.port, case)
        found = f"{answer.status}" if answer.status > 0 else "no answer"
        answers[case.family, found] += 1
        wrong = fault_of(case, answer)
        if wrong:
            told = f"{server.name}: {case.content[:300]!r} -> {answer.body[:200]!r}"
            bad[f"{case.family}: {wrong}"].append(told)
        done += 1
        if done % 100 == 0:
            most = max(server.most for server in servers) >> 20
            told = f"{done:,} of {len(cases):,}, {most:,} MB, {sum(map(len, bad.values()))} faults"
            print(f"\r{told}", end="", file=sys.stderr, flush=True)

    await asyncio.gather(*(one(server, case) for server, case in cases))
    return answers


def make_cases(servers: list[Hosted], n: int, seed: int, only: str) -> list[tuple[Hosted, Case]]:
    """Return the requests of a run in their order: those by hand, and drawn ones up to `n`."""
    rng = random.Random(seed)
    description = servers[0].ask("GET", "/openapi.json")
    found: list[tuple[Hosted, Case]] = []
    for server in servers:
        found += [(server, case) for case in by_hand(server.target(description))]
    rng.shuffle(found)
    del found[n:]
    each = -(-(n - len(found)) // len(servers))
    for server in servers:
        more = islice(drawn(server.target(description), rng), each)
        found += [(server, case) for case in more]
    rng.shuffle(found)
    return [pair for pair in found[:n] if not only or pair[1].family == only]


def faults_afterwards(server: Hosted, began: dict[str, Any]) -> list[str]:
    """Return what a server has lost, and whether it still answers."""
    found = []
    if server.process.poll() is not None:
        return ["the server ended"]
    if server.request("GET", "/readyz")[0] != 200:
        found.append("the server is not ready")
    review = server.ask("GET", "/v1/reviews/1")
    if (review["name"], review["total"]) != (began["name"], began["total"]):
        found.append(f"the first review changed: {review}")
    link = server.ask("POST", "/v1/link", dumped({"mentions": ["cold"], "k": 1}), **JSON)["links"][
        0
    ]
    if link["nil"]:
        found.append(f"links are gone: {link}")
    if server.key and len(server.ask("GET", "/v1/keys")["keys"]) != 1:
        found.append("keys changed")
    if server.most > MEMORY:
        found.append(f"the server held {server.most >> 20:,} MB")
    return [f"{server.name}: {one}" for one in found]


# --- a browser ------------------------------------------------------------------------------------


def look_at_pages(server: Hosted) -> tuple[int, list[str]]:
    """Open reviews and concepts in a browser; return how many, and which scripts ran there."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return 0, []
    if chromium is None:
        return 0, []
    reviews = server.ask("GET", "/v1/reviews")["reviews"]
    chosen = [one["id"] for one in reviews if one["total"] < 50][:: max(1, len(reviews) // 20)]
    paths = [f"/reviews/{id_}" for id_ in {1, *chosen}]
    paths += [f"/reconcile/small/view?id=X:{number}" for number in range(1, 24)]
    ran: list[str] = []
    with sync_playwright() as playwright:
        root = ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=root)
        page = browser.new_page()
        page.expose_function("hostile", lambda *_: ran.append(f"{page.url}: a script ran"))
        page.on("dialog", lambda one: one.dismiss())
        page.on("pageerror", lambda error: ran.append(f"{page.url}: {error}"))
        page.on(
            "console",
            lambda one: "Content Security" in one.text and ran.append(f"{page.url}: {one.text}"),
        )
        for path in ["/", *paths]:
            page.goto(f"http://127.0.0.1:{server.port}{path}")
            page.wait_for_load_state("networkidle")
            if not path.startswith("/reviews/"):
                continue
            page.select_option("#part", "all")
            page.wait_for_load_state("networkidle")
            for item in page.locator("#items li").all()[:10]:
                item.click()
                page.wait_for_selector("#detail .candidates, #detail .hint")
        browser.close()
    return 1 + len(paths), ran


def main() -> None:
    """Start the servers, send everything, print and save what is wrong."""
    arguments = parser(__doc__)
    arguments.add_argument("--requests", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--only", default="", help="requests of this family")
    arguments.add_argument("--save", action="store_true", help="write results/hostile.json")
    options = arguments.parse_args()
    bad: dict[str, list[str]] = defaultdict(list)
    with TemporaryDirectory() as scratch, contextlib.ExitStack() as started:
        build_index(Path(scratch) / "index")
        servers = [Hosted(Path(scratch), keys=keys) for keys in (True, False)]
        for server in servers:
            started.callback(server.process.kill)
        began = {
            server.name: server.ask("POST", "/v1/reviews?name=first", b"cold\nheart attack\nflu")
            for server in servers
        }
        cases = make_cases(servers, options.requests, options.seed, options.only)
        start = time.monotonic()
        answers = asyncio.run(run(servers, cases, bad))
        seconds = time.monotonic() - start
        for server in servers:
            bad["afterwards"] += faults_afterwards(server, began[server.name])
        pages, ran = look_at_pages(servers[1])
        bad["in a browser"] += ran
        for server in servers:
            if not server.stop():
                bad["afterwards"].append(f"{server.name}: the server did not stop")
            for what, number in faults_of_log(server).items():
                bad[what] += [server.name] * number
    result = summary(options.seed, answers, servers, bad, pages, seconds)
    for what, several in bad.items():
        if several:
            print(f"\n{len(several):6} {what}\n       " + "\n       ".join(several[:3]))
    print(json.dumps(result, indent=1))
    if options.save:
        save("hostile", result, packages=["fastapi", "starlette", "uvicorn", "pydantic"])


def summary(
    seed: int,
    answers: Counter[tuple[str, str]],
    servers: list[Hosted],
    bad: dict[str, list[str]],
    pages: int,
    seconds: float,
) -> dict[str, Any]:
    """Return what is written as the result."""
    families: dict[str, Counter[str]] = defaultdict(Counter)
    for (family, found), number in answers.items():
        families[family][f"{found[0]}xx" if found[0] in "24" else found] += number
    return {
        "seed": seed,
        "requests": sum(answers.values()),
        "seconds": round(seconds),
        "faults": {what: len(several) for what, several in bad.items() if several},
        "pages_in_a_browser": pages,
        "memory_allowed": MEMORY,
        "servers": [
            {"server": server.name, "memory_first": server.first, "memory_most": server.most}
            for server in servers
        ],
        "answers": {family: dict(sorted(found.items())) for family, found in families.items()},
    }


if __name__ == "__main__":
    main()
