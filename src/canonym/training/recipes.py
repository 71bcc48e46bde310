"""Recipes: the five papers by name, and `TrainingSpec`, every option of a training run.

A recipe is a class of objectives. It carries the settings of its paper: ``fit_settings`` for the
loop, ``encoder_settings`` for the encoder. Each option is declared once, beside what takes it: the
objective, the encoder, `FitSettings` or `TrainingSpec`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Self

import numpy as np

from canonym.encoders import make_encoder
from canonym.errors import InvalidInput, NotTrained, ReadError
from canonym.evaluation.run import corpus_digest
from canonym.terminology import Terminology
from canonym.terminology.hierarchy import Hierarchy
from canonym.training.loop.settings import FitSettings
from canonym.training.modules.residual_head import ResidualModule
from canonym.training.modules.scratch import OPTIONS as SCRATCH_OPTIONS
from canonym.training.modules.scratch import new_module
from canonym.training.modules.transformer import NameModule
from canonym.training.objective import Trainable
from canonym.training.option_notes import Option, options_of
from canonym.training.papers import BatchHard, BioSyn, Coder, Dilbert, FewShot
from canonym.training.sampling.mentions import training_mentions
from canonym.training.sampling.name_table import PREPARATIONS, NameTable, names_below
from canonym.types import SIMILARITIES, Document, Relation

RECIPES: dict[str, type[Any]] = {
    "biosyn": BioSyn,
    "triplet": BatchHard,
    "dilbert": Dilbert,
    "coder": Coder,
    "few-shot": FewShot,
}
"""Recipes by name."""

PAPERS: dict[str, str] = {
    "biosyn": "Sung et al. (2020), BioSyn",
    "triplet": "Xu and Bethard (2021), triplet search",
    "dilbert": "Miftahutdinov et al. (2021), DILBERT",
    "coder": "Yuan et al. (2020), CODER",
    "few-shot": "Fivez et al. (2021), few-shot names",
}

SCRATCH = "scratch"
_OF_MENTIONS = ("biosyn", "triplet", "dilbert")
_OF_NAMES = (*_OF_MENTIONS, "coder")
_PROTOCOL = {"biosyn": "biosyn", "none": "plain"}


def recipe_class(name: str) -> Any:
    """Return the class of a recipe's objectives."""
    if name not in RECIPES:
        raise InvalidInput(f"there is no recipe {name!r}; there are {', '.join(RECIPES)}")
    return RECIPES[name]


