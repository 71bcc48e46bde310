"""Parts of a corpus: official, refined, zero-shot, stratified.

==============  ==================================================================================
part            mentions of the test part that are in it
==============  ==================================================================================
official        all of them, as the corpus is distributed
refined         those whose text does not occur in the training parts, each once
zero-shot       those none of whose concepts occurs in the training parts
==============  ==================================================================================

References
----------
Tutubalina, Kadurin and Miftahutdinov (2020), Fair Evaluation in Concept Normalization.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.text import normalise
from canonym.types import Mention

__all__ = [
    "SAME",
    "Parts",
    "Selection",
    "hold_out",
    "read_official",
    "refined",
    "stratified_folds",
    "zero_shot",
]

SAME: tuple[str, ...] = ("text", "pair")
"""When `refined` takes two mentions for the same: equal texts, or equal texts and equal ids."""

Item = TypeVar("Item")

_PARTS = {
    "train": ("train", "training"),
    "dev": ("dev", "develop", "development", "valid", "validation"),
    "test": ("test",),
}


class Parts(NamedTuple, Generic[Item]):
    """The official parts of a corpus; ``dev`` is empty where there is none."""

    train: tuple[Item, ...]
    dev: tuple[Item, ...]
    test: tuple[Item, ...]


class Selection(NamedTuple):
    """Mentions that were kept, and how many were not and why; nothing is dropped silently.

    Attributes
    ----------
    mentions : list of Mention
        Kept, in their order.
    n_seen : int
        Left out because training has them.
    n_repeated : int
        Left out because an earlier mention is the same.
    n_without_concept : int
        Left out because they have no concept.
    """

    mentions: list[Mention]
    n_seen: int = 0
    n_repeated: int = 0
    n_without_concept: int = 0


def read_official(folder: str | Path, read: Callable[[Path], Iterable[Item]]) -> Parts[Item]:
    """Read the parts of a corpus as it is distributed: a folder of train, dev and test files.

    Parameters
    ----------
    folder : str or Path
        Its files are called ``train``, ``dev`` and ``test`` (or ``training``, ``development``,
        ``valid``, ...) up to the first dot, or have such a word before ``set`` in their names
        (``NCBItrainset_corpus.txt``, ``CDR_DevelopmentSet.PubTator.txt``).
    read : callable
        A reader of one file, such as `canonym.corpora.pubtator.read_pubtator`.

    Raises
    ------
    ReadError
        If there is no training or no test file, or there are two for one part.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReadError(folder, "is no folder; one with train, dev and test files was expected")
    files = sorted(folder.iterdir())
    found = {}
    for part, words in _PARTS.items():
        matches = [file for file in files if file.name.split(".")[0].lower() in words]
        loose = re.compile(rf"(?:{'|'.join(words)})_?set", re.IGNORECASE)
        matches = matches or [file for file in files if loose.search(file.name)]
        if len(matches) > 1 or (not matches and part != "dev"):
            names = ", ".join(file.name for file in matches) or "none"
            raise ReadError(folder, f"one file of the {part} part was expected, found {names}")
        found[part] = tuple(item for file in matches for item in read(file))
    return Parts(found["train"], found["dev"], found["test"])


def refined(
    test: Iterable[Mention],
    known: Iterable[Mention],
    *,
    same: str = "pair",
    key: Callable[[str], str] = normalise,
) -> Selection:
    """Keep the test mentions that are not in the training parts, each once.

    Parameters
    ----------
    test : iterable of Mention
        The official test part.
    known : iterable of Mention
        The training parts: train and dev.
    same : str
        One of `SAME`. ``"pair"`` lets a text through again that stands for another concept than in
        training; it is what the published sizes count, and the default.
    key : callable
        Makes the text that is compared from the mention's text.

    Returns
    -------
    Selection
        The first of equal mentions is kept.

    Raises
    ------
    InvalidInput
        If `same` is unknown.

    Notes
    -----
    On BioSyn's prepared mentions of BC5CDR diseases, with ``same="pair"``, 657 of 4,287 are left,
    the size of the published refined set (DILBERT, table 3); of NCBI disease 204 of 960. By text
    alone there are 642 and 199.

    Examples
    --------
    >>> test = [Mention("Hip fracture"), Mention("Coxalgia"), Mention("coxalgia")]
    >>> refined(test, [Mention("hip-fracture")]).mentions
    [Mention(text='Coxalgia', start=None, end=None, type='', ids=(), rule='any', document_id='', \
context='')]
    """
    if same not in SAME:
        raise InvalidInput(f"same={same!r} is not known; use one of {', '.join(SAME)}")

    def identity(mention: Mention) -> Hashable:
        text = key(mention.text)
        return text if same == "text" else (text, frozenset(mention.ids), mention.rule)

    training = {identity(mention) for mention in known}
    kept: list[Mention] = []
    met: set[Hashable] = set()
    n_seen = n_repeated = 0
    for mention in test:
        found = identity(mention)
        if found in training:
            n_seen += 1
        elif found in met:
            n_repeated += 1
        else:
            met.add(found)
            kept.append(mention)
    return Selection(kept, n_seen, n_repeated)


