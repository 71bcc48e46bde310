"""Plans: every setting of a training run as TOML, and `TrainingSpec`, a plan that was checked.

A plan names its recipe and gives keys, which are those of `TrainingSpec`, of the recipe's
objective, of the encoder and of the loop. Keys that it leaves out are as in the paper. The sampling
of an epoch, which `canonym.training.objective` calls a plan too, is none of it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

from canonym.errors import InvalidInput
from canonym.io.encodings import without_surrogates
from canonym.io.files import check_regular
from canonym.training.keys import (
    PLANS,
    UNSET,
    Count,
    Key,
    Switch,
    Text,
    keys_of,
    published_plan,
    read_toml,
)
from canonym.training.loop.settings import FitSettings
from canonym.types import SIMILARITIES

PLAN = "plan.toml"
"""The file of a trained encoder with the plan of its run."""

_OF_MENTIONS = ("biosyn", "triplet", "dilbert")
_OF_NAMES = (*_OF_MENTIONS, "coder")
# Where a run writes, which another run of the same plan would find taken.
_PLACES = {"checkpoints", "log", "tensorboard"}


@dataclass(kw_only=True)
class TrainingSpec:
    """A training run: a plan that was checked, and what this run does with it.

    `objective`, `module` and `loop` are the settings of the objective, of the encoder that is
    trained and of the loop; `values` are all keys. `output` is the folder to write, and `overwrite`
    whether it is replaced; `resume` goes on from checkpoints, and `dry_run` only samples.

    Parameters
    ----------
    encoder : str
        What to begin with: a Hugging Face or sentence-transformers folder, a model of the hub in
        the local cache, hf:NAME to download one, or scratch for a small one of random weights. For
        few-shot any encoder that `canonym index` takes.
    terminologies : sequence of str
        A terminology, or a source that `canonym import` recognises. Several are read one after the
        other.
    corpora : sequence of str
        Annotated training parts. biosyn and dilbert need one; for triplet its mentions are names
        too.
    dev : str, optional
        An annotated dev part: accuracy@1 of the encoder as it would be saved, under BioSyn's
        protocol, is measured on it after each epoch.
    types : sequence of str
        Only mentions of these types, such as Disease.
    format : str, optional
        Format of the corpora; recognised when left out.
    corrections : str, optional
        File of words to correct, wrong||right.
    preparation : str
        What is done to names and mentions: biosyn is lower case without punctuation.
    relations : str, optional
        File of head<tab>relation<tab>tail lines; without it the relations are those of the
        terminology.
    top : str, optional
        The concept whose children are the high-level concepts.
    groups : str, optional
        Instead of top: a file of JSON, or JSON in gzip, of lists of names by concept.
    concepts : int, optional
        Only so many of the high-level concepts, the largest.
    allow_cycles : bool
        Put up with cycles of the hierarchy.
    similarity : str
        How a search compares the vectors of the trained encoder, with which it is saved; auto is as
        in the paper.
    device : str
        cpu, cuda, cuda:1 or mps; auto is a GPU if there is one.
    checkpoints : str, optional
        Folder of the checkpoints; without it OUTPUT.checkpoints.
    checkpoint_every : int
        Steps between checkpoints; there is one after each epoch too.
    keep_checkpoints : bool
        Do not remove them when the encoder is written.
    log : str, optional
        File to write each step's loss and rate to, as a line of JSON.
    tensorboard : str, optional
        Folder of a log for TensorBoard.
    """

    recipe: str
    encoder: Text = ""
    terminologies: Annotated[tuple[str, ...], Key(key="terminology")] = ()
    corpora: Annotated[tuple[str, ...], Key(key="corpus", recipes=_OF_MENTIONS)] = ()
    dev: Text | None = None
    types: Annotated[tuple[str, ...], Key(key="mention_type")] = ()
    format: Text | None = None
    corrections: Text | None = None
    preparation: Annotated[str, Key(choices=("biosyn", "none"), recipes=_OF_NAMES)] = "none"
    relations: Annotated[str, Key(recipes=("coder",))] | None = None
    top: Annotated[str, Key(recipes=("few-shot",))] | None = None
    groups: Annotated[str, Key(recipes=("few-shot",))] | None = None
    concepts: Annotated[int, Key(least=2, recipes=("few-shot",))] | None = None
    allow_cycles: Annotated[bool, Key(recipes=("few-shot",))] = False
    similarity: Annotated[str, Key(choices=("auto", *SIMILARITIES), recipes=_OF_NAMES)] = "auto"
    device: Text = "auto"
    checkpoints: Text | None = None
    checkpoint_every: Count = 500
    keep_checkpoints: Switch = False
    log: Text | None = None
    tensorboard: Text | None = None
    objective: dict[str, Any] = field(default_factory=dict)
    module: dict[str, Any] = field(default_factory=dict)
    loop: FitSettings = field(default_factory=FitSettings)
    values: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    resume: bool = False
    dry_run: bool = False
    overwrite: bool = False

    @classmethod
    def from_values(cls, recipe: str, values: Mapping[str, Any], **run: Any) -> Self:
        """Check keys, and sort them by what takes them; the others are as in the paper.

        A budget of names takes the place of the paper's epochs.
        """
        checked = checked_values(recipe, values)
        whole = {name: key.default for name, key in plan_keys(recipe).items()}
        whole |= ({"epochs": None} if checked.get("max_names") else {}) | checked
        objective, module, loop = (
            {name: whole[name] for name in keys} for keys in _settings_of(recipe)
        )
        own = {
            name: whole[name] for name in keys_of(cls) if name in whole and name not in objective
        }
        return cls(
            recipe=recipe,
            objective=objective,
            module=module,
            loop=FitSettings(**loop),
            values=whole,
            **{name: whole[name] for name in own},
            **run,
        )


def _settings_of(recipe: str) -> tuple[Mapping[str, Key], ...]:
    from canonym.training.recipes import loop_keys, module_keys, objective_keys

    return objective_keys(recipe), module_keys(recipe), loop_keys(recipe)


def plan_keys(recipe: str) -> dict[str, Key]:
    """Return all keys of a recipe by parameter, with the defaults of its paper."""
    objective, module, loop = _settings_of(recipe)
    run = keys_of(TrainingSpec, published_plan(recipe))
    own = {name: key for name, key in run.items() if recipe in (key.recipes or (recipe,))}
    return {**own, **objective, **module, **loop}


def checked_values(
    recipe: str, values: Mapping[str, Any], *, typed: bool = False
) -> dict[str, Any]:
    """Check keys, named as in a plan or as parameters, and return their values by parameter.

    Values that were `typed` are the texts that stand for them.
    """
    keys = plan_keys(recipe)
    known = keys | {key.key: key for key in keys.values()}
    checked: dict[str, Any] = {}
    for name, value in values.items():
        key = known.get(name.replace("-", "_"))
        if key is None:
            near = get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]!r}?" if near else "--show-plan prints all keys"
            raise InvalidInput(f"{recipe} has no key {name!r} (value {value!r}): {meant}")
        checked[key.name] = key.check(key.parse(value) if typed else value)
    return checked


def read_plan(recipe: str, plan: str) -> dict[str, Any]:
    """Read the plan of a recipe, and return its keys by parameter.

    `plan` is a file of TOML, the folder of a trained encoder, or the name of a plan that comes with
    canonym, such as ``"biosyn-published"``.
    """
    path = Path(plan)
    if path.is_dir():
        path = path / PLAN
    if not path.exists():
        path = _shipped(plan)
    check_regular(path)
    try:
        values = read_toml(path)
        if (of := values.pop("recipe", recipe)) != recipe:
            raise InvalidInput(f"recipe is {of!r}; expected {recipe!r}, or train with that recipe")
        return checked_values(recipe, values)
    except InvalidInput as error:
        raise InvalidInput(error if str(path) in str(error) else f"{path}: {error}") from error


def _shipped(plan: str) -> Path:
    shipped = {path.stem: path for path in sorted(PLANS.glob("*.toml"))}
    if plan not in shipped:
        near = get_close_matches(plan, shipped, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InvalidInput(
            f"--plan {plan}: there is no such file, and the plans that come with canonym are "
            f"{', '.join(shipped)}{meant}"
        )
    return shipped[plan]


def plan_text(recipe: str, values: Mapping[str, Any]) -> str:
    """Return a plan of `values`, which are by parameter, with a comment on each key."""
    lines = [f"# Every setting of a run of `canonym train {recipe}`.", f'recipe = "{recipe}"']
    for name, key in plan_keys(recipe).items():
        comment = textwrap.wrap(key.help, 98, initial_indent="# ", subsequent_indent="# ")
        taken = f"{key.expected}{f', or {UNSET!r}' if key.optional else ''}"
        lines += ["", *comment, f"{key.key} = {_toml(values[name])}  # {taken}"]
    return "\n".join([*lines, ""])


def repeated_plan(spec: TrainingSpec) -> str:
    """Return the plan by which a run can be repeated, without the places that it wrote to."""
    return plan_text(spec.recipe, spec.values | dict.fromkeys(_PLACES))


def _toml(value: Any) -> str:
    """Return a value as TOML, of which the strings, lists and numbers of JSON are a part."""
    value = UNSET if value is None else list(value) if isinstance(value, tuple) else value
    return without_surrogates(json.dumps(value, ensure_ascii=False)).replace("\x7f", "\\u007F")
