"""Vectors from any pretrained transformer encoder, through torch.

Reads every Hugging Face or sentence-transformers folder whose model is an encoder (BERT, RoBERTa,
MiniLM, SapBERT, CODER, …). Nothing is downloaded unless `local_files_only` is switched off.

Notes
-----
With token vectors ``h_1 … h_t`` of a name, padding left out, the vector is ``h_1`` (``"cls"``),
``(h_1 + … + h_t) / t`` (``"mean"``) or ``max_i h_i`` in each dimension (``"max"``), divided by its
L2 norm. A transformer has special tokens, so that even the empty name has a vector of norm 1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np

from canonym.encoders.batches import TokenEncoder, out_of_memory, pool
from canonym.encoders.hub import (
    POOLINGS,
    Comparison,
    check_model,
    find_model,
    fitting_together,
    quiet_transformers,
    read_checkpoint,
    read_comparison,
    read_model,
    write_pooling,
)
from canonym.encoders.inputs import check_count, check_option
from canonym.encoders.saved import reopen, write_encoder_manifest
from canonym.errors import InvalidInput, require
from canonym.io.devices import torch_device
from canonym.io.forks import Lock, on_fork
from canonym.types import Float32Array

__all__ = ["Transformer"]

_DTYPES = ("float32", "bfloat16", "float16")


class Transformer(TokenEncoder):
    """Encode names with a pretrained transformer.

    Parameters
    ----------
    path_or_name : str or Path
        A Hugging Face or sentence-transformers folder, or a name on the Hugging Face hub.
    pooling : str
        ``"cls"``, ``"mean"``, ``"max"``, or ``"auto"``: that of the folder's ``modules.json``,
        ``"cls"`` where there is none.
    max_length : int
        Most tokens of a name, special tokens included; a longer name is cut.
    batch_size : int
        Names encoded at once. It changes speed and memory, not vectors.
    device : str
        A torch device (``"cpu"``, ``"cuda"``, ``"cuda:1"``, ``"mps"``), or ``"auto"``: a GPU if
        there is one.
    dtype : str
        ``"float32"``, ``"bfloat16"`` or ``"float16"``, for the computation. Vectors come out in
        float32.
    normalise : bool, optional
        Whether vectors have L2 norm 1; by default only where they are compared by cosine.
    similarity : str
        How vectors are compared in a search: ``"cosine"``, ``"inner"``, ``"euclidean"``, or
        ``"auto"``: what the folder says, ``"cosine"`` where it says nothing.
    sparse_weight : float, optional
        BioSyn's ``λ``, the weight of character n-grams beside this encoder; by default that of the
        folder's ``sparse_weight.pt``. 0 leaves them out.
    local_files_only : bool
        Whether a hub name has to be in the local cache already. False may download it.

    Raises
    ------
    MissingExtra
        If torch or transformers is not installed (extra ``torch``).
    InvalidInput
        If an option is out of range, the model is not an encoder, or nothing of that name is here.
    ReadError
        If the folder is damaged.
    """

    def __init__(
        self,
        path_or_name: str | Path,
        *,
        pooling: str = "auto",
        max_length: int = 32,
        batch_size: int = 64,
        device: str = "auto",
        dtype: str = "float32",
        normalise: bool | None = None,
        similarity: str = "auto",
        sparse_weight: float | None = None,
        local_files_only: bool = True,
    ) -> None:
        check_option("pooling", pooling, ("auto", *POOLINGS))
        self._set_options(max_length, batch_size, dtype)
        folder = find_model(path_or_name, local_files_only=local_files_only)
        checkpoint = read_checkpoint(folder, pooling=pooling)
        self.compare_by(read_comparison(checkpoint, folder, similarity, normalise, sparse_weight))
        self.pooling, self.lowercase = checkpoint.pooling, checkpoint.lowercase
        self._wrap(*read_model(checkpoint.weights), device, checkpoint.longest)

    @classmethod
    def from_model(
        cls, model: Any, tokenizer: Any, *, pooling: str = "cls", device: str = "auto", **sizes: Any
    ) -> Self:
        """Wrap a Hugging Face model and tokenizer that are in memory, such as one just trained.

        The model is moved to `device` and `dtype` and put into evaluation mode; options are those
        of the class.
        """
        check_option("pooling", pooling, POOLINGS)
        encoder = cls.__new__(cls)
        encoder._set_options(**sizes)
        encoder.compare_by(Comparison("cosine", True, 0.0))
        encoder.pooling, encoder.lowercase = pooling, False
        encoder._wrap(model, tokenizer, device, longest=None)
        return encoder

    def _set_options(
        self, max_length: int = 32, batch_size: int = 64, dtype: str = "float32"
    ) -> None:
        check_option("dtype", dtype, _DTYPES)
        check_count("batch_size", batch_size)
        check_count("max_length", max_length, least=3)
        self.max_length, self.dtype = int(max_length), dtype
        self.batch_size = self._together = int(batch_size)

    def _wrap(self, model: Any, tokenizer: Any, device: str, longest: int | None) -> None:
        torch = require("torch", "a transformer encoder", "torch")
        check_model(model, tokenizer, max_length=self.max_length, longest=longest)
        self.device = torch_device(device)
        self.tokenizer = tokenizer
        self.n_columns = int(model.config.hidden_size)
        self._lock = Lock()
        on_fork(self, _use_one_thread)
        self.model = model.to(device=self.device, dtype=getattr(torch, self.dtype)).eval()

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.settings.items())
        return f"Transformer({self.model.config.model_type}, {options})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that, with a folder, make this encoder again on any device."""
        names = ("pooling", "max_length", "batch_size", "dtype", "normalise")
        return {name: getattr(self, name) for name in names} | self._comparison.settings

    def set_dtype(self, dtype: str) -> None:
        """Compute, and keep the weights, in another precision from now on."""
        torch = require("torch", "a transformer encoder", "torch")
        check_option("dtype", dtype, _DTYPES)
        self.model = self.model.to(dtype=getattr(torch, dtype))
        self.dtype = dtype

    def _embed(self, texts: list[str]) -> Float32Array:
        import torch

        name = self.model.config.name_or_path or "the model"
        # Each call sets the shared fast tokenizer up again.
        with self._lock, fitting_together(name):
            batch = self.tokenizer(
                texts,
                padding=True,
                truncation=True,
                max_length=self.max_length,
                return_tensors="pt",
            )
        batch = batch.to(self.device)
        try:
            with torch.inference_mode(), fitting_together(name):
                hidden = self.model(**batch).last_hidden_state
                vectors = pool(hidden, batch["attention_mask"], self.pooling)
                return np.asarray(vectors.float().cpu().numpy())
        except RuntimeError as error:
            if not out_of_memory(error):
                raise InvalidInput(
                    f"{name} cannot encode names ({error}); is its configuration that of its "
                    "weights?"
                ) from error
            smaller = f"batch_size={max(len(texts) // 2, 1)}" if len(texts) > 1 else "device='cpu'"
            raise InvalidInput(
                f"a batch of {len(texts)} names does not fit the memory of {self.device}; "
                f"try {smaller}"
            ) from error

    def save(self, folder: Path) -> None:
        """Write a folder that canonym, transformers and sentence-transformers can read."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with quiet_transformers():
            self.model.save_pretrained(folder)
        self.save_description(folder)
        write_encoder_manifest(folder, kind="transformer", settings=self.settings)

    def save_description(self, folder: Path) -> None:
        """Write everything but the weights: configuration, tokenizer and pooling."""
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is not None:
            # A fast tokenizer remembers how the last batch was padded and would write that down.
            backend.no_truncation()
            backend.no_padding()
        self.tokenizer.save_pretrained(folder)
        self.model.config.save_pretrained(folder)
        write_pooling(folder, self)

    @classmethod
    def load(cls, folder: Path, **options: Any) -> Self:
        """Open an encoder that `save` wrote, on a GPU if there is one; options replace settings."""
        place = {"path_or_name": folder}
        return reopen(cls, folder, "transformer", lambda settings: settings | place, options)


def _use_one_thread(_encoder: Transformer) -> None:
    """Compute without OpenMP's threads, which a forked child does not have and would wait for."""
    import torch

    torch.set_num_threads(1)
