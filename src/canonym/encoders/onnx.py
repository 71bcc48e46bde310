"""Vectors from a transformer without torch, by ONNX Runtime.

A folder holds ``model.onnx`` (or ``onnx/model.onnx``, as on the Hugging Face hub),
``tokenizer.json`` and ``config.json``; ``modules.json`` names the pooling as for `Transformer`.
`models/onnx_export.py` of the repository makes such a folder.

Word pieces are cut in pure Python, as BERT's tokenizer cuts them. A text loses control characters
and accents, and its capital letters; punctuation marks and Chinese characters are words of their
own. Each word is cut into the longest pieces of the vocabulary, from left to right. A word that
cannot be cut is unknown as a whole.
"""

from __future__ import annotations

import functools
import re
import shutil
import string
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from canonym.encoders.batches import TokenEncoder, embed_by_length
from canonym.encoders.hub import (
    POOLINGS,
    fitting_together,
    read_checkpoint,
    read_comparison,
    read_json,
    write_pooling,
)
from canonym.encoders.inputs import check_count, check_option
from canonym.encoders.saved import reopen, write_encoder_manifest
from canonym.errors import InvalidInput, ReadError, require
from canonym.io.files import asked_threads, n_cores
from canonym.types import Float32Array

__all__ = ["OnnxTransformer"]

INPUTS: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids")
"""Inputs an encoder may take."""

# Batches whose names are sorted by their number of tokens together.
_TOGETHER = 16
# Models up to so many bytes take one thread a batch: threads that share a small product wait longer
# than they compute, and one thread answers a single name sooner.
_SMALL = 64 << 20
_OTHERWISE = (
    "It comes with canonym where it has wheels; elsewhere (a Mac with an Intel processor, Alpine "
    "Linux) use the encoder 'default', or a transformer with the extra 'torch'"
)
Tokens = tuple[list[int], list[int]]
"""Numbers of tokens, and their types."""

_PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


