"""``canonym train reranker``: an index learns to order its candidates."""

from __future__ import annotations

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import Decorator, built_index_option, with_options


def index_options(*further: Decorator) -> Decorator:
    """Return the options of commands that fit an index to an annotated corpus."""
    return with_options(
        click.argument("corpus", type=click.Path()),
        built_index_option,
        click.option(
            "--mention-type",
            "types",
            multiple=True,
            metavar="TYPE",
            help="Only mentions of this type, such as Disease. Can be repeated.",
        ),
        *further,
        click.option(
            "--format",
            "format_",
            type=click.Choice(tuple(FORMATS)),
            help="Format of the corpus; recognised when left out.",
        ),
    )


@click.command()
@index_options()
def reranker(corpus: str, index: str, types: tuple[str, ...], format_: str | None) -> None:
    """Teach an index to put the candidates of a name in a better order.

    CORPUS is annotated, as `canonym evaluate` takes it, and not one whose mentions the index has as
    names. Neither torch nor a GPU is needed. The index then orders its first 20 candidates by
    earlier annotations, by what mention, name and label share, and by the scores of all searches.
    Scores become shares of the candidates, and `canonym link --explain` names the reasons. A

    \b
      canonym train reranker train.pubtator --index medic-index --mention-type Disease
      canonym fit-confidence dev.pubtator --index medic-index --mention-type Disease
      canonym link "lung carcinoma" --index medic-index --explain

    The report says what it gained: each third of the documents is predicted from the others.
    """
    from canonym.cli.annotated import open_corpus
    from canonym.cli.description import print_facts
    from canonym.cli.progress import activity
    from canonym.cli.sources import open_index
    from canonym.cli.verbosity import is_quiet

    given = open_corpus(corpus, format=format_)
    linker = open_index(index)
    with activity("Fitting"):
        found = linker.fit_reranker(given.documents, types=types)
    if is_quiet():
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
