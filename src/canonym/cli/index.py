"""``canonym index``: a terminology prepared for linking."""

from __future__ import annotations

import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.description import print_facts
from canonym.cli.device import check_device, device_option
from canonym.cli.failures import printable
from canonym.cli.key_options import is_typed
from canonym.cli.named_indexes import folder_of, open_terminology
from canonym.cli.options import (
    Number,
    Size,
    encoder_option,
    mention_type_option,
    order_retired,
    overwrite_option,
    retired_option,
    several,
)
from canonym.cli.progress import activity, note, stages
from canonym.cli.verbosity import is_quiet
from canonym.errors import InvalidInput, ReadError
from canonym.io.files import restored
from canonym.io.places import check_outputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from canonym.linker import Linker
    from canonym.types import Mention

_LOG = logging.getLogger(__name__)
_RARITY = 0.5
_MOST_ASKED = 200_000  # names of a terminology; reading more takes long, and memory
_SURE, _WORTH = 0.001, 0.05  # the p of a gain, and its least size


@click.command()
@click.argument("terminology", type=click.Path(), required=False, metavar="TERMINOLOGY")
@click.option("-o", "--output", type=click.Path(), help="Folder to write.")
@encoder_option(
    "default, contextual, multilingual, universal, chargrams, a folder made by `canonym train`, a "
    "transformer, ... Options follow a comma: FOLDER,pooling=mean; default,rarity=0.5 weighs words "
    "by how rare they are in the terminology. Several are fused. Can be repeated.  "
    "[default: default]"
)
@click.option(
    "--weight",
    "weights",
    type=Number(0),
    multiple=True,
    help="Weight of each encoder, in the same order.  [default: 1 each; 0.5 of universal, of "
    "BioSyn's n-grams the trained one]",
)
@click.option(
    "--spelling/--no-spelling", default=True, help="Correct words that are not in the terminology."
)
@click.option("--composites/--no-composites", default=True, help="Split composite mentions.")
@click.option("--trials", is_flag=True, help="Remove doses, forms and arms, as in clinical trials.")
@click.option(
    "--abbreviations",
    type=click.Choice(["auto", "ab3p", "schwartz-hearst"]),
    default="auto",
    help="Engine that finds the abbreviations of a document.",
)
@click.option(
    "--min-length",
    type=click.IntRange(min=1),
    default=3,
    help="Mentions shorter than this are looked up, not searched.",
)
@several(
    "--mentions",
    type=click.Path(),
    metavar="CORPUS",
    help="An annotated corpus, as `canonym evaluate` takes it; its mentions are searched as names.",
)
@mention_type_option("mention_types")
@click.option(
    "--search",
    "target",
    metavar="SEARCH",
    help="Search names (T) or the mean of each concept's names (C), of the terminology (O), of "
    "--mentions (D) or of both (OD): O-T, O-C, D-T, D-C, OD-T, OD-C; or two of them one after the "
    'other, such as "D-T + OD-T".  [default: O-T, and "D-T + OD-T" with --mentions]',
)
@click.option(
    "--search-threshold",
    type=Number(-1, 1),
    default=0.95,
    help="Least score with which the first of two steps decides.",
)
@retired_option("--no-confidence", "links below --min-confidence 0.15 are NIL; give 0", flag=True)
@order_retired
@click.option(
    "--kind",
    type=click.Choice(["auto", "exact", "ivf"]),
    default="auto",
    help="Index of vectors: exact, or ivf, which misses about one nearest name in a hundred. auto "
    "is ivf from 1,000,000 names on.",
)
@click.option(
    "--memory",
    type=Size(),
    metavar="SIZE",
    default="1GB",
    help="What sorting may hold in memory at once, such as 500MB or 4GB.",
)
@click.option(
    "--fold",
    type=click.Path(),
    metavar="INDEX",
    help="Take over what was added to this index: its synonyms become names of the new one, its "
    "forbidden pairs stay forbidden.",
)
@click.option(
    "--reuse",
    type=click.Path(),
    metavar="INDEX",
    help="An index of an earlier version, built with the same encoders: only names that it lacks "
    "are prepared.",
)
@click.option(
    "--rules",
    type=click.Path(),
    metavar="FILE",
    help="A table of rules of your own, such as the shorthand of your hospital.",
)
@overwrite_option
@click.option(
    "--verify",
    "verified",
    type=click.Path(),
    metavar="FOLDER",
    help="Only check the files of an index or a saved encoder.",
)
@device_option
@click.pass_context
def index(
    ctx: click.Context,
    /,
    terminology: str | None,
    output: str | None,
    encoders: tuple[str, ...],
    weights: tuple[float, ...],
    mentions: tuple[str, ...],
    mention_types: tuple[str, ...],
    target: str | None,
    verified: str | None,
    device: str | None,
    **options: Any,
) -> None:
    """Index TERMINOLOGY so that names can be linked to it.

    TERMINOLOGY is a file made by `canonym import`, or a source that it would recognise. The folder
    that is written opens at once, whatever its size, and holds everything that linking needs.

    Each encoder is searched as its folder says: by cosine, inner product or Euclidean distance. A
    BioSyn encoder brings its character n-grams along, unless weights are given.

    \b
      canonym index doid.db -o doid-index
      canonym index doid.obo -o doid-index --encoder doid-encoder --encoder chargrams --weight 1 \\
          --weight 0.3
      canonym index doid.db -o doid-index --rules ward.tsv
      canonym index medic.txt -o medic-index --mentions train.pubtator --search "D-T + OD-T"
      canonym index doid-2026.obo -o doid-2026-index --reuse doid-index
      canonym link --index doid-index "heart attack"
      canonym index --verify doid-index
    """
    from canonym.encoders import path_of
    from canonym.linker import Linker

    if verified is not None:
        _verify(ctx, verified)
        return
    if terminology is None or output is None:
        name = "terminology" if terminology is None else "output"
        param = next(param for param in ctx.command.params if param.name == name)
        raise click.MissingParameter(ctx=ctx, param=param)
    # --fold may name the output: what was added to it goes into the new one.
    check_outputs(
        {"-o": output},
        (terminology, *map(path_of, encoders), *mentions, options["rules"]),
        overwrite=options["overwrite"],
        folder=True,
    )
    check_device(device, encoders or ("default",))
    known = _read_mentions(mentions, mention_types)
    options |= {"search": target} if target else {}
    _LOG.debug("Settings: %s", options)
    build = partial(
        Linker.build,
        encoders=encoders or ("default",),
        weights=weights or None,
        mentions=known,
        folder=output,
        **options,
    )
    _build(terminology, output, options["kind"], build)


