"""``canonym train reranker``: an index learns to order its candidates."""

from __future__ import annotations

import click

from canonym.cli.train.chosen import taught_options

__all__ = ["reranker"]


@click.command()
@taught_options()
def reranker(
    corpus: str, index: str, types: tuple[str, ...], format_: str | None, quiet: bool
) -> None:
    """Teach an index to put the candidates of a name in a better order.

    CORPUS is annotated, as `canonym evaluate` takes it, and not one whose mentions the index has as
    names. It needs no torch and no GPU. From then on the first 20 candidates are ordered by what
    annotators decided before, how much mention, name and label share, and what each scorer said;
    scores are shares of the candidates then, and `canonym link --explain` names the reasons. What
    `canonym fit-confidence` learned before no longer holds and is removed.

    \b
      canonym train reranker train.pubtator --index medic-index --mention-type Disease
      canonym fit-confidence dev.pubtator --index medic-index --mention-type Disease
      canonym link "lung carcinoma" --index medic-index --explain

    The report says what it gained, each third of the documents predicted from the others.
    """
    from canonym.cli.annotated import open_corpus
    from canonym.cli.description import print_facts
    from canonym.linker import Linker

    given = open_corpus(corpus, format=format_)
    found = Linker.load(index).fit_reranker(given.documents, types=types)
    if quiet:
        return
    print_facts(
        {
            "index": index,
            "links": int(found["links"]),
            "right before": f"{100 * found['right before']:.1f} %",
            "right now": f"{100 * found['right after']:.1f} %",
            "right among 20": f"{100 * found['among the candidates']:.1f} %",
        }
    )
