"""A trained encoder on disk: weights that others can load, a manifest, and a model card."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import canonym
from canonym.encoders import kind_of
from canonym.encoders.hub import Comparison
from canonym.encoders.saved import write_tensors
from canonym.io import files
from canonym.io.numbers import BY_BLAS
from canonym.training.loop.fit import Fitted
from canonym.training.objective import Trainable
from canonym.training.watched import kept_measures, watched_tables

_CARD = Path(__file__).with_name("card.md.jinja")


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
    training, ``extra.safetensors`` holds the extra modules, ``README.md`` is the model card. It
    appears whole or not at all; its parent has to exist, and an encoder that was saved there before
    is only replaced with `overwrite`.

    `fitted` is what `canonym.training.loop.fit.fit` returned. `paper` is the publication of the
    objective, `data` has counts of the data, `asked` settings by which an experiment recognises the
    model, and `dev` names the dev score. `similarity` and `sparse_weight` are those of
    `inference_of`. `tried` has the score of each width of a head that was tried, and `plan` is the
    text of ``plan.toml``, by which `canonym train` repeats the run.

    Raises `InvalidInput` if the folder cannot be written to, or the kind of encoder is not known.
    """
    encoder: Any = trainable.to_encoder()
    kind = kind_of(encoder)
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
            partial, kind="encoder", format_number=1, content={"encoder": kind, "training": facts}
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
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        trim_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    measured, kept_epoch = facts.get("measured", []), facts["kept_epoch"]
    recall = list(measured[0].get("recall", {})) if measured else []
    return environment.from_string(_CARD.read_text(encoding="utf-8")).render(
        name=name,
        kind=kind,
        dev=dev,
        facts=facts,
        table=_table,
        epochs=[
            [
                f"{e['epoch'] + 1}{' (kept)' if e['epoch'] == kept_epoch else ''}",
                f"{e['step']:,}",
                f"{e['mean_loss']:.4f}",
                "" if e["dev"] is None else f"{e['dev']:.4f}",
            ]
            for e in facts["epochs"]
        ],
        tried=[[f"{int(n):,}", f"{best:.4f}"] for n, best in facts.get("tried_hidden", {}).items()],
        recall=[f"{part} mentions" for part in recall],
        recalled=[
            [str(epoch), *(f"{measures['recall'][part]:.4f}" for part in recall)]
            for epoch, measures in enumerate(measured if recall else ())
        ],
        watched_tables=watched_tables(measured, kept_epoch),
        settings=[
            [f"`{key}`", _shown(value)]
            for key, value in {**facts["settings"], **facts["objective_settings"]}.items()
        ],
        encoder=[[key, _shown(value)] for key, value in facts["encoder"].items()],
        data=[[key, _shown(value)] for key, value in facts["counts"].items()]
        + [[f"{key}, SHA-256", f"`{value}`"] for key, value in facts["data"].items()],
    )


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )
