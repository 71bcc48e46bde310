"""Checkpoints of a training run: whole or absent, the newest two, never unpickled.

A checkpoint is a folder ``step-00000120`` with ``canonym.json`` (identity and state of the run, and
the size of every file), ``model.safetensors``, ``optimizer.safetensors`` and, in the middle of an
epoch, ``plan.safetensors``. It holds no state of random numbers: each step seeds them with the seed
of the run, its own number and that of the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym.encoders.batches import out_of_memory
from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io import files
from canonym.training.objective import Plan
from canonym.types import Encoder

Arrays = Mapping[str, np.ndarray[Any, Any]]

_KIND, _FORMAT, _KEPT = "training checkpoint", 1, 2
_BEST = "best weights"
_NAMES = f"step-{8 * '[0-9]'}"

BEGUN = "begun"
"""The file that tells a run that replaces an encoder from one that has written it."""
_DAMAGED = "the checkpoint is damaged; training goes on from the one before, or from the start"


# --- weights and optimizer states as arrays -------------------------------------------------------


def module_arrays(module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """Return a copy of every weight and buffer of a torch module, by name."""
    return {
        name: tensor.detach().cpu().numpy().copy() for name, tensor in module.state_dict().items()
    }


def module_digest(module: Any) -> str:
    """Return the SHA-256 of the weights of a torch module."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).view(np.uint8).data)
    return digest.hexdigest()


def encoder_digest(encoder: Encoder) -> str:
    """Return the SHA-256 of an encoder's settings; ours include the digests of its files."""
    settings = getattr(encoder, "settings", {})
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def all_finite(module: Any) -> bool:
    """Return whether no weight of a torch module is NaN or infinite."""
    import torch

    return all(bool(torch.isfinite(p).all()) for p in module.parameters())


def restore_module(module: Any, arrays: Arrays, *, source: Path) -> None:
    """Put weights back; names and shapes have to be those of the module, or nothing changes."""
    import torch

    own = module.state_dict()
    for name in sorted({*own, *arrays}):
        saved = tuple(arrays[name].shape) if name in arrays else "nothing"
        here = tuple(own[name].shape) if name in own else "nothing"
        if saved != here:
            raise Mismatch(
                f"{source}: {name} has shape {saved} there and {here} here; the encoder or what is "
                "trained besides it is another one: train in another folder"
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
    """Put back what an optimizer remembers; its groups do not change."""
    import torch

    state: dict[int, dict[str, Any]] = {}
    try:
        for key, array in arrays.items():
            number, _, name = key.partition(".")
            # The optimizer writes to its state, so it needs memory that numpy does not own.
            state.setdefault(int(number), {})[name] = torch.from_numpy(np.array(array)).clone()
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    except (ValueError, KeyError, IndexError, RuntimeError) as error:
        raise ReadError(
            source, f"the state of the optimizer is damaged ({error}); train again"
        ) from error


# --- checkpoints ----------------------------------------------------------------------------------


class Checkpoint(NamedTuple):
    """Identity and state of a run, with its weights, optimizer and sampling."""

    identity: dict[str, Any]  # objective, settings, encoder, data
    state: dict[str, Any]  # steps and epochs so far, as JSON can hold them
    model: Arrays
    optimizer: Arrays
    plan: Plan | None  # the sampling of the epoch; None between epochs


@contextlib.contextmanager
def _own_run(path: Path) -> Iterator[None]:
    """Say what to do where another run writes checkpoints to the same folder."""
    try:
        yield
    except InvalidInput as error:
        if not path.exists():
            raise
        raise InvalidInput(
            f"{path} was written by another process meanwhile: every run needs a folder of its own "
            "for checkpoints, see the key checkpoints of its plan"
        ) from error


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, step: int) -> Path:
    """Write ``step-…`` into `folder`, whole or not at all, and remove all but the newest two."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{step:08d}"
    if path.exists():  # left by a run that was resumed from an older one
        files.remove_folder(path)
    with _own_run(path), files.write_folder(path) as partial:
        for name in ("model", "optimizer", "plan"):
            arrays = getattr(checkpoint, name)
            if arrays is not None:
                whole = {key: np.array(array, order="C") for key, array in arrays.items()}
                (partial / f"{name}.safetensors").write_bytes(save(whole))
        content = {"identity": checkpoint.identity, "state": checkpoint.state}
        files.write_manifest(
            partial, kind=_KIND, format_number=_FORMAT, content=content, checksums=False
        )
    for old in list_checkpoints(folder)[_KEPT:]:
        files.remove_folder(old)
    return path


def begin(folder: Path) -> None:
    """Mark a run as begun, in the folder of its checkpoints, until `remove_checkpoints`."""
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    (folder / BEGUN).touch()


def check_folder(folder: Path) -> None:
    """Raise `InvalidInput` if checkpoints cannot be written to a folder."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; a folder for checkpoints is expected")
    if not folder.absolute().parent.is_dir():
        raise InvalidInput(f"{folder}: the folder {folder.parent} does not exist; create it first")


