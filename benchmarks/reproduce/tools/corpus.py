"""What corpora hold, how far annotators agree, and a choice of trials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import CorpusFormat, mention_type_option, overwrite_option, several
from models.run import CONTEXT, Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from canonym.errors import InvalidInput
    from canonym.types import Document
    from reproduce.measures.corpus_statistics import Counts, Lengths
    from reproduce.readers.trials import Trial

_OUTPUT = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with shares from 0 to 1."
)
_FORMAT = click.option(
    "--format",
    "format_",
    type=CorpusFormat(FORMATS),
    help="Format of the corpora; recognised when left out.",
)
_TYPES = mention_type_option(help="Only mentions of this type, such as Disease.")


@click.command(cls=Command, context_settings=CONTEXT)
@click.argument("path", metavar="CORPUS", type=click.Path())
@several(
    "--training",
    type=click.Path(),
    metavar="FILE",
    help="An annotated part that a system may have seen: its mentions are no longer new.",
)
@_TYPES
@_FORMAT
@_OUTPUT
def corpus(
    path: str,
    training: tuple[str, ...],
    types: tuple[str, ...],
    format_: str | None,
    as_json: bool,
) -> None:
    """Count the documents, mentions and concepts of CORPUS, and say what is odd about it.

    \b
      python benchmarks/reproduce corpus test.pubtator \\
          --training train.pubtator --training dev.pubtator
    """
    from canonym.cli.description import print_facts
    from canonym.corpora.census import take_census
    from reproduce.measures.corpus_statistics import describe_corpus

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


@click.command(cls=Command, context_settings=CONTEXT)
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
      python benchmarks/reproduce agreement first.jsonl second.jsonl
    """
    import math

    from canonym.cli.description import print_facts
    from reproduce.measures.agreement import annotator_agreement

    found = annotator_agreement(_read(first, format_, types), _read(second, format_, types))
    if as_json:
        kappa = zip(("kappa", "low", "high"), found.kappa, strict=True)
        numbers = {name: None if math.isnan(one) else one for name, one in kappa}
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
            "kappa": undefined if math.isnan(value) else f"{value:.4f} [{low:.4f}, {high:.4f}]",
        }
    )


@click.command(cls=Command, context_settings=CONTEXT)
@click.argument("path", metavar="SOURCE", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(), help="Write this file.  [default: standard output]"
)
@click.option("--study-type", "study_types", multiple=True, help="Such as Interventional.")
@click.option(
    "--phase",
    "phases",
    multiple=True,
    type=click.Choice(("any", "Early Phase 1", "Phase 1", "Phase 2", "Phase 3", "Phase 4")),
    help="A trial of two phases is in both; any is one of the five.",
)
@click.option(
    "--intervention-type",
    "interventions",
    multiple=True,
    help="Such as Drug. A trial with one of them keeps its other interventions too.",
)
@click.option(
    "--condition",
    "conditions",
    multiple=True,
    metavar="WORDS",
    help="Words of a condition, or of NLM's term for it.",
)
@overwrite_option
def trials(path: str, output: str | None, overwrite: bool, **criteria: tuple[str, ...]) -> None:
    """Choose clinical trials of SOURCE, and write their fields as JSON lines for `canonym link`.

    SOURCE is a file or folder of ClinicalTrials.gov's XML or JSON, a table, or a folder or archive
    of AACT. Trials meet all criteria; values of one criterion, which can be repeated, are
    alternatives.

    \b
    The trials of the DILBERT paper:
      python benchmarks/reproduce trials aact.zip --study-type Interventional --phase any \\
          --intervention-type Biological --intervention-type "Combination Product" \\
          --intervention-type Drug -o trials.jsonl
      canonym link --file trials.jsonl --mention-type Condition
    """
    import io

    from canonym.cli.progress import note
    from canonym.corpora import write_jsonl_documents
    from canonym.io.files import write_file
    from canonym.io.places import check_outputs
    from reproduce.readers.trial_sources import read_trials
    from reproduce.readers.trials import PHASES
    from reproduce.trials import select_trials

    if "any" in criteria["phases"]:
        criteria["phases"] = PHASES
    if output is not None:
        check_outputs({"-o": output}, (path,), overwrite=overwrite)
    found = list(read_trials(path))
    chosen = [trial.document for trial in select_trials(found, **criteria)]
    if not chosen:
        raise _none_chosen(path, found)
    lines = io.StringIO()
    write_jsonl_documents(chosen, lines)
    if output is None:
        click.echo(lines.getvalue(), nl=False)
    else:
        with write_file(output, overwrite=overwrite) as partial:
            partial.write_text(lines.getvalue(), encoding="utf-8")
    note(f"{len(chosen):,} of {len(found):,} trials are chosen.")


def _none_chosen(path: str, found: Sequence[Trial]) -> InvalidInput:
    from canonym.errors import InvalidInput

    studies = sorted({trial.study_type or "(none)" for trial in found})
    phases = sorted({phase for trial in found for phase in trial.phases or ("(none)",)})
    kinds = sorted({mention.type for trial in found for mention in trial.interventions})
    return InvalidInput(
        f"none of the {len(found):,} trials of {path} meets the criteria; there are the study "
        f"types {', '.join(studies)}, the phases {', '.join(phases)}, and the intervention types "
        f"{', '.join(kinds)}"
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
    names = ("mentions", "with a concept", "distinct", "distinct with a concept")
    return dict(zip(names, counts, strict=True))


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
