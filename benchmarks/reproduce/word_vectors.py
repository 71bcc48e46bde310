"""Word vectors from running text: what the few-shot names of Fivez et al. start from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from canonym.encoders.static import StaticVectors
from canonym.errors import InvalidInput
from canonym.io import files
from canonym.io.streams import open_text
from canonym.training.keys import Count, Key, check_keys
from reproduce.packages import load

KINDS: tuple[str, ...] = ("fasttext", "word2vec")
"""With vectors of character n-grams, so that every word has one; or of known words alone."""
# What `StaticVectors` cuts names into.
_WORDS = re.compile(r"\w+")
_LONGEST = 1_000  # words of a line; gensim leaves out what is beyond 10,000


class _Lines:
    """The words of files line by line; it can be read several times."""

    def __init__(self, texts: Sequence[str | Path]) -> None:
        self.texts = texts

    def __iter__(self) -> Iterator[list[str]]:
        for path in self.texts:
            with open_text(path) as lines:
                for line in lines:
                    words = _WORDS.findall(line.lower())
                    for start in range(0, len(words), _LONGEST):
                        yield words[start : start + _LONGEST]


def train_word_vectors(
    texts: Sequence[str | Path],
    *,
    kind: Annotated[str, Key(choices=KINDS)] = "fasttext",
    dimensions: Count = 300,
    epochs: Count = 5,
    window: Count = 5,
    negative: Count = 5,
    min_count: Count = 5,
    learning_rate: Annotated[float, Key(above=0, below=10)] = 0.05,
    n_min: Count = 3,
    n_max: Count = 6,
    buckets: Count = 200_000,
    seed: Annotated[int, Key(least=0)] = 0,
    workers: Count = 1,
    progress: Callable[[int, int], None] | None = None,
) -> StaticVectors:
    """Train skip-gram word vectors.

    Parameters
    ----------
    texts : sequence of str or Path
        Files of running text, plain or compressed, a sentence or paragraph a line; in lower case
        they are cut into runs of letters and digits, as names are.
    progress : callable, optional
        Called with the epochs that are over, and all.
    kind : str
        With vectors of character n-grams, or of words alone.
    dimensions : int
        Columns of a vector; 300 in the paper.
    epochs : int
        Passes over the text.
    window : int
        Words to either side.
    negative : int
        Negatives of a pair.
    min_count : int
        Leave out words that occur less often.
    learning_rate : float
        At first; it falls to 0 in a line.
    n_min : int
        Letters of the shortest n-grams.
    n_max : int
        Letters of the longest n-grams.
    buckets : int
        Vectors that all n-grams share.
    seed : int
        Of the random numbers.
    workers : int
        Threads; with more than one, two runs differ.

    Returns
    -------
    StaticVectors
        An encoder of names.

    Raises
    ------
    InvalidInput
        If gensim is not installed.
    InvalidInput
        If an option is out of range, or no word occurs often enough.
    ReadError
        If a file cannot be read.

    Differences
    -----------
    The paper trains fastText on 76 million sentences of MEDLINE, with that program's 2 million
    buckets, 2.4 GB of them; the paper names no other setting, and the others here are those of the
    program.

    References
    ----------
    Fivez et al. (2021), section 3.1. Bojanowski et al. (2017), Enriching Word Vectors with Subword
    Information.
    """
    check_keys(train_word_vectors, locals())
    if n_max < n_min:
        raise InvalidInput(f"n_max is {n_max} and n_min {n_min}; n_max is at least n_min")
    models: Any = load("gensim.models", "training word vectors", "gensim")
    lines = _Lines(texts)
    common: dict[str, Any] = {
        **{"vector_size": dimensions, "window": window, "negative": negative, "sg": 1},
        **{"min_count": min_count, "alpha": learning_rate, "min_alpha": learning_rate / 1e4},
        **{"seed": seed, "workers": workers, "epochs": epochs},
    }
    if kind == "fasttext":
        model = models.FastText(min_n=n_min, max_n=n_max, bucket=buckets, **common)
    else:
        model = models.Word2Vec(**common)
    model.build_vocab(lines)
    if not model.wv.index_to_key:
        raise InvalidInput(
            f"no word occurs {min_count} times in the text; give more of it, or lower min_count"
        )
    model.train(
        lines,
        total_examples=model.corpus_count,
        epochs=epochs,
        callbacks=[_report(epochs, progress)] if progress else [],
    )
    return _encoder(model.wv, kind)


def _report(epochs: int, progress: Callable[[int, int], None]) -> Any:
    callbacks: Any = load("gensim.models.callbacks", "training word vectors", "gensim")

    class Report(callbacks.CallbackAny2Vec):  # type: ignore[misc]
        done = 0

        def on_epoch_end(self, model: Any) -> None:  # noqa: ARG002
            self.done += 1
            progress(self.done, epochs)

    return Report()


def _encoder(vectors: Any, kind: str) -> StaticVectors:
    words = list(vectors.index_to_key)
    if kind == "word2vec":
        return StaticVectors(words, np.array(vectors.vectors, np.float32))
    return StaticVectors(
        words,
        np.array(vectors.vectors_vocab, np.float32),
        buckets=np.array(vectors.vectors_ngrams, np.float32),
        n_min=vectors.min_n,
        n_max=vectors.max_n,
    )


def write_vec(encoder: StaticVectors, path: str | Path, *, overwrite: bool = True) -> None:
    """Write word vectors as text, ``n d`` and a line per word, most frequent first."""
    with (
        files.write_file(path, overwrite=overwrite) as partial,
        partial.open("w", encoding="utf-8", newline="\n") as lines,
    ):
        lines.write(f"{len(encoder.words)} {encoder.n_columns}\n")
        for word in encoder.words:
            vector = encoder.word_vector(word)
            lines.write(f"{word} {' '.join(f'{x:.6g}' for x in vector.tolist())}\n")