def list_checkpoints(folder: Path) -> list[Path]:
    """Return the checkpoints in `folder`, whole or not, the newest first."""
    if not folder.is_dir():
        return []
    return sorted(filter(Path.is_dir, folder.glob(_NAMES)), reverse=True)


def remove_checkpoints(folder: Path, *, keep: bool = False) -> None:
    """Remove the checkpoints in a folder and in the folders below it, and those folders if empty.

    A recipe of several stages has a folder for each. Files that cannot be removed are left. With
    `keep` the run counts as finished, and its checkpoints stay.
    """
    (folder / BEGUN).unlink(missing_ok=True)
    if keep:
        return
    for place in (*folder.glob("*/"), folder):
        for path in [*place.glob("step-*"), *place.glob("best-*")]:
            files.remove_folder(path)
        files.remove_leftovers_in(place)
        with contextlib.suppress(OSError):
            place.rmdir()


def read_newest(folder: Path, *, notice: Callable[[str], None]) -> Checkpoint | None:
    """Read the newest checkpoint that is whole; None where there is no checkpoint.

    `notice` gets a line about each damaged one; `ReadError` is raised if all are damaged.
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
        folder, f"no checkpoint in it is whole ({failed}); remove the folder and train again"
    )


def _read(path: Path) -> Checkpoint:
    content = files.read_manifest(path, kind=_KIND, newest=_FORMAT)
    identity, state = content.get("identity"), content.get("state")
    if not (isinstance(identity, dict) and isinstance(state, dict)):
        raise ReadError(path / files.MANIFEST, _DAMAGED)
    model = read_arrays(path / "model.safetensors")
    optimizer = read_arrays(path / "optimizer.safetensors")
    plan = path / "plan.safetensors"
    sampled = read_arrays(plan) if plan.exists() else None
    return Checkpoint(identity, state, model, optimizer, sampled)


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a safetensors file into memory."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(path.read_bytes()))
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise ReadError(path, f"{_DAMAGED} ({error})") from error


def check_same_run(
    saved_run: Mapping[str, Any], this_run: Mapping[str, Any], *, folder: Path
) -> None:
    """Raise `Mismatch` if a checkpoint is of another run; it names what differs."""
    saved, here = _flat(saved_run), _flat(json.loads(json.dumps(this_run)))
    if names := [name for name in {**saved, **here} if saved.get(name) != here.get(name)]:
        listed = "; ".join(
            f"{name} was {saved.get(name, 'not set')!r} and is {here.get(name, 'not set')!r}"
            for name in names[:6]
        )
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        raise Mismatch(
            f"{folder} holds checkpoints of another run: {listed}{more}; give the same settings "
            "and data, or train in another folder"
        )


def _flat(content: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{above}{name}.")
        else:
            flat[f"{above}{name}"] = value
    return flat


class Keeper:
    """Writes and reads the checkpoints and the best weights of a run.

    Without a folder it keeps the best weights in memory, and writes nothing; `writes` says whether
    this process is the one that writes.
    """

    def __init__(self, folder: Path | None, *, writes: bool) -> None:
        self.folder = folder
        self._writes = writes
        self._best: dict[str, np.ndarray[Any, Any]] | None = None

    def save(self, checkpoint: Checkpoint, *, step: int, best: int | None) -> None:
        """Write a checkpoint, and remove the weights of epochs that no checkpoint calls best."""
        if self.folder is None or not self._writes:
            return
        files.remove_leftovers_in(self.folder)
        write_checkpoint(self.folder, checkpoint, step=step)
        # The older of the two checkpoints may know another best epoch.
        needed = {self._best_path(self.folder, epoch) for epoch in _best_epochs(self.folder, best)}
        for path in self.folder.glob("best-*"):
            if path not in needed:
                files.remove_folder(path)

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
            files.write_manifest(partial, kind=_BEST, format_number=1, content={}, checksums=False)

    def read_best(self, epoch: int) -> dict[str, np.ndarray[Any, Any]] | None:
        """Return the best weights; None in a process that does not write and has no folder."""
        if self.folder is None:
            return self._best
        path = self._best_path(self.folder, epoch)
        files.read_manifest(path, kind=_BEST, newest=1)
        return read_arrays(path / "model.safetensors")

    def lost(self, problem: str) -> InvalidInput:
        """Return the error for a run that cannot go on."""
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
    epochs = set() if best is None else {best}
    for path in list_checkpoints(folder):
        with contextlib.suppress(InvalidInput, KeyError, TypeError):
            content = files.read_manifest(path, kind=_KIND, newest=_FORMAT)
            if content["state"]["best"] is not None:
                epochs.add(int(content["state"]["best"]))
    return epochs
