"""Failures at the command line: a message and an exit code instead of a traceback.

====  ==============================================================================
code  meaning
====  ==============================================================================
0     done
1     the machine got in the way: a full disk, a missing permission, no memory
2     the input, an option or a saved file cannot be used; the message says what to do
3     a folder is done but for some parts, which are set aside with their errors
130   stopped with Ctrl-C
141   the reader of the output has gone (``canonym link … | head``)
143   ended by SIGTERM; 129 by a terminal that was closed
====  ==============================================================================
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping

import click

from canonym.errors import CanonymError
from canonym.regex import regex

_OF_STREAMS = {
    errno.ENOSPC: "standard output: ",
    errno.EBADF: "standard output or input is closed: ",
}
_INTERRUPTED = 130
_READER_GONE = 141
_ARGUMENT = regex(
    r"(?<![\w./\\-])(?P<name>(?:output_)?encoding|overwrite|resume|fold|header(?:_row)?|sheet|skip_incomplete|skip_unknown"
    r"|relations|definitions|device|delimiter|columns|one_row|explain|k)="
    r"(?:'(?P<text>[^']*)'|(?P<word>True|False|\.\.\.|\d+)(?!\.?\w))(?: \(--fold [^)]*\))?"
)
_QUOTED = regex(r"""((?<![\w=])(?:'[^']*'|"[^"]*")(?!\w))""")  # what the user has written
_FORMAT = regex(r"\bformat=(?=[a-z])")
_ANSWERS = {"True": "yes", "False": "no"}
_OTHER_WORDS = {
    "resume=True needs a file in": "resume=True needs a file (-o) in",
    "the same call with": "the same command with",
    "name one with member=...": "unpack the one to read",
    "format=... or `canonym import": "`canonym import",
}
_NO_ENCODING = regex(
    r"(?:save the file as UTF-8, or )?\bpass encoding=(?:'[^']*'|\.\.\.)(?: \(often [^)]*\))?"
)


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


def as_options(message: str, flags: Mapping[str, str]) -> str:
    """Write arguments of Python in a message as options of a command.

    `flags` says how its options are typed before a value.

    >>> as_options("x exists; replace it with overwrite=True", {"--overwrite": "--overwrite "})
    'x exists; replace it with --overwrite'
    """

    def flag(name: str) -> str:
        return f"{'-' if len(name) == 1 else '--'}{name.replace('_', '-')}"

    def option(found: re.Match[str]) -> str:
        name, text, word = found["name"].replace("_", "-"), found["text"], found["word"]
        if typed := flags.get(flag(name)):
            value = text if text is not None else word if word.isdigit() else None
            return typed.strip(" =") if value is None else f"{typed}{value}"
        if word not in _ANSWERS or name == "overwrite":
            return found[0]
        of_import = "" if "--option" in flags else " of `canonym import`"
        return f"--option {name}={_ANSWERS[word]}{of_import}"

    def setting(name: str) -> str:
        if name.startswith("index"):
            return name
        typed = flags.get(flag(name)) or flags.get(flag(name).removesuffix("s")) or name
        return typed.strip(" =")

    for words, instead in _OTHER_WORDS.items():
        message = message.replace(words, instead)
    if "--encoding" not in flags:
        message = _NO_ENCODING.sub("save the file as UTF-8", message)
    head, begun, tail = message.partition(" was begun with another ")
    if begun:
        settings, colon, tail = tail.partition(":")
        settings = ", another ".join(map(setting, settings.split(", another ")))
        message = f"{head}{begun}{settings}{colon}{tail}"
    pieces = _QUOTED.split(message)
    for place in range(0, len(pieces), 2):
        piece = pieces[place]
        piece = _FORMAT.sub(flags["--format"], piece) if "--format" in flags else piece
        pieces[place] = _ARGUMENT.sub(option, piece)
    return "".join(pieces)


@contextlib.contextmanager
def reported(flags: Callable[[], Mapping[str, str]] = dict) -> Iterator[None]:
    """Turn expected errors into messages and exit codes; `flags` are the options of the command."""
    try:
        with _noted(flags):
            yield
    except CanonymError as error:
        hindered = isinstance(error, OSError)
        message = printable(as_options(str(error), flags()))
        raise (Hindered if hindered else Unusable)(message) from error
    except BrokenPipeError:
        _silence_stdout()
        sys.exit(_READER_GONE)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        if not where and error.errno in _OF_STREAMS:  # files have names
            where = _OF_STREAMS[error.errno]
            _silence_stdout()
        raise Hindered(printable(f"{where}{error.strerror or error}")) from error
    except MemoryError as error:
        raise Hindered("the memory is not enough for this") from error
    except KeyboardInterrupt:
        click.echo("\nStopped.", err=True)
        sys.exit(_INTERRUPTED)


@contextlib.contextmanager
def _noted(flags: Callable[[], Mapping[str, str]]) -> Iterator[None]:
    """Print the notes of an error, such as where the work of a stopped run is kept."""
    try:
        yield
    except BaseException as error:
        for text in getattr(error, "__notes__", ()):
            click.echo(as_options(text, flags()), err=True)
        raise


@contextlib.contextmanager
def unwound() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind a command, so that nothing half written stays behind.

    A second signal ends it at once.
    """

    def stop(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    ours = [number for number in numbers if number and signal.getsignal(number) == signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _silence_stdout() -> None:
    # Python flushes standard output again when it ends, and would complain again.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
