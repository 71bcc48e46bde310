"""Flags of the command line, made from the options of training."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import CorpusFormat, Number
from canonym.training.option_notes import Option


class TrainingCommand(click.Command):
    """A command that makes its options on first use: they import NumPy, which `--help` of others
    does not need. They stand at position `at` of its parameters.
    """

    def __init__(
        self, *given: Any, make: Callable[[], Iterable[click.Option]], at: int = 0, **settings: Any
    ) -> None:
        super().__init__(*given, **settings)
        self._make: Callable[[], Iterable[click.Option]] | None = make
        self._at = at

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters with the options."""
        if self._make is not None:
            self.params[self._at : self._at] = self._make()
            self._make = None
        return super().get_params(ctx)


def click_option(option: Option) -> click.Option:
    """Return the flag of an option."""
    flags = option.flags or ("--" + option.name.replace("_", "-"),)
    settings: dict[str, Any] = {"help": option.help or None, "required": option.required}
    if option.kind is bool:
        settings["is_flag"] = True
    else:
        shown = not (option.several or option.required or option.default is None)
        settings |= {
            "type": _click_type(option),
            "metavar": option.metavar,
            "multiple": option.several,
            "show_default": (option.shown or True) if shown else False,
        }
        if not (option.several or option.required):
            settings["default"] = option.default
        if option.unset and option.default is None:
            settings["help"] = f"{option.help}  [default: {option.unset}]"
    return click.Option((*flags, option.name), **settings)


def _click_type(option: Option) -> Any:
    if option.name == "format":
        return CorpusFormat(FORMATS)
    if option.choices:
        return click.Choice(option.choices)
    if option.metavar in {"FILE", "FOLDER", "PATH"}:
        return click.Path()
    if option.kind is str:
        return click.STRING
    low, high = option.least, option.most
    if option.kind is int:
        return click.IntRange(
            None if low is None else int(low), None if high is None else int(high)
        )
    if option.above is None and option.below is None and low is high is None:
        return click.FLOAT
    return Number(
        low if option.above is None else option.above,
        high if option.below is None else option.below,
        min_open=option.above is not None,
        max_open=option.below is not None,
    )
