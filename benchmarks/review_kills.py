"""The review service killed in the middle of decisions: is one that was acknowledged ever lost?

People decide, comment, flag and undo at random over HTTP, four at a time, on few mentions, so that
they collide. Meanwhile ``kill -9`` ends the server, or one of its two workers, at random moments.
Reviews are in SQLite, or in a PostgreSQL that is started for this. After each kill is checked:

- each decision that was answered with 200 is in the database, as it was sent;
- each other one is there whole, or not at all, and none is there twice;
- the history of each mention has no gap, each undo leads to the decision before, and the state of
  the mention is what its history says.

    python benchmarks/review_kills.py [--writes 1000] [--seed 0]
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from canonym import Concept, Linker, Name, Terminology
from canonym.review.models import Decision
from canonym.review.store import Entry, Store
from processes import PATIENCE, Server
from record import parser, save
from tests.postgresql import cluster

PEOPLE = 4
MENTIONS = 24
STATES = {"link": "linked", "nil": "nil", "flag": "flagged", "reopen": "reopened"}
KINDS = ("link", "link", "nil", "flag", "comment", "undo")
CONCEPTS = ("D:1", "D:2", "D:3")


class Sent(NamedTuple):
    """A decision as it was sent; the comment is different in each."""

    item: int
    version: int  # of the item, if it is written
    kind: str
    ids: tuple[str, ...]
    comment: str
    who: str


class Ledger:
    """Which decisions were sent, and which of them acknowledged."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.sent: dict[str, Sent] = {}
        self.acknowledged: set[str] = set()
        self.refused = 0
        self.unanswered: set[str] = set()

    def note(self, sent: Sent, status: int | None) -> None:
        """Keep what became of a decision; without a status nobody answered."""
        with self._lock:
            if status == 200:
                self.acknowledged.add(sent.comment)
            elif status is None:
                self.unanswered.add(sent.comment)
            else:
                self.refused += 1

    def begin(self, sent: Sent) -> None:
        """Keep a decision before it is sent."""
        with self._lock:
            self.sent[sent.comment] = sent


# --- the service ----------------------------------------------------------------------------------


class Service(Server):
    """The service with reviews, one process or several workers of which any may be killed."""

    def __init__(self, folder: Path, place: str, workers: int) -> None:
        self.workers = workers
        command = ["--index", str(folder / "index"), "--reviews", place]
        command += ["--workers", str(workers), "--rate-limit", "0"]
        super().__init__(command, folder / "service.log")

    def ask(self, method: str, path: str, body: Any = None, who: str = "Ann") -> tuple[int, Any]:
        """Return the status and the content of an answer."""
        given = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"X-Reviewer": who, "Content-Type": "application/json"}
        status, content = self.request(method, path, given, **headers)
        return status, json.loads(content) if content[:1] == b"{" else content

    def kill(self, rng: random.Random) -> None:
        """End the server, or one of its workers, by SIGKILL."""
        if self.workers == 1:
            self.process.kill()
            self.process.wait()
            return
        until = time.monotonic() + PATIENCE
        while len(children := self._children()) < self.workers:  # the last one is still starting
            if time.monotonic() > until:
                raise SystemExit(f"{len(children)} of {self.workers} workers are left")
            time.sleep(0.05)
        rng.choice(children).kill()

    def _children(self) -> list[Any]:
        """Return the workers; the process that tracks their resources is none."""
        import psutil

        found = []
        for process in self.processes()[1:]:
            with contextlib.suppress(psutil.Error):
                found += [process] * ("spawn_main" in " ".join(process.cmdline()))
        return found


def make_index(folder: Path) -> None:
    """Build a tiny index."""
    records: list[Any] = [Concept(id_, f"ailment {id_[-1]}") for id_ in CONCEPTS]
    records += [Name(f"illness {id_[-1]}", id_) for id_ in CONCEPTS]
    Linker.build(Terminology.build(records), encoders=["chargrams"], folder=folder / "index")


