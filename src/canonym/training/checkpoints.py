"""Checkpoints of a training run: whole or absent, the newest two, and nothing to be unpickled.

A checkpoint is a folder ``step-00000120`` with ``canonym.json`` (what the run is, where it stands,
and the size of every file), ``model.safetensors``, ``optimizer.safetensors`` and, in the middle of
an epoch, ``plan.safetensors``. The state of random numbers is not in it: each step starts from the
seed, its number and the number of the process.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym import files
from canonym.errors import Mismatch, ReadError
from canonym.training.objective import Plan

__all__ = [
    "Checkpoint",
    "check_same_run",
    "list_checkpoints",
    "read_arrays",
    "read_newest",
    "remove_checkpoints",
    "write_checkpoint",
]

Arrays = Mapping[str, np.ndarray[Any, Any]]

_KIND, _FORMAT, _KEPT = "training checkpoint", 1, 2
_NAME = re.compile(r"step-(\d{8})")
_DAMAGED = "the checkpoint is damaged; training goes on from the one before, or anew"


class Checkpoint(NamedTuple):
    """Where a run stands.

    Attributes
    ----------
    identity : dict
        What the run is: objective, settings, encoder, data.
    state : dict
        Where it stands, as JSON can hold it.
    model, optimizer : mapping of str to array
        Weights, and what the optimizer remembers of them.
    plan : mapping of str to array, optional
        The sampling of the epoch that it stands in; None between epochs.
    """

    identity: dict[str, Any]
    state: dict[str, Any]
    model: Arrays
    optimizer: Arrays
    plan: Plan | None


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, step: int) -> Path:
    """Write ``step-…`` into `folder`, and remove all but the newest two.

    Parameters
    ----------
    folder : Path
        Of all checkpoints of the run; made if it is missing.
    checkpoint : Checkpoint
        Its content.
    step : int
        Steps taken.

    Returns
    -------
    Path
        The folder written, which appears whole or not at all.
    """
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{step:08d}"
    if path.exists():  # of a run that went on from an older one: that one stays until this is whole
        shutil.rmtree(path)
    with files.write_folder(path) as partial:
        for name in ("model", "optimizer", "plan"):
            arrays = getattr(checkpoint, name)
            if arrays is not None:
                whole = {key: np.array(array, order="C") for key, array in arrays.items()}
                (partial / f"{name}.safetensors").write_bytes(save(whole))
        content = {"identity": checkpoint.identity, "state": checkpoint.state}
        files.write_manifest(partial, kind=_KIND, format_number=_FORMAT, content=content)
    for old in list_checkpoints(folder)[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return path


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in `folder`, whole or not, the newest first."""
    if not folder.is_dir():
        return []
    found = [path for path in folder.iterdir() if path.is_dir() and _NAME.fullmatch(path.name)]
    return sorted(found, reverse=True)


def remove_checkpoints(folder: Path) -> None:
    """Remove the checkpoints in a folder, and what is left of the folder if nothing else is in it.

    Those of a recipe of several stages are in folders below it. What cannot be removed stays.
    """
    for place in (*folder.glob("*/"), folder):
        for path in [*place.glob("step-*"), *place.glob("best-*")]:
            shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):
            place.rmdir()


def read_newest(folder: Path, *, notice: Callable[[str], None]) -> Checkpoint | None:
    """Read the newest checkpoint that is whole.

    Parameters
    ----------
    folder : Path
        Of all checkpoints of the run.
    notice : callable
        Told of each checkpoint that is damaged and passed over.

    Returns
    -------
    Checkpoint or None
        None where there is no checkpoint at all.

    Raises
    ------
    ReadError
        If there are checkpoints and none of them is whole.
    Mismatch
        If one was written by a newer canonym.
    """
    listed = list_checkpoints(folder)
    for path in listed:
        try:
            return _read(path)
        except ReadError as error:
            notice(f"{error}; it is passed over")
            failed = error
    if not listed:
        return None
    raise ReadError(
        folder, f"no checkpoint in it is whole ({failed}); remove the folder and train anew"
    )


def _read(path: Path) -> Checkpoint:
    content = files.read_manifest(path, kind=_KIND, newest=_FORMAT)
    try:
        identity, state = content["identity"], content["state"]
        whole = isinstance(identity, dict) and isinstance(state, dict)
    except KeyError:
        whole = False
    if not whole:
        raise ReadError(path / files.MANIFEST, _DAMAGED)
    plan = path / "plan.safetensors"
    return Checkpoint(
        identity,
        state,
        read_arrays(path / "model.safetensors"),
        read_arrays(path / "optimizer.safetensors"),
        read_arrays(plan) if plan.exists() else None,
    )


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a safetensors file into memory.

    Raises
    ------
    ReadError
        If the file is missing or damaged.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(path.read_bytes()))
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise ReadError(path, f"{_DAMAGED} ({error})") from error


def check_same_run(found: Mapping[str, Any], wanted: Mapping[str, Any], *, folder: Path) -> None:
    """Compare what a checkpoint is of with what is to be trained.

    Raises
    ------
    Mismatch
        If anything differs; it is named with both values.
    """
    there, here = _flat(found), _flat(json.loads(json.dumps(wanted)))
    names = [name for name in {**there, **here} if there.get(name) != here.get(name)]
    if names:
        told = "; ".join(
            f"{name} was {there.get(name, 'not set')!r} and is {here.get(name, 'not set')!r}"
            for name in names[:6]
        )
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        raise Mismatch(
            f"{folder} holds checkpoints of another run: {told}{more}; give the same settings and "
            "data, or train anew in another folder"
        )


def _flat(content: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{above}{name}.")
        else:
            found[f"{above}{name}"] = value
    return found
