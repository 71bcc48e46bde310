"""``canonym train``: one subcommand per recipe, with the flags that most runs need and a plan."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from canonym.cli.options import overwrite_option, several, with_options
from canonym.cli.train.confidence import confidence
from canonym.cli.train.subword_command import subword
from canonym.training.keys import Key, keys_of, published_plan
from canonym.training.loop.settings import FitSettings
from canonym.training.plan import TrainingSpec, checked_values, plan_keys, plan_text, read_plan

# Keys of a plan that have a flag too, with their short flags and what stands for the value.
_FLAGS = {
    "encoder": ("-e", "SPEC"),
    "terminologies": ("-t", "PATH"),
    "corpora": ("-c", "PATH"),
    "dev": ("", "PATH"),
    "types": ("", "TYPE"),
    "relations": ("", "FILE"),
    "top": ("", "ID"),
    "groups": ("", "FILE"),
    "epochs": ("", "N"),
    "batch_size": ("", "N"),
    "learning_rate": ("", "RATE"),
    "seed": ("", "N"),
    "device": ("", "DEVICE"),
}
_GONE = {
    "config": "type --plan FILE",
    "try_hidden": "train with --set hidden=N for each width, and keep the encoder of the best "
    "score, which each training reports",
}


class RecipeCommand(click.Command):
    """A command whose settings are keys of a plan; it tells the key of what was a flag before."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            kinds = {key.key: key.kind for key in plan_keys(str(self.name)).values()}
            if name not in kinds | _GONE:
                raise
            value = "true" if kinds.get(name) is bool else "VALUE"
            instead = _GONE.get(name, f"it is a key of the plan: type --set {name}={value}")
            raise click.UsageError(f"{error.option_name} is gone: {instead}", ctx) from error


@click.group()
def train() -> None:
    """Train an encoder, in minutes on a CPU or as one of five papers describes.

    subword fits an encoder to a terminology without a GPU, and confidence adapts what an index says
    of its links. The others train transformers with the settings of their papers, and need torch.
    The folder that is written is one that `canonym index --encoder` takes, and that
    sentence-transformers loads without canonym. A run that was stopped goes on with --resume; with
    several GPUs, start it with `accelerate launch -m canonym train ...`. Settings beyond the flags
    are keys of a plan: --show-plan prints all, --set changes one, and --plan reads a file.

    \b
      canonym train subword doid.db -o doid-encoder
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym index medic.db -o medic-index --encoder biosyn-encoder --encoder chargrams
    """


train.add_command(subword)
train.add_command(confidence)


def recipe(name: str) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that turns a docstring into the command of a recipe."""

    def decorate(documented: Callable[[], None]) -> click.Command:
        def command(
            output: str | None,
            plan: str | None,
            settings: tuple[str, ...],
            show_plan: bool,
            resume: bool,
            dry_run: bool,
            overwrite: bool,
            **flags: Any,
        ) -> None:
            # Threads of torch that wait by spinning take the processors from each other. It is
            # read once, when torch is loaded.
            os.environ.setdefault("OMP_WAIT_POLICY", "passive")
            from canonym.cli.train.training_run import run_training

            if not (output or show_plan):
                raise click.UsageError("Missing option '-o' / '--output'.")
            values = {} if plan is None else read_plan(name, plan)
            values |= _typed_keys(name, settings)
            values |= {key: value for key, value in flags.items() if value not in (None, ())}
            run = {"resume": resume, "dry_run": dry_run, "overwrite": overwrite}
            spec = TrainingSpec.from_values(name, values, output=output or "", **run)
            if show_plan:
                click.echo(plan_text(name, spec.values), nl=False)
            else:
                run_training(spec)

        command.__doc__ = documented.__doc__
        # Of itself, click ends the line of a list of commands at "et al.".
        line = (documented.__doc__ or "").partition("\n")[0]
        made = click.command(name, cls=RecipeCommand, short_help=line)(_with_flags(name, command))
        train.add_command(made)
        return made

    return decorate


def _with_flags(recipe: str, command: Callable[..., None]) -> Callable[..., None]:
    paper = published_plan(recipe)
    keys = keys_of(TrainingSpec, paper) | keys_of(FitSettings, paper)
    keys = {name: key for name, key in keys.items() if recipe in (key.recipes or (recipe,))}
    keys["batch_size"] = Key(
        key="batch_size", kind=int, default=paper["batch_size"], help="Examples in a batch."
    )
    if "corpora" not in keys:
        del keys["types"]  # of the mentions of a dev part alone
    options = [
        *(_flag(name, keys[name]) for name in _FLAGS if name in keys),
        click.option("-o", "--output", metavar="PATH", help="Folder to write."),
        click.option(
            "--plan",
            metavar="PLAN",
            help="All other settings: a file of TOML, the folder of a trained encoder, or "
            f"{recipe}-published, which holds where nothing else is said.",
        ),
        several(
            "--set",
            "settings",
            metavar="KEY=VALUE",
            help="A key of the plan, such as precision=bf16; it wins over the plan, and flags win "
            "over both.",
        ),
        click.option(
            "--show-plan",
            is_flag=True,
            help="Print all keys with the values that would be used, as a plan, and train nothing.",
        ),
        click.option("--resume", is_flag=True, help="Go on from the newest whole checkpoint."),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Sample the first epoch, show what is in it, and train nothing.",
        ),
        overwrite_option,
    ]
    return with_options(*options)(command)


def _flag(name: str, key: Key) -> Any:
    short, metavar = _FLAGS[name]
    flags = [*([short] if short else []), "--" + key.key.replace("_", "-"), name]
    again = " Can be repeated." if key.several else ""
    default = "" if key.default in (None, "", ()) else f"  [default: {key.default}]"
    return click.option(
        *flags,
        type=key.kind,
        metavar=metavar,
        multiple=key.several,
        help=f"{key.help}{again}{default}",
    )


def _typed_keys(recipe: str, pairs: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys of ``--set``, of which those that take several values add up."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name.strip()):
            raise click.UsageError(f"--set {pair}: KEY=VALUE is expected, such as epochs=3")
        for key, value in checked_values(recipe, {name.strip(): text}, typed=True).items():
            values[key] = (*values.get(key, ()), *value) if isinstance(value, tuple) else value
    return values


@recipe("biosyn")
def biosyn() -> None:
    """Train with synonym marginalization (Sung et al. 2020, BioSyn).

    Every epoch searches the nearest names of each mention, and raises the probability of the right
    ones among them.

    \b
      canonym train biosyn --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o biosyn-encoder
      canonym train biosyn --encoder hf:NAME --terminology medic.txt --corpus train.pubtator \\
          --plan biosyn-beside-default -o beside
    """


@recipe("triplet")
def triplet() -> None:
    """Train with the hardest triplets of each batch (Xu and Bethard 2021).

    Each name, and each mention where a corpus is given, is drawn towards the farthest other name of
    its concept in the batch, and away from the nearest name of another concept.

    \b
      canonym train triplet --encoder models/PubMedBERT --terminology medic.txt \\
          --dev dev.pubtator -o triplet-encoder --set precision=bf16
      canonym train triplet --encoder triplet-encoder --terminology local.tsv \\
          --plan triplet-encoder --epochs 5 -o local-encoder
    """


@recipe("dilbert")
def dilbert() -> None:
    """Train on triplets of mentions and names (Miftahutdinov et al. 2021, DILBERT).

    \b
      canonym train dilbert --encoder models/BioBERT --terminology medic.txt \\
          --corpus train.pubtator --dev dev.pubtator -o dilbert-encoder
      canonym train dilbert --encoder models/BioBERT --terminology ctd.tsv \\
          --corpus train.pubtator --set strategy=re-sampling+siblings -o siblings-encoder
    """


@recipe("coder")
def coder() -> None:
    """Train on synonyms and relations at once (Yuan et al. 2020, CODER).

    \b
      canonym train coder --encoder models/PubMedBERT --terminology umls.db -o coder-encoder
      canonym train coder --encoder scratch --terminology doid.obo -o small --set max_steps=500
    """


@recipe("few-shot")
def few_shot() -> None:
    """Train a head on a few names of high-level concepts (Fivez et al. 2021).

    The encoder is not trained; a small network on top of it moves its vectors. Without --dev, the
    score is that of as many other names, with the sign turned: larger is better. For continual
    training, run again with the first output as --encoder.

    \b
      canonym train few-shot --encoder words.vec --terminology doid.obo --top DOID:4 \\
          --set concepts=8 -o few-shot-encoder
      canonym train few-shot --encoder few-shot-encoder --groups chapters.json -o second
    """