def zero_shot(
    test: Iterable[Mention],
    known: Iterable[Mention],
    *,
    concept: Callable[[str], str] = lambda id_: id_,
) -> Selection:
    """Keep the test mentions none of whose concepts is in the training parts.

    Parameters
    ----------
    test, known : iterable of Mention
        The test part and the training parts.
    concept : callable
        Maps a gold id to the concept it stands for, where a concept has several ids.

    Returns
    -------
    Selection
        A composite with one part that training has is left out. Mentions without an id have no
        concept and are counted apart.
    """
    training = {concept(id_) for mention in known for id_ in mention.ids}
    kept: list[Mention] = []
    n_seen = n_without = 0
    for mention in test:
        if not mention.ids:
            n_without += 1
        elif any(concept(id_) in training for id_ in mention.ids):
            n_seen += 1
        else:
            kept.append(mention)
    return Selection(kept, n_seen, n_without_concept=n_without)


def hold_out(
    items: Sequence[Item],
    n: int,
    *,
    stratum: Callable[[Item], Hashable],
    rng: np.random.Generator,
) -> tuple[list[Item], list[Item]]:
    """Draw `n` items without replacement, from each stratum as many as is its share.

    Parameters
    ----------
    items : sequence
        What to draw from.
    n : int
        How many to draw, between 0 and ``len(items)``.
    stratum : callable
        Which stratum an item is in, such as ``lambda mention: mention.type``.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    rest, held : list
        Both in the order of `items`.

    Raises
    ------
    InvalidInput
        If `n` is out of range.

    Notes
    -----
    A stratum of ``m`` items gives ``m n / len(items)``, rounded down; the draws that are then
    missing go to the largest remainders, the earlier stratum first.
    """
    if not 0 <= n <= len(items):
        raise InvalidInput(f"{n} items are to be drawn from {len(items)}")
    strata: dict[Hashable, list[int]] = {}
    for i, item in enumerate(items):
        strata.setdefault(stratum(item), []).append(i)
    groups = list(strata.values())
    shares = [divmod(len(group) * n, len(items) or 1) for group in groups]
    order = sorted(range(len(groups)), key=lambda g: (-shares[g][1], g))
    extra = set(order[: n - sum(share for share, _ in shares)])
    held: set[int] = set()
    for g, group in enumerate(groups):
        size = shares[g][0] + (g in extra)
        held.update(group[i] for i in rng.permutation(len(group))[:size])
    return (
        [item for i, item in enumerate(items) if i not in held],
        [item for i, item in enumerate(items) if i in held],
    )


def stratified_folds(
    items: Sequence[Item],
    k: int,
    *,
    stratum: Callable[[Item], Hashable],
    rng: np.random.Generator,
) -> Iterator[tuple[list[Item], list[Item]]]:
    """Yield `k` pairs (rest, held): every item is held once, strata spread evenly over the folds.

    Raises
    ------
    InvalidInput
        If `k` is below 2 or above the number of items.
    """
    if not 2 <= k <= len(items):
        raise InvalidInput(f"{k} folds of {len(items)} items: at least 2 and one item each")
    strata: dict[Hashable, list[int]] = {}
    for i in rng.permutation(len(items)):
        strata.setdefault(stratum(items[i]), []).append(int(i))
    # Dealt like cards, on from where the former stratum ended: sizes differ by one at most.
    dealt = [i for group in strata.values() for i in group]
    fold = {i: place % k for place, i in enumerate(dealt)}
    for f in range(k):
        yield (
            [item for i, item in enumerate(items) if fold[i] != f],
            [item for i, item in enumerate(items) if fold[i] == f],
        )
