"""Failures at the command line: a message and an exit code instead of a traceback.

====  ==============================================================================
code  meaning
====  ==============================================================================
0     done
1     the machine got in the way: a full disk, a missing permission, no memory
2     the input, an option or a saved file cannot be used; the message says what to do
130   stopped with Ctrl-C
141   the reader of the output has gone (``canonym link … | head``)
====  ==============================================================================
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

import click

from canonym.errors import CanonymError

_INTERRUPTED = 130
_READER_GONE = 141


class Unusable(click.ClickException):
    """The input, an option or a saved file cannot be used."""

    exit_code = 2


class Hindered(click.ClickException):
    """The machine got in the way."""

    exit_code = 1


def printable(text: str) -> str:
    """Escape lone surrogates and control characters, which no terminal can show."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )


@contextlib.contextmanager
def reported() -> Iterator[None]:
    """Turn expected errors into messages and exit codes."""
    try:
        yield
    except CanonymError as error:
        hindered = isinstance(error, OSError)
        raise (Hindered if hindered else Unusable)(printable(str(error))) from error
    except BrokenPipeError:
        _silence_stdout()
        sys.exit(_READER_GONE)
    except OSError as error:
        full = "standard output: " if error.errno == errno.ENOSPC else ""  # files have names
        where = f"{error.filename}: " if error.filename else full
        raise Hindered(printable(f"{where}{error.strerror or error}")) from error
    except MemoryError as error:
        raise Hindered("the memory is not enough for this") from error
    except KeyboardInterrupt:
        click.echo("\nStopped.", err=True)
        sys.exit(_INTERRUPTED)


def _silence_stdout() -> None:
    # Python flushes standard output again when it ends, and would complain again.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
