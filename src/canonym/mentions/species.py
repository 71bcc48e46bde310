"""Species that a text names, and the species of a concept.

Genes and proteins of many species share a name: *p53* of a mouse is another concept than that of a
human. Papers name the species once, by a word such as *mice* or *patients*. The names are rules of
the kind "species", which mean a number in NCBI's taxonomy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from canonym.rules import current, once_a_book, remembered
from canonym.text.words import bracket_at_end

_PREFIXES = ("ncbitaxon:", "ncbitaxon_", "taxon:", "txid")  # of a number in NCBI's taxonomy


@once_a_book
def _taxa() -> dict[str, str]:
    """Return the number of a species by each of its names in small letters."""
    return {rule.form.casefold(): rule.means for rule in current().of_kind("species")}


@once_a_book
def _in_text() -> re.Pattern[str]:
    names = sorted(_taxa(), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)


@once_a_book
def _capitals() -> frozenset[str]:
    return frozenset(rule.form for rule in current().of_kind("species") if rule.form.isupper())


@remembered(10_000)
def taxon_of(name: str) -> str | None:
    """Return the number in NCBI's taxonomy of a species by one of its names, or by that number.

    >>> taxon_of("Mus musculus"), taxon_of("mouse"), taxon_of("NCBITaxon:10090")
    ('10090', '10090', '10090')
    """
    number = name.strip().casefold()
    number = number.removeprefix(next(filter(number.startswith, _PREFIXES), ""))
    if number.isdecimal():
        return number if number in _taxa().values() else None
    # A strain or subspecies stands behind the two words of a species.
    words = name.casefold().split()
    return _taxa().get(" ".join(words)) or _taxa().get(" ".join(words[:2]))


def species_of(types: Iterable[str], label: str) -> str | None:
    """Return the species of a concept, which is one of its types or is behind its label.

    >>> species_of(["gene", "Homo sapiens"], "TP53"), species_of([], "tumor antigen p53 (mouse)")
    ('9606', '10090')
    """
    names = (*types, bracket_at_end(label.rstrip())[1])
    return next(filter(None, map(taxon_of, names)), None)


def species_in(text: str, *, near: str = "", mention: str = "") -> list[str]:
    """Return the species that a text names, those first that a mention is likely to be of.

    First are those in `near`, the sentence of the mention, by their distance to it; then the others
    by how often the text names them. Words such as *patients* stand for humans.

    >>> species_in("Patients were compared with mice. Mice ate more.")
    ['10090', '9606']
    """
    place = near.casefold().find(mention.casefold()) if mention else 0
    beside = sorted(
        (max(place - end, start - place - len(mention), 0), start, taxon)
        for start, end, taxon in _named(near)
    )
    counted = Counter(taxon for *_, taxon in _named(text))
    taxa = [*(taxon for *_, taxon in beside), *(taxon for taxon, _ in counted.most_common())]
    return list(dict.fromkeys(taxa))


def _named(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the place of each species in a text; *CAT* is an enzyme, and no cat."""
    for match in _in_text().finditer(text):
        if not match[0].isupper() or match[0] in _capitals():
            yield match.start(), match.end(), _taxa()[match[0].casefold()]
