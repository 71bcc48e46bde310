"""Comparison of encoders without annotated mentions, by the names of a terminology.

Some names are taken out, one of each of as many concepts, and asked for. An encoder is the better
for a terminology, the more of these find their concept by its other names. Names are no mentions:
where annotated mentions exist, `canonym.evaluation.run` says more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.encoders import make_encoder
from canonym.encoders.inputs import distinct_names
from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.evaluation.statistics import Interval, mcnemar, wilson
from canonym.io.numbers import first_largest
from canonym.linker import Linker
from canonym.terminology import Terminology
from canonym.text import PLAIN, normalise_all
from canonym.types import Record

K = 5
"""Candidates among which the right concept is sought."""

_FEWEST = 20
_QUICK = 300  # names that `gain_by_rarity` asks for
_PART = 20_000  # names of a large terminology
_LABEL = 0  # the place of labels among the scopes

Progress = Callable[[int, int], None]


class Compared(NamedTuple):
    """What an alternative finds."""

    encoders: tuple[str, ...]  # of the index, summed
    n: int  # names asked for
    first: Interval  # share of them whose concept is first, with its 95 % interval
    among: Interval  # and among the first five
    p: float  # of McNemar's test against the first alternative; NaN for that itself
    # Those of the encoders that were fitted to these very names, those that are taken out among
    # them: what they find says nothing about other names.
    read: tuple[str, ...] = ()


def rows_to_ask(
    names: Sequence[str],
    concepts: npt.NDArray[np.int32],
    rng: np.random.Generator,
    *,
    n: int,
    least: int,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.intp]:
    """Return rows of names to take out: one of a concept with `least` names, at most a tenth of it.

    A name that is, in normal form, left elsewhere is not taken out: to find it would be no merit.
    `allowed` are the rows that may be; all by default. The result is in order.
    """
    _, number_of = distinct_names(list(normalise_all(names, PLAIN)))
    fit = np.bincount(number_of)[number_of] == 1
    fit &= np.bincount(concepts)[concepts] >= least
    if allowed is not None:
        fit &= allowed
    drawn = rng.permutation(np.flatnonzero(fit))
    _, first = np.unique(concepts[drawn], return_index=True)
    candidates = rng.permutation(drawn[first])
    return np.sort(candidates[: min(n, max(1, len(candidates) // 10))])


def compare_by_names(
    terminology: Terminology,
    encoders: Sequence[Sequence[str]],
    *,
    n: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> list[Compared]:
    """Compare encoders by names that are taken out of a terminology.

    Parameters
    ----------
    terminology : Terminology
        With at least two hundred concepts that have a synonym.
    encoders : sequence of sequences of str
        The alternatives; several encoders of one are summed.
    n : int
        The most names to take out. Only synonyms are, of a tenth of the concepts that have any.
    seed : int
        Of the draw.
    progress : callable, optional
        Called with the number of alternatives that are done, and of all.

    Returns
    -------
    list of Compared
        In the order of `encoders`.

    Raises
    ------
    InvalidInput
        If nothing is to be compared, there are too few names, or an encoder is not known.
    """
    if not encoders or not all(encoders):
        raise InvalidInput("there is nothing to compare: give at least one encoder")
    if n < _FEWEST:
        raise InvalidInput(f"n is {n}; at least {_FEWEST} names are expected, better a thousand")
    made = {spec: make_encoder(spec) for spec in chain.from_iterable(encoders)}
    asked = _rows(terminology, n, seed)
    names = terminology.names_at(asked)
    texts, right = [name.text for name in names], [name.concept_id for name in names]
    compared: list[Compared] = []
    before: npt.NDArray[np.bool_] | None = None
    with Terminology.build(_records(terminology, asked)) as rest:
        for specs in encoders:
            linker = Linker.build(rest, encoders=[made[spec] for spec in specs])
            place = _places(linker, texts, right)
            first = place == 0
            p = float("nan") if before is None else mcnemar(before, first).p
            before = first if before is None else before
            shares = (wilson(int(some.sum()), len(some)) for some in (first, place < K))
            read = tuple(spec for spec in specs if was_fitted_to(spec, terminology.digest))
            compared.append(Compared(tuple(specs), len(texts), next(shares), next(shares), p, read))
            if progress is not None:
                progress(len(compared), len(encoders))
    return compared


def was_fitted_to(spec: str, digest: str) -> bool:
    """Whether an encoder in a folder says that it was fitted to a terminology of this digest."""
    folder = Path(spec.partition(",")[0])
    files = (folder / name for name in ("encoder.json", "canonym.json"))
    return any(file.is_file() and digest in file.read_text(encoding="utf-8") for file in files)


class Gain(NamedTuple):
    """Shares of `n` names that were taken out and found their concept, without something and with.

    `p` is of McNemar's test.
    """

    n: int
    without: float
    with_it: float
    p: float


def gain_by_rarity(terminology: Terminology, encoder: Subword, rarity: float) -> Gain:
    """Ask for names among a part of a terminology, with the encoder's own rarity and with another.

    The part are 20,000 names at most, and all names of the concepts that are asked for: this takes
    a second where `compare_by_names` builds indexes. Raises `InvalidInput` if there are too few
    names, or the encoder cannot weigh words.
    """
    asked = _rows(terminology, _QUICK, seed=0)
    concepts = terminology.concept_of_row()
    drawn = np.random.default_rng(0).permutation(len(concepts))[:_PART]
    part = np.union1d(drawn, np.flatnonzero(np.isin(concepts, concepts[asked])))
    part = np.setdiff1d(part, asked)
    names, texts = ([name.text for name in terminology.names_at(rows)] for rows in (part, asked))
    right = []
    for weighed in (encoder.rarity, rarity):
        options = encoder.options() | {"scale": encoder.scale, "rarity": weighed}
        encoding = Subword(encoder.table, **options).fit(names)
        best = first_largest(encoding.encode(texts) @ encoding.encode(names).T)
        right.append(concepts[part[best]] == concepts[asked])
    before, after = right
    return Gain(len(asked), float(before.mean()), float(after.mean()), mcnemar(before, after).p)


def _rows(terminology: Terminology, n: int, seed: int) -> npt.NDArray[np.intp]:
    texts = list(chain.from_iterable(terminology.iter_texts()))
    concepts = terminology.concept_of_row()
    retired = [n for n, concept in enumerate(terminology.iter_concepts()) if concept.deprecated]
    allowed = (terminology.scope_of_row() != _LABEL) & ~np.isin(concepts, retired)
    asked = rows_to_ask(texts, concepts, np.random.default_rng(seed), n=n, least=2, allowed=allowed)
    if len(asked) < _FEWEST:
        raise InvalidInput(
            f"{len(asked)} synonyms can be taken out and asked for, of a tenth of the concepts "
            f"that have any; at least {_FEWEST} are expected. Annotate mentions, and compare with "
            "`canonym evaluate`"
        )
    return asked


def _records(terminology: Terminology, gone: npt.NDArray[np.intp]) -> Iterator[Record]:
    yield from terminology.iter_concepts()
    rows = frozenset(gone.tolist())
    labels = (terminology.scope_of_row() == _LABEL).tolist()
    for row, name in enumerate(terminology.iter_names()):
        if row not in rows and not labels[row]:
            yield name
    yield from terminology.iter_relations()


def _places(linker: Linker, texts: Sequence[str], right: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the place of the right concept among five candidates, or five."""
    links = linker.link_stream(texts, k=K)
    return np.array(
        [
            next((at for at, candidate in enumerate(link.candidates) if candidate.id == id_), K)
            for link, id_ in zip(links, right, strict=True)
        ]
    )
