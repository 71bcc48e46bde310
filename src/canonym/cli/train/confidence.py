"""``canonym train confidence``: the probability that a link is right, learned for an index."""

from __future__ import annotations

from pathlib import Path

import click

from canonym.cli.description import print_facts
from canonym.cli.named_indexes import open_index
from canonym.cli.options import (
    built_index_option,
    corpus_format_option,
    mention_type_option,
    retired_option,
)
from canonym.cli.progress import activity, note
from canonym.cli.verbosity import is_quiet


@click.command("confidence")
@click.argument("corpus", type=click.Path(), required=False)
@built_index_option
@mention_type_option()
@retired_option("--method", "there is one way to adapt a judge")
@corpus_format_option
def confidence(corpus: str | None, index: str, types: tuple[str, ...], format_: str | None) -> None:
    """Adapt the confidence of an index to mentions like those of CORPUS.

    Every link has a confidence, the probability of being right. `canonym link --min-confidence 0.9`
    turns links that are right in fewer than 90 % of cases into NIL. What says so comes with
    canonym, learned from many terminologies.

    CORPUS is annotated, as `canonym evaluate` takes it, and none whose mentions are names of the
    index. What does not predict its mentions better than before is not kept.

    Without CORPUS, the index goes back to what comes with canonym.

    \b
      canonym train confidence dev.pubtator --index medic-index --mention-type Disease
      canonym link --index medic-index --file names.txt --min-confidence 0.9

    The report gives the expected calibration error: by how much confidence and the share of right
    links differ when each fifth of the documents is predicted from the others.
    """
    from canonym.cli.annotated import open_corpus

    documents = None if corpus is None else open_corpus(corpus, format=format_).documents
    linker = open_index(index)
    before = linker.judge
    with activity("Fitting"):
        report = linker.fit_confidence(documents, types=types)
    if corpus is not None and linker.judge is before:
        note(f"A judge adapted to {corpus} predicts its mentions no better: the judge stays.")
    if is_quiet():
        return
    facts: dict[str, object] = {"index": index}
    if corpus is not None:
        facts["asked"] = Path(corpus).name
    facts["judge"] = linker.judge.facts() if linker.judge else "none"
    if report:
        answered = report["answered at 0.9"]
        kept = f"{100 * answered:.1f} % of links"
        if answered:
            kept += f", of which {100 * report['right at 0.9']:.1f} % are right"
        facts |= {
            "links": int(report["links"]),
            "right": f"{100 * report['right']:.1f} %",
            "calibration error": f"{100 * report['ece']:.1f} points",
            "confidence of 0.9": kept,
        }
    print_facts(facts)
