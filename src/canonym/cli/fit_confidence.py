"""``canonym fit-confidence``: an index learns how sure its links are."""

from __future__ import annotations

import click

from canonym.cli.train.chosen import taught_options

__all__ = ["fit_confidence"]


@click.command("fit-confidence")
@taught_options(
    click.option(
        "--method",
        type=click.Choice(["isotonic", "platt"]),
        default="isotonic",
        show_default=True,
        help="platt: logistic regression; isotonic: a rising function on top of that.",
    )
)
def fit_confidence(
    corpus: str, index: str, types: tuple[str, ...], method: str, format_: str | None, quiet: bool
) -> None:
    """Learn from the mentions of CORPUS how sure the links of an index are.

    CORPUS is annotated, as `canonym evaluate` takes it, and not one whose mentions the index has as
    names. From then on links have a confidence, the probability of being right, and
    `canonym link --min-confidence 0.9` makes those NIL that are right in less than 90 % of cases.

    \b
      canonym fit-confidence dev.pubtator --index medic-index --mention-type Disease
      canonym link --index medic-index --file names.txt --min-confidence 0.9

    The report says how well that is known: when each fifth of the documents is predicted from the
    others, by how much confidence and the share of right links differ (the expected calibration
    error).
    """
    from canonym.cli.annotated import open_corpus
    from canonym.cli.description import print_facts
    from canonym.linker import Linker

    given = open_corpus(corpus, format=format_)
    found = Linker.load(index).fit_confidence(given.documents, types=types, method=method)
    if quiet:
        return
    answered = found["answered at 0.9"]
    kept = f"{100 * answered:.1f} % of links"
    if answered:
        kept += f", of which {100 * found['right at 0.9']:.1f} % are right"
    print_facts(
        {
            "index": index,
            "method": method,
            "links": int(found["links"]),
            "right": f"{100 * found['right']:.1f} %",
            "calibration error": f"{100 * found['ece']:.1f} points",
            "confidence of 0.9": kept,
        }
    )
