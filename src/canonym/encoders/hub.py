"""Finding and reading pretrained models: folders here, the local Hugging Face cache, the hub."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError, require

__all__ = ["HUB_NAME", "find_model", "quiet_transformers", "read_model"]

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
"""A name on the hub: ``owner/model``, or one word for a few early models."""

_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")
_UNWANTED = ("onnx/*", "openvino/*", "training_args.bin", "optimizer.*")


def find_model(path_or_name: str | Path, *, local_files_only: bool) -> Path:
    """Return the folder of a model.

    Parameters
    ----------
    path_or_name : str or Path
        A folder, or a name on the Hugging Face hub.
    local_files_only : bool
        Whether a hub name has to be in the local cache already. False may download it.

    Raises
    ------
    InvalidInput
        If there is no such folder, and nothing of that name in the cache or on the hub.
    ReadError
        If it is a file.
    MissingExtra
        If it is a hub name, and transformers is not installed.
    """
    folder = Path(path_or_name)
    if folder.is_dir():
        return folder
    if folder.exists():
        raise ReadError(folder, "a folder is expected, found a file; name the folder it is in")
    name = str(path_or_name)
    if isinstance(path_or_name, Path) or not HUB_NAME.fullmatch(name):
        raise InvalidInput(f"{name}: no such folder; give the folder of a model")
    hub = require("huggingface_hub", "a model of the Hugging Face hub", "torch")
    try:
        unwanted = list(_UNWANTED)
        if not local_files_only and _has_safetensors(hub, name):
            unwanted.append("*.bin")
        found = hub.snapshot_download(
            name,
            allow_patterns=list(_WANTED),
            ignore_patterns=unwanted,
            local_files_only=local_files_only,
        )
    except (OSError, ValueError, RuntimeError) as error:
        # Everything the hub raises is one of these: offline, no such name, no such file.
        if local_files_only:
            advice = f"copy the model's folder here, or allow the download with 'hf:{name}'"
        else:
            advice = "check the name and the network, or copy the model's folder here"
        raise InvalidInput(
            f"{name}: no such folder, and the model is not "
            f"{'in the local Hugging Face cache' if local_files_only else 'to be had'} "
            f"({str(error).splitlines()[0]}); {advice}"
        ) from error
    return Path(found)


def _has_safetensors(hub: Any, name: str) -> bool:
    return any(file.endswith(".safetensors") for file in hub.list_repo_files(name))


def read_model(folder: Path) -> tuple[Any, Any]:
    """Read a Hugging Face model and its tokenizer from a folder; no code in the folder is run.

    Raises
    ------
    MissingExtra
        If torch or transformers is not installed (extra ``torch``).
    ReadError
        If the folder is damaged, or its weights are not those of the whole encoder.
    """
    require("torch", "a transformer encoder", "torch")
    transformers = require("transformers", "a transformer encoder", "torch")
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model, report = transformers.AutoModel.from_pretrained(
                folder, local_files_only=True, output_loading_info=True
            )
    except Exception as error:
        # The folder is foreign input to a foreign reader, which raises anything from KeyError to
        # the safetensors error; all of it means that the folder cannot be read.
        first = (str(error).strip().splitlines() or [""])[0]
        raise ReadError(
            folder, f"transformers cannot read it ({type(error).__name__}: {first})"
        ) from error
    # A pooler is not used here, and checkpoints of masked language models come without one.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise ReadError(
            folder,
            f"{len(missing)} weights of the model are not in it ({missing[0]}, …) and would be "
            "random; use a checkpoint of the whole encoder",
        )
    return model, tokenizer


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """Keep the reports and progress bars of transformers off the terminal."""
    logging = importlib.import_module("transformers.utils.logging")
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
