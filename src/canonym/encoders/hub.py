"""Pretrained models: folders here, the local Hugging Face cache, the hub.

A plain Hugging Face folder holds ``config.json``, weights and a tokenizer; it does not say how
token vectors become one vector. A sentence-transformers folder adds ``modules.json``, which names a
pooling folder (``1_Pooling/config.json``). These small files are read and written here without
torch and without either library.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from canonym.encoders import HUB_NAME
from canonym.encoders.inputs import check_option
from canonym.errors import CanonymError, InvalidInput, ReadError, require
from canonym.io.files import load_json
from canonym.types import SIMILARITIES

POOLINGS: tuple[str, ...] = ("cls", "mean", "max")
"""Ways to pool token vectors: the first one, their mean, or their maximum per dimension."""

_SPARSE_WEIGHT = "sparse_weight.pt"
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin", _SPARSE_WEIGHT)
_UNWANTED = ("onnx/*", "openvino/*", "training_args.bin", "optimizer.*")
_SHIFTED = frozenset({"camembert", "roberta", "xlm-roberta", "xlm-roberta-xl", "longformer"})
_LAYERS = ("num_hidden_layers", "n_layers", "num_layers")
_MOST_LAYERS = 200  # four times those of the deepest encoder; more would be made without end
_LEGACY = "pooling_mode_"
_SENTENCE = "config_sentence_transformers.json"
_SIMILARITY_NAMES = {"cosine": "cosine", "inner": "dot", "euclidean": "euclidean"}
_LEGACY_NAMES = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}


class Checkpoint(NamedTuple):
    """The way of a folder to make vectors.

    ``weights`` is the folder of ``config.json`` and the weights; ``pooling`` one of `POOLINGS`;
    ``lowercase`` whether the tokenizer gets lower-cased names; ``longest`` the most tokens the
    model takes, None when the folder does not say; ``scaled`` whether vectors are brought to norm 1
    by ``modules.json``.
    """

    weights: Path
    pooling: str
    lowercase: bool
    longest: int | None
    scaled: bool = False


class Comparison(NamedTuple):
    """How vectors are compared, see `read_comparison`: what an encoder keeps of it."""

    similarity: str
    normalise: bool
    sparse_weight: float

    @property
    def settings(self) -> dict[str, Any]:
        """Those that are not the usual ones, as keyword arguments of an encoder."""
        settings = {"similarity": self.similarity, "sparse_weight": self.sparse_weight}
        return {name: value for name, value in settings.items() if value not in ("cosine", 0.0)}


def read_comparison(
    checkpoint: Checkpoint,
    folder: Path,
    similarity: str,
    normalise: bool | None,
    sparse_weight: float | None,
) -> Comparison:
    """Find out how the vectors of a folder are compared; the options overrule the folder.

    BioSyn's released folders have the weight of its n-grams in ``sparse_weight.pt`` and are for
    inner products. A sentence-transformers folder may name a similarity; it is of no account where
    vectors have norm 1, for which all three give the same order. Others are for cosines.
    """
    check_option("similarity", similarity, ("auto", *SIMILARITIES))
    is_number = isinstance(sparse_weight, int | float) and not isinstance(sparse_weight, bool)
    if sparse_weight is not None and not (is_number and 0 <= sparse_weight < math.inf):
        raise InvalidInput(f"sparse_weight is {sparse_weight!r}; expected a number, at least 0")
    similarity_found, weight = "cosine", 0.0
    released = checkpoint.weights / _SPARSE_WEIGHT
    if _is_there(released):
        similarity_found = "inner"
        weight = _read_sparse_weight(released) if sparse_weight is None else 0.0
    elif _is_there(folder / _SENTENCE) and not checkpoint.scaled and similarity == "auto":
        similarity_found = _read_similarity(folder / _SENTENCE)
    used = similarity_found if similarity == "auto" else similarity
    # The weight was trained beside inner products, and says nothing about others.
    weight = weight if used == similarity_found else 0.0
    return Comparison(
        used,
        used == "cosine" if normalise is None else bool(normalise),
        weight if sparse_weight is None else float(sparse_weight),
    )


def _read_similarity(path: Path) -> str:
    """Return the similarity that a sentence-transformers folder names, cosine if it names none."""
    named = read_json(path).get("similarity_fn_name") or "cosine"
    for similarity, name in _SIMILARITY_NAMES.items():
        if name == named:
            return similarity
    raise InvalidInput(
        f"{path} asks for the similarity {named!r:.80}; canonym has {', '.join(SIMILARITIES)}: "
        "choose one with similarity=…"
    )


def _read_sparse_weight(path: Path) -> float:
    """Read the number that BioSyn's code saved; nothing but a tensor is unpickled."""
    torch = require("torch", f"{path.name} of a BioSyn model", "torch")
    try:
        weight = float(torch.load(path, map_location="cpu", weights_only=True).detach())
        if not math.isfinite(weight):
            raise ValueError(f"{weight} is not finite")
    except Exception as error:  # the file is foreign, and its reader raises anything
        first = (str(error).strip().splitlines() or [""])[0]
        raise ReadError(
            path, f"expected a tensor of one number, found {first:.200}; download it again"
        ) from error
    # Names that look alike are no worse for it: a weight below 0 is left out.
    return max(weight, 0.0)


