"""A trained encoder on disk: weights that others can load, a manifest, and a model card."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import canonym
from canonym.encoders import ENCODERS
from canonym.encoders.hub import Comparison
from canonym.encoders.saved import write_tensors
from canonym.errors import InvalidInput
from canonym.io import files
from canonym.io.numbers import BY_BLAS
from canonym.training.loop.fit import Fitted
from canonym.training.objective import Trainable
from canonym.training.watched import kept_measures, watched_tables


def save_trained(
    folder: str | Path,
    trainable: Trainable,
    fitted: Fitted,
    *,
    paper: str = "",
    data: Mapping[str, object] | None = None,
    asked: Mapping[str, object] | None = None,
    dev: str = "dev score",
    similarity: str = "cosine",
    sparse_weight: float = 0.0,
    tried: Mapping[str, float] | None = None,
    plan: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write a trained encoder.

    The folder is one that `canonym.encoders.load_encoder` opens and, for a transformer, that
    sentence-transformers and transformers load without canonym. ``canonym.json`` describes the
    training, ``extra.safetensors`` holds the extra modules, ``README.md`` is the model card.

    Parameters
    ----------
    folder : str or Path
        Appears whole or not at all; its parent has to exist.
    trainable : Trainable
        The encoder.
    fitted : Fitted
        What `canonym.training.loop.fit.fit` returned.
    paper : str
        The publication of the objective.
    data, asked : mapping of str to object, optional
        Counts of the data, and settings by which an experiment recognises the model.
    dev : str
        The name of the dev score, for the card.
    similarity : str
        How the vectors are compared in a search, one of `canonym.types.SIMILARITIES`.
    sparse_weight : float
        The weight of character n-grams beside them, at least 0; see `inference_of`.
    tried : mapping of str to float, optional
        The score of each width of a head that was tried.
    plan : str, optional
        The text of ``plan.toml``, by which `canonym train` repeats the run.
    overwrite : bool
        Whether an encoder that was saved there before is replaced.

    Raises
    ------
    InvalidInput
        If the folder cannot be written to, or the kind of encoder is not known.
    """
    encoder: Any = trainable.to_encoder()
    kinds = {place: kind for kind, place in ENCODERS.items()}
    kind = kinds.get(f"{type(encoder).__module__}:{type(encoder).__qualname__}")
    if kind is None:
        raise InvalidInput(f"{type(encoder).__name__} is no encoder that canonym could open again")
    if similarity != "cosine" or sparse_weight:
        encoder.compare_by(Comparison(similarity, similarity == "cosine", sparse_weight))
    facts = {
        **fitted.identity,
        "paper": paper,
        "counts": dict(data or {}),
        **({"asked": dict(asked)} if asked else {}),
        "steps": fitted.steps,
        "names": fitted.names,
        "epochs": [record._asdict() for record in fitted.epochs],
        "kept_epoch": fitted.kept,
        "stopped_early": fitted.stopped_early,
        "seconds": round(fitted.seconds, 3),
        **({"measured": kept_measures(fitted.measured, fitted.kept)} if fitted.measured else {}),
        **({"tried_hidden": dict(tried)} if tried else {}),
        "version": canonym.__version__,
        "commit": _commit(),
        "rests_on": BY_BLAS,
    }
    with files.write_folder(folder, overwrite=overwrite) as partial:
        encoder.save(partial)
        if fitted.extra:
            write_tensors(partial / "extra.safetensors", fitted.extra)
        card = _card(Path(folder).name, facts, kind=kind, dev=dev)
        (partial / "README.md").write_text(card, encoding="utf-8")
        if plan is not None:
            (partial / "plan.toml").write_text(plan, encoding="utf-8")
        files.write_manifest(
            partial,
            kind="encoder",
            format_number=1,
            content={"encoder": kind, "training": facts},
        )


def inference_of(objective: Any, similarity: str = "auto") -> dict[str, Any]:
    """Return how a paper searches with what it trains, as it is now, for `save_trained`.

    An objective says it by an attribute `similarity`; one with an attribute `sparse_weight` learns
    a weight of n-grams, which holds for that similarity alone. ``"auto"`` takes the paper's.
    """
    published = getattr(objective, "similarity", "cosine")
    used = published if similarity == "auto" else similarity
    learned = getattr(objective, "sparse_weight", 0.0) if used == published else 0.0
    return {"similarity": used, "sparse_weight": learned}


