"""The processes and devices of a run, through Hugging Face Accelerate.

``accelerate launch`` or ``torchrun`` starts several. Each takes other batches of the same plan; the
first samples the plan, writes the checkpoints and measures the dev score.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, TypeVar, cast

from canonym.errors import InvalidInput, require
from canonym.io.devices import torch_device
from canonym.training.loop.settings import FitSettings

_Shared = TypeVar("_Shared")
_HALF = {"float32": "no", "bf16": "bf16", "fp16": "fp16"}
# Others wait while the first process encodes a terminology and searches it.
_PATIENCE = timedelta(hours=6)


class Processes:
    """The processes of a run, seen from one of them; made by `open_processes`."""

    def __init__(self, accelerator: Any) -> None:
        self.accelerator = accelerator
        self.rank = int(accelerator.process_index)
        self.n = int(accelerator.num_processes)
        self.device = accelerator.device

    @property
    def first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    @property
    def loss_scale(self) -> dict[str, Any]:
        """State of the factor of losses in fp16; empty otherwise."""
        scaler = getattr(self.accelerator, "scaler", None)
        return {} if scaler is None else dict(scaler.state_dict())

    def restore_loss_scale(self, state: dict[str, Any]) -> None:
        """Put back a state that `loss_scale` returned."""
        if state:
            self.accelerator.scaler.load_state_dict(state)

    def total(self, values: list[float]) -> list[float]:
        """Return the sums of some numbers over all processes."""
        import torch

        if self.n == 1:
            return values
        tensor = torch.tensor(values, dtype=torch.float32, device=self.device)
        return [float(value) for value in self.accelerator.reduce(tensor, reduction="sum")]

    def share(self, make: Callable[[], _Shared]) -> _Shared:
        """Let the first process make a plan or a number, and return it in all."""
        import torch

        if self.n == 1:
            return make()
        content: list[Any] = [None, ""]
        if self.first:
            try:
                content[0] = make()
            except InvalidInput as error:  # all of them have to stop
                content[1] = str(error)
        torch.distributed.broadcast_object_list(content, 0, device=self.device)
        shared, problem = content
        if problem:
            raise InvalidInput(problem)
        return cast(_Shared, shared)


@contextlib.contextmanager
def open_processes(settings: FitSettings, *, device: str = "auto") -> Iterator[Processes]:
    """Join the processes of a run; ``device="auto"`` is a GPU if there is one.

    Under ``accelerate launch``, `device` says whether the processes use GPUs or CPUs.
    """
    torch = require("torch", "training an encoder", "torch")
    accelerate = require("accelerate", "training an encoder", "torch")
    from accelerate.state import AcceleratorState, PartialState
    from accelerate.utils import DistributedDataParallelKwargs, InitProcessGroupKwargs

    device_ = torch_device(device)
    if settings.precision == "fp16" and device_.type == "cpu":
        raise InvalidInput("precision='fp16' needs a GPU; choose 'bf16' or 'float32' on a CPU")
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    # Accelerate keeps one state for the whole process, and would refuse settings that differ.
    AcceleratorState._reset_state(reset_partial_state=not several)
    before = os.environ.get("ACCELERATE_TORCH_DEVICE")
    try:
        if not several and device_.type != "cpu":
            os.environ["ACCELERATE_TORCH_DEVICE"] = str(device_)
        accelerator = accelerate.Accelerator(
            cpu=device_.type == "cpu",
            mixed_precision=_HALF[settings.precision],
            kwargs_handlers=[
                DistributedDataParallelKwargs(find_unused_parameters=True),
                InitProcessGroupKwargs(timeout=_PATIENCE),
            ],
        )
    except ValueError as error:
        raise InvalidInput(
            f"precision={settings.precision!r} cannot be used on {device_} ({error}); choose "
            "'float32'"
        ) from error
    finally:
        if before is None:
            os.environ.pop("ACCELERATE_TORCH_DEVICE", None)
        else:
            os.environ["ACCELERATE_TORCH_DEVICE"] = before
    with torch.random.fork_rng(), torch.enable_grad():
        try:
            yield Processes(accelerator)
        finally:
            accelerator.free_memory()
            if not several:
                AcceleratorState._reset_state(reset_partial_state=True)
                PartialState._reset_state()
