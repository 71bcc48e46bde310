"""Texts made to take long, sent to a running ``canonym serve``, and how long others wait.

A text of an annotation (100,000 characters), mentions (1,000 characters each, 40 at a time), names
that are taught and rows of a review are one short string many times over. While one is answered,
``/healthz`` is asked again and again. The server is started again with the names it was taught;
``canonym link`` and ``canonym index`` read them too.

An input fails where its answer is neither 2xx nor 4xx, or takes more than `LONGEST` seconds, a long
text or a batch of long mentions `LONGEST_TEXT`, or where ``/healthz`` took more than
`LONGEST_HEALTH`.

    python benchmarks/long_runs.py [--save]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hostile import Server, build_index
from record import save

LONGEST, LONGEST_TEXT, LONGEST_HEALTH = 2.0, 5.0, 1.0
"""Seconds."""

_TEXT, _MENTION, _MENTIONS = 100_000, 1_000, 40
_PAUSE = 0.02  # seconds between two questions after the health
_UNITS = (
    *(
        "\n",
        " ",
        "\t",
        "-",
        "/",
        ",",
        ".",
        "(",
        "?",
        "a",
        "1",
        "'",
        "<b>",
        "<p>",
        "</b>",
        " \n",
        "\r\n",
    ),
    *("- ", "? ", "a ", "1 ", "1,", "A+", "(a) ", "[a]", "'s", " s", "no ", "vs ", "and ", "of "),
    *("not ", "without mention of ", "5 mg ", "1/1", "E. coli ", "type I ", "cold, ", "cold (CC) "),
    *("orodispersible ", "cancer spread to ", "&lt;", "%20", "Ð°", "a\n\n", "no cold "),
)
_NAMES = (
    *("cold (" + "a" * 80, "cold without complication (" + "abc" * 20, "cold (" + "abc " * 18),
    *(
        "cold, unspecified (" + "a" * 60,
        "a" * 80 + " (NOS",
        "(" * 80,
        "<b>" * 330,
        " " * 80 + "cold",
    ),
)


class Measured(NamedTuple):
    """An input, the answer to it, and the seconds that it and the slowest question took."""

    kind: str
    input: str
    status: int
    seconds: float
    health: float

    @property
    def is_sound(self) -> bool:
        """Whether it was answered or refused in time, and nobody else waited."""
        most = LONGEST_TEXT if self.kind in ("annotate", "link") else LONGEST
        in_time = self.seconds <= most and self.health <= LONGEST_HEALTH
        return in_time and 200 <= self.status < 500


@contextmanager
def _asked_meanwhile(port: int) -> Iterator[list[float]]:
    """Ask after the health until the end, and give the seconds of each answer."""
    times, over = [0.0], threading.Event()

    def ask() -> None:
        while not over.is_set():
            begun = time.monotonic()
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=300).read()
            times.append(time.monotonic() - begun)
            over.wait(_PAUSE)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield times
    finally:
        over.set()
        asking.join()


def _measured(server: Server, kind: str, shown: str, path: str, body: Any) -> Measured:
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    kind_of_body = "text/plain" if isinstance(body, str) else "application/json"
    headers = {"Content-Type": kind_of_body, "X-Reviewer": "long"}
    url = f"http://127.0.0.1:{server.port}{path}"
    with _asked_meanwhile(server.port) as times:
        begun = time.monotonic()
        try:
            request = urllib.request.Request(url, content, headers, method="POST")
            with urllib.request.urlopen(request, timeout=300) as answer:
                status, made = answer.status, json.loads(answer.read())
            while kind == "review" and server.ask("GET", f"/v1/reviews/{made['id']}")["waiting"]:
                time.sleep(_PAUSE)
        except urllib.error.HTTPError as error:
            status = error.code
        seconds = time.monotonic() - begun
    measured = Measured(kind, shown, status, round(seconds, 3), round(max(times), 3))
    print(f"{'' if measured.is_sound else 'FAULT '}{measured}", file=sys.stderr)
    return measured


def of_requests(server: Server) -> Iterator[Measured]:
    """Send every text, and every mention, to a server."""
    for unit in _UNITS:
        text = (unit * _TEXT)[:_TEXT]
        yield _measured(server, "annotate", repr(unit), "/v1/annotate", {"texts": [text]})
        mentions = [(f"{n} " + unit * _MENTION)[:_MENTION] for n in range(_MENTIONS)]
        yield _measured(server, "link", repr(unit), "/v1/link", {"mentions": mentions})
        rows = "\n".join(f"{n} " + " ".join((unit * _MENTION)[:_MENTION].split()) for n in range(9))
        yield _measured(server, "review", repr(unit), "/v1/reviews?name=long", rows)


def of_names(server: Server) -> Iterator[Measured]:
    """Teach a server every name, and ask for each."""
    for name in _NAMES:
        shown = repr(name if len(name) < 30 else f"{name[:24]}… ({len(name)})")
        taught = {"synonyms": [{"name": name, "id": "X:2"}]}
        yield _measured(server, "teach", shown, "/v1/synonyms", taught)
        yield _measured(
            server, "taught", shown, "/v1/link", {"mentions": [name, f"{name}x", "cold"]}
        )


def of_commands(index: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Link with the names that were taught, and index them, by the command."""
    table, mentions = folder / "names.csv", folder / "mentions.txt"
    rows = (f'Y:{n},"{name}"' for n, name in enumerate(_NAMES))
    table.write_text("\n".join(["id,name", *rows]) + "\n", encoding="utf-8")
    mentions.write_text("\n".join(["cold", *(name.strip() for name in _NAMES)]), encoding="utf-8")
    commands = (
        (
            "link",
            "--file",
            str(mentions),
            "--index",
            str(index),
            "--output",
            str(folder / "links.jsonl"),
        ),
        ("import", str(table), "--output", str(folder / "names.db")),
        ("index", str(folder / "names.db"), "--output", str(folder / "new")),
    )
    for command in commands:
        begun = time.monotonic()
        done = subprocess.run([sys.executable, "-m", "canonym", *command], capture_output=True)
        seconds = round(time.monotonic() - begun, 2)
        if done.returncode:
            print(done.stderr.decode(), file=sys.stderr)
        yield {"command": command[0], "exit": done.returncode, "seconds": seconds}


