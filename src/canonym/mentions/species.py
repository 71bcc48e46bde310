"""Species that a text names, and the species of a concept.

Genes and proteins of many species share a name: *p53* of a mouse is another concept than that of a
human. Papers name the species once, by a word such as *mice* or *patients*.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from canonym.regex import regex

_SPECIES = {
    "9606": "Homo sapiens|H. sapiens|human|humans|patient|patients|man|men|woman|women|people|"
    "person|persons|child|children|infant|infants|newborns|volunteers|participants",
    "10090": "Mus musculus|M. musculus|mouse|mice|murine",
    "10116": "Rattus norvegicus|R. norvegicus|rat|rats",
    "9544": "Macaca mulatta|M. mulatta|rhesus monkey|rhesus monkeys|rhesus macaque|"
    "rhesus macaques|macaque|macaques",
    "9598": "Pan troglodytes|P. troglodytes|chimpanzee|chimpanzees",
    "9913": "Bos taurus|B. taurus|bovine|cow|cows|cattle",
    "9823": "Sus scrofa|S. scrofa|pig|pigs|porcine|swine|piglet|piglets",
    "9940": "Ovis aries|O. aries|sheep|ovine|lamb|lambs",
    "9925": "Capra hircus|C. hircus|goat|goats|caprine",
    "9796": "Equus caballus|E. caballus|horse|horses|equine",
    "9615": "Canis lupus familiaris|Canis familiaris|C. familiaris|dog|dogs|canine",
    "9685": "Felis catus|F. catus|cat|cats|feline",
    "9986": "Oryctolagus cuniculus|O. cuniculus|rabbit|rabbits",
    "10029": "Cricetulus griseus|C. griseus|Chinese hamster|Chinese hamsters|CHO cells",
    "10036": "Mesocricetus auratus|M. auratus|Syrian hamster|Syrian hamsters|golden hamster",
    "10141": "Cavia porcellus|C. porcellus|guinea pig|guinea pigs",
    "9031": "Gallus gallus|G. gallus|chicken|chickens|chick|chicks",
    "8355": "Xenopus laevis|X. laevis|Xenopus|African clawed frog",
    "8364": "Xenopus tropicalis|X. tropicalis|western clawed frog",
    "7955": "Danio rerio|D. rerio|zebrafish",
    "8090": "Oryzias latipes|O. latipes|medaka",
    "7227": "Drosophila melanogaster|D. melanogaster|Drosophila|fruit fly|fruit flies",
    "6239": "Caenorhabditis elegans|C. elegans|nematode|nematodes",
    "4932": "Saccharomyces cerevisiae|S. cerevisiae|budding yeast|baker's yeast|yeast|yeasts",
    "4896": "Schizosaccharomyces pombe|S. pombe|fission yeast",
    "5476": "Candida albicans|C. albicans",
    "44689": "Dictyostelium discoideum|D. discoideum|Dictyostelium",
    "5833": "Plasmodium falciparum|P. falciparum",
    "3702": "Arabidopsis thaliana|A. thaliana|Arabidopsis|thale cress",
    "4530": "Oryza sativa|O. sativa|rice",
    "4577": "Zea mays|Z. mays|maize",
    "562": "Escherichia coli|E. coli",
    "1423": "Bacillus subtilis|B. subtilis",
    "1773": "Mycobacterium tuberculosis|M. tuberculosis",
    "1280": "Staphylococcus aureus|S. aureus",
    "287": "Pseudomonas aeruginosa|P. aeruginosa",
    "28901": "Salmonella enterica|S. enterica|Salmonella",
    "11676": "Human immunodeficiency virus 1|HIV-1|HIV",
    "2697049": "Severe acute respiratory syndrome coronavirus 2|SARS-CoV-2",
}
# By number in NCBI's taxonomy: the species of model organisms and of common papers.

_TAXON = {name: taxon for taxon, names in _SPECIES.items() for name in names.split("|")}
_TAXON_OF = {name.casefold(): taxon for name, taxon in _TAXON.items()}
_CAPITALS = frozenset(name for name in _TAXON if name.isupper())
_NAMES = sorted(_TAXON_OF, key=len, reverse=True)
_IN_TEXT = regex(r"(?<![\w-])(?:" + "|".join(map(re.escape, _NAMES)) + r")(?!\w)", re.IGNORECASE)
_NUMBER = regex(r"(?:(?:ncbi)?taxon:|ncbitaxon_|txid)?(\d+)", re.IGNORECASE)
_BEHIND = regex(r"[(\[]([^()\[\]]+)[)\]]\s*$")


@functools.lru_cache(10_000)
def taxon_of(name: str) -> str | None:
    """Return the number in NCBI's taxonomy of a species by one of its names, or by that number.

    >>> taxon_of("Mus musculus"), taxon_of("mouse"), taxon_of("NCBITaxon:10090")
    ('10090', '10090', '10090')
    """
    number = _NUMBER.fullmatch(name.strip())
    if number:
        return number[1] if number[1] in _SPECIES else None
    # A strain or subspecies stands behind the two words of a species.
    words = name.casefold().split()
    return _TAXON_OF.get(" ".join(words)) or _TAXON_OF.get(" ".join(words[:2]))


def species_of(types: Iterable[str], label: str) -> str | None:
    """Return the species of a concept, which is one of its types or is behind its label.

    >>> species_of(["gene", "Homo sapiens"], "TP53"), species_of([], "tumor antigen p53 (mouse)")
    ('9606', '10090')
    """
    behind = _BEHIND.search(label)
    names = [*types, behind[1]] if behind else types
    return next((taxon for name in names if (taxon := taxon_of(name))), None)


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
    for match in _IN_TEXT.finditer(text):
        if not match[0].isupper() or match[0] in _CAPITALS:
            yield match.start(), match.end(), _TAXON_OF[match[0].casefold()]
