"""The store of an application, and the thread that links its reviews in the background."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from canonym.errors import CanonymError
from canonym.review.database import default_place
from canonym.review.proposals import link_waiting
from canonym.review.store import Store
from canonym.service.served import Served

_log = logging.getLogger(__name__)


class Reviews:
    """Reviews in a database that is opened when it is needed first; `place` is empty for a default.

    Reviews are linked one after the other, in one thread.
    """

    def __init__(self, place: str, served: dict[str, Served]) -> None:
        self._place = place or default_place()
        self._served = served
        self._lock = threading.Lock()
        self._store: Store | None = None
        self._stop = threading.Event()
        self._running: set[int] = set()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="review")

    @property
    def store(self) -> Store:
        """The store."""
        with self._lock:
            if self._store is None:
                self._store = Store(self._place)
            return self._store

    def resume(self, *, named: bool) -> None:
        """Go on with what an earlier process began, where there is a database already.

        A database that was `named` is opened in any case, so that a mistake is found at once.
        """
        if not named and not Path(self._place).exists():
            return
        for review in self.store.reviews():
            if review.terminology in self._served and self.store.waiting(review.id, 1):
                self.link(review.id)

    def link(self, review_id: int) -> None:
        """Link what waits in a review, soon; once, however often it is asked for."""
        with self._lock:
            if review_id in self._running:
                return
            self._running.add(review_id)
        self._thread.submit(self._link, review_id)

    def _link(self, review_id: int) -> None:
        store = self.store
        try:
            served = self._served[store.review(review_id).terminology]
            link_waiting(
                store,
                review_id,
                lambda work: served.use(lambda opened: work(opened.linker)),
                self._stop.is_set,
            )
        except Exception as error:
            _log.exception("the review %d cannot be linked", review_id)
            told = str(error) if isinstance(error, CanonymError) else "the log says why"
            store.fail(review_id, told)
            self._running.discard(review_id)
            return
        self._running.discard(review_id)
        # It may have been asked for again when nothing waited any more.
        if not self._stop.is_set() and store.waiting(review_id, 1):
            self.link(review_id)

    def close(self) -> None:
        """Stop after the batch that is being linked; what waits is linked after the next start."""
        self._stop.set()
        self._thread.shutdown(cancel_futures=True)
        if self._store is not None:
            self._store.close()
