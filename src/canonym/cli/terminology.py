"""``canonym terminology``: show, check, compare and export terminologies."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.description import counts, print_facts, print_json, report_option
from canonym.cli.failures import Unusable, printable
from canonym.cli.named_indexes import open_terminology
from canonym.cli.options import encoder_option, overwrite_option, retired_option
from canonym.cli.progress import counter, note
from canonym.errors import InvalidInput
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from canonym.evaluation.own_names import Compared
    from canonym.terminology import Terminology

_FORMAT = report_option("text")
_SAMPLES = click.option("--samples", type=click.IntRange(min=0), default=5, help="Samples shown.")
_USUAL = ("default", "default,rarity=0.5", "chargrams", "default+chargrams")


@click.group()
def terminology() -> None:
    """Show, check, compare and export terminologies.

    Each takes files made by `canonym import`, folders made by `canonym index`, names of indexes
    such as icd10cm, or sources that `canonym import` would recognise. What has such a name in the
    current directory wins.
    """


@terminology.command()
@click.argument("path", metavar="TERMINOLOGY", type=click.Path())
@click.argument("ids", nargs=-1, metavar="[ID|WORDS]...")
@_SAMPLES
@_FORMAT
def show(path: str, ids: tuple[str, ...], samples: int, format_: str) -> None:
    """Show what TERMINOLOGY holds, the concepts of IDs, or those that have all WORDS in a name.

    \b
      canonym terminology show doid.db
      canonym terminology show doid.db DOID:5844
      canonym terminology show icd10cm I21
      canonym terminology show icd10cm "acute nephritis" --samples 20
    """
    with open_terminology(path) as opened:
        if ids:
            described = [facts for text in ids for facts in _described(opened, text, samples)]
            if format_ == "json":
                print_json(described)
                return
            for place, facts in enumerate(described):
                if "names" not in facts:
                    click.echo(printable("  ".join(filter(None, facts.values()))))
                    continue
                if place:
                    click.echo()
                print_facts({name: value for name, value in facts.items() if value not in ("", [])})
            return
        facts, labels = {"file": path, **counts(opened)}, _samples(opened, samples)
        if format_ == "json":
            print_json({**facts, "samples": labels})
            return
        print_facts(facts)
        if labels:
            click.echo("samples")
        for id_, label in labels.items():
            click.echo(f"  {id_}  {label}")


def _described(opened: Terminology, text: str, samples: int) -> Iterator[dict[str, Any]]:
    """Yield the concept of an id, or a few of those with all words of a text in a name."""
    names = () if opened.find_ids(text) else [*islice(opened.search(text), samples)]
    if not names:
        yield _concept(opened, text)
    for name in names:
        label = opened.concept(name.concept_id).label
        named = "" if name.text == label else f"({name.text})"
        yield {"id": name.concept_id, "label": label, "name": named}


def _concept(opened: Terminology, id_: str) -> dict[str, Any]:
    concept = opened.concept(id_)
    return {
        "id": concept.id,
        "label": concept.label,
        "definition": concept.definition,
        "types": list(concept.types),
        "source": " ".join(filter(None, (concept.source, concept.version))),
        "deprecated": concept.deprecated,
        "replaced by": list(concept.replaced_by),
        "names": [
            f"{name.text} ({name.scope}, {name.language})" for name in opened.names(concept.id)
        ],
        "parents": [_labelled(opened, parent) for parent in opened.parents(concept.id)],
        "children": [_labelled(opened, child) for child in opened.children(concept.id)],
    }


def _labelled(opened: Terminology, id_: str) -> str:
    known = opened.resolve(id_)
    return f"{id_} {opened.concept(known).label}" if known else f"{id_} (not in the terminology)"


def _samples(opened: Terminology, samples: int) -> dict[str, str]:
    n = min(samples, opened.n_concepts)
    spread = [place * opened.n_concepts // n for place in range(n)]
    return {concept.id: concept.label for concept in opened.concepts_at(spread)}


@terminology.command()
@click.argument("path", metavar="TERMINOLOGY", type=click.Path())
@_SAMPLES
@_FORMAT
@click.option("--strict", is_flag=True, help="Exit with code 2 if there are errors.")
def lint(path: str, samples: int, format_: str, strict: bool) -> None:
    """Look for what is wrong, or suspicious, in TERMINOLOGY.

    Ids with separators, encoding damage, cycles, dangling parents, names shared by several ids,
    names of which nothing is left, successors that are deprecated, ...

    \b
      canonym terminology lint doid.db
      canonym terminology lint doid.db --samples 50 --format json
    """
    from canonym.terminology.lint import lint as find

    with open_terminology(path) as opened:
        findings = find(opened, samples=samples)
    if format_ == "json":
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(printable(f"{finding.severity}: {finding.kind}: {finding.count:,}"))
            for sample in finding.samples:
                click.echo(printable(f"    {sample}"))
            click.echo(f"  {finding.advice}")
        if not findings:
            click.echo("Nothing found.")
    errors = sum(finding.severity == "error" for finding in findings)
    if strict and errors:
        raise Unusable(f"{errors} kinds of errors are in {path}")


@terminology.command()
@click.argument("old", type=click.Path())
@click.argument("new", type=click.Path())
@_SAMPLES
@_FORMAT
@click.option("-o", "--output", type=click.Path(), help="Write all changes to this file, as TSV.")
@overwrite_option
def diff(
    old: str, new: str, samples: int, format_: str, output: str | None, overwrite: bool
) -> None:
    """Report what has changed from OLD to NEW, two versions of a terminology.

    Concepts added, retired, merged and renamed; names added, removed and moved to other concepts;
    places in the hierarchy gained and lost.

    \b
      canonym terminology diff doid-2023.db doid-2024.db
      canonym terminology diff doid-2023.db doid-2024.db -o changes.tsv
      canonym terminology diff doid-2023.db doid-2024.db --format json --samples 1000
    """
    from canonym.terminology.diff import KINDS, compare

    check_outputs({"-o": output}, (old, new), overwrite=overwrite)
    with open_terminology(old) as before, open_terminology(new) as after:
        difference = compare(before, after)
    if output is not None:
        difference.write_tsv(output, overwrite=overwrite)
    if format_ == "json":
        print_json(difference.to_dict(limit=samples))
        return
    for kind, count in difference.counts.items():
        click.echo(f"{kind:<16}{count:>10,}  {KINDS[kind]}")
        for change in difference.changes(kind, limit=samples):
            what = f"{change.id} {change.label}" + (f": {change.name}" if change.name else "")
            both = f" ({change.before} -> {change.after})" if change.before or change.after else ""
            click.echo(printable(f"{'':>16}{what}{both}"))


@terminology.command()
@click.argument("path", metavar="TERMINOLOGY", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Write this file.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["tsv", "csv", "obo", "skos", "fhir"]),
    help="Format of the file.  [default: by its suffix: .tsv, .csv, .obo, .ttl for SKOS, .json for "
    "FHIR]",
)
@overwrite_option
def export(path: str, output: str, format_: str | None, overwrite: bool) -> None:
    """Write TERMINOLOGY for other programs.

    A table with a row for each name (TSV, CSV), an OBO file, a SKOS thesaurus (Turtle) or a FHIR
    CodeSystem. What the format has no place for is left out, and a note counts it.

    \b
      canonym terminology export doid.db -o doid.csv
      canonym terminology export mesh.db -o mesh.ttl
    """
    from canonym.io.files import format_by_suffix
    from canonym.terminology.export_formats import EXPORTS, export_terminology

    export_format = format_ or format_by_suffix(output, EXPORTS)
    check_outputs({"-o": output}, (path,), overwrite=overwrite)
    with open_terminology(path) as opened:
        with counter("Writing", unit="concepts", total=opened.n_concepts) as report:
            lost = export_terminology(
                opened, output, format=export_format, overwrite=overwrite, progress=report
            )
        note(f"{opened.n_concepts:,} concepts are in {output}.")
    for what, count in lost.items():
        note(f"Left out, for {export_format} has no place for it: {count:,} {what}.")


@terminology.command()
@click.argument("terminology", type=click.Path())
@encoder_option(
    "An encoder as `canonym index` takes it, or several with + between them for one index. The "
    f"others are compared with the first. Can be repeated.  [default: {'; '.join(_USUAL)}]",
    "specs",
)
@retired_option("--order", "names do not tell which order mentions need")
@click.option(
    "-n", "--names", type=click.IntRange(min=20), default=1000, help="The most names to ask for."
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
        facts = [
            {
                "encoders": list(row.encoders),
                "n": row.n,
                "accuracy@1": row.first._asdict(),
                "accuracy@5": row.among._asdict(),
                "p": None if math.isnan(row.p) else row.p,
                "has read the names": list(row.read),
            }
            for row in compared
        ]
        click.echo(json.dumps(facts, indent=2))
        return
    _print_compared(compared)
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


def _print_compared(compared: list[Compared]) -> None:
    from canonym.cli.output import print_table

    best = max(row.first.value for row in compared)
    print_table(
        ("encoders", "first right, %", "among five", "p", ""),
        [
            (
                " + ".join(row.encoders),
                f"{100 * row.first.value:.1f} [{100 * row.first.low:.1f}, "
                f"{100 * row.first.high:.1f}]",
                f"{100 * row.among.value:.1f}",
                "" if math.isnan(row.p) else "<0.001" if row.p < 0.001 else f"{row.p:.3f}",
                "best" if row.first.value == best else "",
            )
            for row in compared
        ],
        right=("first right, %", "among five", "p"),
    )
