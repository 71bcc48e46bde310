"""What a Hugging Face or sentence-transformers folder says about how its vectors are made.

A plain Hugging Face folder holds ``config.json``, weights and a tokenizer; it does not say how
token vectors become one vector. A sentence-transformers folder adds ``modules.json``, which names a
pooling folder (``1_Pooling/config.json``). This module reads and writes these small files without
torch and without either library.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from canonym.errors import InvalidInput, ReadError

__all__ = [
    "POOLINGS",
    "Checkpoint",
    "check_model",
    "read_checkpoint",
    "read_json",
    "write_pooling",
]

POOLINGS: tuple[str, ...] = ("cls", "mean", "max")
"""How token vectors become one: the first token's, their mean, or their maximum per dimension."""

_LEGACY = "pooling_mode_"
_LEGACY_NAMES = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}


class Checkpoint(NamedTuple):
    """How a folder wants its vectors made.

    ``weights`` is the folder of ``config.json`` and the weights; ``pooling`` one of `POOLINGS`;
    ``lowercase`` whether names are lower-cased before they reach the tokenizer; ``longest`` the
    most tokens the model takes, None when the folder does not say.
    """

    weights: Path
    pooling: str
    lowercase: bool
    longest: int | None


def check_model(model: Any, tokenizer: Any, *, max_length: int, longest: int | None) -> None:
    """Refuse a model that makes no vectors of names, and names of more tokens than it takes.

    Parameters
    ----------
    model, tokenizer
        Of transformers.
    max_length : int
        Most tokens of a name.
    longest : int, optional
        Most tokens the model takes, where its folder says so.

    Raises
    ------
    InvalidInput
        If `max_length` is too large, or the model is not an encoder.
    """
    most = min(longest or int(tokenizer.model_max_length), int(tokenizer.model_max_length))
    if max_length > most:
        raise InvalidInput(f"max_length={max_length}: the model takes at most {most} tokens")
    if model.config.is_encoder_decoder or tokenizer.pad_token is None:
        raise InvalidInput(
            f"a {model.config.model_type} model is no encoder; choose one of the BERT family"
        )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    ReadError
        If the file cannot be read or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReadError(path, f"expected JSON, found {error}; is the model complete?") from error
    if not isinstance(content, dict):
        raise ReadError(path, f"expected a JSON object, found {type(content).__name__}")
    return content


def read_checkpoint(folder: Path, *, pooling: str = "auto") -> Checkpoint:
    """Read how `folder` wants its vectors made.

    Parameters
    ----------
    folder : Path
        A Hugging Face or sentence-transformers folder.
    pooling : str
        One of `POOLINGS` to overrule the folder. ``"auto"`` takes what its ``modules.json`` says,
        and the first token's vector where there is none, as BioSyn and SapBERT do.

    Raises
    ------
    ReadError
        If a file is missing or damaged.
    InvalidInput
        If the folder has steps after pooling that canonym does not take, or another pooling.
    """
    weights = folder
    found = "cls"
    modules = folder / "modules.json"
    if modules.is_file():
        weights, found = _read_modules(modules, asked=pooling)
    config_file = weights / "config.json"
    if not config_file.is_file():
        raise ReadError(
            folder,
            "there is no config.json in it; a Hugging Face or sentence-transformers folder is "
            "expected",
        )
    config = read_json(config_file)
    longest = config.get("max_position_embeddings")
    if isinstance(longest, int) and config.get("model_type") in _SHIFTED:
        # Positions of the RoBERTa family start after the padding token's.
        longest -= int(config.get("pad_token_id") or 0) + 1
    sentence = weights / "sentence_bert_config.json"
    lowercase = sentence.is_file() and bool(read_json(sentence).get("do_lower_case"))
    return Checkpoint(
        weights,
        found if pooling == "auto" else pooling,
        lowercase,
        longest if isinstance(longest, int) else None,
    )


_SHIFTED = frozenset({"camembert", "roberta", "xlm-roberta", "xlm-roberta-xl", "longformer"})


def _read_modules(path: Path, *, asked: str) -> tuple[Path, str]:
    """Return the folder of the weights and the pooling that ``modules.json`` names."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        steps = [(str(step["type"]).rsplit(".", 1)[-1], str(step["path"])) for step in listed]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReadError(path, f"the list of modules is damaged ({error!r})") from error
    weights, pooling = path.parent, "cls"
    for kind, place in steps:
        if kind == "Transformer":
            weights = path.parent / place
        elif kind == "Pooling":
            pooling = _read_pooling(path.parent / place / "config.json", asked=asked)
        elif kind != "Normalize":
            raise InvalidInput(
                f"{path.parent} has a {kind} step, which canonym does not take; models of a "
                "transformer, pooling and normalisation are expected"
            )
    return weights, pooling


def _read_pooling(path: Path, *, asked: str) -> str:
    if asked != "auto":
        return asked
    config = read_json(path)
    modes = config.get("pooling_mode")
    if modes is None:
        modes = [
            _LEGACY_NAMES.get(key.removeprefix(_LEGACY), key)
            for key, on in sorted(config.items())
            if key.startswith(_LEGACY) and on
        ]
    elif isinstance(modes, str):
        modes = [modes]
    if not isinstance(modes, list) or len(modes) != 1 or modes[0] not in POOLINGS:
        raise InvalidInput(
            f"{path} asks for pooling {modes!r}; canonym has {', '.join(POOLINGS)}, one at a "
            "time: choose one with pooling=…"
        )
    return str(modes[0])


def write_pooling(
    folder: Path, *, pooling: str, width: int, max_length: int, lowercase: bool, normalise: bool
) -> None:
    """Make a saved Hugging Face folder one that sentence-transformers (2 and later) reads as well.

    Parameters
    ----------
    folder : Path
        Holds ``config.json`` and the weights.
    pooling : str
        One of `POOLINGS`.
    width : int
        Dimensions of a token vector.
    max_length : int
        Most tokens of a name.
    lowercase, normalise : bool
        Whether names are lower-cased first, and vectors brought to L2 norm 1 at the end.
    """
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if normalise:
        steps.append(("2_Normalize", "Normalize"))
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(steps)
    ]
    config: dict[str, Any] = {"word_embedding_dimension": width}
    config |= {f"{_LEGACY}{key}": name == pooling for key, name in _LEGACY_NAMES.items()}
    sentence = {"max_seq_length": max_length, "do_lower_case": lowercase}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    for place, content in (
        ("modules.json", modules),
        ("1_Pooling/config.json", config),
        ("sentence_bert_config.json", sentence),
    ):
        text = json.dumps(content, indent=2, sort_keys=True) + "\n"
        (folder / place).write_text(text, encoding="utf-8")