def begin_review(service: Service) -> int:
    """Upload a list and wait until it is linked."""
    lines = "mention\n" + "".join(f"ailment number {n}\n" for n in range(MENTIONS))
    path = "/v1/reviews?name=kills&filename=list.csv"
    review: int = service.ask("POST", path, lines.encode())[1]["id"]
    while service.ask("GET", f"/v1/reviews/{review}")[1]["waiting"]:
        time.sleep(0.1)
    return review


# --- people ---------------------------------------------------------------------------------------


class Person(threading.Thread):
    """Somebody who decides at random until told to stop, and rests when told to."""

    def __init__(
        self, name: str, service: Service, review: int, items: Sequence[int], ledger: Ledger,
        rng: random.Random,
    ) -> None:  # fmt: skip
        super().__init__(daemon=True)
        self._who = name
        self._service = service
        self._base = f"/v1/reviews/{review}/items"
        self._items = items
        self._ledger = ledger
        self._rng = rng
        self._n = 0
        self.go = threading.Event()
        self.resting = threading.Event()
        self.over = False

    def run(self) -> None:
        """Decide."""
        while not self.over:
            if not self.go.is_set():
                self.resting.set()
                self.go.wait(0.1)
                continue
            self.resting.clear()
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._decide()

    def rest(self) -> None:
        """Wait until nothing is on the way."""
        self.resting.clear()
        self.go.clear()
        if not self.resting.wait(PATIENCE * 2):
            raise SystemExit(f"{self._who} waits for an answer for ever")

    def _decide(self) -> None:
        path = f"{self._base}/{self._rng.choice(self._items)}"
        status, item = self._service.ask("GET", path, who=self._who)
        if status != 200:
            return
        kind = self._rng.choice(KINDS)
        ids = tuple(self._rng.sample(CONCEPTS, self._rng.randint(1, 2))) if kind == "link" else ()
        self._n += 1
        comment = f"{self._who} {self._n}"
        sent = Sent(item["id"], item["version"] + 1, kind, ids, comment, self._who)
        given = {"version": item["version"], "kind": kind, "comment": comment}
        given["concepts"] = [{"id": id_} for id_ in ids]
        self._ledger.begin(sent)
        try:
            status, _ = self._service.ask("POST", f"{path}/decisions", given, who=self._who)
        except (OSError, http.client.HTTPException):
            self._ledger.note(sent, None)
            raise
        self._ledger.note(sent, status)


# --- what is checked ------------------------------------------------------------------------------


def problems_of(entries: Sequence[Entry], ledger: Ledger) -> list[str]:
    """Return what is wrong in a database."""
    found: list[str] = []
    written: dict[str, tuple[int, Decision]] = {}
    for item, counts, history in entries:
        versions = [one.version for one in history]
        if versions != list(range(item.version - len(versions) + 1, item.version + 1)):
            found.append(f"item {item.id}: the history has a gap: {versions} of {item.version}")
        for one in history:
            if one.comment in written:
                found.append(f"{one.comment!r} is there twice")
            written[one.comment] = (item.id, one)
        state, now = _replayed(history, found)
        if (item.state, counts.id if counts else None) != (state, now):
            found.append(f"item {item.id} is {item.state}, and its history says {state}")
    found += [f"lost: {ledger.sent[one]}" for one in ledger.acknowledged - written.keys()]
    for comment, (item_id, one) in written.items():
        ids = tuple(concept["id"] for concept in one.concepts)
        there = Sent(item_id, one.version, one.kind, ids, one.comment, one.who)
        if ledger.sent.get(comment) != there:
            found.append(f"half written: {there}, sent {ledger.sent.get(comment)}")
    return found


