"""Work shared between processes: results in order, few items waiting, no process left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
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

MOST = 256
"""Most processes that can be asked for."""

_WAITING = 2  # items given to each process: the one it works on, and the next
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_ENDED = (
    "a worker process ended before its work was done: it was killed, the memory was not enough, or "
    "it could not start (a script that uses workers needs `if __name__ == '__main__':` around its "
    "calls); use fewer workers, or one"
)
_one_starts = threading.Lock()  # the environment and the mask of signals are changed for a moment


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
    waiting: deque[Future[_Result]] = deque()
    try:
        with open_crew(task, workers) as submit:
            for item in items:
                waiting.append(submit(item))
                if len(waiting) >= _WAITING * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except WorkerEnded as error:
        raise ChildProcessError(errno.ECHILD, _ENDED) from error


# --- processes that work --------------------------------------------------------------------------


class WorkerEnded(Exception):
    """A process ended before its work was done; `code` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@contextlib.contextmanager
def open_crew(
    task: Callable[[_Item], _Result], n: int
) -> Iterator[Callable[[_Item], Future[_Result]]]:
    """Yield what gives an item to one of `n` processes, each of which a thread waits for.

    A process starts with its first item, and another takes its place if it ends: then the result is
    a `WorkerEnded`. Processes that still work when the block fails are killed.
    """
    from concurrent.futures import ThreadPoolExecutor
    from queue import LifoQueue

    workers = [Worker(task, n) for _ in range(n)]
    free: LifoQueue[Worker[_Item, _Result]] = LifoQueue()
    for worker in workers:
        free.put(worker)

    def do(item: _Item) -> _Result:
        worker = free.get()
        try:
            return worker.do(item)
        finally:
            free.put(worker)

    threads = ThreadPoolExecutor(n)
    try:
        yield lambda item: threads.submit(do, item)
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.kill()
        raise
    finally:
        threads.shutdown()
        for worker in workers:
            worker.close()


class Worker(Generic[_Item, _Result]):
    """A process that does one item after the other, one of `n`; another follows if it ends."""

    def __init__(self, task: Callable[[_Item], _Result], n: int) -> None:
        self._task, self._n = task, n
        self._process: Any = None
        self._pipe: Any = None
        self._killed = False

    def do(self, item: _Item) -> _Result:
        """Return the result of an item, or raise its error; `WorkerEnded` if the process ends."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send(item)
            result, error = self._pipe.recv()
        except (EOFError, OSError) as gone:
            process = self._process
            self.close()
            raise WorkerEnded(process.exitcode) from gone
        if error is not None:
            raise error
        done: _Result = result
        return done

    def kill(self) -> None:
        """End the process at once, even one that is about to start."""
        self._killed = True  # first: one that starts meanwhile is killed here or there
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """Let the process end, and wait until it has ended."""
        if self._process is not None:
            self._pipe.close()
            self._process.join()
            self._process = None

    def _start(self) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")  # safe beside threads, and the same on every system
        self._pipe, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self._task, theirs), daemon=True)
        with _one_starts, starting(self._n):
            process.start()
        theirs.close()
        self._process = process
        if self._killed:
            process.kill()


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


def _serve(
    task: Callable[[Any], Any], pipe: Connection
) -> None:  # pragma: no cover - in another process
    from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
    from multiprocessing.reduction import ForkingPickler

    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = pipe.recv()
            try:
                outcome = ForkingPickler.dumps((task(item), None))
            except BaseException as error:
                told = ExceptionWithTraceback(error, error.__traceback__)
                outcome = ForkingPickler.dumps((None, told))
            pipe.send_bytes(outcome)


def _end_with_parent() -> None:  # pragma: no cover - in another process
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    assert parent is not None, "this process was started by another"
    wait([parent.sentinel])
    os._exit(1)
