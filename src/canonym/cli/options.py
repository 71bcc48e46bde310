"""Options that commands share, and options of readers, turned from text into values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from canonym.cli.annotated import FORMATS, joined, no_reader
from canonym.cli.key_options import KeyOption, note_at_end, pairs_option, superseded_option
from canonym.errors import InvalidInput
from canonym.io.processes import MOST
from canonym.io.sizes import parse_size

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
"""Adds options to a command."""

_YES = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}


class Number(click.FloatRange):
    """A finite number in a range; NaN is in every range of click."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or refuse it with the words of click."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number that can be used.", param, ctx)
        return number


class Size(click.ParamType[int]):
    """A size such as 4GB, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        try:
            return parse_size(value)
        except InvalidInput as error:
            self.fail(f"{error}.", param, ctx)


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options and arguments of click to a command, in this order."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def several(*names: str, help: str, **settings: Any) -> Decorator:
    """Return an option that can be repeated, as its help says."""
    return click.option(*names, multiple=True, help=f"{help} Can be repeated.", **settings)


index_option: Decorator = with_options(
    click.option(
        "-i",
        "--index",
        type=click.Path(),
        help="A folder made by `canonym index`, a name that `canonym info` lists, or a "
        "terminology, indexed for this run.  [default: ICD-10-CM]",
    ),
    superseded_option("--no-everyday", "type --index icd10cm-official", is_flag=True),
)


def _encoding(**settings: Any) -> Decorator:
    return click.option(
        "--encoding", metavar="NAME", help="Encoding of the file.  [default: found]", **settings
    )


encoding_option: Decorator = _encoding()
built_index_option: Decorator = click.option(
    "-i",
    "--index",
    type=click.Path(),
    required=True,
    help="A folder made by `canonym index`, or a name that `canonym info` lists.",
)
overwrite_option: Decorator = click.option(
    "--overwrite", is_flag=True, help="Replace the output if it exists."
)
workers_option: Decorator = click.option(
    "--workers",
    type=click.IntRange(0, MOST),
    metavar="N",
    default=1,
    help="Link in N processes, 0 for one per core.",
)
prefer_option: Decorator = several(
    "--prefer",
    metavar="WHAT",
    help="Put concepts of this type, source, prefix of ids (MESH:) or species first.",
)


separator_option: Decorator = click.option(
    "--separator",
    metavar="TEXT",
    # Not every shell lets a tab or a line end be typed.
    callback=lambda _ctx, _option, text: text and text.replace("\\t", "\t").replace("\\n", "\n"),
    help="Cut each cell into names here, such as at ';' or '\\n'.  [default: where a list shows]",
)
columns_option: Decorator = click.option(
    "--columns",
    metavar="NAME,...",
    callback=lambda _ctx, _option, names: (
        None if names is None else [name.strip() for name in names.split(",")]
    ),
    help="Columns of the result, such as id,code,label,score, or all, in tables.  [default: what "
    "most people need with --column, else all]",
)


def encoder_option(help: str, name: str = "encoders") -> Decorator:
    """Return the option that names encoders."""
    return click.option("-e", "--encoder", name, multiple=True, metavar="SPEC", help=help)


sheet_option: Decorator = click.option(
    "--sheet", metavar="NAME", help="Sheet of a workbook.  [default: the first visible]"
)


def _header_row(**settings: Any) -> Decorator:
    return click.option(
        "--header-row",
        type=click.IntRange(1),
        metavar="N",
        help="Row that names the columns.  [default: found]",
        **settings,
    )


sheet_options: Decorator = with_options(sheet_option, _header_row())
_INPUT = "--input-option"
_OF_INPUT: dict[str, Any] = {"cls": KeyOption, "of": _INPUT}
input_options: Decorator = with_options(
    sheet_option,
    pairs_option(_INPUT, "How the file is read"),
    click.option(
        "--delimiter", metavar="CHAR", help="Separator of cells.  [default: found]", **_OF_INPUT
    ),
    _encoding(**_OF_INPUT),
    _header_row(**_OF_INPUT),
)
"""How a file is read, for `canonym.cli.key_options.KeyCommand`."""
choice_options: Decorator = with_options(
    several("--type", "types", metavar="TYPE", help="Concepts of this type."),
    several("--source", "sources", metavar="SOURCE", help="Concepts of this source."),
    several("--language", "languages", metavar="TAG", help="Names in this language."),
    click.option(
        "--ids", type=click.Path(), metavar="FILE", help="Concepts in this file, one id a line."
    ),
    prefer_option,
    superseded_option(
        "--min-score", "--min-confidence says what is good enough", type=Number(0, 1)
    ),
    click.option(
        "--min-confidence",
        type=Number(0, 1),
        help="A smaller probability of being right is NIL: 0.9 keeps what is sure, 0 everything.  "
        "[default: 0.15]",
    ),
    click.option(
        "--context/--no-context",
        default=True,
        help="Let the text around a mention choose between concepts of the same name.",
    ),
    superseded_option(
        "--seed",
        "ties are broken by trust and id; in Python, link(seed=…) breaks them at random",
        type=click.IntRange(min=0),
    ),
)
"""What may be found, and what is good enough."""
negated_option: Decorator = click.option(
    "--keep-negated",
    is_flag=True,
    help="Link negated mentions (no fever) as well, with the status negated.",
)


second_look_option: Decorator = click.option(
    "--second-look",
    metavar="WHO",
    help="Who chooses where a link is unsure: contextual, a cross-encoder (a folder or "
    "hf:OWNER/MODEL) or a language model (MODEL@http://HOST/v1).",
)


class CorpusFormat(click.Choice):  # type: ignore[type-arg]  # not generic in click 8.1
    """A format of annotated text: one of those given, or one that another package reads."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the format; refuse one without a reader."""
        if value not in self.choices and value not in joined():
            self.fail(no_reader(value, self.choices), param, ctx)
        return value


corpus_format_option: Decorator = click.option(
    "--format",
    "format_",
    type=CorpusFormat(FORMATS),
    help="Format of the annotated corpora; recognised when left out.",
)


def mention_type_option(
    name: str = "types", help: str = "Annotated mentions of this type."
) -> Decorator:
    """Return the option that chooses annotated mentions by type."""
    return several("--mention-type", name, metavar="TYPE", help=help)


def retired_option(name: str, says: str, *, flag: bool = False) -> Decorator:
    """Return an option that is taken and has no effect, for scripts of before: a note says so."""

    def tell(ctx: click.Context, _option: click.Parameter, value: object) -> None:
        if value is not None:
            note_at_end(ctx, f"{name} has no effect any more: {says}.")

    kind = {"is_flag": True, "flag_value": "yes"} if flag else {"multiple": False}
    return click.option(name, hidden=True, expose_value=False, callback=tell, default=None, **kind)


order_retired: Decorator = retired_option("--order", "the most similar name comes first")
"""The order of candidates, of which there were three."""


def keyword_options(
    known: Mapping[str, inspect.Parameter],
    flags: Mapping[str, str | None],
    extra: Sequence[str],
    *,
    format: str,
) -> dict[str, Any]:
    """Turn flags and ``KEY=VALUE`` pairs into keyword arguments of the reader of a format.

    The annotations of its parameters, `known`, tell what they take; a flag that is None was not
    given. Raises `InvalidInput` for an unknown option and for a value of the wrong kind.
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
    # Not every shell lets a tab be typed.
    return value.replace("\\t", "\t") if name in {"delimiter", "separator"} else value
