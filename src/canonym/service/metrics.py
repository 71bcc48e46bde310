"""Counts and times for Prometheus; those of several workers are added up."""

from __future__ import annotations

import os
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from canonym.types import Link

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable with the folder in which workers keep their counts."""

_METHODS = {"GET", "POST", "DELETE", "OPTIONS", "HEAD"}


class Metrics:
    """The counts of one application."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "canonym_requests",
            "Requests answered.",
            ["route", "method", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "canonym_request_seconds",
            "Seconds until a request was answered.",
            ["route"],
            registry=registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
        )
        self._mentions = Counter(
            "canonym_mentions", "Mentions linked.", ["terminology", "outcome"], registry=registry
        )
        self._open = Gauge(
            "canonym_batches_open",
            "Batches that are being linked or wait for it.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request under the pattern of its route."""
        method = method if method in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def count_links(self, terminology: str, links: Iterable[Link]) -> None:
        """Count mentions by what became of them."""
        for link in links:
            self._mentions.labels(terminology, "nil" if link.nil else "linked").inc()

    def count_open(self, change: int) -> None:
        """Count a batch that comes (1) or goes (-1)."""
        self._open.inc(change)

    def close(self) -> None:
        """Leave the gauges of a worker that ends out of the sums."""
        if os.environ.get(FOLDER):
            mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]

    def text(self) -> bytes:
        """Return everything in the format of Prometheus."""
        registry = self._registry
        if os.environ.get(FOLDER):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
