"""Agreement of two annotators on the concepts of the same mentions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from canonym.errors import InvalidInput
from canonym.evaluation.statistics import Interval, check_level
from canonym.types import Document, Mention


class Kappa(NamedTuple):
    """Cohen's kappa of two annotators, and what it is made of.

    `kappa` is 1 for full agreement, 0 for that of chance, and NaN if both give one and the same
    concept to every mention; its interval has the variance for large samples. `agreement` and
    `chance` are the shares of the `n` mentions of both with equal concepts, observed and expected.
    `n_first` and `n_second` are further mentions of one annotator alone, which do not count.
    """

    kappa: Interval
    agreement: float
    chance: float
    n: int
    n_first: int = 0
    n_second: int = 0


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], *, level: float = 0.95
) -> Kappa:
    """Measure the agreement of two sequences of categories beyond chance.

    Both annotators give a category to the same things, in the same order; `level` is that of the
    interval. Raises `InvalidInput` if the sequences are empty or differ in length, or the level is
    not between 0 and 1.

    ``kappa = (p_o − p_e) / (1 − p_e)`` with the observed agreement ``p_o`` and that by chance,
    ``p_e = Σ_c p_1(c) p_2(c)``: Cohen (1960), A coefficient of agreement for nominal scales;
    Fleiss, Cohen and Everitt (1969), Large sample standard errors of kappa and weighted kappa.

    >>> found = cohen_kappa(["D1", "D1", "D2", "D3"], ["D1", "D2", "D2", "D3"])
    >>> round(found.kappa.value, 3), found.agreement, found.chance
    (0.636, 0.75, 0.3125)
    """
    from scipy.special import ndtri

    check_level(level)
    n = len(first)
    if not n or n != len(second):
        raise InvalidInput(
            f"{n} and {len(second)} categories: two equally long sequences with at least one each "
            "were expected"
        )
    pairs = Counter(zip(first, second, strict=True))
    of_first, of_second = Counter(first), Counter(second)
    agreement = sum(count for (one, other), count in pairs.items() if one == other) / n
    chance = sum(count * of_second[one] for one, count in of_first.items()) / n**2
    if chance == 1:
        nan = float("nan")
        return Kappa(Interval(nan, nan, nan), agreement, chance, n)
    kappa = (agreement - chance) / (1 - chance)
    # Variance of Fleiss et al., equation 13; pairs that never occur add nothing.
    variance = -((kappa - chance * (1 - kappa)) ** 2)
    for (one, other), count in pairs.items():
        if one == other:
            marginal = (of_first[one] + of_second[one]) / n
            variance += count / n * (1 - marginal * (1 - kappa)) ** 2
        else:
            marginal = (of_second[one] + of_first[other]) / n
            variance += count / n * (1 - kappa) ** 2 * marginal**2
    error = math.sqrt(max(variance, 0) / n) / (1 - chance)
    width = float(ndtri((1 + level) / 2)) * error
    interval = Interval(kappa, max(kappa - width, -1.0), min(kappa + width, 1.0))
    return Kappa(interval, agreement, chance, n)


def annotator_agreement(
    first: Iterable[Document | Mention], second: Iterable[Document | Mention]
) -> Kappa:
    """Measure the agreement of two annotations of the same documents.

    Mentions are the same that agree in document, offsets and text; the concepts of both are
    compared, and no concept and an unknown one are categories. Mentions of one annotator alone do
    not count, and are numbered. Raises `InvalidInput` if there is no mention in common.

    >>> one = [Mention("hip", ids=("D1",)), Mention("leg", ids=("D2",))]
    >>> other = [Mention("hip", ids=("D1",)), Mention("leg", rule="nil")]
    >>> annotator_agreement(one, other).agreement
    0.5
    """
    given, taken = _categories(first), _categories(second)
    common = [key for key in given if key in taken]
    if not common:
        raise InvalidInput(
            f"of {len(given):,} and {len(taken):,} mentions none are the same: two annotations of "
            "the same documents were expected, with equal document ids, offsets and texts"
        )
    found = cohen_kappa([given[key] for key in common], [taken[key] for key in common])
    return found._replace(n_first=len(given) - len(common), n_second=len(taken) - len(common))


def _categories(items: Iterable[Document | Mention]) -> dict[Hashable, Hashable]:
    """Return the concepts of each mention; repeated ones are told apart by their number."""
    found: dict[Hashable, Hashable] = {}
    met: Counter[Hashable] = Counter()
    for item in items:
        for mention in item.mentions if isinstance(item, Document) else (item,):
            key = (mention.document_id, mention.start, mention.end, mention.text)
            met[key] += 1
            rule = mention.rule if mention.rule == "nil" or len(mention.ids) > 1 else "any"
            found[key, met[key]] = (frozenset(mention.ids), rule)
    return found
