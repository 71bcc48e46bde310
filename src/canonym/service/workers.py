"""Several workers, with a line in the log of their parent for each that is started anew."""

from __future__ import annotations

import logging
import time

from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors import Multiprocess

_log = logging.getLogger(__name__)


class Workers(Multiprocess):
    """Processes that answer, of which each that ends gets another in its place."""

    def keep_subprocess_alive(self) -> None:
        """Start a worker for each that ended, or that is ended because it does not answer."""
        before, limit = list(self.processes), self.config.timeout_worker_healthcheck
        for worker in before:
            worker.child_conn.close()  # so that asking one that dies ends with it, not at the limit
        begin = time.monotonic()
        super().keep_subprocess_alive()
        silent = time.monotonic() - begin >= limit
        for worker, now in zip(before, self.processes, strict=True):
            if now is worker:
                continue
            # Its batches are not open any more.
            mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
            silence = f"was silent for {limit} s, and is killed"
            how = silence if silent else f"ended with {worker.process.exitcode}"
            _log.error("the worker %d %s; the worker %d takes its place", worker.pid, how, now.pid)
