"""Commands run in this process, or at a terminal."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.testing import CliRunner, Result

from canonym.cli import main


def run(*arguments: str | Path, input: str | bytes | None = None, code: int = 0) -> Result:
    """Run a command; failures are messages, and anything else that is raised is a bug."""
    result = CliRunner().invoke(main, list(map(str, arguments)), input=input)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def link(*arguments: str | Path, input: str | bytes | None = None, code: int = 0) -> Result:
    """Run ``canonym link``."""
    return run("link", *arguments, input=input, code=code)


def rows(text: str, delimiter: str = "\t") -> list[dict[str, str]]:
    """Read a table with a header."""
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands and subcommands by the words that call them."""
    waiting: list[tuple[str, click.Command]] = [("canonym", main)]
    for words, one in waiting:
        yield words, one
        if isinstance(one, click.Group):
            ctx = click.Context(one)
            for name in one.list_commands(ctx):
                inner = one.get_command(ctx, name)
                assert inner is not None
                waiting.append((f"{words} {name}", inner))


def command(*arguments: str) -> list[str]:
    """Return the command line that runs canonym in a process."""
    return [sys.executable, "-m", "canonym", *arguments]


def in_terminal(arguments: list[str], *, columns: int = 100) -> str:
    """Run a command whose output and errors are a terminal; return what it shows."""
    import fcntl
    import pty
    import struct
    import termios

    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns)}
    process = subprocess.Popen(
        arguments, stdin=inner, stdout=inner, stderr=inner, env=environment, close_fds=True
    )
    os.close(inner)
    shown = b""
    while True:
        try:
            block = os.read(outer, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(outer)
    process.wait()
    return shown.decode()
