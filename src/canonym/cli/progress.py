"""Progress on standard error: a bar with rate and time left, where somebody is watching."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

__all__ = ["Stages", "counter", "note", "stages", "watched"]


class Stages(Protocol):
    """Called with the stage, the number done and the total."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def watched(quiet: bool) -> bool:
    """Tell whether progress is to be shown: standard error is a terminal and nobody said no."""
    return not quiet and sys.stderr.isatty()


def note(text: str, *, quiet: bool = False) -> None:
    """Say something on standard error that is no result, unless `quiet`."""
    import click

    if not quiet:
        click.echo(text, err=True)


@contextlib.contextmanager
def counter(
    what: str, *, unit: str, total: int | None = None, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show how many things are done.

    Parameters
    ----------
    what : str
        What is being done ("Linking").
    unit : str
        What is counted ("mentions").
    total : int, optional
        How many there are, where that is known.
    quiet : bool
        Show nothing.

    Yields
    ------
    callable
        To be called with the number done so far.
    """
    if not watched(quiet):
        yield lambda _done: None
        return
    with _bar(unit) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextlib.contextmanager
def stages(*, unit: str = "names", quiet: bool = False) -> Iterator[Stages]:
    """Show stages one below the other, each with its own bar.

    Yields
    ------
    callable
        To be called with the stage, the number done and the total.
    """
    if not watched(quiet):
        yield lambda stage, done, total: None  # noqa: ARG005
        return
    tasks: dict[str, Any] = {}
    with _bar(unit) as bar:

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield report


def _bar(unit: str) -> Any:
    from rich.console import Console
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
        def render(self, task: Any) -> Text:
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
        console=Console(stderr=True),
        transient=True,
    )
