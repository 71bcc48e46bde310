"""Several workers, with a line in the log of their parent for each that is started anew."""

from __future__ import annotations

import logging

from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors import Multiprocess

_log = logging.getLogger(__name__)


class Workers(Multiprocess):
    """Processes that answer, of which each that ends gets another in its place."""

    def keep_subprocess_alive(self) -> None:
        """Start a worker for each that ended, or that is ended because it does not answer."""
        limit, silent = self.config.timeout_worker_healthcheck, set()
        before = [] if self.should_exit.is_set() else list(self.processes)
        for worker in before:
            worker.child_conn.close()  # so that asking one that dies ends with it, not at the limit
            if worker.process.is_alive() and not worker.ping(limit):
                worker.process.join(1)  # its pipe ends a moment before it does
                if worker.process.is_alive():
                    silent.add(worker.pid)
                    worker.process.kill()
        super().keep_subprocess_alive()
        for worker, now in zip(before, self.processes, strict=False):
            if now is worker:
                continue
            mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]  # its batches are over
            silence = f"was silent for {limit} s, and is killed"
            how = silence if worker.pid in silent else f"ended with {worker.process.exitcode}"
            _log.error("the worker %d %s; the worker %d takes its place", worker.pid, how, now.pid)
