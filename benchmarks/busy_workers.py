"""Two workers through five minutes of ordinary load: none is killed, and no export is cut off.

Forty-five clients link, annotate, search, complete and look at a review of 4,000 mentions; five ask
for exports of it, in all formats, one after the other. Reviews are in a PostgreSQL that is stopped
for forty seconds in the middle (with ``--freeze``, it stands still and answers nobody). What is
told:

- requests, and those that broke off; wrong answers by kind and status, of which -1 is none within
  two minutes; an answer of 503 is right for a request about reviews during the outage;
- exports that came whole, and those that were cut off;
- workers that ended before the end, and what the log of the parent says of them;
- the most memory of each worker, looked at each second: all that it holds, and what is its own
  share, for half of it are pages of the index that all workers have in common;
- how long ``/healthz`` took, asked twice a second.

    canonym import medic.txt -o medic.db && canonym index medic.db -o medic
    python benchmarks/busy_workers.py --index medic [--seconds 300] [--freeze] [--save]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import numpy as np
import psutil

from hostile import Answer, Server, ask
from hostile_requests import JSON, Case, dumped, request
from record import parser, save
from service_load import read_mentions
from tests.postgresql import Cluster, cluster

CLIENTS = 50
EXPORTERS = 5
WORKERS = 2
SIZE = 4000  # mentions of the review
OUTAGE = 40.0  # seconds
PAUSE = 0.4  # seconds between two requests of a client, on average
REST = 3.0  # seconds between two exports of a client, on average
FORMATS = ("csv", "tsv", "xlsx", "sssom", "fhir", "corpus")
_GRACE = 5.0  # seconds after the outage in which the server reconnects
_ABOUT_REVIEWS = {"items", "review", "export"}


def is_whole(answer: Answer) -> bool:
    """Tell whether an answer came to its end."""
    if "content-length" in answer.headers:
        return len(answer.body) == int(answer.headers["content-length"])
    return answer.body.endswith(b"0\r\n\r\n")


class Clients:
    """What clients do, and what they see."""

    def __init__(self, server: Server, mentions: list[str], seed: int) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.answers: Counter[tuple[str, int, bool]] = Counter()  # kind, status, in the outage
        self.broken: Counter[str] = Counter()
        self.out = False  # whether the database is
        self.review = 0
        self._server = server
        self._mentions = mentions
        self._rng = random.Random(seed)

    def begin(self) -> None:
        """Make the review, and accept what is sure in it."""
        plain = (" ".join(mention.split()) for mention in self._mentions if '"' not in mention)
        different = list(dict.fromkeys(plain))
        table = "\n".join(self._rng.sample(different, SIZE)).encode()
        server = self._server
        path = "/v1/reviews?name=load&separator=line"
        self.review = server.ask("POST", path, table)["id"]
        while server.ask("GET", f"/v1/reviews/{self.review}")["waiting"]:
            time.sleep(1)
        sure = server.ask("GET", f"/v1/reviews/{self.review}/acceptable?least=0.8")["items"]
        server.ask("POST", f"/v1/reviews/{self.review}/accept", {"least": 0.8, "expected": sure})

    async def ask(self, kind: str, path: str, body: Any = None) -> None:
        """Send a request, and note its time, its answer, and whether that came to its end."""
        headers = self._server.target({}).who | JSON
        method, content = ("GET", b"") if body is None else ("POST", dumped(body))
        out, start = self.out, time.perf_counter()
        answer = await ask(self._server.port, Case(kind, request(method, path, content, headers)))
        self.times[kind].append(time.perf_counter() - start)
        self.answers[kind, answer.status, out or self.out] += 1
        if answer.status >= 0 and not is_whole(answer):
            self.broken[kind] += 1

    async def work(self, until: float) -> None:
        """Be an ordinary client until it is time to go."""
        doings: tuple[tuple[float, Callable[[], Any]], ...] = (
            *((0.45, self._link), (0.2, self._search), (0.1, self._annotate)),
            *((0.1, self._reconcile), (0.1, self._items), (0.05, self._review)),
        )
        weights = [weight for weight, _ in doings]
        while time.monotonic() < until:
            (doing,) = self._rng.choices([doing for _, doing in doings], weights)
            await doing()
            await asyncio.sleep(self._rng.uniform(0, 2 * PAUSE))

    async def export(self, until: float) -> None:
        """Ask for one export after the other."""
        while time.monotonic() < until:
            path = f"/v1/reviews/{self.review}/export?format={self._rng.choice(FORMATS)}"
            await self.ask("export", path)
            await asyncio.sleep(self._rng.uniform(0, 2 * REST))

    async def probe(self, until: float) -> None:
        """Ask twice a second whether the service is alive."""
        while time.monotonic() < until:
            await self.ask("healthz", "/healthz")
            await asyncio.sleep(0.5)

    async def _link(self) -> None:
        mentions = self._rng.choices(self._mentions, k=self._rng.choice((1, 1, 1, 20, 100)))
        await self.ask("link", "/v1/link", {"mentions": mentions})

    async def _search(self) -> None:
        prefix = self._rng.choice(self._mentions)[: self._rng.randint(1, 8)]
        await self.ask("search", f"/v1/search?prefix={quote(prefix)}")

    async def _annotate(self) -> None:
        text = " and ".join(self._rng.choices(self._mentions, k=20))
        await self.ask("annotate", "/v1/annotate", {"texts": [f"The patient had {text}."]})

    async def _reconcile(self) -> None:
        queries = {str(n): {"query": self._rng.choice(self._mentions)} for n in range(10)}
        await self.ask("reconcile", "/reconcile/small", {"queries": queries})

    async def _items(self) -> None:
        offset = self._rng.randrange(SIZE)
        await self.ask("items", f"/v1/reviews/{self.review}/items?part=all&offset={offset}")

    async def _review(self) -> None:
        await self.ask("review", f"/v1/reviews/{self.review}")


class Watch(threading.Thread):
    """Looks each second which workers there are, and at their memory."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.most: dict[int, float] = {}
        self.shares: dict[int, float] = {}
        self.ended: set[int] = set()
        self._parent = psutil.Process(server.process.pid)
        self._over = threading.Event()

    def run(self) -> None:
        """Look until `stop`."""
        while not self._over.wait(1):
            now: set[int] = set()
            for child in self._parent.children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    if "spawn_main" in " ".join(child.cmdline()):
                        memory = child.memory_full_info()
                        for most, size in ((self.most, memory.rss), (self.shares, memory.pss)):
                            most[child.pid] = max(size / 1e6, most.get(child.pid, 0.0))
                        now.add(child.pid)
            self.ended |= self.most.keys() - now

    def stop(self) -> None:
        """Look no more, before the server is stopped."""
        self._over.set()
        self.join()


