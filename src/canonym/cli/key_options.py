"""Options of one format, given as ``--format-option KEY=VALUE``, which keeps ``--help`` short."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import click


class KeyOption(click.Option):
    """An option that is typed as a pair: a key behind the flag `of`, such as ``license=URI``.

    The flag of its own, such as ``--license``, is that of an earlier version. It is taken with a
    note, and not shown.
    """

    def __init__(self, flags: tuple[str, ...], *, of: str, key: str = "", **settings: Any) -> None:
        super().__init__(flags, hidden=True, **settings)
        self.of = of
        self.key = key or self.opts[0].removeprefix("--")


class KeyCommand(click.Command):
    """A command with options of which some are pairs, see `KeyOption`; its help lists them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; put the values of pairs where those of flags would be."""
        rest = super().parse_args(ctx, args)
        for flag, keyed in self._keyed().items():
            for option in keyed.values():
                if is_typed(option.name, ctx):
                    instead = f"{typed_as(option)}{option.metavar}"
                    note_at_end(ctx, f"{option.opts[0]} is {instead} now.")
            texts: dict[str, list[str]] = {}
            for pair in ctx.params.pop(flag.removeprefix("--").replace("-", "_")):
                key, text = _split(pair, flag, keyed, ctx)
                texts.setdefault(key, []).append(text)
            for key, values in texts.items():
                option = keyed[key]
                try:
                    value = option.process_value(ctx, values if option.multiple else values[-1])
                except click.BadParameter as error:
                    error.param_hint = f"{flag} {key}"
                    raise
                ctx.params[str(option.name)] = value
                ctx.set_parameter_source(str(option.name), click.core.ParameterSource.COMMANDLINE)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and below them the keys of their pairs."""
        super().format_options(ctx, formatter)
        for flag, keyed in self._keyed().items():
            with formatter.section(f"Keys of {flag}"):
                rows = [(f"{key}=", option.help or "") for key, option in keyed.items()]
                formatter.write_dl(rows)

    def _keyed(self) -> dict[str, dict[str, KeyOption]]:
        keyed: dict[str, dict[str, KeyOption]] = {}
        for option in self.params:
            if isinstance(option, KeyOption):
                keyed.setdefault(option.of, {})[option.key] = option
        return keyed


def pairs_option(flag: str, help: str) -> Callable[..., Any]:
    """Return the option whose values are pairs."""
    help = f"{help}, see below. Can be repeated."
    return click.option(flag, multiple=True, metavar="KEY=VALUE", help=help)


def superseded_option(flag: str, instead: str, **settings: Any) -> Callable[..., Any]:
    """Return an option that still works and is not shown: a note says what to type instead."""

    def tell(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
        if is_typed(option.name, ctx):
            note_at_end(ctx, f"{flag} goes with the next release: {instead}.")
        return value

    return click.option(flag, hidden=True, callback=tell, **settings)


def typed_as(option: click.Parameter) -> str:
    """Return how an option is typed before its value."""
    if isinstance(option, KeyOption):
        return f"{option.of} {option.key}="
    if isinstance(option, click.Argument):
        return option.human_readable_name
    names = [name for name in option.opts if name.startswith("--")] or option.opts
    return f"{names[0]} "


def is_typed(parameter: str | None, ctx: click.Context) -> bool:
    """Tell whether a parameter is on the command line, not by default or from a variable."""
    return ctx.get_parameter_source(parameter or "") is click.core.ParameterSource.COMMANDLINE


def note_at_end(ctx: click.Context, text: str) -> None:
    """Remark on something when the command ends, when it is known whether notes are wanted."""
    from canonym.cli.progress import note

    ctx.call_on_close(lambda: note(text))


def _split(
    pair: str, flag: str, keyed: dict[str, KeyOption], ctx: click.Context
) -> tuple[str, str]:
    key, equals, text = pair.partition("=")
    name = key.strip().replace("_", "-")
    if not equals or not name:
        raise click.UsageError(f"{flag} {pair}: KEY=VALUE is expected", ctx)
    if name not in keyed:
        near = get_close_matches(name, keyed, n=1)
        meant = f"did you mean {near[0]}? There are " if near else "there are "
        raise click.UsageError(f"{flag} {name}: {meant}{', '.join(keyed)}", ctx)
    return name, text