def check_model(model: Any, tokenizer: Any, *, max_length: int, longest: int | None) -> None:
    """Raise `InvalidInput` for a model that is no encoder, and for too large a `max_length`."""
    most = min(longest or int(tokenizer.model_max_length), int(tokenizer.model_max_length))
    if max_length > most:
        raise InvalidInput(f"max_length={max_length}: the model takes at most {most} tokens")
    if model.config.is_encoder_decoder or tokenizer.pad_token is None:
        raise InvalidInput(
            f"a {model.config.model_type} model is no encoder; choose one of the BERT family"
        )


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or raise `ReadError`."""
    try:
        content = load_json(path)
    except (OSError, ValueError) as error:
        raise ReadError(path, f"expected JSON, found {error}; is the model complete?") from error
    if not isinstance(content, dict):
        raise ReadError(path, f"expected a JSON object, found {type(content).__name__}")
    return content


def read_checkpoint(folder: Path, *, pooling: str = "auto") -> Checkpoint:
    """Read the way of a Hugging Face or sentence-transformers folder to make vectors.

    `pooling` overrules the folder. ``"auto"`` takes what ``modules.json`` says, and the first
    token's vector where there is none, as BioSyn and SapBERT do. Raises `InvalidInput` for a
    pooling, or for steps after it, that canonym does not have.
    """
    weights, of_folder, scaled = folder, "cls", False
    if (modules := folder / "modules.json").is_file():
        weights, of_folder, scaled = _read_modules(modules, asked=pooling)
    config_file = weights / "config.json"
    if not _is_there(config_file):
        raise ReadError(
            folder,
            "there is no config.json in it; a Hugging Face or sentence-transformers folder is "
            "expected, or the encoder of an index, INDEX/encoder-0",
        )
    config = read_json(config_file)
    for key in _LAYERS:
        layers = config.get(key, 0)
        if isinstance(layers, int) and layers > _MOST_LAYERS:
            raise ReadError(
                config_file, f"{key!r} is {str(layers)[:20]}; at most {_MOST_LAYERS} are expected"
            )
    longest, padding = config.get("max_position_embeddings"), config.get("pad_token_id") or 0
    if isinstance(longest, int) and str(config.get("model_type")) in _SHIFTED:
        if not isinstance(padding, int):
            raise ReadError(config_file, f"'pad_token_id' is {padding!r:.80}; a number is expected")
        # Positions of the RoBERTa family start after the padding token's.
        longest -= padding + 1
    sentence = weights / "sentence_bert_config.json"
    lowercase = _is_there(sentence) and bool(read_json(sentence).get("do_lower_case"))
    pooling = of_folder if pooling == "auto" else pooling
    longest = longest if isinstance(longest, int) else None
    return Checkpoint(weights, pooling, lowercase, longest, scaled)


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # a name longer than any file has
        return False


def _read_modules(path: Path, *, asked: str) -> tuple[Path, str, bool]:
    """Return what ``modules.json`` names: the folder of the weights, the pooling, any scaling."""
    try:
        listed = load_json(path)
        steps = [(str(step["type"]).rsplit(".", 1)[-1], str(step["path"])) for step in listed]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReadError(path, f"the list of modules is damaged ({error!r})") from error
    weights, pooling = path.parent, "cls"
    for kind, place in steps:
        if kind == "Transformer":
            weights = path.parent / place
        elif kind == "Pooling":
            config = path.parent / place / "config.json"
            pooling = _read_pooling(config) if asked == "auto" else asked
        elif kind != "Normalize":
            raise InvalidInput(
                f"{path.parent} has a {kind} step, which canonym does not take; models of a "
                "transformer, pooling and normalisation are expected"
            )
    return weights, pooling, any(kind == "Normalize" for kind, _ in steps)


def _read_pooling(path: Path) -> str:
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


def write_pooling(folder: Path, encoder: Any) -> None:
    """Write the files by which sentence-transformers (2 and later) reads a Hugging Face folder.

    `encoder` is a `canonym.encoders.batches.TokenEncoder`.
    """
    steps = [("", "Transformer"), ("1_Pooling", "Pooling")]
    if encoder.normalise:
        steps.append(("2_Normalize", "Normalize"))
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(steps)
    ]
    config: dict[str, Any] = {"word_embedding_dimension": encoder.n_columns}
    config |= {f"{_LEGACY}{key}": name == encoder.pooling for key, name in _LEGACY_NAMES.items()}
    sentence = {"max_seq_length": encoder.max_length, "do_lower_case": encoder.lowercase}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    written: dict[str, Any] = {
        "modules.json": modules,
        "1_Pooling/config.json": config,
        "sentence_bert_config.json": sentence,
    }
    if encoder.similarity != "cosine":
        written[_SENTENCE] = {"similarity_fn_name": _SIMILARITY_NAMES[encoder.similarity]}
    for place, content in written.items():
        text = json.dumps(content, indent=2, sort_keys=True) + "\n"
        (folder / place).write_text(text, encoding="utf-8")


def find_model(path_or_name: str | Path, *, local_files_only: bool) -> Path:
    """Return the folder of a model: a folder, or a name on the Hugging Face hub.

    A hub name has to be in the local cache with `local_files_only`; otherwise it may be downloaded.
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
        listed = () if local_files_only else hub.list_repo_files(name)
        if any(file.endswith(".safetensors") for file in listed):
            unwanted.append("*.bin")
        snapshot = hub.snapshot_download(
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
    return Path(snapshot)


def read_model(folder: Path, kind: str = "AutoModel") -> tuple[Any, Any]:
    """Read a Hugging Face model and its tokenizer from a folder; no code in the folder is run.

    `kind` is a class of transformers. Raises `ReadError` where the folder is damaged or lacks
    weights of the model.
    """
    require("torch", "a transformer encoder", "torch")
    transformers = require("transformers", "a transformer encoder", "torch")
    try:
        with quiet_transformers():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model, report = getattr(transformers, kind).from_pretrained(
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
    if missing := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        raise ReadError(
            folder,
            f"{len(missing)} weights of the model are not in it ({missing[0]}, …) and would be "
            "random; use a checkpoint of the whole encoder",
        )
    return model, tokenizer


@contextlib.contextmanager
def fitting_together(name: object) -> Iterator[None]:
    """Explain what a model says to tokens that it does not know, or its tokenizer to a name."""
    try:
        yield
    except (CanonymError, MemoryError, RuntimeError):  # memory of a GPU, among others
        raise
    except Exception as error:  # tokenizers and ONNX Runtime raise no narrower class
        first = (str(error).strip().splitlines() or [""])[0]
        raise InvalidInput(
            f"{name} cannot encode a name ({type(error).__name__}: {first:.200}): its tokenizer "
            "and its weights are of two models, or a file is damaged; save or download it again"
        ) from error


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
