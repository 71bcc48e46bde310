"""Links for other programs: the options of formats, SSSOM, Usagi, OMOP and FHIR among them."""

from __future__ import annotations

import datetime
import os
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import click

from canonym.cli.key_options import KeyOption, pairs_option
from canonym.cli.options import Decorator, with_options
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from canonym.exchange.writers import Choices
    from canonym.export import LinkWriter
    from canonym.linker import Linker

MAPPING_FORMATS = ("sssom", "usagi", "omop", "fhir")
"""Formats in which a text and its concept are a mapping."""

LINK_FORMATS = (
    *("table", "tsv", "csv", "jsonl", "parquet", "xlsx", "pubtator", "bioc"),
    *MAPPING_FORMATS,
)

# The formats that each option is for.
_GOES_WITH = {
    "mapping_set_id": ("sssom", "fhir"),
    "license": ("sssom",),
    "date": MAPPING_FORMATS,
    "code_column": ("usagi", "omop", "fhir"),
    "frequency_column": ("usagi",),
    "source_vocabulary": ("omop",),
    "domains": ("omop",),
    "fhir_version": ("fhir",),
}


_FORMAT = "--format-option"
_format_option = partial(click.option, cls=KeyOption, of=_FORMAT)


def _key_of(name: str) -> str:
    return name.removesuffix("s").replace("_", "-")


def _flag_of(name: str) -> str:
    return f"{_FORMAT} {_key_of(name)}"


def _mapping_option(name: str, metavar: str, help: str, **settings: Any) -> Decorator:
    """Return an option of formats of mappings; its help begins with those that it is for."""
    help = f"{', '.join(_GOES_WITH[name])}: {help}"
    return _format_option(f"--{_key_of(name)}", name, metavar=metavar, help=help, **settings)


_DAY, _VERSION = click.DateTime(["%Y-%m-%d"]), click.Choice(["R4", "R5"])
mapping_set_options = with_options(
    pairs_option(_FORMAT, "How the result is written"),
    _mapping_option("mapping_set_id", "URI", "address of the mapping set."),
    _mapping_option("license", "URI", "address of their licence."),
    _mapping_option("date", "DAY", "their day, such as 2024-12-31.", type=_DAY),
)
exchange_options = with_options(
    mapping_set_options,
    _mapping_option("code_column", "NAME", "column with the code."),
    _mapping_option("frequency_column", "NAME", "column that says how often."),
    _mapping_option("source_vocabulary", "ID", "source_vocabulary_id."),
    _mapping_option("domains", "DOMAIN", "targets of this domain. Can be repeated.", multiple=True),
    _mapping_option("fhir_version", "R4|R5", "R4 or R5.  [default: R4]", type=_VERSION),
)
row_options = with_options(
    _format_option(
        "--output-encoding",
        key="encoding",
        metavar="NAME",
        help="tsv, csv: such as utf-8-sig for Excel.",
    ),
    _format_option(
        "--formula-guard/--no-formula-guard",
        default=True,
        metavar="no",
        help="tsv, csv: put ' before =, +, -, @.  [default: yes]",
    ),
    _format_option(
        "--skip-empty",
        is_flag=True,
        metavar="yes",
        help="Leave out rows without a mention.  [default: no]",
    ),
    _format_option(
        "--shard-rows",
        type=click.IntRange(1),
        default=50_000,
        metavar="N",
        help="Folders: most rows of a part.  [default: 50000]",
    ),
    _format_option(
        "--retries",
        type=click.IntRange(0, 100),
        default=2,
        metavar="N",
        help="Folders: attempts after a failure.  [default: 2]",
    ),
)
"""How rows are written, and the parts of a folder."""


def check_format_options(format_: str, options: Mapping[str, Any]) -> None:
    """Refuse options that do not go with the format."""
    for name, formats in _GOES_WITH.items():
        if options.get(name) and format_ not in formats:
            raise InvalidInput(
                f"{_flag_of(name)} goes with --format {' or '.join(formats)}, not {format_}"
            )


def check_mappings(
    format_: str, options: Mapping[str, Any], columns: Sequence[str] | None, *, k: int | None
) -> None:
    """Refuse options that do not go with the format, or with the input."""
    from canonym.exchange.omop import LONGEST_VOCABULARY
    from canonym.io.tables import shown

    check_format_options(format_, options)
    for name in ("code_column", "frequency_column"):
        wanted = options.get(name)
        if wanted is not None and list(columns or ()).count(str(wanted)) != 1:
            has = f"it has {shown(columns)}" if columns else "there is no table: give --column"
            raise InvalidInput(f"{_flag_of(name)}={wanted}: the input has no such column; {has}")
    if format_ not in MAPPING_FORMATS:
        return
    if options["explain"]:
        raise InvalidInput(f"--format {format_} has no place for explanations: leave out --explain")
    if k not in (None, 1):
        raise InvalidInput(
            f"--format {format_} writes what a mention means, and -k {k} asks for {k} candidates: "
            "leave out -k, or write tsv or jsonl"
        )
    vocabulary = options["source_vocabulary"] or ""
    if format_ == "omop" and not 0 < len(vocabulary) <= LONGEST_VOCABULARY:
        raise InvalidInput(
            f"--format omop needs {_flag_of('source_vocabulary')}=ID, a name of 1 to "
            f"{LONGEST_VOCABULARY} characters; it is {vocabulary!r}"
        )


def mapping_opener(
    linker: Linker,
    format_: str,
    options: Mapping[str, Any],
    columns: Sequence[str] | None,
    mention_column: str | None,
) -> Callable[[IO[str]], LinkWriter] | None:
    """Return what makes the writer of a format of mappings, None where the format is another."""
    if format_ not in MAPPING_FORMATS:
        return None
    from canonym.exchange.mappings import origin_of
    from canonym.exchange.writers import mapping_writer
    from canonym.terminology.overlay import added_names

    terminology, choices = linker.terminology, choices_of(options)
    names = (*linker.synonyms, *added_names(terminology))
    added = frozenset((name.text, name.concept_id) for name in names)
    origin = origin_of(terminology, linker.fingerprint, choices.date, added)
    if format_ in ("usagi", "omop") and origin.prefixes[0] not in ("OMOP", ""):
        raise InvalidInput(
            f"--format {format_} needs concepts of OMOP, and the ids of the terminology begin with "
            f"{origin.prefixes[0]}: link to vocabularies that were imported from Athena "
            "(`canonym import FOLDER --format athena`), or write sssom or fhir"
        )
    if options["domains"]:
        try:
            terminology.rows_where(types=options["domains"])
        except InvalidInput as error:
            raise InvalidInput(
                f"{_flag_of('domains')}: {str(error).removeprefix('types: ')}"
            ) from error
    return partial(
        mapping_writer,
        format=format_,
        origin=origin,
        choices=choices,
        terminology=terminology,
        columns=columns or (),
        mention_column=mention_column or "",
        codes=choices.codes(columns or ()),
    )


def choices_of(options: Mapping[str, Any]) -> Choices:
    """Return what was typed for a format of mappings, and the day."""
    from canonym.exchange.writers import Choices

    typed = {name: options[name] for name in Choices._fields if options[name]}
    return Choices(**typed | {"date": day_of(options["date"])})


def day_of(date: datetime.datetime | None) -> str:
    """Return the day that is given, else that of ``SOURCE_DATE_EPOCH``, else none."""
    if date:
        return date.date().isoformat()
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        return ""
    try:
        return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"SOURCE_DATE_EPOCH is {seconds[:40]!r}; a number of seconds since 1970 is expected"
        ) from error
