"""The process of one peer: reads requests as JSON lines, and writes a JSON line for each.

It runs inside the peer's own environment, so that it imports the standard library and the adaptor
alone. What the peer prints goes to standard error. An exception ends the process, and its last
line tells the driver why.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

PILOT = 64
"""Mentions of the second trial, which with the first one tells how long a batch will take."""


class Peer:
    """An adaptor and the index that it has built."""

    def __init__(self, adaptor: Path) -> None:
        spec = importlib.util.spec_from_file_location("adaptor", adaptor)
        assert spec is not None
        assert spec.loader is not None
        self.adaptor: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.adaptor)
        self.index: Any = None

    def build(self, names: list[tuple[str, str]], settings: dict[str, Any]) -> dict[str, Any]:
        """Index names, each with the id of its concept."""
        self.index = None
        names = [(text, id_) for text, id_ in names]
        begun = time.perf_counter()
        self.index = self.adaptor.build(names, **settings)
        return {
            "seconds": time.perf_counter() - begun,
            "versions": {package: version(package) for package in self.adaptor.PACKAGES},
        }

    def answer(self, documents: list[list[str]]) -> dict[str, Any]:
        """Return the candidates of all mentions, document by document."""
        if not hasattr(self.adaptor, "candidates_in_documents"):
            every = [text for some in documents for text in some]
            distinct = list(dict.fromkeys(every))
            found = dict(zip(distinct, self._ask([distinct]), strict=True))
            return {"candidates": [found[text] for text in every]}
        return {"candidates": self._ask(documents)}

    def annotate(self, texts: list[str]) -> dict[str, Any]:
        """Return the names in texts, and the processor seconds that took."""
        begun = time.process_time()
        spans = [self.adaptor.annotate(self.index, text) for text in texts]
        return {"spans": spans, "seconds": time.process_time() - begun}

    def measure(
        self,
        pilot: list[str],
        batches: dict[str, list[list[str]]],
        singles: list[str],
        budget: float,
    ) -> dict[str, Any]:
        """Time batches, then mentions that come alone, as many as the budget of seconds allows.

        `pilot` holds mentions that warm the peer up and are not counted.
        """
        first, further = (
            self._time(lambda some=some: self._ask([[one] for one in some]))
            for some in (pilot[:1], pilot[1 : PILOT + 1])
        )
        slope = max(further - first, 0.0) / PILOT
        most = int((budget - first) / slope) if slope else sys.maxsize
        measured: dict[str, Any] = {}
        for name, documents in batches.items():
            documents = _first(documents, max(most, PILOT))
            seconds = self._time(lambda documents=documents: self._ask(documents))
            measured[name] = {"mentions": sum(map(len, documents)), "seconds": seconds}
        milliseconds = []
        end = time.perf_counter() + budget
        for mention in singles:
            milliseconds.append(1000 * self._time(lambda one=mention: self._ask([[one]])))
            if time.perf_counter() > end:
                break
        return {**measured, "single_ms": milliseconds, "peak_megabytes": peak_megabytes()}

    def _ask(self, documents: list[list[str]]) -> Any:
        if hasattr(self.adaptor, "candidates_in_documents"):
            return self.adaptor.candidates_in_documents(self.index, documents)
        return self.adaptor.candidates(self.index, [one for some in documents for one in some])

    @staticmethod
    def _time(call: Callable[[], Any]) -> float:
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun


def _first(documents: list[list[str]], most: int) -> list[list[str]]:
    """Return the first documents, with about that many mentions."""
    chosen: list[list[str]] = []
    for document in documents:
        if chosen and sum(map(len, chosen)) + len(document) > most:
            break
        chosen.append(document)
    return chosen


def peak_megabytes() -> float:
    """Return the largest memory that this process has had, without that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Serve requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    peer = Peer(Path(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(peer, request.pop("do"))(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
