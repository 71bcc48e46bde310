"""``canonym evaluate``: accuracy of linking on an annotated corpus, with intervals."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.annotated import FORMATS, open_corpus
from canonym.cli.description import print_facts
from canonym.cli.device import device_option
from canonym.cli.failures import printable
from canonym.cli.key_options import is_typed
from canonym.cli.options import (
    CorpusFormat,
    Number,
    encoder_option,
    mention_type_option,
    negated_option,
    order_retired,
    overwrite_option,
    prefer_option,
    retired_option,
    second_look_option,
    several,
    sheet_options,
    workers_option,
)
from canonym.cli.progress import activity, note
from canonym.errors import InvalidInput
from canonym.io.files import write_file
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from canonym.cli.annotated import Corpus
    from canonym.evaluation.comparison import Comparison
    from canonym.evaluation.protocols import Protocol
    from canonym.evaluation.report.summary import Summary
    from canonym.evaluation.run import Run
    from canonym.types import Document, Mention

_FILE = click.Path()
_ALONE = "mentions were compared with their documents by other orders of candidates alone"


@click.command()
@click.argument("corpus", type=_FILE, required=False)
@click.option(
    "--pairs",
    type=_FILE,
    metavar="FILE",
    help="Instead of CORPUS: pairs of names that people rated, a name, a name and a number a line, "
    "or as MayoSRS, UMNSRS and EHR-RelB have them. Says how the cosine of --encoder (the mean of "
    "several) correlates with the ratings.",
)
@click.option(
    "-i",
    "--index",
    type=_FILE,
    help="A folder made by `canonym index`, or a name that `canonym info` lists; what has that "
    "name in the current directory wins. Protocols other than raw take its terminology and its "
    "encoders, and index the names anew.",
)
@several(
    "-t",
    "--terminology",
    "terminologies",
    type=_FILE,
    help="A terminology, or a source that `canonym import` recognises. Several are read one after "
    "the other.",
)
@encoder_option(
    "As for `canonym index`; verbatim for none. Can be repeated.  [default: those of the index, "
    "else default]"
)
@click.option(
    "--weight", "weights", type=Number(0), multiple=True, help="Weight of each encoder, in order."
)
@order_retired
@retired_option("--context", _ALONE, flag=True)
@retired_option("--no-context", _ALONE, flag=True)
@click.option(
    "-p",
    "--protocol",
    type=click.Choice(("biosyn", "refined", "zero-shot", "plain", "raw")),
    default="biosyn",
    help="The rules: what is asked and what is right.",
)
@click.option(
    "--split",
    type=click.Choice(("gold", "text", "file", "written", "none")),
    help="What says that a mention is composite.  [default: gold; file for .concept files]",
)
@click.option(
    "--same",
    type=click.Choice(("text", "pair")),
    help="What mentions of the refined protocol share: text, or text and ids.",
)
@click.option(
    "--glosses",
    is_flag=True,
    help="Look a mention in brackets up as the one before it, as linking does.",
)
@several(
    "--training",
    type=_FILE,
    metavar="FILE",
    help="An annotated part that a system may have seen: train for dev, train and dev for test.",
)
@mention_type_option(help="Mentions of this type.")
@click.option(
    "--corrections", type=_FILE, metavar="FILE", help="Words to correct, wrong||right a line."
)
@click.option(
    "--format",
    "format_",
    type=CorpusFormat(FORMATS),
    help="Format of the corpus.  [default: recognised]",
)
@sheet_options
@click.option("--part", default="test", help="What to call the corpus's part.")
@click.option("--title", help="Title of the report.  [default: the name of the corpus]")
@click.option(
    "--note", "notes", multiple=True, metavar="TEXT", help="A caveat for the report's head."
)
@several(
    "--compare",
    "others",
    type=_FILE,
    metavar="FILE",
    help="Ids of another tool or run, as `canonym link` writes them.",
)
@click.option("--html", type=_FILE, metavar="FILE", help="Write the report as one HTML page.")
@click.option("--json", "json_", type=_FILE, metavar="FILE", help="Write the report as JSON.")
@overwrite_option
@click.option("--mentions", is_flag=True, help="List every mention in the JSON as well.")
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option("-k", type=click.IntRange(1, 1000), default=20, help="Candidates.")
@click.option(
    "--min-confidence",
    type=Number(0, 1),
    help="Under raw: a smaller probability of being right is NIL.  [default: as link]",
)
@negated_option
@prefer_option
@second_look_option
@workers_option
@device_option
def evaluate(
    corpus: str | None,
    pairs: str | None,
    protocol: str,
    split: str | None,
    same: str | None,
    glosses: bool,
    training: tuple[str, ...],
    corrections: str | None,
    format_: str | None,
    sheet: str | None,
    header_row: int | None,
    title: str | None,
    notes: tuple[str, ...],
    others: tuple[str, ...],
    html: str | None,
    json_: str | None,
    overwrite: bool,
    mentions: bool,
    index: str | None,
    terminologies: tuple[str, ...],
    encoders: tuple[str, ...],
    weights: tuple[float, ...],
    device: str | None,
    **options: Any,
) -> None:
    """Measure how well the mentions of CORPUS are linked.

    CORPUS is PubTator, BioC, brat, BioSyn's .concept, JSON lines, a table of ids and mentions, or
    CSV, TSV, Parquet or a sheet of a workbook, with named columns. Other packages add formats.
    Numbers come with 95 % intervals, and beside those of all mentions stand those of mentions that
    the training data does not have. docs/evaluation/reports.md explains the report.

    \b
    BioSyn's protocol, TF-IDF on character n-grams, and a page to read:
      canonym evaluate test.pubtator --terminology medic.txt --encoder chargrams \\
          --training train.pubtator --training dev.pubtator --html report.html

    \b
    An index as it is, text in and ids out, beside another tool:
      canonym evaluate test.pubtator --index medic-index --protocol raw --compare other.tsv

    \b
    An encoder on pairs of names that people rated (Spearman's correlation):
      canonym evaluate --pairs MayoSRS.csv --encoder my-encoder
    """
    from canonym.cli.named_indexes import open_system
    from canonym.encoders import path_of
    from canonym.evaluation.comparison import compare
    from canonym.evaluation.predictions import read_predictions
    from canonym.evaluation.questions import read_corrections
    from canonym.evaluation.run import evaluate_corpus

    if pairs or corpus is None:
        _evaluate_pairs(pairs, encoders, weights)
        return
    _check_system(index, terminologies, encoders, protocol, options)
    read = (corpus, *training, corrections, *others, index, *terminologies, *encoders)
    if mentions and not json_:
        raise InvalidInput("--mentions goes with --json, which lists them")
    inputs = [path and path_of(path) for path in read]
    check_outputs({"--html": html, "--json": json_}, inputs, overwrite=overwrite)
    began = time.monotonic()
    corpus_file = open_corpus(corpus, format=format_, sheet=sheet, header_row=header_row)
    before = [open_corpus(path, format=format_) for path in training]
    predictions = [(Path(path).name, read_predictions(path)) for path in others]
    system = open_system(index, terminologies, encoders, weights, protocol, device)
    with activity("Evaluating"):
        run = evaluate_corpus(
            corpus_file.documents,
            **system,
            protocol=_protocol(protocol, corpus_file, split=split, same=same, glosses=glosses),
            training=[document for source in before for document in source.documents],
            corrections=read_corrections(corrections) if corrections else None,
            files=[file for source in (corpus_file, *before) for file in source.files],
            **options,
        )
    compared = [compare(run, ids, name=name, seed=options["seed"]) for name, ids in predictions]
    summary = _summarise(run, corpus_file, title or Path(corpus).name, compared, notes)
    _write(summary, run, html, json_, mentions=mentions, overwrite=overwrite)
    _print(summary, run, time.monotonic() - began, filter(None, (html, json_)))


def _evaluate_pairs(path: str | None, encoders: Sequence[str], weights: Sequence[float]) -> None:
    from canonym.encoders import make_encoder
    from canonym.evaluation.pairs import read_pairs, relatedness

    context = click.get_current_context()
    typed = [
        option.opts[0]
        for option in context.command.params
        if option.name not in {"pairs", "encoders", "weights", "device"}
        and is_typed(option.name, context)
    ]
    if path is None or typed:
        beside = f", and not with {typed[0]}" if path else ""
        raise click.UsageError(f"name a CORPUS, or --pairs FILE with --encoder alone{beside}")
    pairs = read_pairs(path)
    opened = [make_encoder(spec) for spec in encoders or ("default",)]
    correlation = relatedness(opened, pairs, weights=weights or None)
    rho = f"{correlation.rho:.3f} [{correlation.low:.3f}, {correlation.high:.3f}]"
    facts = {"pairs": correlation.n, "without a vector": correlation.missing}
    print_facts({**facts, "correlation": rho})


def _protocol(name: str, corpus: Corpus, *, split: str | None, **options: Any) -> Protocol:
    from canonym.evaluation.protocols import choose_protocol

    if split is None and corpus.format == "concept" and name != "raw":
        split = "file"  # its strings are prepared already
    return choose_protocol(name, split=split, **options)


def _check_system(
    index: str | None,
    terminologies: Sequence[str],
    encoders: Sequence[str],
    protocol: str,
    options: Mapping[str, Any],
) -> None:
    if bool(index) == bool(terminologies):
        raise InvalidInput("name what to link to: either --index or --terminology")
    if index and encoders and protocol == "raw":
        raise InvalidInput(
            "--protocol raw evaluates the index unchanged; leave out --encoder, or name a "
            "--terminology"
        )
    of_raw = ("min_confidence", "keep_negated", "prefer", "second_look")
    for name in of_raw if protocol != "raw" else ():
        if options[name] not in (None, False, ()):
            option = name.replace("_", "-")
            raise InvalidInput(f"--{option} goes with --protocol raw, not with {protocol}")


def _summarise(
    run: Run, corpus: Corpus, title: str, compared: Sequence[Comparison], notes: Sequence[str]
) -> Summary:
    from canonym.corpora.census import take_census
    from canonym.evaluation.report import summarise

    items: list[Document | Mention] = []
    for document in corpus.documents:  # without a text, no offset can be odd
        items += [document] if document.text else document.mentions
    # The run reports prefixes of ids, for it knows which concepts they found.
    oddities = replace(take_census(items), prefixes={}).oddities()
    return summarise(run, title=title, comparisons=compared, oddities=oddities, caveats=notes)


def _write(
    summary: Summary,
    run: Run,
    html: str | None,
    json_: str | None,
    *,
    mentions: bool,
    overwrite: bool,
) -> None:
    from canonym.evaluation.report import write_page
    from canonym.evaluation.report.summary import plain

    if html:
        write_page(summary, html, overwrite=overwrite)
    if json_:
        content = summary.to_dict() | ({"mentions": plain(run.mentions(k=5))} if mentions else {})
        with write_file(json_, overwrite=overwrite) as partial:
            # UTF-8 has no surrogates; escapes can write everything.
            text = json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False)
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")


def _print(summary: Summary, run: Run, seconds: float, written: Iterable[str]) -> None:
    from canonym.cli.output import print_table
    from canonym.evaluation.report import tables

    for table in tables(summary):
        print_table(table.columns, table.rows, right=table.columns[1:], title=table.title)
    for remark in (*summary.explanations, *summary.caveats, *summary.remarks):
        note(printable(f"Note: {remark.rstrip('.')}."))
    note(printable(f"Made with {summary.made_with}."))
    took = ", ".join(f"{name} {part:.1f} s" for name, part in run.seconds.items())
    note(f"Took {seconds:.1f} s: {took}.")
    for path in written:
        note(f"The report is in {path}.")