# --- options --------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class TrainingSpec:
    """A training run: a recipe with its data and all its options.

    The flags of `canonym train RECIPE` and the keys of its ``--config`` file are the options of
    this class, with those of the objective, of the encoder and of the loop in their places.
    """

    recipe: str
    encoder: Annotated[
        str,
        Option(
            "What to begin with: a Hugging Face or sentence-transformers folder, a model of the "
            "hub in the local cache, hf:NAME to download one, or scratch for a small one of random "
            "weights. For few-shot any encoder that `canonym index` takes.",
            flags=("-e", "--encoder"),
            metavar="SPEC",
            required=True,
        ),
    ] = ""
    terminologies: Annotated[
        tuple[str, ...],
        Option(
            "A terminology, or a source that `canonym import` recognises. Several are read one "
            "after the other. Can be repeated.",
            flags=("-t", "--terminology"),
            metavar="PATH",
            required=True,
        ),
    ] = ()
    corpora: Annotated[
        tuple[str, ...],
        Option(
            "An annotated training part. biosyn and dilbert need one; for triplet its mentions are "
            "names too. Can be repeated.",
            flags=("-c", "--corpus"),
            metavar="PATH",
            recipes=_OF_MENTIONS,
        ),
    ] = ()
    dev: Annotated[
        str | None,
        Option(
            "An annotated dev part: accuracy@1 of the encoder as it would be saved, under BioSyn's "
            "protocol, is measured on it after each epoch.",
            metavar="PATH",
        ),
    ] = None
    format: Annotated[str | None, Option("Format of the corpora; recognised when left out.")] = None
    types: Annotated[
        tuple[str, ...],
        Option(
            "Only mentions of this type, such as Disease. Can be repeated.",
            flags=("--mention-type",),
            metavar="TYPE",
        ),
    ] = ()
    corrections: Annotated[
        str | None, Option("Words to correct, wrong||right.", metavar="FILE")
    ] = None
    output: Annotated[
        str, Option("Folder to write.", flags=("-o", "--output"), metavar="PATH", required=True)
    ] = ""
    preparation: Annotated[
        str,
        Option(
            "What is done to names and mentions: biosyn is lower case without punctuation.",
            choices=tuple(PREPARATIONS),
            recipes=_OF_NAMES,
        ),
    ] = "none"
    relations: Annotated[
        str | None,
        Option(
            "Relations as head<tab>relation<tab>tail lines.",
            metavar="FILE",
            unset="those of the terminology",
            recipes=("coder",),
        ),
    ] = None
    top: Annotated[
        str | None,
        Option("Its children are the high-level concepts.", metavar="ID", recipes=("few-shot",)),
    ] = None
    concepts: Annotated[
        int | None,
        Option("Only so many of them, the largest.", least=2, recipes=("few-shot",)),
    ] = None
    groups: Annotated[
        str | None,
        Option(
            "Instead of --top: JSON, or JSON in gzip, of lists of names by concept.",
            metavar="FILE",
            recipes=("few-shot",),
        ),
    ] = None
    objective: dict[str, Any] = field(default_factory=dict)
    module: dict[str, Any] = field(default_factory=dict)
    similarity: Annotated[
        str,
        Option(
            "How a search compares the vectors of the trained encoder; auto: as in the paper. It "
            "is saved with the encoder.",
            choices=("auto", *SIMILARITIES),
            recipes=_OF_NAMES,
        ),
    ] = "auto"
    allow_cycles: Annotated[
        bool, Option("Put up with cycles of the hierarchy.", recipes=("few-shot",))
    ] = False
    loop: FitSettings = field(default_factory=FitSettings)
    device: Annotated[str, Option("cpu, cuda, cuda:1, mps; auto is a GPU if there is one.")] = (
        "auto"
    )
    checkpoints: Annotated[
        str | None,
        Option("Where checkpoints go.", metavar="FOLDER", unset="OUTPUT.checkpoints"),
    ] = None
    checkpoint_every: Annotated[
        int, Option("Steps between checkpoints; there is one after each epoch too.", least=1)
    ] = 500
    keep_checkpoints: Annotated[bool, Option("Do not remove them when the encoder is written.")] = (
        False
    )
    resume: Annotated[bool, Option("Go on from the newest whole checkpoint.")] = False
    log: Annotated[
        str | None, Option("Write each step's loss and rate as a line of JSON.", metavar="FILE")
    ] = None
    tensorboard: Annotated[str | None, Option("Log for TensorBoard.", metavar="FOLDER")] = None
    dry_run: Annotated[
        bool, Option("Sample the first epoch, show what is in it, and train nothing.")
    ] = False
    overwrite: Annotated[bool, Option("Replace the output if it exists.")] = False

    @classmethod
    def from_values(cls, recipe: str, values: Mapping[str, Any]) -> Self:
        """Check options, and sort them by what takes them; the others are as in the paper.

        A budget of names takes the place of the paper's epochs.
        """
        defaults = {name: option.default for name, option in spec_options(recipe).items()}
        checked = checked_values(recipe, values)
        rest = defaults | ({"epochs": None} if checked.get("max_names") else {}) | checked
        objective, module, loop = (
            {name: rest.pop(name) for name in options(recipe)} for options in _SECTIONS.values()
        )
        return cls(
            recipe=recipe, objective=objective, module=module, loop=FitSettings(**loop), **rest
        )


def objective_options(recipe: str) -> dict[str, Option]:
    """Return the options of a recipe's objective."""
    made = recipe_class(recipe)
    drawn = options_of(made.from_groups, made.options) if recipe == "few-shot" else {}
    return drawn | options_of(made, made.options)


def module_options(recipe: str) -> dict[str, Option]:
    """Return the options of the encoder that a recipe trains, with the defaults of its paper."""
    paper = recipe_class(recipe).encoder_settings
    if recipe == "few-shot":
        return options_of(ResidualModule, ResidualModule.options, paper)
    return options_of(new_module, SCRATCH_OPTIONS, paper)


def loop_options(recipe: str) -> dict[str, Option]:
    """Return the options of the training loop, with the defaults of a recipe's paper."""
    return options_of(FitSettings, None, recipe_class(recipe).fit_settings)


_SECTIONS: dict[str, Callable[[str], dict[str, Option]]] = {
    "objective": objective_options,
    "module": module_options,
    "loop": loop_options,
}


def spec_options(recipe: str) -> dict[str, Option]:
    """Return all options of a recipe by the name of their parameter, in the order of its help."""
    made = recipe_class(recipe)
    prepared = inspect.signature(getattr(made, "from_terminology", made)).parameters
    paper = {name: prepared[name].default for name in ("preparation",) if name in prepared}
    run = options_of(TrainingSpec, None, paper)
    options: dict[str, Option] = {}
    for name in (option_field.name for option_field in fields(TrainingSpec)):
        if name in _SECTIONS:
            options |= _SECTIONS[name](recipe)
        elif name in run and recipe in (run[name].recipes or RECIPES):
            options[name] = run[name]
    if recipe == "few-shot":  # its names may come by --groups
        options["terminologies"] = replace(options["terminologies"], required=False)
    # The size of a batch belongs to the objective, and is read beside the number of steps.
    names = [name for name in options if name != "batch_size"]
    names.insert(names.index("max_steps") + 1, "batch_size")
    return {name: options[name] for name in names}


