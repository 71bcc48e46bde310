"""The store of an application, and the thread that links its reviews in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from canonym.errors import CanonymError, ReadError
from canonym.review.database import Unreachable, default_place
from canonym.review.proposals import link_waiting
from canonym.review.store import Store
from canonym.service.served import Served

_log = logging.getLogger(__name__)
_PAUSE = 1.0  # seconds between attempts to reach a database


class Reviews:
    """Reviews in a database that is opened when it is needed first; `place` is empty for a default.

    A database that was `place` by name is opened at once. Reviews are linked one after the other,
    in one thread. Where the database is lost, that waits until it is back.
    """

    def __init__(self, place: str, served: dict[str, Served]) -> None:
        self._needed = bool(place) or Path(default_place()).exists()
        self._place = place or default_place()
        self._served = served
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._lost = False
        self._failure: ReadError | None = None
        self._closed_until = 0.0
        self._stop = threading.Event()
        self._queued: set[int] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="review")

    @property
    def store(self) -> Store:
        """The store; one that was lost is opened again, and what waits in it is linked."""
        with self._lock:
            if self._store is None:
                if self._failure and time.monotonic() < self._closed_until:
                    # Those that wait for the lock would wait for the database one after the other.
                    raise Unreachable(self._failure.path, self._failure.problem)
                try:
                    self._store = Store(self._place, create=not self._lost)
                except ReadError as error:
                    self._failure, self._closed_until = error, time.monotonic() + _PAUSE
                    raise
                if self._lost:
                    _log.info("the database of reviews is there again")
                    self._thread.submit(self._until_reached, self._link_all)
                self._needed, self._lost = True, False
            return self._store

    def lose(self) -> None:
        """Let go of a database that cannot be reached; it may be another one when it is back."""
        with self._lock:
            store, self._store, self._lost = self._store, None, self._needed
        if store is not None:
            store.close()

    def check(self) -> None:
        """Look whether a database that is needed can be reached."""
        if self._needed:
            self._or_lose(lambda: self.store.check())

    def resume(self) -> None:
        """Go on with what an earlier process began, where there is a database already."""
        if self._needed:
            self._thread.submit(self._until_reached, self._link_all)

    def _link_all(self) -> None:
        for review in self.store.reviews():
            if review.terminology in self._served and self.store.waiting(review.id, 1):
                self.link(review.id)

    def link(self, review_id: int) -> None:
        """Link what waits in a review, soon; once more where that is being done."""
        with self._lock:
            if review_id in self._queued:
                return
            self._queued.add(review_id)
        self._thread.submit(self._link, review_id)

    def _link(self, review_id: int) -> None:
        with self._lock:
            self._queued.discard(review_id)
        self._until_reached(lambda: self._link_waiting(review_id))

    def _link_waiting(self, review_id: int) -> None:
        store = self.store
        try:
            served = self._served[store.review(review_id).terminology]
            link_waiting(
                store,
                review_id,
                lambda work: served.use(lambda opened: work(opened.linker)),
                self._stop.is_set,
            )
        except Unreachable:
            raise
        except Exception as error:
            _log.exception("the review %d cannot be linked", review_id)
            told = str(error) if isinstance(error, CanonymError) else "the log says why"
            store.change(review_id, problem=told)

    def _until_reached(self, work: Callable[[], None]) -> None:
        """Do some work on the database, again after a pause where that cannot be reached."""
        told = ""
        while not self._stop.is_set():
            try:
                self._or_lose(work)
                return
            except ReadError as error:
                if not told:
                    _log.warning("linking waits for the database of reviews: %s", error)
                told = str(error)
                self._stop.wait(_PAUSE)

    def _or_lose(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Unreachable:
            self.lose()
            raise

    def close(self) -> None:
        """Stop after the batch that is being linked; what waits is linked after the next start."""
        self._stop.set()
        self._thread.shutdown(cancel_futures=True)
        if self._store is not None:
            self._store.close()
