"""``canonym train``: one subcommand per recipe, with the options of its `TrainingSpec`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from canonym.cli.annotated import FORMATS
from canonym.cli.options import CorpusFormat, Number
from canonym.cli.train.confidence import confidence
from canonym.cli.train.subword_command import subword
from canonym.errors import InvalidInput
from canonym.io.files import check_regular
from canonym.training.option_notes import Option


class TrainingCommand(click.Command):
    """A command that makes its options on first use: they import NumPy, which `--help` of others
    does not need. They stand at position `at` of its parameters.
    """

    def __init__(
        self,
        *arguments: Any,
        make: Callable[[], Iterable[click.Option]],
        at: int = 0,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self._make: Callable[[], Iterable[click.Option]] | None = make
        self._at = at

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters with the options."""
        if self._make is not None:
            self.params[self._at : self._at] = self._make()
            self._make = None
        return super().get_params(ctx)


def click_option(option: Option) -> click.Option:
    """Return the flag of an option."""
    flags = option.flags or ("--" + option.name.replace("_", "-"),)
    settings: dict[str, Any] = {"help": option.help or None, "required": option.required}
    if option.kind is bool:
        settings["is_flag"] = True
    else:
        shown = not (option.several or option.required or option.default is None)
        settings |= {
            "type": _click_type(option),
            "metavar": option.metavar,
            "multiple": option.several,
            "show_default": (option.shown or True) if shown else False,
        }
        if not (option.several or option.required):
            settings["default"] = option.default
        if option.unset and option.default is None:
            settings["help"] = f"{option.help}  [default: {option.unset}]"
    return click.Option((*flags, option.name), **settings)


def _click_type(option: Option) -> Any:
    if option.name == "format":
        return CorpusFormat(FORMATS)
    if option.choices:
        return click.Choice(option.choices)
    if option.metavar in {"FILE", "FOLDER", "PATH"}:
        return click.Path()
    if option.kind is str:
        return click.STRING
    low, high = option.least, option.most
    if option.kind is int:
        return click.IntRange(
            None if low is None else int(low), None if high is None else int(high)
        )
    if option.above is None and option.below is None and low is high is None:
        return click.FLOAT
    return Number(
        low if option.above is None else option.above,
        high if option.below is None else option.below,
        min_open=option.above is not None,
        max_open=option.below is not None,
    )


@click.group()
def train() -> None:
    """Train an encoder, in minutes on a CPU or as one of five papers describes.

    subword fits an encoder to a terminology without a GPU, and confidence adapts what an index says
    of its links. The others train transformers with the settings of their papers, and need torch.
    The folder that is written is one that `canonym index --encoder` takes, and that
    sentence-transformers loads without canonym. A run that was stopped goes on with --resume; with
    several GPUs, start it with `accelerate launch -m canonym train ...`. Options can be kept in a
    file: --config run.toml.

    \b
      canonym train subword doid.db -o doid-encoder
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym index medic.db -o medic-index --encoder biosyn-encoder --encoder chargrams
    """


train.add_command(subword)
train.add_command(confidence)


def _refuse(ctx: click.Context, _parameter: click.Parameter, widths: tuple[str, ...]) -> None:
    if widths:
        raise click.UsageError(
            "--try-hidden is gone: train with --hidden for each width, and keep the encoder of "
            "the best score, which each training reports",
            ctx,
        )


_TRY_HIDDEN = click.Option(
    ("--try-hidden",),
    multiple=True,
    hidden=True,
    expose_value=False,
    callback=_refuse,
    help="Gone.",
)


def recipe(name: str) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that turns a docstring into the command of a recipe."""

    def decorate(documented: Callable[[], None]) -> click.Command:
        def command(**given: Any) -> None:
            # Threads of torch that wait by spinning take the processors from each other. It is
            # read once, when torch is loaded.
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            from canonym.cli.train.training_run import run_training
            from canonym.training.recipes import TrainingSpec

            run_training(TrainingSpec.from_values(name, given))

        def options() -> list[click.Option]:
            from canonym.training.recipes import spec_options

            gone = [_TRY_HIDDEN] if name == "few-shot" else []
            return [*map(click_option, spec_options(name).values()), _config_option(name), *gone]

        command.__doc__ = documented.__doc__
        # Of itself, click ends the line of a list of commands at "et al.".
        line = (documented.__doc__ or "").partition("\n")[0]
        made = click.command(name, cls=TrainingCommand, make=options, short_help=line)(command)
        train.add_command(made)
        return made

    return decorate


def _config_option(recipe: str) -> click.Option:
    def read(ctx: click.Context, _parameter: click.Parameter, path: str | None) -> None:
        if path is not None:
            ctx.default_map = read_config(recipe, Path(path))

    return click.Option(
        ("--config",),
        type=click.Path(),
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=read,
        help="Options as a table of TOML, named as here; the command line wins over the file.",
    )


def read_config(recipe: str, path: Path) -> dict[str, Any]:
    """Read the options of a recipe from a TOML file, by the name of their parameter."""
    from canonym.training.recipes import checked_values

    check_regular(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as TOML ({error})") from error
    try:
        return checked_values(recipe, given)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


@recipe("biosyn")
def biosyn() -> None:
    """Train with synonym marginalization (Sung et al. 2020, BioSyn).

    Every epoch searches the nearest names of each mention, and raises the probability of the right
    ones among them.

    \b
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym train biosyn --encoder scratch --terminology medic.txt \\
          --corpus train.pubtator -o small --max-steps 200 --dry-run
      canonym train biosyn --encoder hf:NAME --terminology medic.txt --corpus train.pubtator \\
          --cosine-scale 20 --sparse default --sparse-weight 20 --sparse-rate 0 -o beside
      canonym index medic.db -o medic-index --encoder beside --encoder default
    """


@recipe("triplet")
def triplet() -> None:
    """Train with the hardest triplets of each batch (Xu and Bethard 2021).

    Each name, and each mention where a corpus is given, is drawn towards the farthest other name of
    its concept in the batch, and away from the nearest name of another concept.

    \b
      canonym train triplet --encoder models/PubMedBERT --terminology medic.txt \\
          --dev dev.pubtator -o triplet-encoder --precision bf16
    """


@recipe("dilbert")
def dilbert() -> None:
    """Train on triplets of mentions and names (Miftahutdinov et al. 2021, DILBERT).

    \b
      canonym train dilbert --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o dilbert-encoder
      canonym train dilbert --encoder models/BioBERT --terminology ctd.tsv \\
          --corpus train.pubtator --strategy re-sampling+siblings -o siblings-encoder
    """


@recipe("coder")
def coder() -> None:
    """Train on synonyms and relations at once (Yuan et al. 2020, CODER).

    \b
      canonym train coder --encoder models/PubMedBERT --terminology umls.db -o coder-encoder
      canonym train coder --encoder scratch --terminology doid.obo -o small --max-steps 500
    """


@recipe("few-shot")
def few_shot() -> None:
    """Train a head on a few names of high-level concepts (Fivez et al. 2021).

    The encoder is not trained; a small network on top of it moves its vectors. Without --dev, the
    score is that of as many other names, with the sign turned: larger is better. For continual
    training, run again with the first output as --encoder.

    \b
      canonym train few-shot --encoder words.vec --terminology doid.obo --top DOID:4 \\
          --concepts 8 -o few-shot-encoder
    """
