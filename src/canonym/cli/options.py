"""Options that commands share, and those of a reader, turned from text into what it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from canonym.errors import InvalidInput

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
"""Adds options to a command."""

_YES = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


def _replaced(ctx: click.Context, option: click.Parameter, given: str | None) -> None:  # noqa: ARG001
    if given is not None:
        order = {"default": "fitted", "collective": "marginal"}.get(given, given)
        raise click.UsageError(f"--reranker {given} is --order {order} now")


replaced_order_option = click.option(
    "--reranker", hidden=True, expose_value=False, callback=_replaced
)
"""The old name of ``--order``, with a message that says the new one."""


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options and arguments of click to a command, in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def keyword_options(
    known: Mapping[str, inspect.Parameter],
    flags: Mapping[str, str | None],
    extra: Sequence[str],
    *,
    format: str,
) -> dict[str, Any]:
    """Turn flags and ``KEY=VALUE`` pairs into keyword arguments of a reader.

    Parameters
    ----------
    known : mapping of str to Parameter
        The options there are; their annotations say what they take.
    flags : mapping of str to str or None
        Options by name; None is not given.
    extra : sequence of str
        Further options, ``KEY=VALUE`` each.
    format : str
        Name of the format, for messages.

    Returns
    -------
    dict
        The keyword arguments.

    Raises
    ------
    InvalidInput
        If the reader has no such option, or a value is none it takes.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    for pair in extra:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidInput(f"--option {pair}: KEY=VALUE is expected")
        given[key.strip().replace("-", "_")] = value
    options = {}
    for name, value in given.items():
        if name not in known:
            raise InvalidInput(
                f"the format {format!r} has no option {name.replace('_', '-')!r}; it has "
                f"{', '.join(sorted(known)).replace('_', '-') or 'none'}"
            )
        options[name] = _converted(name, value, str(known[name].annotation))
    return options


def _converted(name: str, value: str, annotation: str) -> Any:
    word = value.strip().lower()
    if "None" in annotation and word == "none":
        return None
    if "bool" in annotation and word in _YES:
        return _YES[word]
    if any(kind in annotation for kind in ("Collection", "Sequence", "Iterable")):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if "Mapping" in annotation:
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        return {key.strip(): mapped.strip() for key, _, mapped in pairs}
    if "bool" in annotation:
        raise InvalidInput(f"{name.replace('_', '-')} is {value!r}; yes or no is expected")
    if annotation.startswith("int"):
        try:
            return int(value)
        except ValueError as error:
            raise InvalidInput(
                f"{name.replace('_', '-')} is {value!r}; a whole number is expected"
            ) from error
    # Tabs cannot be typed into every shell.
    return value.replace("\\t", "\t") if name in {"delimiter", "separator"} else value