def _build(terminology: str, output: str, kind: str, build: Callable[..., Linker]) -> None:
    """Build an index with progress, and report what it is."""
    from canonym.linking.build import FITTED, REUSED

    reused: dict[str, str] = {}
    with open_terminology(terminology) as opened:
        began = time.monotonic()
        with stages() as report:

            def watch(stage: str, done: int, total: int) -> None:
                said = {REUSED: f"{done:,} names", FITTED: "none, fitted to each version"}
                for what, part in said.items():
                    if stage.endswith(what):
                        encoder = stage.removesuffix(f" {what}")
                        reused[encoder] = f"{part}; {total - done:,} encoded"
                report(stage, done, total)

            linker = build(opened, progress=watch)
        _LOG.info("Wrote %s", output)
        _note_synonyms_left(linker)
        _note_languages(linker)
        _note_rarity(linker)
        if not is_quiet():
            took = f"{time.monotonic() - began:.1f} s"
            facts = {"index": output, **_facts(linker, kind)}
            print_facts(facts | ({"reused": reused} if reused else {}) | {"time": took})


def _verify(ctx: click.Context, folder: str) -> None:
    """Check an index or an encoder, and report every file that is not as it was written."""
    from canonym.encoders.saved import ENCODER_MANIFEST
    from canonym.linking.verify import verify_encoder, verify_index

    for param in ctx.command.params:
        if param.expose_value and param.name != "verified" and is_typed(param.name, ctx):
            hint = param.get_error_hint(ctx)
            raise InvalidInput(f"--verify checks {folder} and builds nothing; leave out {hint}")
    is_encoder = (restored(Path(folder)) / ENCODER_MANIFEST).is_file()
    found = verify_encoder(folder) if is_encoder else verify_index(folder_of(folder))
    if found.findings:
        lines = "".join(f"\n  {finding.file}: {finding.problem}" for finding in found.findings)
        raise ReadError(
            folder,
            f"files that are not as they were written: {len(found.findings)}{lines}\n"
            f"{'Make the encoder' if is_encoder else 'Build the index'} again, or copy it again "
            "from where it is sound; remove files that do not belong to it.",
        )
    if not found.checksums:
        raise ReadError(
            folder,
            "has no checksums, since an earlier canonym built it or checksums.sha256 is missing: "
            f"only the sizes of its files{'' if is_encoder else ' and the terminology'} were "
            "compared, and agree. Build it again to have them",
        )
    click.echo(f"{folder} is sound: all {found.n_files} files are what their checksums say.")