async def load(clients: Clients, seconds: float, database: Cluster, freeze: bool) -> None:
    """Let clients work, and take the database away in the middle."""
    until = time.monotonic() + seconds
    outage = min(OUTAGE, seconds / 4)

    async def interrupt() -> None:
        await asyncio.sleep((seconds - outage) / 2)
        clients.out = True
        if freeze:
            _send(database, signal.SIGSTOP)
            await asyncio.sleep(outage)
            _send(database, signal.SIGCONT)
        else:
            await asyncio.to_thread(database.stop)
            await asyncio.sleep(outage)
            await asyncio.to_thread(database.start)
        await asyncio.sleep(_GRACE)
        clients.out = False

    await asyncio.gather(
        interrupt(),
        clients.probe(until),
        *(clients.work(until) for _ in range(CLIENTS - EXPORTERS)),
        *(clients.export(until) for _ in range(EXPORTERS)),
    )


def _send(database: Cluster, what: signal.Signals) -> None:
    """Let the processes of the database stand still, or go on."""
    pid = int(Path(database.folder, "data", "postmaster.pid").read_text().split()[0])
    server = psutil.Process(pid)
    for process in (server, *server.children()):
        process.send_signal(what)


def told(clients: Clients, watch: Watch) -> dict[str, Any]:
    """Return the figures of what clients saw."""
    wrong: Counter[str] = Counter()
    for (kind, status, out), number in clients.answers.items():
        if status != 200 and not (status == 503 and out and kind in _ABOUT_REVIEWS):
            wrong[f"{kind}: {status}"] += number
    exports = {status: 0 for _, status, _ in clients.answers}
    for (kind, status, _), number in clients.answers.items():
        exports[status] += number if kind == "export" else 0
    times = {
        kind: [round(float(q), 3) for q in np.percentile(several, [50, 99, 100])]
        for kind, several in sorted(clients.times.items())
    }
    return {
        "requests": sum(clients.answers.values()),
        "broken_off": dict(clients.broken),
        "wrong_answers": dict(wrong),
        "exports": exports[200],
        "exports_refused": exports.get(503, 0),
        "exports_cut": clients.broken["export"],
        "workers": len(watch.most),
        "workers_ended": len(watch.ended),
        "megabytes_of_a_worker": sorted(round(size) for size in watch.most.values()),
        "megabytes_of_its_share": sorted(round(size) for size in watch.shares.values()),
        "healthz_longest": times["healthz"][2],
        "seconds_p50_p99_longest": times,
    }


def main() -> None:
    """Run it, print and save what was seen."""
    arguments = parser(__doc__)
    arguments.add_argument("--index", type=Path, required=True)
    arguments.add_argument("--seconds", type=float, default=300)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--freeze", action="store_true", help="the database stands still")
    arguments.add_argument("--save", action="store_true", help="write results/busy_workers.json")
    options = arguments.parse_args()
    mentions = read_mentions()
    with TemporaryDirectory() as scratch, cluster() as database:
        shutil.copytree(options.index, Path(scratch) / "index")
        more = f"--workers {WORKERS} --rate-limit 0"
        server = Server(Path(scratch), keys=False, reviews=database.create(), more=more)
        try:
            clients = Clients(server, mentions, options.seed)
            clients.begin()
            watch = Watch(server)
            watch.start()
            asyncio.run(load(clients, options.seconds, database, options.freeze))
            watch.stop()
        finally:
            server.stop()
        log = server.log.read_text()
    result = {
        "seconds": options.seconds,
        "clients": CLIENTS,
        "outage": "frozen" if options.freeze else "stopped",
        "mentions": SIZE,
        **told(clients, watch),
        "replaced_in_the_log": log.count("takes its place"),
        "busy_processors": [round(one, 1) for one in os.getloadavg()],
    }
    print(json.dumps(result))
    if options.save:
        save("busy_workers", result, packages=["fastapi", "starlette", "uvicorn", "psycopg"])


if __name__ == "__main__":
    main()
