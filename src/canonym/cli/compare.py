"""``canonym terminology encoders``: which encoders find the names of a terminology best."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.description import report_option
from canonym.cli.named_indexes import open_terminology
from canonym.cli.options import encoder_option, retired_option
from canonym.cli.progress import counter, note
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from canonym.evaluation.own_names import Compared

_USUAL = ("default", "default,rarity=0.5", "chargrams", "default+chargrams")


@click.command("encoders")
@click.argument("terminology", type=click.Path())
@encoder_option(
    "An encoder as `canonym index` takes it, or several with + between them for one index. The "
    f"others are compared with the first. Can be repeated.  [default: {'; '.join(_USUAL)}]",
    "specs",
)
@retired_option("--order", "names do not tell which order mentions need")
@click.option(
    "-n",
    "--names",
    type=click.IntRange(min=20),
    default=1000,
    help="The most names to ask for.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0)
@report_option("table")
def encoders(terminology: str, specs: tuple[str, ...], names: int, seed: int, format_: str) -> None:
    """Compare encoders by the names of TERMINOLOGY, without annotated mentions.

    One synonym of each of a thousand concepts is taken out and asked for: how often does it find
    its concept by the other names? This tells which encoder knows the words of a terminology.
    How well it links your texts tells `canonym evaluate`, with annotated mentions. The encoders
    that come with canonym have read the names of many terminologies, see the page of each. One of
    your own that was fitted to TERMINOLOGY has read them all, and a note says so.

    \b
      canonym terminology encoders terms.db
      canonym terminology encoders terms.db -e default -e multilingual -e default+multilingual
      canonym terminology encoders terms.db -e default -e models/own --format json > compared.json
    """
    from canonym.evaluation.own_names import compare_by_names

    alternatives = [_parts(spec) for spec in specs or _USUAL]
    with (
        open_terminology(terminology) as opened,
        counter("Comparing", unit="alternatives", total=len(alternatives)) as report,
    ):
        compared = compare_by_names(
            opened, alternatives, n=names, seed=seed, progress=lambda n, _: report(n)
        )
    if format_ == "json":
        click.echo(json.dumps([_facts(one) for one in compared], indent=2))
        return
    _print(compared)
    note(
        f"{compared[0].n:,} names were taken out, one of a concept each. p is that of a difference "
        "to the first line by chance."
    )
    for spec in dict.fromkeys(spec for row in compared for spec in row.read):
        note(
            f"{spec} was fitted to this terminology and has read the names that were taken out: "
            "its figure says nothing about other names."
        )


def _parts(spec: str) -> list[str]:
    """Return the encoders that a description joins by ``+``, unless it is a file or folder."""
    parts = [spec] if Path(spec).exists() else spec.split("+")
    if not all(parts):
        raise InvalidInput(f"--encoder {spec}: an encoder is missing beside the +")
    return parts


def _facts(row: Compared) -> dict[str, Any]:
    return {
        "encoders": list(row.encoders),
        "n": row.n,
        "accuracy@1": row.first._asdict(),
        "accuracy@5": row.among._asdict(),
        "p": None if math.isnan(row.p) else row.p,
        "has read the names": list(row.read),
    }


def _print(compared: list[Compared]) -> None:
    from canonym.cli.output import print_table

    best = max(one.first.value for one in compared)
    print_table(
        ("encoders", "first right, %", "among five", "p", ""),
        [
            (
                " + ".join(one.encoders),
                f"{100 * one.first.value:.1f} [{100 * one.first.low:.1f}, "
                f"{100 * one.first.high:.1f}]",
                f"{100 * one.among.value:.1f}",
                "" if math.isnan(one.p) else "<0.001" if one.p < 0.001 else f"{one.p:.3f}",
                "best" if one.first.value == best else "",
            )
            for one in compared
        ],
        right=("first right, %", "among five", "p"),
    )