def main() -> None:
    """Start a server, send everything, and print what took too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--save", action="store_true", help="write results/long_runs.json")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        build_index(folder / "index")
        server = Server(folder, keys=False)
        try:
            server.ask("POST", "/v1/link", {"mentions": ["cold"]})
            measured = [*of_names(server), *of_requests(server)]
            wrong = server.stop()
            index = server.folder / "index"
            (folder / "again").mkdir()
            index.rename(folder / "again" / "index")
            server = Server(folder / "again", keys=False)
            mentions = {"mentions": ["cold", *_NAMES]}
            measured.append(_measured(server, "taught", "after a restart", "/v1/link", mentions))
            wrong += server.stop()
        finally:
            server.process.kill()
        commands = [*of_commands(folder / "again" / "without-keys" / "index", folder)]
    faults = [case._asdict() for case in measured if not case.is_sound]
    kinds = dict.fromkeys(case.kind for case in measured)
    result = {
        "inputs": {
            kind: {
                "number": sum(case.kind == kind for case in measured),
                "seconds_most": max(case.seconds for case in measured if case.kind == kind),
                "health_most": max(case.health for case in measured if case.kind == kind),
            }
            for kind in kinds
        },
        "commands": commands,
        "faults": faults,
    }
    print(json.dumps({**result, "stopping": wrong}, indent=1))
    if options.save:
        print(save("long_runs", result, packages=["fastapi", "uvicorn"]))


if __name__ == "__main__":
    main()
