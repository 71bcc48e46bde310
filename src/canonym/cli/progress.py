"""Notes and progress bars on standard error; ``--quiet`` hides both."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import click

from canonym.cli.verbosity import error_console, is_quiet

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

_LOG = logging.getLogger(__name__)


class Stages(Protocol):
    """Called with the stage, the number done and the total."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


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
def stages(*, unit: str = "names") -> Iterator[Stages]:
    """Show stages one below the other, each with a bar."""
    begun: set[str] = set()
    with _bars(unit) as show:

        def report(stage: str, done: int, total: int) -> None:
            if stage not in begun:
                begun.add(stage)
                _LOG.info("%s: %s %s", stage, f"{total:,}", unit)
            show(stage, done, total)

        yield report


@contextlib.contextmanager
def _bars(unit: str) -> Iterator[Callable[[str, int, int | None], None]]:
    """Yield a function that draws the bar of a stage, or does nothing if nobody watches."""
    if not watched():
        yield lambda _stage, _done, _total: None
        return
    tasks: dict[str, TaskID] = {}
    with _display(unit) as display:

        def show(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = display.add_task(stage, total=total)
            display.update(tasks[stage], completed=done, total=total)

        yield show


def _display(unit: str) -> Progress:
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
            speed = task.finished_speed or task.speed
            of = "" if task.total is None else f" of {task.total:,.0f}"
            rate = "" if speed is None else f", {speed:,.0f}/s"
            return Text(f"{task.completed:,.0f}{of} {unit}{rate}")

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