def _read_mentions(paths: Sequence[str], types: Sequence[str]) -> list[Mention] | None:
    """Return the annotated mentions of corpora, or None without corpora."""
    from canonym.cli.annotated import open_corpus

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


def _facts(linker: Linker, kind: str) -> dict[str, Any]:
    from canonym.linking.build import IVF_FROM

    described = linker.info()
    facts: dict[str, Any] = {
        "concepts": linker.terminology.n_concepts,
        "names": linker.terminology.n_names,
    }
    counts = linker.manifest.get("mentions")
    if counts is not None:
        left = [
            f"{n:,} {kind}" for kind, n in counts.items() if n and kind not in ("given", "names")
        ]
        remark = f" (left out: {', '.join(left)})" if left else ""
        facts["mentions"] = f"{counts['given']:,}, with {counts['names']:,} names{remark}"
    if described["settings"]["search"] != "O-T":
        facts["search"] = described["settings"]["search"]
    chosen = {one["index"] for one in described["encoders"]} & {"exact", "ivf"}
    if chosen:
        facts["kind"] = chosen.pop()
        if kind == "auto":
            facts["kind"] += f": {linker.terminology.n_names:,} names; ivf from {IVF_FROM:,}"
    if "fusion" in described:
        facts["fusion"] = "exact: the best sums of all names"
    shown = ("encoders", "confidence", "fingerprint")
    return facts | {key: described[key] for key in shown if key in described}


def _note_synonyms_left(linker: Linker) -> None:
    left = tuple(linker.synonyms)
    if left:
        shown = ", ".join(f"{name.text!r} ({name.concept_id})" for name in left[:5])
        note(
            printable(
                "Synonyms whose concepts the terminology does not have are kept beside the index, "
                f"and not found: {len(left):,}, {shown}{', …' if len(left) > 5 else ''}."
            )
        )


def _note_languages(linker: Linker) -> None:
    counts = linker.terminology.languages()
    others = sorted({tag.partition("-")[0] for tag in counts} - {"", "en"})
    english = {"default", "contextual"}
    if others and all(one["name"] in english for one in linker.manifest["encoders"]):
        note(
            f"Names in {', '.join(others)} are found by their letters alone: the encoder reads "
            "English. --encoder multilingual, or also --encoder universal, finds them by their "
            "meaning."
        )


def _note_rarity(linker: Linker) -> None:
    """Remark on names that differ by words which the encoder hardly counts."""
    from canonym.encoders import SHIPPED
    from canonym.encoders.subword import Subword
    from canonym.evaluation.own_names import gain_by_rarity

    encoders = linker.pipeline.search.encoders
    encoder = encoders[0].encoder if len(encoders) == 1 else None
    if (
        is_quiet()
        or not isinstance(encoder, Subword)
        or encoder.rarity >= _RARITY
        or encoder.scale is None
        or linker.terminology.n_names > _MOST_ASKED
    ):
        return
    try:
        with activity("Looking whether rare words should count more"):
            gain = gain_by_rarity(linker.terminology, encoder, _RARITY)
    except InvalidInput as error:  # too few synonyms
        _LOG.info("Nothing known of rare words: %s", error)
        return
    if gain.p < _SURE and gain.with_it - gain.without >= _WORTH:
        spec = encoders[0].name if encoders[0].name in SHIPPED else "FOLDER"
        note(
            f"Names share most of their words here: of {gain.n} that were taken out, the encoder "
            f"finds {gain.without:.0%}, and {gain.with_it:.0%} where rare words count more: "
            f"--encoder {spec},rarity={_RARITY}. `canonym terminology encoders` shows more."
        )
