"""Groups of synonyms with further ways to write them, mined from the groups themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput
from canonym.io.files import file_digest
from canonym.terminology.readers.everyday import read_everyday
from canonym.text import STRONG
from canonym.text.memo import MemoNormaliser
from canonym.training.subword.mention_names import mention_weights
from canonym.types import Int32Array, Name
from models.annotated import CORPORA, PARTS, read_annotated
from models.definitions import Definition, defined_in, shorten
from models.sources import PASSAGES, SOURCES, read_passages, read_pool
from models.synonyms import SynonymPool, Synonyms, WordSwaps, without_residue

# --- further names ---

# Longer names have swaps in too many places, and few of them are ever looked up.
_MOST_WORDS = 5


def add_variants(synonyms: Synonyms, *, most: int = 2, least_weight: float = 1.0) -> Synonyms:
    """Add other ways to write the names: without residue, and with words swapped.

    Parameters
    ----------
    synonyms : Synonyms
        Groups of synonyms; the swaps are mined from them, see `models.synonyms`.
    most : int
        Most swaps taken for one name, those first that are seen most.
    least_weight : float
        Concepts of a smaller weight are left as they are.

    Returns
    -------
    Synonyms
        The same concepts, with more names.
    """
    ordered = MemoNormaliser(STRONG)(map(without_residue, synonyms.names))
    finish = MemoNormaliser(("fillers", "order"))
    words = [tuple(form.split(" ")) for form in finish(ordered)]
    swaps = WordSwaps(words, synonyms.concepts, synonyms.sources)
    names, concepts = list(synonyms.names), synonyms.concepts.tolist()
    known = set(zip(ordered, concepts, strict=True))
    plain = MemoNormaliser(STRONG)(synonyms.names)
    known_plain = set(zip(plain, concepts, strict=True))
    for form, concept in zip(ordered, synonyms.concepts.tolist(), strict=True):
        if synonyms.weights[concept] < least_weight or form.count(" ") >= _MOST_WORDS:
            continue
        found = [form] if (form, concept) not in known_plain else []
        for text in (*found, *swaps.variants(form)[:most]):
            if text in found or (text, concept) not in known:
                known.add((text, concept))
                known_plain.add((text, concept))
                names.append(text)
                concepts.append(concept)
    return synonyms._replace(names=names, concepts=np.array(concepts, dtype=np.int32))


# --- mixture ---
# MODULE: What the default encoders learn from: open terminologies, and mentions that were annotated.
#
# Names of one concept are synonyms whatever terminology they come from, and so are the mentions that
# annotators gave that concept. Mentions come from the training and development parts of two corpora
# and never from a test part; `models.annotated.check_apart` makes sure of it.

_MENTIONS = "mentions"


class Mixture(NamedTuple):
    """Names to fit an encoder to.

    Attributes
    ----------
    names : list of str
        Names, variants of names, and mentions.
    concepts : ndarray, shape (n,), int32
        The concept of each.
    sources : ndarray, shape (n_concepts,), int64
        The terminologies of each concept as bits.
    weights : ndarray, shape (n_concepts,), float64
        How often names of a concept are drawn.
    name_weights : ndarray, shape (n,), float64
        How often a name is drawn, besides; see `canonym.training.subword.mention_names.mention_weights`.
    related : ndarray, shape (n_related, 2), int32
        Concepts that a relation joins.
    counts : dict of str to int
        Concepts, names, variants, mentions and pairs of related concepts.
    definitions : list of Definition
        What some of the concepts are.
    """

    names: list[str]
    concepts: Int32Array
    sources: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    name_weights: npt.NDArray[np.float64]
    related: Int32Array
    counts: dict[str, int]
    definitions: Sequence[Definition] = ()


def mixture_files(parts: Sequence[str] = PARTS, *, defined: bool = False) -> dict[str, str]:
    """Return the files of the data folder that `read_mixture` reads, by a name for each."""
    files = SOURCES | ({"MedQuAD text": PASSAGES} if defined else {})
    for corpus in CORPORA:
        files |= {f"{corpus.folder} {part}": f"{corpus.folder}/{part}.pubtator" for part in parts}
        if corpus.corrections and parts:
            files[f"{corpus.folder} corrections"] = corpus.corrections
    return files


def read_mixture(
    data: Path,
    *,
    parts: Sequence[str] = PARTS,
    mention_share: float = 0.3,
    everyday_weight: float = 0.0,
    defined: bool = False,
    log: Callable[[str], None] | None = None,
) -> Mixture:
    """Read the terminologies and the mentions.

    Parameters
    ----------
    data : Path
        The folder with the files of `mixture_files`.
    parts : sequence of str
        Parts of the corpora, of `models.annotated.PARTS`; none for terminologies alone.
    mention_share : float
        Share of the draws that are mentions, in [0, 1).
    everyday_weight : float
        How often the everyday names of ICD-10-CM that come with canonym are drawn, where 1 is as
        often as other names; 0 leaves them out.
    defined : bool
        Whether definitions are read too, those of the terminologies and those in the consumer
        health text.
    log : callable, optional
        Called with a line of text for each step.

    Raises
    ------
    InvalidInput
        If a part is none of those, or a share or weight is out of range.
    Mismatch
        If a document of the parts is one of a test part too.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown or not 0 <= mention_share < 1:
        raise InvalidInput(
            f"parts {list(parts)} and a mention_share of {mention_share} were given; parts among "
            f"{list(PARTS)} and a share from 0 to below 1 are expected"
        )
    if not 0 <= everyday_weight < np.inf:
        raise InvalidInput(f"everyday_weight={everyday_weight!r}: 0 or a number above is expected")
    say = log or (lambda _: None)
    everyday = list(read_everyday()) if everyday_weight else []
    pool = read_pool(data, everyday=everyday, log=log)
    annotated = read_annotated(data, parts, log=say) if parts else []
    pairs = [pair for one in annotated for pair in one.pairs]
    known = [(text, id_) for text, id_ in pairs if id_ in pool]
    names_of_mentions = (Name(text, id_) for text, id_ in dict.fromkeys(known))
    bit = pool.add(_MENTIONS, names_of_mentions, weight=0.0, exclusive=False)
    joined = pool.synonyms()
    synonyms = add_variants(joined)
    of_mentions = synonyms.sources & bit > 0
    # A concept counts for the terminologies that have it, not for being mentioned.
    n_sources = np.array([int(bits).bit_count() for bits in synonyms.sources])
    weights = synonyms.weights * (n_sources - of_mentions) / n_sources
    name_weights = np.ones(len(synonyms.names))
    if known and mention_share:
        texts = [text for text, _ in known]
        owners = np.array([pool.concept_of(id_) for _, id_ in known], dtype=np.int32)
        name_weights = mention_weights(
            [*synonyms.names, *texts],
            np.concatenate((synonyms.concepts, owners)),
            len(texts),
            share=mention_share,
            weights=weights,
        )[: len(synonyms.names)]
    mentioned = int((name_weights != 1).sum())
    _weigh_everyday(everyday, everyday_weight, pool, synonyms, name_weights)
    definitions = _definitions(data, pool, joined) if defined else []
    if defined:
        say(f"{len(definitions):,} definitions")
    related = pool.related()
    say(
        f"{len(joined.names):,} names, {len(synonyms.names) - len(joined.names):,} variants, "
        f"{mentioned:,} of them mentioned; {len(related):,} related concepts"
    )
    return Mixture(
        synonyms.names,
        synonyms.concepts,
        synonyms.sources & ~bit,
        weights,
        name_weights,
        related,
        {
            "concepts": len(weights),
            "names": len(joined.names),
            "variants": len(synonyms.names) - len(joined.names),
            "mentioned": mentioned,
            "related": len(related),
            **({"everyday": len(everyday)} if everyday else {}),
            **({"definitions": len(definitions)} if defined else {}),
        },
        definitions,
    )


