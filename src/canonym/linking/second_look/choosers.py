"""Choosers on this machine: an encoder of names, and a cross-encoder that reads both sides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from canonym import __version__
from canonym.encoders import make_encoder, path_of
from canonym.encoders.hub import read_json, read_model
from canonym.errors import InvalidInput, NotTrained, require
from canonym.io.devices import torch_device
from canonym.io.files import file_digest
from canonym.linking.second_look.kept import Kept
from canonym.linking.second_look.questions import Answer, Question
from canonym.types import Float32Array

_BATCH = 64
_LONGEST = 128  # tokens of a mention and a candidate together
_DECIMALS = 4  # what differs by processor beyond it does not count
_MOST_VECTORS = 50_000


class EncoderChooser:
    """Chooses the candidate one of whose names is nearest to the mention by another encoder.

    Parameters
    ----------
    spec : str
        See `canonym.encoders.make_encoder`; vectors are compared by their cosines.
    kept : Kept, optional
        Where vectors of names are kept, of kind `VECTORS`.
    """

    at_a_time = 1024  # the more mentions, the more are of one length

    def __init__(self, spec: str, kept: Kept | None = None) -> None:
        self._encoder = make_encoder(spec)
        try:
            self._encoder.encode(["a name"])
        except NotTrained as error:
            raise InvalidInput(
                f"{spec} has learned nothing yet; a second look needs a trained encoder"
            ) from error
        folder = Path(getattr(self._encoder, "folder", path_of(spec)))
        files = sorted(one for one in folder.rglob("*") if one.is_file())
        stamps = [f"{one.name} {one.stat().st_size} {one.stat().st_mtime_ns}" for one in files]
        self.identity = " ".join(["encoder", __version__, spec, *stamps])
        self._vectors: dict[str, Float32Array] = {}
        self._kept = kept

    def answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield the answers; some candidate is always the nearest."""
        names = {name for q in questions for choice in q.choices for name in choice.names}
        vectors = self._of({question.read for question in questions}, names)
        for question in questions:
            mention = vectors[question.read]
            nearest = [
                max(float(vectors[name] @ mention) for name in choice.names)
                for choice in question.choices
            ]
            yield Answer(_place(nearest))

    def _of(self, mentions: set[str], names: set[str]) -> dict[str, Float32Array]:
        """Return vectors of norm 1; those of before are kept, as far as there is room.

        Only those of names go to the disk: they say nothing of anybody.
        """
        known, texts = self._vectors, mentions | names
        made = self._stored(names - known.keys())
        new = sorted(texts - known.keys() - made.keys())
        rows = np.asarray(self._encoder.encode(new), dtype=np.float32) if new else ()
        for text, row in zip(new, rows, strict=True):
            made[text] = row / np.float32(max(float(np.linalg.norm(row)), 1e-9))
        if self._kept and (own := names.intersection(new)):
            self._kept.add({self._key(name): made[name].tobytes() for name in sorted(own)})
        if len(known) + len(made) > _MOST_VECTORS:
            known = {text: known[text] for text in texts & known.keys()}
        self._vectors = {**known, **made}
        return self._vectors

    def _stored(self, names: set[str]) -> dict[str, Float32Array]:
        """Return the vectors of names that are on the disk."""
        keys = {self._key(name): name for name in names} if self._kept else {}
        rows = self._kept.of(keys) if self._kept else {}
        return {keys[key]: np.frombuffer(row, dtype=np.float32) for key, row in rows.items()}

    def _key(self, name: str) -> str:
        content = f"{self.identity}\0{name}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, digest_size=16).hexdigest()


class CrossEncoder:
    """Chooses by a transformer that reads a mention and a candidate together, and rates the pair.

    Parameters
    ----------
    folder : Path
        Of Hugging Face or sentence-transformers, with one output.

    Raises
    ------
    MissingExtra
        Without torch (extra ``torch``).
    InvalidInput
        If it does not rate a pair by one number.
    ReadError
        If the folder is damaged.
    """

    at_a_time = _BATCH

    def __init__(self, folder: Path) -> None:
        torch = require("torch", "a cross-encoder", "torch")
        model, self._tokenizer = read_model(folder, "AutoModelForSequenceClassification")
        if model.config.num_labels != 1:
            raise InvalidInput(
                f"{folder} has {model.config.num_labels} outputs; expected a cross-encoder, which "
                "rates a pair by one number"
            )
        self._device = torch_device("auto")
        self._model = model.eval().to(self._device)
        weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
        self.identity = " ".join(["cross-encoder", *map(file_digest, weights)])
        self._inference = torch.inference_mode

    def answers(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield the answers; some candidate is always rated highest."""
        pairs = [
            (mention_of(question), described(question, place))
            for question in questions
            for place in range(len(question.choices))
        ]
        ratings = iter(self._rated(pairs))
        for question in questions:
            yield Answer(_place([next(ratings) for _ in question.choices]))

    def _rated(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        order = sorted(range(len(pairs)), key=lambda n: len(pairs[n][0]) + len(pairs[n][1]))
        ratings = [0.0] * len(pairs)
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            inputs = self._tokenizer(
                [pairs[n][0] for n in some],
                [pairs[n][1] for n in some],
                padding=True,
                truncation=True,
                max_length=_LONGEST,
                return_tensors="pt",
            ).to(self._device)
            with self._inference():
                values = self._model(**inputs).logits[:, 0].float().cpu().tolist()
            for n, value in zip(some, values, strict=True):
                ratings[n] = value
        return ratings


def is_cross_encoder(folder: Path) -> bool:
    """Tell whether a folder of Hugging Face holds a model that rates texts."""
    config = folder / "config.json"
    if not config.is_file():
        return False
    architectures = read_json(config).get("architectures") or ()
    return any(str(name).endswith("ForSequenceClassification") for name in architectures)


def _place(values: Sequence[float]) -> int:
    """Return the place of the largest value, the first of those that are as good."""
    rounded = [round(value, _DECIMALS) for value in values]
    return rounded.index(max(rounded))


def mention_of(question: Question) -> str:
    """Return what a cross-encoder reads of a mention: as it was looked up, and its context."""
    return f"{question.read}. {question.context}" if question.context else question.read


def described(question: Question, place: int) -> str:
    """Return what a cross-encoder reads of a candidate: its names, and what it is a kind of."""
    choice = question.choices[place]
    kinds = f" ({', '.join(choice.parents)})" if choice.parents else ""
    return f"{'; '.join(choice.names)}{kinds}"