def _commit() -> str | None:
    """Return the commit that canonym runs from, None where it was installed from a package."""
    root = Path(__file__).parents[4]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, timeout=9
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _card(name: str, facts: Mapping[str, Any], *, kind: str, dev: str) -> str:
    """Return the model card."""
    settings = {**facts["settings"], **facts["objective_settings"]}
    paper = f", after {facts['paper']}" if facts["paper"] else ""
    head = ["---", "tags:", "- concept-normalization", "- canonym"]
    if kind == "transformer":
        head += ["library_name: sentence-transformers", "pipeline_tag: sentence-similarity"]
    kept_epoch = facts["kept_epoch"]
    rows = [
        [str(e["epoch"] + 1) + (" (kept)" if e["epoch"] == kept_epoch else ""), f"{e['step']:,}",
         f"{e['mean_loss']:.4f}", "" if e["dev"] is None else f"{e['dev']:.4f}"]
        for e in facts["epochs"]
    ]  # fmt: skip
    return "\n".join(
        [
            *head,
            "---",
            "",
            f"# {name}",
            "",
            "An encoder of names of biomedical concepts, trained by canonym "
            f"{facts['version']} with the objective `{facts['objective']}`{paper}.",
            "",
            *_use(name, kind),
            "## Measured",
            "",
            *_table(["epoch", "steps", "mean loss", dev], rows),
            "",
            *_tried(facts, dev),
            *_measured(facts),
            "The weights are those of the last step."
            if kept_epoch is None
            else f"The weights are those of epoch {kept_epoch + 1}, chosen by the last column, "
            "which is no estimate for new data therefore.",
            "",
            f"Training rests on {facts['rests_on']}.",
            "",
            "## Settings",
            "",
            *_table(["setting", "value"], [[f"`{k}`", _shown(v)] for k, v in settings.items()]),
            "",
            "## Encoder",
            "",
            *_table(["", ""], [[k, _shown(v)] for k, v in facts["encoder"].items()]),
            "",
            "## Data",
            "",
            *_table(
                ["", ""],
                [[k, _shown(v)] for k, v in facts["counts"].items()]
                + [[f"{k}, SHA-256", f"`{v}`"] for k, v in facts["data"].items()],
            ),
            "",
        ]
    )


def _tried(facts: Mapping[str, Any], dev: str) -> list[str]:
    """Return the lines of the card on the widths of a head that were tried."""
    rows = [[f"{int(n):,}", f"{score:.4f}"] for n, score in facts.get("tried_hidden", {}).items()]
    return [*_table(["hidden columns tried", f"best {dev}"], rows), ""] if rows else []


def _measured(facts: Mapping[str, Any]) -> list[str]:
    """Return the lines of the card on candidates and watched mentions."""
    measured, kept_epoch = facts.get("measured", []), facts["kept_epoch"]
    lines = []
    if measured and (parts := measured[0].get("recall")):
        shares = [[f"{measures['recall'][part]:.4f}" for part in parts] for measures in measured]
        head = ["epochs trained", *(f"{part} mentions" for part in parts)]
        rows = [[str(epoch), *share] for epoch, share in enumerate(shares)]
        lines = ["Mentions with a right name among their candidates:", "", *_table(head, rows), ""]
    for table in watched_tables(measured, kept_epoch):
        lines += [f"The names nearest to *{table.mention}*; an asterisk is a right one:", ""]
        lines += [*_table(list(table.columns), list(map(list, table.rows))), ""]
    return lines


def _use(name: str, kind: str) -> list[str]:
    """Return the lines of the card on how to load the encoder."""
    lines = [
        "```python",
        "from canonym.encoders import load_encoder",
        "",
        f'vectors = load_encoder("{name}").encode(["heart attack", "myocardial infarction"])',
        "```",
        "",
    ]
    if kind == "transformer":
        lines += ["sentence-transformers loads the folder as well, without canonym:", ""]
        lines += ["```python", "from sentence_transformers import SentenceTransformer", ""]
        lines += [f'vectors = SentenceTransformer("{name}").encode(["heart attack"])', "```", ""]
    return lines


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _table(columns: list[str], rows: list[list[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines]