def _replayed(history: Sequence[Decision], found: list[str]) -> tuple[str, int | None]:
    """Return state and decision that a history leads to."""
    by_id = {one.id: one for one in history}
    now: int | None = None
    for one in history:
        if one.before != now:
            found.append(f"{one.comment!r} comes after {one.before}, and {now} counted then")
        if one.kind == "undo":
            now = by_id[now].before if now else None
        elif one.kind != "comment":
            now = one.id
    return STATES[by_id[now].kind] if now else "open", now


def look(place: str, review: int, ledger: Ledger) -> list[str]:
    """Open a database, as the next server does, and return what is wrong in it."""
    with Store(place) as store:
        entries = [store.item(entry.item.id) for entry in store.entries(review)]
    return problems_of(entries, ledger)


# --- runs -----------------------------------------------------------------------------------------


def run(place: str, folder: Path, workers: int, writes: int, seed: str) -> dict[str, Any]:
    """Let people decide, and kill, until so many decisions are acknowledged."""
    rng = random.Random(seed)
    service = Service(folder, place, workers)
    ledger, problems, kills = Ledger(), [], 0
    try:
        review = begin_review(service)
        with Store(place) as store:
            items = [entry.item.id for entry in store.entries(review)]
        people = [
            Person(f"person {n}", service, review, items, ledger, random.Random(f"{seed} {n}"))
            for n in range(PEOPLE)
        ]
        for person in people:
            person.start()
        while len(ledger.acknowledged) < writes:
            kills += 1
            problems += _one_kill(service, people, ledger, place, review, rng)
        for person in people:
            person.over = True
            person.join(PATIENCE)
    finally:
        service.stop()
    problems += look(place, review, ledger)
    with Store(place) as store:
        there = {
            one.comment
            for seen in store.entries(review)
            for one in store.item(seen.item.id).history
        }
    return {
        "acknowledged": len(ledger.acknowledged),
        "kills": kills,
        "without an answer": len(ledger.unanswered),
        "of these written": len(ledger.unanswered & there),
        "refused as late": ledger.refused,
        "undone": sum(ledger.sent[one].kind == "undo" for one in ledger.acknowledged),
        "problems": problems,
    }


def _one_kill(
    service: Service,
    people: Sequence[Person],
    ledger: Ledger,
    place: str,
    review: int,
    rng: random.Random,
) -> list[str]:
    """Let people decide for a while, kill, and look."""
    enough = len(ledger.acknowledged) + rng.randint(5, 15)
    for person in people:
        person.go.set()
    until = time.monotonic() + PATIENCE
    while len(ledger.acknowledged) < enough and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.05))
    service.kill(rng)
    for person in people:
        person.rest()
    found = look(place, review, ledger)
    if service.workers == 1:
        service.start()
    return found


def main() -> None:
    """Kill, print and save."""
    arguments = parser(__doc__)
    arguments.add_argument("--writes", type=int, default=1000, help="acknowledged, in all")
    arguments.add_argument("--seed", type=int, default=0)
    options = arguments.parse_args()
    table: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory(prefix="canonym-kills-") as scratch, cluster() as postgresql:
        folder = Path(scratch)
        make_index(folder)
        for kind, workers in itertools.product(("SQLite", "PostgreSQL"), (1, 2)):
            name = f"{kind}, {'the server' if workers == 1 else 'one of two workers'}"
            place = str(folder / f"reviews-{workers}.db")
            if kind == "PostgreSQL":
                place = postgresql.create()
            found = run(place, folder, workers, -(-options.writes // 4), f"{options.seed} {name}")
            for problem in found["problems"][:20]:
                print(f"{name}: {problem}", flush=True)
            table[name] = {**found, "problems": len(found["problems"])}
            print(name, table[name], flush=True)
    total = {
        key: sum(row[key] for row in table.values())
        for key in ("acknowledged", "kills", "problems")
    }
    print(total)
    packages = ["sqlalchemy", "psycopg", "uvicorn"]
    save("review_kills", {"seed": options.seed, **total, "killed": table}, packages=packages)


if __name__ == "__main__":
    main()
