"""Parts of a corpus: official, refined, held out.

References
----------
Tutubalina, Kadurin and Miftahutdinov (2020), Fair Evaluation in Concept Normalization.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from canonym.errors import InvalidInput, ReadError
from canonym.evaluation.protocols import SAME
from canonym.text import normalise
from canonym.types import Mention

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
    """Mentions that were kept, in order, and the numbers of those left out.

    ``n_seen`` are in training, ``n_repeated`` are the same as an earlier mention.
    """

    mentions: list[Mention]
    n_seen: int = 0
    n_repeated: int = 0


def read_official(folder: str | Path, read: Callable[[Path], Iterable[Item]]) -> Parts[Item]:
    """Read the official parts of a corpus: a folder of train, dev and test files.

    Its files are called ``train``, ``dev`` and ``test`` (or ``training``, ``valid``, ...) up to the
    first dot, or have such a word before ``set``: ``CDR_DevelopmentSet.PubTator.txt``. `read` reads
    one file, such as `canonym.corpora.pubtator.read_pubtator`. Raises `ReadError` if there is no
    training or no test file, or there are two for one part.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReadError(folder, "is no folder; one with train, dev and test files was expected")
    files = sorted(folder.iterdir())
    parts = {}
    for part, words in _PARTS.items():
        matches = [file for file in files if file.name.split(".")[0].lower() in words]
        loose = re.compile(rf"(?:{'|'.join(words)})_?set", re.IGNORECASE)
        matches = matches or [file for file in files if loose.search(file.name)]
        if len(matches) > 1 or (not matches and part != "dev"):
            names = ", ".join(file.name for file in matches) or "none"
            raise ReadError(folder, f"one file of the {part} part was expected, found {names}")
        parts[part] = tuple(item for file in matches for item in read(file))
    return Parts(parts["train"], parts["dev"], parts["test"])


def refined(
    test: Iterable[Mention],
    known: Iterable[Mention],
    *,
    same: str = "pair",
    key: Callable[[str], str] = normalise,
) -> Selection:
    """Keep the test mentions that are not in the training parts, the first of equal ones.

    `known` are the training parts, train and dev. `same` is one of
    `canonym.evaluation.protocols.SAME`: ``"pair"`` keeps a text that stands for another concept
    than in training; the published sizes count so. `key` makes the text that is compared from that
    of a mention. Raises `InvalidInput` if `same` is unknown.

    On BioSyn's prepared mentions of BC5CDR diseases, with ``same="pair"``, 657 of 4,287 are left,
    the size of the published refined set (DILBERT, table 3); of NCBI disease 204 of 960. By text
    alone there are 642 and 199.

    >>> test = [Mention("Hip fracture"), Mention("Coxalgia"), Mention("coxalgia")]
    >>> refined(test, [Mention("hip-fracture")]).mentions
    [Mention(text='Coxalgia', start=None, end=None, type='', ids=(), rule='any', document_id='', \
context='', flags=None)]
    """
    if same not in SAME:
        raise InvalidInput(f"same={same!r} is not known; use one of {', '.join(SAME)}")

    def identity(mention: Mention) -> Hashable:
        text = key(mention.text)
        return text if same == "text" else (text, frozenset(mention.ids), mention.rule)

    training = {identity(mention) for mention in known}
    refined_mentions: list[Mention] = []
    met: set[Hashable] = set()
    n_seen = n_repeated = 0
    for mention in test:
        mention_key = identity(mention)
        if mention_key in training:
            n_seen += 1
        elif mention_key in met:
            n_repeated += 1
        else:
            met.add(mention_key)
            refined_mentions.append(mention)
    return Selection(refined_mentions, n_seen, n_repeated)


def hold_out(
    items: Sequence[Item], n: int, *, stratum: Callable[[Item], Hashable], rng: np.random.Generator
) -> tuple[list[Item], list[Item]]:
    """Draw `n` items without replacement, from each stratum in proportion to its size.

    Returns the rest and the drawn items, both in order. A stratum of ``m`` items gives ``m n /
    len(items)``, rounded down; missing draws go to the largest remainders, the earlier stratum
    first.
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
