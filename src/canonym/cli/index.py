"""``canonym index``: a terminology made ready to be linked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from canonym.cli.options import replaced_order_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from canonym.linker import Linker
    from canonym.types import Mention

__all__ = ["index"]


@click.command()
@click.argument("terminology", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Folder to write.")
@click.option(
    "-e",
    "--encoder",
    "encoders",
    multiple=True,
    metavar="SPEC",
    help="default, contextual, chargrams, a folder made by `canonym fit`, a transformer, ... "
    "Several are fused. Can be repeated.  [default: default]",
)
@click.option(
    "--weight",
    "weights",
    type=float,
    multiple=True,
    help="Weight of each encoder, in the same order.  [default: 1 each]",
)
@click.option(
    "--spelling/--no-spelling",
    default=True,
    show_default=True,
    help="Correct words that the terminology does not have.",
)
@click.option(
    "--composites/--no-composites",
    default=True,
    show_default=True,
    help="Split composite mentions.",
)
@click.option(
    "--trials", is_flag=True, help="Clean doses, forms and arms off, as for clinical trials."
)
@click.option(
    "--abbreviations",
    type=click.Choice(["auto", "ab3p", "schwartz-hearst"]),
    default="auto",
    show_default=True,
    help="What finds the abbreviations of a document.",
)
@click.option(
    "--min-length",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Mentions shorter than this are looked up, not searched.",
)
@click.option(
    "--mentions",
    type=click.Path(),
    multiple=True,
    metavar="CORPUS",
    help="An annotated corpus, as `canonym evaluate` takes it: its mentions become names that are "
    "searched as well. Can be repeated.",
)
@click.option(
    "--mention-type",
    "mention_types",
    multiple=True,
    metavar="TYPE",
    help="Only mentions of this type, such as Disease. Can be repeated.",
)
@click.option(
    "--search",
    metavar="SEARCH",
    help="What is searched: names (T) or the mean of each concept's names (C), of the terminology "
    "(O), of --mentions (D) or both (OD): O-T, O-C, D-T, D-C, OD-T, OD-C; or two of them one after "
    'the other, such as "D-T + OD-T".  [default: O-T, and "D-T + OD-T" with --mentions]',
)
@click.option(
    "--search-threshold",
    type=click.FloatRange(-1, 1),
    default=0.95,
    show_default=True,
    help="Of a search in two steps: the score from which on the first decides.",
)
@click.option(
    "--order",
    metavar="ORDER",
    default="nearest",
    show_default=True,
    help="Of the candidates: nearest, marginal (by all names of a concept, and by the other "
    "mentions of a document), fitted (by the re-ranker shipped for the encoders), or a file written "
    "by `canonym train reranker`. All but nearest are slower; scores are shares of the candidates.",
)
@replaced_order_option
@click.option(
    "--fold",
    type=click.Path(),
    metavar="INDEX",
    help="Make the synonyms that were added to this index names of the new one, and take its "
    "forbidden pairs along.",
)
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no report.")
def index(
    terminology: str,
    output: str,
    encoders: tuple[str, ...],
    weights: tuple[float, ...],
    spelling: bool,
    composites: bool,
    trials: bool,
    abbreviations: str,
    min_length: int,
    mentions: tuple[str, ...],
    mention_types: tuple[str, ...],
    search: str | None,
    search_threshold: float,
    order: str,
    fold: str | None,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Index TERMINOLOGY so that names can be linked to it.

    TERMINOLOGY is a file made by `canonym import`, or a source that it would recognise. The folder
    that is written opens at once, whatever its size, and holds everything that linking needs.

    \b
      canonym index doid.db -o doid-index
      canonym index doid.obo -o doid-index --encoder doid-encoder --encoder chargrams --weight 1 \\
          --weight 0.3
      canonym index medic.txt -o medic-index --mentions train.pubtator --search "D-T + OD-T"
      canonym link --index doid-index "heart attack"
    """
    import time

    from canonym.cli.description import print_facts
    from canonym.cli.progress import stages
    from canonym.cli.sources import open_terminology
    from canonym.linker import Linker

    known = _read_mentions(mentions, mention_types)
    with open_terminology(terminology, quiet=quiet) as opened:
        began = time.monotonic()
        with stages(quiet=quiet) as report:
            linker = Linker.build(
                opened,
                encoders=encoders or ("default",),
                weights=weights or None,
                spelling=spelling,
                composites=composites,
                trials=trials,
                abbreviations=abbreviations,
                min_length=min_length,
                mentions=known,
                search_threshold=search_threshold,
                **({"search": search} if search else {}),
                fold=fold,
                order=order,
                folder=output,
                overwrite=overwrite,
                progress=report,
            )
        _tell_of_rest(linker, quiet=quiet)
        if not quiet:
            described = linker.info()
            searched = described["settings"]["search"]
            print_facts(
                {
                    "index": output,
                    "concepts": linker.terminology.n_concepts,
                    "names": linker.terminology.n_names,
                    **_mention_facts(linker.manifest.get("mentions")),
                    **({"search": searched} if searched != "O-T" else {}),
                    "encoders": described["encoders"],
                    "fingerprint": described["fingerprint"],
                    "time": f"{time.monotonic() - began:.1f} s",
                }
            )


def _read_mentions(paths: Sequence[str], types: Sequence[str]) -> list[Mention] | None:
    """Return the annotated mentions of corpora, or None where there are no corpora."""
    from canonym.cli.annotated import open_corpus
    from canonym.errors import InvalidInput

    if not paths:
        if types:
            raise InvalidInput("--mention-type goes with --mentions")
        return None
    found = [
        m for path in paths for document in open_corpus(path).documents for m in document.mentions
    ]
    kept = [mention for mention in found if not types or mention.type in types]
    if not kept:
        known = ", ".join(sorted({mention.type for mention in found}))
        raise InvalidInput(f"no mention is of the type {types[0]!r}; there are {known}")
    return kept


def _mention_facts(counts: dict[str, int] | None) -> dict[str, Any]:
    if counts is None:
        return {}
    left = [f"{n:,} {what}" for what, n in counts.items() if n and what not in ("given", "names")]
    told = f" (left out: {', '.join(left)})" if left else ""
    return {"mentions": f"{counts['given']:,}, with {counts['names']:,} names{told}"}


def _tell_of_rest(linker: Linker, *, quiet: bool) -> None:
    from canonym.cli.failures import printable
    from canonym.cli.progress import note

    left = linker.synonyms()
    if left:
        shown = ", ".join(f"{name.text!r} ({name.concept_id})" for name in left[:5])
        note(
            printable(
                f"{len(left):,} synonyms are of concepts that the terminology does not have: "
                f"{shown}{', …' if len(left) > 5 else ''}. They are kept beside the index, and not "
                "found."
            ),
            quiet=quiet,
        )