def checked_values(recipe: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Check options, named as in a file or as parameters, and return them by parameter."""
    options = spec_options(recipe)
    known = {option.key: option for option in options.values()} | options
    checked: dict[str, Any] = {}
    for key, value in values.items():
        option = known.get(key.replace("-", "_"))
        if option is None:
            keys = ", ".join(sorted(option.key for option in options.values()))
            raise InvalidInput(f"{recipe} has no option {key!r}; it has {keys}")
        checked[option.name] = option.check(value)
    return checked


# --- parts of a run -------------------------------------------------------------------------------


def open_trainable(
    spec: str,
    *,
    names: Callable[[], Iterable[str]],
    pooling: str = "auto",
    max_length: int = 25,
    seed: int = 0,
    **sizes: Any,
) -> NameModule:
    """Open the transformer that a recipe starts from.

    `spec` is a Hugging Face or sentence-transformers folder, a model of the hub that is in the
    local cache, ``"hf:NAME"`` to download one, or ``"scratch"`` for one of random weights: `names`
    returns the names that its tokenizer is trained on, `sizes` are those of `new_module`.
    """
    if spec == SCRATCH:
        used_pooling = "mean" if pooling == "auto" else pooling
        return new_module(names(), pooling=used_pooling, max_length=max_length, seed=seed, **sizes)
    online = spec.startswith("hf:")
    place = spec.removeprefix("hf:").removeprefix("transformer:")
    try:
        return NameModule.read(
            place, pooling=pooling, max_length=max_length, local_files_only=not online
        )
    except ReadError as error:
        raise ReadError(
            error.path,
            f"{error.problem}; this recipe trains a transformer: give the folder of one, or "
            f"{SCRATCH!r} to begin with nothing",
        ) from error


def open_head(spec: str, *, seed: int, **options: Any) -> ResidualModule:
    """Put a `ResidualModule` with `options` on the encoder that `spec` describes."""
    try:
        return ResidualModule(make_encoder(spec), seed=seed, **options)
    except NotTrained as error:
        raise InvalidInput(
            f"{spec!r} is fitted to each terminology; a head goes on an encoder of dense vectors "
            "that is not trained"
        ) from error


def mentions_of(
    documents: Sequence[Document],
    terminology: Terminology,
    *,
    preparation: str,
    types: Sequence[str] = (),
    corrections: Mapping[str, str] | None = None,
) -> tuple[tuple[tuple[str, frozenset[str]], ...], dict[str, int]]:
    """Return training mentions prepared as names are, and how many were left out and why."""
    if not documents:
        return (), {}
    names = training_mentions(
        documents,
        terminology,
        protocol=_PROTOCOL[preparation],
        types=types,
        corrections=corrections,
    )
    return names.pairs, names.dropped


def build_objective(
    recipe: str,
    terminology: Terminology | None,
    *,
    mentions: Sequence[tuple[str, frozenset[str]]] = (),
    preparation: str = "none",
    relations: Sequence[Relation] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    trainable: Trainable | None = None,
    seed: int = 0,
    **options: Any,
) -> Any:
    """Make the objective of a recipe; `options` are those of its class.

    `relations` are for CODER, those of the terminology by default. `groups`, names of every
    high-level concept, `trainable`, the head, and `seed`, of the names drawn, are for few-shot.
    """
    made = recipe_class(recipe)
    if recipe == "few-shot":
        if groups is None or not isinstance(trainable, ResidualModule):
            raise InvalidInput("few-shot needs names of high-level concepts, and a head to train")
        rng = np.random.default_rng([seed, 1])
        return made.from_groups(groups, trainable.inputs, rng, **options)
    if terminology is None:
        raise InvalidInput(f"{recipe} trains on the names of a terminology: give one")
    if recipe == "coder":
        return made.from_terminology(terminology, relations, preparation=preparation, **options)
    if recipe != "triplet" and not mentions:
        raise InvalidInput(f"{recipe} trains on mentions: give an annotated corpus")
    return made.from_terminology(terminology, mentions, preparation=preparation, **options)


def group_names(
    terminology: Terminology, top: str, *, n_concepts: int | None = None, allow_cycles: bool = False
) -> dict[str, list[str]]:
    """Group the labels of a terminology by the child of `top` that they are below."""
    table = NameTable.from_terminology(terminology, scopes=("label",))
    hierarchy = Hierarchy.from_terminology(terminology)
    return names_below(table, hierarchy, top, n_concepts=n_concepts, allow_cycles=allow_cycles)


def data_digests(
    terminology: Terminology, *, corpus: Sequence[Document] = (), dev: Sequence[Document] = ()
) -> dict[str, str]:
    """Return the digests that tell a run's data from any other."""
    digests = {"terminology": terminology.digest}
    if corpus:
        digests["corpus"] = corpus_digest(corpus)
    if dev:
        digests["dev"] = corpus_digest(dev)
    return digests
