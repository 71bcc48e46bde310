"""``canonym fit-confidence``: the probability that a link is right, learned for an index."""

from __future__ import annotations

import click

from canonym.cli.options import built_index_option, corpus_format_option, mention_type_option


@click.command("fit-confidence")
@click.argument("corpus", type=click.Path(), required=False)
@built_index_option
@mention_type_option()
@click.option(
    "--method",
    type=click.Choice(["isotonic", "platt"]),
    help="platt is logistic regression; isotonic fits a rising function to its result.  [default: "
    "isotonic with CORPUS, else platt]",
)
@corpus_format_option
def fit_confidence(
    corpus: str | None, index: str, types: tuple[str, ...], method: str | None, format_: str | None
) -> None:
    """Learn how sure the links of an index are, from the mentions of CORPUS or without any.

    From then on every link has a confidence, the probability of being right, and `canonym link
    --min-confidence 0.9` turns links that are right in fewer than 90 % of cases into NIL.

    Without CORPUS the terminology asks itself: for names that are taken out, for concepts that are
    taken out, and for strings that name nothing. At 0.25, nonsense is NIL, and few right links are.

    CORPUS is annotated, as `canonym evaluate` takes it, and none whose mentions are names of the
    index. What is learned from it fits mentions like those better.

    \b
      canonym fit-confidence --index medic-index
      canonym link --index medic-index --file names.txt --min-confidence 0.25

    \b
      canonym fit-confidence dev.pubtator --index medic-index --mention-type Disease
      canonym link --index medic-index --file names.txt --min-confidence 0.9

    The report gives the expected calibration error: by how much confidence and the share of right
    links differ when each fifth of the documents is predicted from the others.
    """
    from pathlib import Path

    from canonym.cli.annotated import open_corpus
    from canonym.cli.description import print_facts
    from canonym.cli.progress import activity
    from canonym.cli.sources import open_index
    from canonym.cli.verbosity import is_quiet
    from canonym.linking.confidence import usual_method

    documents = None if corpus is None else open_corpus(corpus, format=format_).documents
    linker = open_index(index)
    with activity("Fitting"):
        found = linker.fit_confidence(documents, types=types, method=method)
    if is_quiet():
        return
    answered = found["answered at 0.9"]
    kept = f"{100 * answered:.1f} % of links"
    if answered:
        kept += f", of which {100 * found['right at 0.9']:.1f} % are right"
    print_facts(
        {
            "index": index,
            "learned from": Path(corpus).name if corpus else "the terminology itself",
            "method": method or usual_method(corpus is not None),
            "links": int(found["links"]),
            "right": f"{100 * found['right']:.1f} %",
            "calibration error": f"{100 * found['ece']:.1f} points",
            "confidence of 0.9": kept,
        }
    )
