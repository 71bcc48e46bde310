"""Weights and optimizer states as plain arrays, and back into the torch objects."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders.devices import out_of_memory
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io import files
from canonym.training.objective import Plan
from canonym.types import Encoder

# --- states ---

Arrays = Mapping[str, np.ndarray[Any, Any]]


def module_arrays(module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return a copy of every weight and buffer of a torch module, by name."""
    return {
        name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()
    }


def module_digest(module: Any) -> str:
    """Hash the weights of a torch module with SHA-256 and return the digest in hexadecimal."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).view(np.uint8).data)
    return digest.hexdigest()


def encoder_digest(encoder: Encoder) -> str:
    """Return the SHA-256 of an encoder's settings: those of ours tell the digests of its files."""
    settings = getattr(encoder, "settings", {})
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def all_finite(module: Any) -> bool:
    """Say whether no weight of a torch module is NaN or infinite."""
    import torch

    return all(bool(torch.isfinite(p).all()) for p in module.parameters())


def restore_module(module: Any, arrays: Arrays, *, source: Path) -> None:
    """Put weights back.

    Raises
    ------
    Mismatch
        If a weight is missing, unknown or of another shape; nothing is changed then.
    """
    import torch

    own = module.state_dict()
    for name in sorted({*own, *arrays}):
        there = tuple(arrays[name].shape) if name in arrays else "nothing"
        here = tuple(own[name].shape) if name in own else "nothing"
        if there != here:
            raise Mismatch(
                f"{source}: {name} has shape {there} there and {here} here; the encoder or what is "
                "trained besides it is another one: train anew in another folder"
            )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(torch.from_numpy(np.array(arrays[name])))


def optimizer_arrays(optimizer: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return what an optimizer remembers of each weight: ``"12.exp_avg"`` and the like."""
    import torch

    return {
        f"{number}.{name}": torch.as_tensor(value).detach().cpu().numpy().copy()
        for number, entry in optimizer.state_dict()["state"].items()
        for name, value in entry.items()
    }


def restore_optimizer(optimizer: Any, arrays: Arrays, *, source: Path) -> None:
    """Put back what an optimizer remembers; its groups stay as they are.

    Raises
    ------
    ReadError
        If an entry belongs to no weight.
    """
    import torch

    state: dict[int, dict[str, Any]] = {}
    try:
        for key, array in arrays.items():
            number, _, name = key.partition(".")
            # A copy, and one that numpy does not own: the optimizer writes to it.
            state.setdefault(int(number), {})[name] = torch.from_numpy(np.array(array)).clone()
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    except (ValueError, KeyError, IndexError, RuntimeError) as error:
        raise ReadError(
            source, f"the state of the optimizer is damaged ({error}); train anew"
        ) from error


# --- checkpoints ---
# MODULE: Checkpoints of a training run: whole or absent, the newest two, and nothing to be unpickled.
#
# A checkpoint is a folder ``step-00000120`` with ``canonym.json`` (what the run is, where it stands,
# and the size of every file), ``model.safetensors``, ``optimizer.safetensors`` and, in the middle of
# an epoch, ``plan.safetensors``. The state of random numbers is not in it: each step starts from the
# seed, its number and the number of the process.

checkpoints_Arrays = Mapping[str, np.ndarray[Any, Any]]

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
    model: checkpoints_Arrays
    optimizer: checkpoints_Arrays
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


# --- keeping ---
# MODULE: What a run keeps on disk, or in memory where it has no folder: checkpoints and best weights.

_BEST = "best weights"


class Keeper:
    """Writes and reads what a run keeps.

    Parameters
    ----------
    folder : Path, optional
        Where; without one best weights are kept in memory, and nothing else.
    writes : bool
        Whether this process is the one that writes.
    """

    def __init__(self, folder: Path | None, *, writes: bool) -> None:
        self.folder = folder
        self._writes = writes
        self._best: dict[str, np.ndarray[Any, Any]] | None = None

    def save(self, checkpoint: Checkpoint, *, step: int, best: int | None) -> None:
        """Write a checkpoint, and remove what no checkpoint needs any more.

        Parameters
        ----------
        checkpoint : Checkpoint
            Its content.
        step : int
            Steps taken.
        best : int, optional
            The epoch of the best weights.
        """
        if self.folder is None or not self._writes:
            return
        for partial in self.folder.glob(".*.partial-*"):
            files.remove_leftovers(self.folder / partial.name[1:].split(".partial-")[0])
        write_checkpoint(self.folder, checkpoint, step=step)
        # The older of the two checkpoints may know another best epoch.
        needed = {self._best_path(self.folder, epoch) for epoch in _best_epochs(self.folder, best)}
        for path in self.folder.glob("best-*"):
            if path not in needed:
                shutil.rmtree(path, ignore_errors=True)

    def save_best(self, arrays: dict[str, np.ndarray[Any, Any]], *, epoch: int) -> None:
        """Keep the weights of an epoch as the best so far."""
        if not self._writes:
            return
        if self.folder is None:
            self._best = arrays
            return
        from safetensors.numpy import save

        self.folder.mkdir(parents=True, exist_ok=True)
        with files.write_folder(self._best_path(self.folder, epoch), overwrite=True) as partial:
            (partial / "model.safetensors").write_bytes(save(arrays))
            files.write_manifest(partial, kind=_BEST, format_number=1, content={})

    def read_best(self, epoch: int) -> dict[str, np.ndarray[Any, Any]] | None:
        """Return the best weights; None in a process that does not write and has no folder.

        Raises
        ------
        ReadError
            If they are damaged.
        """
        if self.folder is None:
            return self._best
        path = self._best_path(self.folder, epoch)
        files.read_manifest(path, kind=_BEST, newest=1)
        return read_arrays(path / "model.safetensors")

    def lost(self, problem: str) -> InvalidInput:
        """Return the error for a run that cannot go on, with what is left of it."""
        return InvalidInput(
            f"{problem}, which is no number to go on with: lower the learning rate, set clip, or "
            f"compute in float32; {self._left()}"
        )

    @contextlib.contextmanager
    def memory_explained(self, *, accumulation: int) -> Iterator[None]:
        """Turn a lack of memory into a message that says what to try."""
        try:
            yield
        except (RuntimeError, MemoryError) as error:
            if not isinstance(error, MemoryError) and not out_of_memory(error):
                raise
            raise InvalidInput(
                "the batch does not fit the memory: halve the batch and set accumulation to "
                f"{2 * accumulation} for steps of the same size, or shorten max_length; "
                f"{self._left()}"
            ) from error

    def _left(self) -> str:
        listed = [] if self.folder is None else list_checkpoints(self.folder)
        return f"the checkpoint {listed[0]} stays" if listed else "there is no checkpoint yet"

    @staticmethod
    def _best_path(folder: Path, epoch: int) -> Path:
        return folder / f"best-{epoch:04d}"


def _best_epochs(folder: Path, best: int | None) -> set[int]:
    """Return the best epochs of all checkpoints in a folder."""
    found = set() if best is None else {best}
    for path in list_checkpoints(folder):
        with contextlib.suppress(InvalidInput, KeyError, TypeError):
            content = files.read_manifest(path, kind="training checkpoint", newest=1)
            if content["state"]["best"] is not None:
                found.add(int(content["state"]["best"]))
    return found
