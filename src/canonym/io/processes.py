"""Work shared between processes: results in order, few items waiting, no process left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from numbers import Integral
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from canonym.errors import InvalidInput
from canonym.io.files import n_cores

if TYPE_CHECKING:
    from concurrent.futures import Future
    from multiprocessing.connection import Connection

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_Task = Callable[[_Item], _Result]

MOST = 256
"""Most processes that can be asked for."""

_PATIENCE = 1.0  # seconds between looks at the processes
_WAITING = 2  # items given to each process: the one it works on, and the next
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_ENDED = (
    "a worker process ended before its work was done: it was killed, the memory was not enough, or "
    "it could not start (a script that uses workers needs `if __name__ == '__main__':` around its "
    "calls); use fewer workers, or one"
)


def check_workers(workers: int) -> int:
    """Return the number of processes to use; 0 stands for one per core."""
    whole = isinstance(workers, Integral) and not isinstance(workers, bool)
    if not whole or not 0 <= workers <= MOST:
        raise InvalidInput(
            f"workers is {workers!r}; expected a number of processes, at most {MOST}, or 0 for one "
            "per core"
        )
    return int(workers) or n_cores()


def ordered_map(
    task: Callable[[_Item], _Result], items: Iterable[_Item], *, workers: int
) -> Iterator[_Result]:
    """Yield ``task(item)`` of each item, in order, from that many processes.

    Errors come after the results of all items before them, as from one process. What follows an
    item that is being worked on is read ahead, `_WAITING` items for each process. `task` is
    pickled; one process, or a single item, needs no other process.

    Raises `ChildProcessError` if a process is killed.
    """
    failures: list[Exception] = []
    sound = _until_failure(items, failures)
    first = list(islice(sound, 2 if workers > 1 else 0))
    every = chain(first, sound)
    yield from _in_processes(task, every, workers) if len(first) > 1 else map(task, every)
    if failures:
        raise failures[0]


class Reopened(Generic[_Item]):
    """An object that another process opens again, when it first needs it, as pickling would."""

    _opening: Any

    def __init__(self, value: _Item) -> None:
        self.value = value

    def __getstate__(self) -> dict[str, Any]:
        return {"_opening": self.value.__reduce__()}

    @cached_property
    def value(self) -> _Item:
        """The object, opened in this process."""
        opened, arguments = self._opening
        value: _Item = opened(*arguments)
        return value


def _until_failure(items: Iterable[_Item], failures: list[Exception]) -> Iterator[_Item]:
    try:
        yield from items
    except Exception as error:
        failures.append(error)


def _in_processes(
    task: Callable[[_Item], _Result], items: Iterable[_Item], workers: int
) -> Iterator[_Result]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    context = get_context("spawn")  # safe beside threads, and the same on every system
    ours, lifeline = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _begin, (task, ours))
    waiting: deque[Future[_Result]] = deque()
    try:
        for item in items:
            with starting(workers):
                waiting.append(pool.submit(_work, item))
            if len(waiting) >= _WAITING * workers:
                yield _result(waiting.popleft(), pool)
        while waiting:
            yield _result(waiting.popleft(), pool)
        pool.shutdown()
    except BrokenProcessPool as error:
        raise ChildProcessError(errno.ECHILD, _ENDED) from error
    finally:
        lifeline.close()  # ends those that still work
        _close_pipes(pool)
        pool.shutdown(cancel_futures=True)
        ours.close()


def _result(future: Future[_Result], pool: Any) -> _Result:
    """Wait for a result; a process that was killed in the middle of one is found out here.

    The pool sees that a process has ended, but not while it reads half a result of it.
    """
    from concurrent.futures.process import BrokenProcessPool

    ended = False
    while True:
        try:
            return future.result(timeout=_PATIENCE)
        except TimeoutError:
            if future.done():  # just now, or the task raised it
                return future.result()
        if ended:  # since the time before, in which the pool would have seen it
            raise BrokenProcessPool
        processes = dict(getattr(pool, "_processes", None) or {})
        ended = any(process.exitcode is not None for process in processes.values())


def _close_pipes(pool: Any) -> None:
    """Let go of the ends of the pipes that the processes have, as nobody needs them any more.

    A process that ends in the middle of a result leaves half of it, and the pool would wait for the
    other half for ever. It sees the end of the pipe once nobody holds that open. Before Python
    3.11.5 it waits as well to send a task that no process is left to read; since then a thread of
    the pool closes that pipe, and whoever closes second would close another file of the number.
    """
    ends = [getattr(getattr(pool, "_result_queue", None), "_writer", None)]
    if sys.version_info < (3, 11, 5):
        ends.append(getattr(getattr(pool, "_call_queue", None), "_reader", None))
    for end in filter(None, ends):  # there is none once the pool is shut down
        with contextlib.suppress(OSError):
            end.close()


@contextlib.contextmanager
def starting(workers: int) -> Iterator[None]:
    """Let processes that start meanwhile share the cores, and leave Ctrl-C to this one."""
    share = str(max(n_cores() // workers, 1))
    unset = [name for name in _THREADS if name not in os.environ]
    masks = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else None
    os.environ.update(dict.fromkeys(unset, share))
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in a process that works ----------------------------------------------------------------------

_task: Any = None


def _begin(task: _Task[Any, Any], lifeline: Connection) -> None:  # pragma: no cover - elsewhere
    global _task
    _task = task
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:  # pragma: no cover - elsewhere
    """End this process as soon as the one that started it closes the pipe, or ends itself."""
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


def _work(item: Any) -> Any:  # pragma: no cover - elsewhere
    return _task(item)
