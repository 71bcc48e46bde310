"""The service under load: single mentions, batches and completions, from clients on one machine.

A server, ``canonym serve`` with an index of MeSH, is asked by a process of its own that keeps its
connections open and does nothing beside: its share of a processor is told, for a client that is
busy all the time would measure itself. Mentions are drawn from those of the NCBI disease and BC5CDR
corpora with their repetition, 49,000 in all.

- **singles**: 50 clients, each asks for one mention, and for the next when it has its answer. The
  times of all requests, errors, and the memory of the server's processes each second.
- **batches**: rounds of singles and of requests with 100 mentions, in turn, on one server.
- **autocomplete**: names of MeSH typed letter by letter into ``/v1/search``, one person, then 20.

    canonym import terms.tsv.gz --trees trees.tsv.gz --prefix MESH: -o mesh.db
    canonym index mesh.db -o mesh
    python benchmarks/service_load.py --index mesh [--seconds 300] [--parts singles,…] [--save]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from canonym import Terminology
from inputs import PARTS, documents_of, texts_of
from processes import Server
from record import parser, save

CLIENTS = 50
SEED = 1
_BATCH = 100
_BATCH_CLIENTS = 4
_ROUNDS = 3
_TYPISTS = 20

Sent = tuple[int, bytes]
"""How many mentions a request has, and its bytes."""


# --- what is asked --------------------------------------------------------------------------------


def read_mentions() -> list[str]:
    """Return the mentions of both corpora as often as they occur."""
    documents = (documents_of(name, *sorted(PARTS)) for name in ("bc5cdr", "ncbi-disease"))
    return [text for of_corpus in documents for text in texts_of(of_corpus)]


def _post(mentions: Sequence[str]) -> Sent:
    body = json.dumps({"mentions": mentions}).encode()
    head = "POST /v1/link HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return len(mentions), f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def requests_of(mentions: Sequence[str], size: int, rng: random.Random) -> Iterator[Sent]:
    """Yield requests for mentions that are drawn, without end; they are made ahead."""
    made = [_post(rng.choices(mentions, k=size)) for _ in range(20_000 if size == 1 else 600)]
    while True:
        yield from made
        rng.shuffle(made)


def keystrokes(names: Sequence[str], rng: random.Random) -> Iterator[Sent]:
    """Yield completions of names that are typed letter by letter, without end."""
    while True:
        name = rng.choice(names)[:25]
        for stop in range(1, len(name) + 1):
            path = f"/v1/search?prefix={quote(name[:stop])}"
            yield 1, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


# --- the clients ----------------------------------------------------------------------------------


class Asked(NamedTuple):
    """What clients saw: seconds of each request, mentions, errors, and their share of a core."""

    times: list[float]
    mentions: int
    errors: dict[str, int]
    share: float
    seconds: float


async def _client(
    port: int, requests: Iterator[Sent], until: float, found: Asked, times: list[float]
) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    mentions = 0
    while time.perf_counter() < until:
        size, sent = next(requests)
        start = time.perf_counter()
        writer.write(sent)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None, head
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - start)
        status = head[9:12].decode()
        if status == "200":
            mentions += size
        else:
            found.errors[status] = found.errors.get(status, 0) + 1
    writer.close()
    return mentions


def ask(port: int, requests: Iterator[Sent], clients: int, seconds: float) -> Asked:
    """Let clients ask for some seconds; they share one source of requests."""
    times: list[float] = []
    found = Asked(times, 0, {}, 0, 0)

    async def all_() -> list[int]:
        until = time.perf_counter() + seconds
        several = (_client(port, requests, until, found, times) for _ in range(clients))
        return await asyncio.gather(*several)

    first, began, busy = next(requests), time.perf_counter(), time.process_time()
    assert first
    mentions = sum(asyncio.run(all_()))
    whole = time.perf_counter() - began
    share = (time.process_time() - busy) / whole
    return found._replace(mentions=mentions, share=share, seconds=whole)


def _ask_for(
    texts: Sequence[str], size: int, port: int, clients: int, seconds: float, seed: int
) -> Asked:
    """Ask for so many mentions at a time, or type names where the size is 0."""
    rng = random.Random(seed)
    requests = requests_of(texts, size, rng) if size else keystrokes(texts, rng)
    return ask(port, requests, clients, seconds)


# --- the server -----------------------------------------------------------------------------------


def seconds_busy(server: Server) -> float:
    """Return the processor time that a server used so far."""
    used = (one.cpu_times() for one in server.processes())
    return sum(one.user + one.system for one in used)


@contextmanager
def memory_of(server: Server) -> Iterator[list[int]]:
    """Sample the bytes that a server holds each second, until the block ends."""
    samples: list[int] = []
    done = threading.Event()

    def look() -> None:
        while not done.wait(1):
            samples.append(sum(one.memory_info().rss for one in server.processes()))

    thread = threading.Thread(target=look)
    thread.start()
    yield samples
    done.set()
    thread.join()


# --- the parts ------------------------------------------------------------------------------------


def _told(asked: Asked, busy: float) -> dict[str, Any]:
    """Return the figures of some clients; times in milliseconds."""
    milliseconds = 1000 * np.array(asked.times)
    p50, p95, p99 = np.percentile(milliseconds, [50, 95, 99]).round(2).tolist()
    return {
        "requests": len(asked.times),
        "errors": asked.errors,
        "requests_per_second": round(len(asked.times) / asked.seconds, 1),
        "mentions_per_second": round(asked.mentions / asked.seconds, 1),
        "p50": p50,
        "p95": p95,
        "p99": p99,
        "longest": round(float(milliseconds.max()), 2),
        "client_share": round(asked.share, 2),
        "server_share": round(busy / asked.seconds, 2),
    }


def _measured(
    server: Server, texts: Sequence[str], size: int, clients: int, seconds: float, seed: int = SEED
) -> dict[str, Any]:
    """Let clients ask in a process of its own, so that nothing else is in it."""
    before = seconds_busy(server)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        asked = pool.apply(_ask_for, (texts, size, server.port, clients, seconds, seed))
    return _told(asked, seconds_busy(server) - before)


def singles(server: Server, mentions: list[str], seconds: float) -> dict[str, Any]:
    """Measure single mentions, and the server's memory through all of it.

    The first fifth is left out of what is compared: strings that were looked up are remembered.
    """
    with memory_of(server) as sampled:
        found = _measured(server, mentions, 1, CLIENTS, seconds)
    samples = [round(one / 1e6, 1) for one in sampled]
    settled = samples[len(samples) // 5 :] or samples
    fifth = max(1, len(settled) // 5)
    grown = float(np.median(settled[-fifth:]) - np.median(settled[:fifth]))
    every = max(1, len(samples) // 60)
    return {
        **found,
        "clients": CLIENTS,
        "megabytes": samples[::every],
        "megabytes_grown": round(grown, 1),
    }


def batches(server: Server, mentions: list[str], seconds: float) -> dict[str, Any]:
    """Measure singles and batches in turn; the rates are medians of the rounds."""
    rounds: dict[str, list[dict[str, Any]]] = {"singles": [], "batches": []}
    each = seconds / _ROUNDS / 2
    for number in range(_ROUNDS):
        seed = SEED + 1 + number
        rounds["singles"].append(_measured(server, mentions, 1, CLIENTS, each, seed))
        rounds["batches"].append(_measured(server, mentions, _BATCH, _BATCH_CLIENTS, each, seed))
    rates = {
        kind: float(np.median([one["mentions_per_second"] for one in several]))
        for kind, several in rounds.items()
    }
    return {
        "size": _BATCH,
        "clients": {"singles": CLIENTS, "batches": _BATCH_CLIENTS},
        "mentions_per_second": rates,
        "times_faster": round(rates["batches"] / rates["singles"], 1),
        "rounds": [{"kind": kind, **one} for kind, several in rounds.items() for one in several],
    }


def autocomplete(server: Server, names: list[str], seconds: float) -> dict[str, Any]:
    """Measure completions, letter by letter, for one person and for several."""
    found = [
        {"typists": typists, **_measured(server, names, 0, typists, seconds / 2)}
        for typists in (1, _TYPISTS)
    ]
    return {"names": len(names), "rows": found}


PARTS_MEASURED = {"singles": singles, "batches": batches, "autocomplete": autocomplete}


def main() -> None:
    """Measure the parts, print and save them."""
    arguments = parser(__doc__)
    arguments.add_argument("--index", type=Path, required=True, help="a folder made from MeSH")
    arguments.add_argument("--seconds", type=float, default=300, help="of singles; others a fifth")
    arguments.add_argument("--parts", default=",".join(PARTS_MEASURED))
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--save", action="store_true", help="write results/service_load.json")
    options = arguments.parse_args()
    mentions = read_mentions()
    terminology = Terminology(options.index / "terminology.db")
    names = [name for batch in terminology.iter_texts() for name in batch]
    result: dict[str, Any] = {"workers": options.workers, "seconds": options.seconds}
    result |= {"mentions": len(mentions), "different": len(set(mentions))}
    for part in options.parts.split(","):
        with TemporaryDirectory() as scratch:
            command = ["--index", f"mesh={options.index}", "--workers", str(options.workers)]
            server = Server(command, Path(scratch) / "log")
            ask(server.port, repeat(_post(["a first mention"])), 1, 1)
            try:
                work = PARTS_MEASURED[part]
                given = names if part == "autocomplete" else mentions
                seconds = options.seconds if part == "singles" else options.seconds / 5
                result[part] = work(server, given, seconds)
            finally:
                server.stop()
        print(json.dumps({part: result[part]}, indent=1))
    if options.save:
        packages = ["fastapi", "starlette", "uvicorn", "pydantic", "numpy"]
        save("service_load", result, packages=packages)


if __name__ == "__main__":
    main()