def _weigh_everyday(
    everyday: Sequence[Name],
    weight: float,
    pool: SynonymPool,
    synonyms: Synonyms,
    name_weights: npt.NDArray[np.float64],
) -> None:
    meant = {(name.text, pool.concept_of(name.concept_id)) for name in everyday}
    pairs = zip(synonyms.names, synonyms.concepts.tolist(), strict=True)
    name_weights[[row for row, pair in enumerate(pairs) if pair in meant]] *= weight


def _definitions(data: Path, pool: SynonymPool, synonyms: Synonyms) -> list[Definition]:
    found = [Definition(shorten(text), concept) for text, concept in pool.definitions()]
    names: dict[str, int | None] = {}
    forms = MemoNormaliser(STRONG)(synonyms.names)
    for form, concept in zip(forms, synonyms.concepts.tolist(), strict=True):
        if names.setdefault(form, concept) != concept:
            names[form] = None
    _, passages = read_passages(data)
    return list(dict.fromkeys([*found, *defined_in(passages, names)]))


def digests(
    data: Path, parts: Sequence[str] = PARTS, *, defined: bool = False
) -> Mapping[str, str]:
    """Return the SHA-256 of every file of `mixture_files`."""
    files = mixture_files(parts, defined=defined)
    return {name: file_digest(data / path) for name, path in files.items()}