class OnnxTransformer(TokenEncoder):
    """Encode names with a transformer in ONNX format.

    Parameters
    ----------
    folder : str or Path
        A folder with the files listed above.
    batch_size : int
        Names encoded at once, by each thread. It changes speed and memory, not vectors.
    device : str
        ``"cpu"``, ``"cuda"``, or ``"auto"``: a GPU if ONNX Runtime can use one.
    pooling, max_length, normalise, similarity, sparse_weight
        As of `canonym.encoders.transformer.Transformer`.
    trained : mapping, optional
        Facts about the training of the weights, kept in the manifest.

    Raises
    ------
    MissingExtra
        If onnxruntime is not installed, as where it has no wheels; or tokenizers, for a model whose
        tokenizer is not BERT's.
    InvalidInput
        If an option is out of range, or the model's inputs or outputs are not those of an encoder.
    ReadError
        If a file is missing or damaged.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        pooling: str = "auto",
        max_length: int = 32,
        batch_size: int = 64,
        device: str = "auto",
        normalise: bool | None = None,
        similarity: str = "auto",
        sparse_weight: float | None = None,
        trained: Mapping[str, Any] | None = None,
    ) -> None:
        check_option("device", device, ("auto", *_PROVIDERS))
        check_count("batch_size", batch_size)
        check_option("pooling", pooling, ("auto", *POOLINGS))
        check_count("max_length", max_length, least=3)
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ReadError(folder, "no such folder; give the folder of an ONNX model")
        checkpoint = read_checkpoint(self.folder, pooling=pooling)
        if checkpoint.longest is not None and max_length > checkpoint.longest:
            raise InvalidInput(
                f"max_length={max_length}: the model takes at most {checkpoint.longest} tokens"
            )
        self.pooling, self.lowercase = checkpoint.pooling, checkpoint.lowercase
        self.max_length, self.batch_size = int(max_length), int(batch_size)
        self._together = _TOGETHER * self.batch_size
        compared = read_comparison(checkpoint, self.folder, similarity, normalise, sparse_weight)
        self.compare_by(compared)
        self.trained = dict(trained or {})
        self._weights = checkpoint.weights
        self.model_file = _model_file(self.folder)
        small = sum(file.stat().st_size for file in _files(self.model_file)) <= _SMALL
        self._session = _open_session(self.model_file, device, n_threads=1 if small else None)
        self._tokens = _read_tokenizer(checkpoint.weights / "tokenizer.json", self.max_length)
        on_cpu = self._session.get_providers()[0] == _PROVIDERS["cpu"]
        self._threads = (asked_threads() or n_cores()) if small and on_cpu else 1
        self._inputs = [argument.name for argument in self._session.get_inputs()]
        self._output, self.n_columns = _token_output(self._session, self.model_file)

    def __repr__(self) -> str:
        shown = (f"{key}={value!r}" for key, value in self.settings.items() if key != "trained")
        return f"OnnxTransformer({str(self.folder)!r}, {', '.join(shown)})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that, with a folder, make this encoder again on any device."""
        names = ["pooling", "max_length", "batch_size", "normalise"]
        names += ["trained"] if self.trained else []
        return {name: getattr(self, name) for name in names} | self._comparison.settings

    def _embed(self, texts: list[str]) -> Float32Array:
        """Encode names of equal length together: nothing is spent on padding."""
        with fitting_together(self.folder):
            tokens = [self._tokens(text) for text in texts]
        return embed_by_length(
            [len(ids) for ids, _ in tokens],
            lambda places: self._embed_alike([tokens[place] for place in places]),
            width=self.n_columns,
            n_alike=self.batch_size,
            n_threads=self._threads,
        )

    def _embed_alike(self, tokens: list[Tokens]) -> Float32Array:
        ids, types = (np.array(column, np.int64) for column in zip(*tokens, strict=True))
        arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
        inputs = {name: arrays[name] for name in self._inputs}
        with fitting_together(self.folder):
            (hidden,) = self._session.run([self._output], inputs)
        hidden = np.asarray(hidden, np.float32)  # nothing is padded
        first = self.pooling == "cls"
        return np.asarray(hidden[:, 0] if first else getattr(hidden, self.pooling)(axis=1))

    def save(self, folder: Path) -> None:
        """Copy the model into `folder`, with its settings."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        # Weights too large for the file are beside it, under its name and a suffix.
        for file in _files(self.model_file):
            shutil.copyfile(file, folder / file.name)
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(self._weights / name, folder / name)
        write_pooling(folder, self)
        write_encoder_manifest(folder, kind="onnx", settings=self.settings)

    @classmethod
    def load(cls, folder: Path, **options: Any) -> Self:
        """Open an encoder that `save` or `export_onnx` wrote; options replace settings."""
        return reopen(cls, folder, "onnx", lambda settings: settings | {"folder": folder}, options)


def _model_file(folder: Path) -> Path:
    for place in ("model.onnx", "onnx/model.onnx"):
        if (folder / place).is_file():
            return folder / place
    raise ReadError(
        folder,
        "there is no model.onnx or onnx/model.onnx in it; make one with export_onnx of "
        "models/onnx_export.py in canonym's repository",
    )


def _files(model: Path) -> list[Path]:
    """Return the file of a model and those of its weights that did not fit it."""
    return sorted(model.parent.glob(f"{model.name}*"))


def _read_tokenizer(path: Path, max_length: int) -> Callable[[str], Tokens]:
    """Return what cuts a text into tokens: our own code as BERT does, a library in other ways."""
    if not path.is_file():
        raise ReadError(
            path.parent, "there is no tokenizer.json in it; save the model with a fast tokenizer"
        )
    if is_like_bert(content := read_json(path)):
        try:
            pieces = WordPieces(content, max_length)
        except (KeyError, TypeError, ValueError) as error:
            raise ReadError(path, f"expected a tokenizer, found {error!r}") from error
        return lambda text: (ids := pieces.encode(text), [0] * len(ids))
    tokenizers = require("tokenizers", "a tokenizer of another kind than BERT's")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises no narrower class
        raise ReadError(path, f"expected a tokenizer, found {error}") from error
    tokenizer.enable_truncation(max_length)
    tokenizer.no_padding()
    # One by one: a batch would start threads of its own, which a forked child lacks.
    return lambda text: ((tokens := tokenizer.encode(text)).ids, tokens.type_ids)


def _open_session(path: Path, device: str, *, n_threads: int | None) -> Any:
    what = "the encoder 'contextual', like all in ONNX format,"
    runtime = require("onnxruntime", what, otherwise=_OTHERWISE)
    usable = runtime.get_available_providers()
    if device == "auto":
        device = "cuda" if _PROVIDERS["cuda"] in usable else "cpu"
    if _PROVIDERS[device] not in usable:
        raise InvalidInput(f"device={device!r}: this ONNX Runtime has no GPU support; try 'cpu'")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only
    options.intra_op_num_threads = asked_threads() if n_threads is None else n_threads
    options.use_deterministic_compute = True
    # Threads that wait in a loop take the cores from everybody else.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return runtime.InferenceSession(
            str(path), sess_options=options, providers=[_PROVIDERS[device]]
        )
    except Exception as error:  # the library's own classes derive from Exception alone
        raise ReadError(path, f"ONNX Runtime cannot read it ({error})") from error


def _token_output(session: Any, path: Path) -> tuple[str, int]:
    """Return the name and the width of the output that holds token vectors."""
    unknown = [argument.name for argument in session.get_inputs() if argument.name not in INPUTS]
    outputs = {out.name: out.shape for out in session.get_outputs() if len(out.shape) == 3}
    if unknown or not outputs:
        raise InvalidInput(
            f"{path} takes {[argument.name for argument in session.get_inputs()]} and gives "
            f"{[out.name for out in session.get_outputs()]}; inputs among {list(INPUTS)} and an "
            "output of shape (names, tokens, dimensions) are expected: export the bare encoder"
        )
    name = "last_hidden_state" if "last_hidden_state" in outputs else next(iter(outputs))
    width = outputs[name][2]
    if not isinstance(width, int):
        raise InvalidInput(f"{path}: the width of {name} is not fixed; export the model again")
    return name, width


# --- word pieces ----------------------------------------------------------------------------------

_KNOWN_WORDS = 1 << 16
_CHINESE = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF)),
    *((0x2A700, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)),
)
_LIKE_BERT = {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}


def is_like_bert(tokenizer: Mapping[str, Any]) -> bool:
    """Tell whether a ``tokenizer.json`` is that of BERT for text without capital letters."""
    parts = [tokenizer.get(name) or {} for name in ("model", "normalizer", "pre_tokenizer")]
    special = {token["content"] for token in tokenizer.get("added_tokens") or ()}
    return (
        [part.get("type") for part in parts] == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        and _LIKE_BERT.items() <= parts[1].items()
        and parts[1].get("strip_accents") is not False
        and {"[CLS]", "[SEP]"} <= special
    )


class WordPieces:
    """Cuts texts into the pieces of such a ``tokenizer.json``, with the first and the last token.

    Texts have at most `max_length` tokens, these two included.
    """

    def __init__(self, tokenizer: Mapping[str, Any], max_length: int) -> None:
        model = tokenizer["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._prefix: str = model["continuing_subword_prefix"]
        self._longest: int = model["max_input_chars_per_word"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self._specials = re.compile(f"({'|'.join(map(re.escape, self._special))})")
        self._longest_piece = max(map(len, self._vocabulary))
        self._room = max_length - 2
        self._known = functools.lru_cache(_KNOWN_WORDS)(self._cut)

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the tokens of a text, at most `max_length`."""
        tokens = [self._special["[CLS]"]]
        for part in self._specials.split(text):
            if part in self._special:
                tokens.append(self._special[part])
                continue
            for word in words_of(part):
                tokens += self._known(word) if len(word) <= self._longest else [self._unknown]
                if len(tokens) > self._room:
                    break
        return [*tokens[: self._room + 1], self._special["[SEP]"]]

    def _cut(self, word: str) -> list[int]:
        """Cut a word into the longest pieces there are, from left to right."""
        pieces, start, prefix = [], 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(piece)
            start, prefix = end, self._prefix
        return pieces


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without accents; each mark is a word.

    >>> words_of("Sjögren's syndrome")
    ['sjogren', "'", 's', 'syndrome']
    """
    return unicodedata.normalize("NFD", text).translate(_FOLDED).split()


class _Folded(dict[int, str]):
    """What stands for each character in `str.translate`, found out once."""

    def __missing__(self, code: int) -> str:
        """Drop accents and control characters, set marks and Chinese apart, make capitals small."""
        character = chr(code)
        category, folded = unicodedata.category(character), character.lower()
        if character.isspace() and (category != "Cc" or character in "\t\n\r"):
            folded = " "
        elif category in ("Mn", "Cc", "Cf", "Co") or character == "\ufffd":
            folded = ""
        elif (
            category.startswith("P")
            or character in string.punctuation
            or any(first <= code <= last for first, last in _CHINESE)
        ):
            folded = f" {character} "
        return self.setdefault(code, folded)


_FOLDED = _Folded()
