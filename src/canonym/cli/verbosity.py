"""``--quiet`` and ``--verbose``, which every command has, and the log that they control.

The library logs below the name ``canonym``: stages, counts and files as INFO, details as DEBUG.
"""

from __future__ import annotations

import functools
import logging
import sys
import time
from typing import TYPE_CHECKING, TypeVar

import click

from canonym import __version__
from canonym.cli.failures import printable

if TYPE_CHECKING:
    from rich.console import Console

_Command = TypeVar("_Command", bound=click.Command)
_LOG = logging.getLogger(__name__)
_QUIET, _VERBOSE, _HANDLER = "canonym.quiet", "canonym.verbose", "canonym.handler"


def with_verbosity(command: _Command) -> _Command:
    """Add the two options to a command, and to the commands of a group; once is enough."""
    if not any(option.callback is _be_verbose for option in command.params):
        command.params += [
            click.Option(
                ["-q", "--quiet"],
                is_flag=True,
                expose_value=False,
                callback=_be_quiet,
                help="Hide progress, notes and the closing report.",
            ),
            click.Option(
                ["-v", "--verbose"],
                count=True,
                show_default=False,
                expose_value=False,
                callback=_be_verbose,
                help="Log the stages to standard error; -vv logs details too.",
            ),
        ]
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_verbosity(inner)
    return command


def is_quiet() -> bool:
    """Tell whether the running command was given ``--quiet``."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_QUIET))


@functools.cache
def error_console() -> Console:
    """Return the console of standard error; bars and log share it, so that neither tears."""
    from rich.console import Console

    return Console(stderr=True)


def _be_quiet(ctx: click.Context, _option: click.Parameter, value: bool) -> bool:
    quiet = value or bool(ctx.meta.get(_QUIET))  # the option may stand before the command
    if not ctx.resilient_parsing:
        ctx.meta[_QUIET] = quiet
        _follow_log(ctx)
    return quiet


def _be_verbose(ctx: click.Context, _option: click.Parameter, value: int) -> int:
    if not ctx.resilient_parsing:
        ctx.meta[_VERBOSE] = ctx.meta.get(_VERBOSE, 0) + value
        _follow_log(ctx)
        if value:
            _LOG.info("canonym %s runs %s", __version__, ctx.command_path)
    return value


def _follow_log(ctx: click.Context) -> None:
    """Show the log of the library, as much of it as was wanted, until the command ends."""
    logger = logging.getLogger("canonym")
    if _HANDLER in ctx.meta:
        logger.removeHandler(ctx.meta[_HANDLER])
    else:
        ctx.find_root().call_on_close(functools.partial(_stop_log, ctx, time.monotonic()))
    verbose = ctx.meta.get(_VERBOSE, 0)
    ctx.meta[_HANDLER] = _handler(verbose)
    logger.addHandler(ctx.meta[_HANDLER])
    if verbose:
        logger.setLevel(logging.INFO if verbose == 1 else logging.DEBUG)
    else:
        logger.setLevel(logging.ERROR if ctx.meta.get(_QUIET) else logging.WARNING)


def _stop_log(ctx: click.Context, began: float) -> None:
    _LOG.info("Took %.2f s", time.monotonic() - began)
    logger = logging.getLogger("canonym")
    logger.removeHandler(ctx.meta[_HANDLER])
    logger.setLevel(logging.NOTSET)


def _handler(verbose: int) -> logging.Handler:
    if verbose and sys.stderr.isatty():
        from rich.logging import RichHandler

        handler = RichHandler(console=error_console(), show_path=False, log_time_format="%X")
        handler.setFormatter(_Printable("%(name)s: %(message)s"))
        return handler
    lines = _Lines()
    form = "%(asctime)s %(levelname)s %(name)s" if verbose else "%(levelname)s"
    lines.setFormatter(_Printable(f"{form}: %(message)s", datefmt="%H:%M:%S"))
    return lines


class _Printable(logging.Formatter):
    """Escapes what no terminal can show."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class _Lines(logging.Handler):
    """Writes lines to whatever standard error is at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)
