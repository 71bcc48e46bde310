"""Notes and progress on standard error; ``--quiet`` hides both.

A terminal gets bars. Elsewhere a plain line tells every 30 seconds how far a command is.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import click

from canonym.cli.verbosity import error_console, is_quiet

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

_LOG = logging.getLogger(__name__)
_EVERY = 30.0  # seconds between two lines
_LAST = "canonym: last line of progress"


class Stages(Protocol):
    """Called with the stage, the number done and the total, None if it is not known."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


def watched() -> bool:
    """Tell whether to show progress: standard error is a terminal and --quiet is not given."""
    return sys.stderr.isatty() and not is_quiet()


def note(text: str) -> None:
    """Print a remark, which is no result, to standard error."""
    if not is_quiet():
        click.echo(text, err=True)


@contextlib.contextmanager
def counter(what: str, *, unit: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show how many of something are done: "Linking: 7 of 12 mentions".

    Yields a function that takes the number done so far.
    """
    counted = 0
    with _bars(unit) as show:
        show(what, 0, total)

        def report(done: int) -> None:
            nonlocal counted
            counted = done
            show(what, done, total)

        yield report
    _LOG.info("%s: %s %s", what, f"{counted:,}", unit)


@contextlib.contextmanager
def stages(*, unit: str | Mapping[str, str] = "names") -> Iterator[Stages]:
    """Show stages one below the other, each with a bar; they may differ in their units."""
    begun: set[str] = set()
    with _bars(unit) as show:

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in begun:
                begun.add(stage)
                named = _unit_of(unit, stage)
                of = f": {total:,} {named}" if named and total is not None else ""
                _LOG.info("%s%s", stage, of)
            show(stage, done, total)

        yield report


@contextlib.contextmanager
def activity(what: str) -> Iterator[None]:
    """Show that something is done, of which nothing can be counted: "Sampling"."""
    with _bars("") as show:
        show(what, 0, None)
        yield


def _unit_of(unit: str | Mapping[str, str], stage: str) -> str:
    return unit if isinstance(unit, str) else unit.get(stage, "")


class Lines:
    """Tells every 30 seconds how far a command is; `clock` counts seconds.

    Lines come even while nothing is reported. Several lines of one command share `told`, the time
    of the last one: short stages in a row are no long silence.
    """

    def __init__(
        self,
        unit: str | Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        told: dict[str, float] | None = None,
    ) -> None:
        self._unit, self._clock = unit, clock
        self._began = clock()
        self._told = {} if told is None else told
        self._told.setdefault(_LAST, self._began)
        self._state: tuple[str, int, int | None] = ("Working", 0, None)
        self._ended = threading.Event()

    def show(self, stage: str, done: int, total: int | None) -> None:
        """Remember how far a stage is."""
        self._state = stage, done, total

    def beat(self) -> None:
        """Print a line if one is due."""
        now = self._clock()
        if now - self._told[_LAST] < _EVERY:
            return
        self._told[_LAST] = now
        stage, done, total = self._state
        of = "" if total is None else f" of {total:,}"
        unit = _unit_of(self._unit, stage)
        count = f"{done:,}{of} {unit}, " if unit and (done or total) else ""
        click.echo(f"{stage}: {count}{now - self._began:,.0f} s", err=True)

    def start(self) -> None:
        """Begin to print."""
        self._ended = threading.Event()
        threading.Thread(target=self._run, args=(self._ended,), daemon=True).start()

    def stop(self) -> None:
        """Print no more."""
        self._ended.set()

    def _run(self, ended: threading.Event) -> None:
        while not ended.wait(_EVERY / 30):
            self.beat()


_open: list[Lines | Progress] = []  # what is shown; the last one alone is drawn


@contextlib.contextmanager
def _drawn(shown: Lines | Progress) -> Iterator[None]:
    """Draw one display, and meanwhile none that is open already."""
    if _open:
        _open[-1].stop()
    _open.append(shown)
    shown.start()
    try:
        yield
    finally:
        _open.pop().stop()
        if _open:
            _open[-1].start()


@contextlib.contextmanager
def _bars(unit: str | Mapping[str, str]) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that shows how far a stage is: as a bar, in lines, or not at all."""
    if is_quiet():
        yield lambda _stage, _done, _total: None
        return
    if not sys.stderr.isatty():
        command = click.get_current_context(silent=True)
        lines = Lines(unit, told=command.meta if command else None)
        with _drawn(lines):
            yield lines.show
        return
    tasks: dict[str, TaskID] = {}
    display = _display(unit)
    with _drawn(display):

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                for task in display.tasks:
                    if task.total is None:  # it is over, for another begins
                        display.update(task.id, completed=1, total=1)
                tasks[stage] = display.add_task(stage, total=total)
            display.update(tasks[stage], completed=done, total=total)

        yield show


def _display(unit: str | Mapping[str, str]) -> Progress:
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            named = _unit_of(unit, task.description)
            if not named:
                return Text("")
            speed = task.finished_speed or task.speed
            of = "" if task.total is None else f" of {task.total:,.0f}"
            rate = "" if speed is None else f", {speed:,.0f}/s"
            return Text(f"{task.completed:,.0f}{of} {named}{rate}")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=error_console(),
        transient=True,
    )
