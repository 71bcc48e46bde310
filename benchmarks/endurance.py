"""The service through twenty minutes of many clients, some of them hostile, and of outages.

Fifty clients link, annotate, search, reconcile, upload tables, begin reviews and decide, each with
a short pause between two requests. Of all requests 5 % are hostile, by hand and drawn
(`hostile_requests`, `hostile_drawn`). Reviews are in a PostgreSQL that is stopped twice for half a
minute. What is told:

- the times of all requests that are not hostile, and their answers; an answer of 503 is right for a
  request about reviews during an outage;
- hostile requests with a wrong answer, as `hostile` judges them; traces in the log;
- decisions that were acknowledged and are not in the database, reviews that are not linked a
  minute after the end, and whether the server is ready;
- the memory of the server, each second: the median of the last fifth less that of the second.

    python benchmarks/endurance.py [--seconds 1200] [--clients 50] [--seed 0] [--save]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
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

from canonym.review.store import Store
from hostile import Answer, Server, ask, build_index, fault_of, faults_of_log, make_cases
from hostile_files import bombs
from hostile_requests import BYTES, JSON, Case, Target, dumped, request
from record import save
from tests.postgresql import Cluster, cluster

SHARE = 0.05
PAUSE = 0.4  # seconds between two requests of a client, on average
OUTAGE = 30.0  # seconds
MENTIONS = ("heart attack", "common cold", "cold", "cold feet", "myocardial infarct", "nothing", "")
SIZE = 40  # mentions of a review
_GRACE = 5.0  # seconds after an outage in which the server reconnects


class Clients:
    """What clients do, and what they see."""

    def __init__(self, server: Server, hostile: list[Case], seed: int) -> None:
        self.server = server
        self.hostile = hostile
        self.times: dict[str, list[float]] = defaultdict(list)
        self.answers: Counter[tuple[str, int, bool]] = Counter()  # kind, status, in an outage
        self.faults: dict[str, list[str]] = defaultdict(list)
        self.n_hostile = 0
        self.sent = 0
        self.acknowledged: set[str] = set()
        self.reviews: list[int] = []
        self.out = False  # whether the database is
        self._who: Target = server.target({})
        self._rng = random.Random(seed)
        self._items: list[int] = []

    async def begin(self) -> None:
        """Make the review in which decisions are taken."""
        first = await self._begin_review()
        assert first is not None
        for _ in range(100):
            path = f"/v1/reviews/{first}/items?part=all&limit=100"
            answer = await self.ask("items", "GET", path)
            self._items = [item["id"] for item in json.loads(answer.body)["items"]]
            if self._items:
                return
            await asyncio.sleep(0.1)

    async def ask(self, kind: str, method: str, path: str, body: Any = None) -> Answer:
        """Send a request that is right, and note its time and its answer."""
        content = b"" if body is None else body if isinstance(body, bytes) else dumped(body)
        headers = self._who.who | (BYTES if isinstance(body, bytes) else JSON)
        out, start = self.out, time.perf_counter()
        answer = await ask(self.server.port, Case(kind, request(method, path, content, headers)))
        self.times[kind].append(time.perf_counter() - start)
        self.answers[kind, answer.status, out or self.out] += 1
        return answer

    async def work(self, until: float) -> None:
        """Be a client until it is time to go."""
        doings: tuple[tuple[float, Callable[[], Any]], ...] = (
            *((0.5, self._link), (0.1, self._search), (0.1, self._annotate)),
            *((0.15, self._reconcile), (0.005, self._upload), (0.001, self._begin_review)),
            (0.144, self._decide),
        )
        while time.monotonic() < until:
            if self._rng.random() < SHARE:
                await self._attack()
            else:
                (doing,) = self._rng.choices(
                    [doing for _, doing in doings], [weight for weight, _ in doings]
                )
                await doing()
            await asyncio.sleep(self._rng.uniform(0, 2 * PAUSE))

    async def _attack(self) -> None:
        case = self._rng.choice(self.hostile)
        self.n_hostile += 1
        answer = await ask(self.server.port, case)
        if wrong := fault_of(case, answer):
            told = f"{case.content[:200]!r} -> {answer.status} {answer.body[:200]!r}"
            self.faults[f"{case.family}: {wrong}"].append(told)

    async def _link(self) -> None:
        mentions = self._rng.choices(MENTIONS, k=self._rng.choice((1, 1, 1, 20)))
        await self.ask("link", "POST", "/v1/link", {"mentions": mentions})

    async def _search(self) -> None:
        await self.ask(
            "search", "GET", f"/v1/search?prefix={quote(self._rng.choice(MENTIONS)[:4])}"
        )

    async def _annotate(self) -> None:
        body = {"texts": ["He had a heart attack, and a common cold before."]}
        await self.ask("annotate", "POST", "/v1/annotate", body)

    async def _reconcile(self) -> None:
        queries = {"q": {"query": self._rng.choice(MENTIONS[:-1])}}
        await self.ask("reconcile", "POST", "/reconcile/small", {"queries": queries})

    async def _upload(self) -> None:
        name = self._rng.choice(("fine.csv", "fine.xlsx", "fine.ods"))
        await self.ask("upload", "POST", f"/v1/tables?filename={name}", bombs()[name][0])

    async def _begin_review(self) -> int | None:
        table = "".join(f"{self._rng.choice(MENTIONS[:-1])} {n}\n" for n in range(SIZE)).encode()
        answer = await self.ask("review", "POST", "/v1/reviews?name=load", table)
        if answer.status != 201:
            return None
        self.reviews.append(json.loads(answer.body)["id"])
        return self.reviews[-1]

    async def _decide(self) -> None:
        path = f"/v1/reviews/{self.reviews[0]}/items/{self._rng.choice(self._items)}"
        answer = await self.ask("item", "GET", path)
        if answer.status != 200:
            return
        self.sent += 1
        comment = f"decision {self.sent}"
        decision = {
            "version": json.loads(answer.body)["version"],
            "kind": "nil",
            "comment": comment,
        }
        answer = await self.ask("decision", "POST", f"{path}/decisions", decision)
        if answer.status == 200:
            self.acknowledged.add(comment)


class Memory(threading.Thread):
    """The memory of the server, without the processes that read uploads, each second."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.samples: list[float] = []
        self._process = psutil.Process(server.process.pid)

    def run(self) -> None:
        """Look until the server ends."""
        with contextlib.suppress(psutil.NoSuchProcess):
            while True:
                self.samples.append(self._process.memory_info().rss / 1e6)
                time.sleep(1)

    def grown(self) -> float:
        """Return by how much the last fifth has more than the second."""
        n = max(1, len(self.samples) // 5)
        return float(np.median(self.samples[-n:]) - np.median(self.samples[n : 2 * n]))


async def endure(clients: Clients, n: int, seconds: float, database: Cluster) -> None:
    """Let clients work, and stop the database twice."""
    await clients.begin()
    until = time.monotonic() + seconds

    async def outages() -> None:
        for _ in range(2):
            await asyncio.sleep(seconds / 3)
            clients.out = True
            await asyncio.to_thread(database.stop)
            await asyncio.sleep(min(OUTAGE, seconds / 10))
            await asyncio.to_thread(database.start)
            await asyncio.sleep(_GRACE)
            clients.out = False

    await asyncio.gather(outages(), *(clients.work(until) for _ in range(n)))


def stuck(server: Server, reviews: list[int]) -> list[int]:
    """Return the reviews that are not linked after a minute."""
    until = time.monotonic() + 60
    while True:
        found = [id_ for id_ in reviews if server.ask("GET", f"/v1/reviews/{id_}")["waiting"]]
        if not found or time.monotonic() > until:
            return found
        time.sleep(1)


def kept(place: str, review: int) -> set[str]:
    """Return the comments of the decisions in a database."""
    with Store(place) as store:
        return {
            one.comment
            for seen in store.entries(review)
            for one in store.item(seen.item.id).history
        }


def _is_outage(what: str) -> bool:
    """Tell whether a line of the log says, without a trace, that there is no database."""
    return "cannot be used as a database of reviews" in what and "File " not in what


def told(clients: Clients) -> dict[str, Any]:
    """Return the times of what is not hostile, and the answers that are not right."""
    times = 1000 * np.array([one for several in clients.times.values() for one in several])
    p50, p99 = np.percentile(times, [50, 99]).round(1).tolist()
    slowest = {
        kind: round(1000 * float(np.percentile(several, 99)), 1)
        for kind, several in sorted(clients.times.items())
    }
    about_reviews = {"review", "items", "item", "decision"}
    right = {200, 201, 409}  # somebody else has decided meanwhile
    wrong: Counter[str] = Counter()
    for (kind, status, out), number in clients.answers.items():
        if status not in right and not (status == 503 and out and kind in about_reviews):
            wrong[f"{kind}: {status}"] += number
    outage = sum(number for (_, status, _), number in clients.answers.items() if status == 503)
    return {
        "requests": len(times),
        "hostile": clients.n_hostile,
        "p50": p50,
        "p99": p99,
        "longest": round(float(times.max()), 1),
        "p99_by_kind": slowest,
        "answers_503": outage,
        "wrong_answers": dict(wrong),
        "wrong_answers_to_hostile": {what: len(few) for what, few in clients.faults.items()},
    }


def main() -> None:
    """Run it, print and save what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", action="store_true", help="write results/endurance.json")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch, cluster() as database:
        build_index(Path(scratch) / "index")
        place = database.create()
        server = Server(Path(scratch), keys=False, reviews=place, more="--rate-limit 0")
        try:
            server.ask("POST", "/v1/reviews?name=first", b"cold\nheart attack\nflu")
            pairs = make_cases([server], 4000, options.seed, "")
            clients = Clients(server, [case for _, case in pairs], options.seed)
            memory = Memory(server)
            memory.start()
            asyncio.run(endure(clients, options.clients, options.seconds, database))
            waiting = stuck(server, clients.reviews)
            ready = asyncio.run(ask(server.port, Case("own", request("GET", "/readyz")))).status
            lost = clients.acknowledged - kept(place, clients.reviews[0])
        finally:
            ended = server.stop()
        traces = {what: n for what, n in faults_of_log(server).items() if not _is_outage(what)}
    every = max(1, len(memory.samples) // 60)
    result = {
        "seconds": options.seconds,
        "clients": options.clients,
        "seed": options.seed,
        **told(clients),
        "decisions_acknowledged": len(clients.acknowledged),
        "decisions_lost": len(lost),
        "reviews": len(clients.reviews),
        "reviews_stuck": len(waiting),
        "ready": ready == 200,
        "stopped": not ended,
        "traces_and_other_errors_in_the_log": traces,
        "megabytes": [round(one) for one in memory.samples[::every]],
        "megabytes_grown": round(memory.grown(), 1),
        "busy_processors": [round(one, 1) for one in os.getloadavg()],
    }
    for what, several in clients.faults.items():
        print(f"{len(several):6} {what}\n       " + "\n       ".join(several[:3]))
    print(json.dumps(result))
    if options.save:
        print(save("endurance", result, packages=["fastapi", "starlette", "uvicorn", "psycopg"]))


if __name__ == "__main__":
    main()
