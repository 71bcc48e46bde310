"""What ``canonym link`` does between its options and its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from canonym.cli.inputs import Input, Item
    from canonym.cli.outputs import Linked
    from canonym.linker import Linker
    from canonym.types import Link, Mention

__all__ = ["linked", "read_ids", "say_what_was_done", "warn_of_files"]


def warn_of_files(names: Sequence[str], *, quiet: bool) -> None:
    """Say so where what is looked up as a name is a file."""
    from pathlib import Path

    from canonym.cli.progress import note

    for name in names[:20]:
        if len(name) < 200 and "\0" not in name and "." in name and Path(name).is_file():
            note(
                f"{name} is a file, and was looked up as a name: to link what is in it, use "
                f"--file {name}",
                quiet=quiet,
            )


def read_ids(path: str) -> tuple[str, ...]:
    """Read the ids in a file, one a line; lines with a hash are comments.

    Raises
    ------
    ReadError
        If it holds none.
    """
    from canonym.errors import ReadError
    from canonym.io.streams import open_text

    with open_text(path) as lines:
        ids = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not ids:
        raise ReadError(path, "holds no ids: one id a line is expected")
    return ids


def linked(
    linker: Linker, given: Input, options: dict[str, Any], report: Callable[[int], None]
) -> Linked:
    """Return what links items of the input: documents, or mentions one by one.

    Parameters
    ----------
    linker : Linker
        What links.
    given : Input
        The input.
    options : dict
        Of `canonym.linker.Linker.link_stream`.
    report : callable
        Called with the number of items done.
    """

    def documents(items: Iterator[Any]) -> Iterator[tuple[Item, Sequence[Link]]]:
        for n, answered in enumerate(linker.link_documents(items, **options), start=1):
            yield answered
            report(n)

    def entries(items: Iterator[Any]) -> Iterator[tuple[Item, Sequence[Link]]]:
        from collections import deque

        waiting: deque[Any] = deque()  # as many as the linker takes at once

        def mentions() -> Iterator[Mention]:
            for entry in items:
                waiting.append(entry)
                yield entry.mention

        for n, found in enumerate(linker.link_stream(mentions(), **options), start=1):
            yield waiting.popleft(), (found,)
            report(n)

    return documents if given.documents else entries


def say_what_was_done(n: int, given: Input, output: str | None, *, quiet: bool) -> None:
    """Say how many mentions were linked, and where they are."""
    from canonym.cli.progress import note

    if not n and given.documents:
        note(
            "The documents have no annotated mentions. canonym links mentions, it does not look "
            "for them in text.",
            quiet=quiet,
        )
    if output is not None:
        note(f"{n:,} {'mention is' if n == 1 else 'mentions are'} in {output}.", quiet=quiet)
