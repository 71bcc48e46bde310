"""``canonym corpus``: what annotated corpora hold, and how far two annotators agree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.annotated import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from canonym.corpora.statistics import Counts, Lengths
    from canonym.types import Document

_OUTPUT = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with shares from 0 to 1."
)
_FORMAT = click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(FORMATS)),
    help="Format of the corpora; recognised when left out.",
)
_TYPES = click.option(
    "--mention-type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Only mentions of this type, such as Disease. Can be repeated.",
)


@click.group()
def corpus() -> None:
    """Count what annotated corpora hold, and compare two annotators.

    Each takes what `canonym evaluate` takes.
    """


@corpus.command()
@click.argument("path", metavar="CORPUS", type=click.Path())
@click.option(
    "--training",
    type=click.Path(),
    multiple=True,
    metavar="FILE",
    help="An annotated part that a system may have seen: its mentions are no longer new. Can be "
    "repeated.",
)
@_TYPES
@_FORMAT
@_OUTPUT
def show(
    path: str,
    training: tuple[str, ...],
    types: tuple[str, ...],
    format_: str | None,
    as_json: bool,
) -> None:
    """Count the documents, mentions and concepts of CORPUS, and say what is odd about it.

    \b
      canonym corpus show test.pubtator --training train.pubtator --training dev.pubtator
    """
    from canonym.cli.description import print_facts
    from canonym.corpora.census import take_census
    from canonym.corpora.statistics import describe_corpus

    documents = _read(path, format_, types)
    seen = [document for part in training for document in _read(part, format_, types)]
    found = describe_corpus(documents, training=seen if training else None)
    facts: dict[str, Any] = {
        "documents": found.n_documents,
        "concepts": found.n_concepts,
        "mentions": _counts(found.mentions),
        "types": {type_ or "(none)": _counts(counts) for type_, counts in found.types.items()},
        "composite": found.n_composite,
        "no concept": found.n_nil,
        "unknown": found.n_unknown,
        "with a numeral": found.with_numeral,
        "with punctuation": found.with_punctuation,
        "characters": _lengths(found.characters),
        "words": _lengths(found.words),
    }
    if found.unseen is not None:
        facts["new"] = {
            "new": len(found.unseen.mentions),
            "in training": found.unseen.n_seen,
            "repeated": found.unseen.n_repeated,
        }
    facts["remarks"] = take_census(documents).oddities()
    if as_json:
        click.echo(json.dumps({"corpus": path, **facts}, ensure_ascii=False, indent=2))
        return
    print_facts({"corpus": path, **_in_words(facts)})


@corpus.command()
@click.argument("first", type=click.Path())
@click.argument("second", type=click.Path())
@_TYPES
@_FORMAT
@_OUTPUT
def agreement(
    first: str, second: str, types: tuple[str, ...], format_: str | None, as_json: bool
) -> None:
    """Measure how far two annotators agree: Cohen's kappa of FIRST and SECOND.

    Both annotate the same documents. Mentions with equal offsets and text are compared by their
    concepts; others are counted, and do not enter the figure.

    \b
      canonym corpus agreement first.jsonl second.jsonl
    """
    from canonym.cli.description import print_facts
    from canonym.evaluation.agreement import annotator_agreement

    found = annotator_agreement(_read(first, format_, types), _read(second, format_, types))
    if as_json:
        kappa = {"kappa": found.kappa.value, "low": found.kappa.low, "high": found.kappa.high}
        numbers = {name: None if one != one else one for name, one in kappa.items()}
        click.echo(json.dumps({**numbers, **found._asdict(), "kappa": numbers["kappa"]}, indent=2))
        return
    value, low, high = found.kappa
    undefined = "undefined: all mentions have one and the same concept"
    print_facts(
        {
            "mentions of both": found.n,
            "of FIRST alone": found.n_first,
            "of SECOND alone": found.n_second,
            "agreement": _percent(found.agreement),
            "by chance": _percent(found.chance),
            "kappa": undefined if value != value else f"{value:.4f} [{low:.4f}, {high:.4f}]",
        }
    )


def _read(path: str, format_: str | None, types: Sequence[str]) -> list[Document]:
    from dataclasses import replace

    from canonym.cli.annotated import open_corpus
    from canonym.errors import InvalidInput

    documents = open_corpus(path, format=format_).documents
    if not types:
        return documents
    kept = [
        replace(document, mentions=tuple(m for m in document.mentions if m.type in types))
        for document in documents
    ]
    if not any(document.mentions for document in kept):
        known = sorted({mention.type for one in documents for mention in one.mentions})
        raise InvalidInput(
            f"{path} has no mention of type {', '.join(types)}: it has {', '.join(known)}"
        )
    return kept


def _counts(counts: Counts) -> dict[str, int]:
    return {
        "mentions": counts.n,
        "with a concept": counts.n_linked,
        "distinct": counts.n_distinct,
        "distinct with a concept": counts.n_distinct_linked,
    }


def _lengths(lengths: Lengths) -> dict[str, float]:
    return {"mean": round(lengths.mean, 4), "median": lengths.median, "most": lengths.most}


def _in_words(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts as they are shown to people: shares in percent, counts in lines."""
    shown = dict(facts)
    shown["mentions"] = _line(facts["mentions"])
    shown["types"] = [f"{type_}: {_line(counts)}" for type_, counts in facts["types"].items()]
    for name in ("with a numeral", "with punctuation"):
        shown[name] = _percent(facts[name])
    for name in ("characters", "words"):
        shown[name] = ", ".join(f"{what} {number:.4g}" for what, number in facts[name].items())
    if "new" in facts:
        shown["new"] = ", ".join(
            f"{number:,}" if what == "new" else f"{what} {number:,}"
            for what, number in facts["new"].items()
        )
    if not facts["remarks"]:
        del shown["remarks"]
    return shown


def _line(counts: dict[str, int]) -> str:
    n, linked, distinct, distinct_linked = (f"{number:,}" for number in counts.values())
    return f"{n} ({linked} with a concept), distinct {distinct} ({distinct_linked})"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
