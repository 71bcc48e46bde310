"""The mixture that the shipped encoders learn from: names, annotated mentions and definitions.

Names of one concept are synonyms whatever terminology they come from. So are the mentions that
annotators gave that concept. Mentions come from the training and development parts of two corpora,
never from a test part: `check_apart` makes sure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.corpora.pubtator import read_pubtator
from canonym.errors import InvalidInput, Mismatch
from canonym.evaluation.questions import read_corrections
from canonym.io.files import file_digest
from canonym.terminology import Terminology, read_records
from canonym.terminology.readers.everyday import read_everyday
from canonym.text import STRONG
from canonym.text.memo import MemoNormaliser
from canonym.training.sampling.mentions import training_mentions
from canonym.training.subword.mention_names import mention_weights
from canonym.types import Document, Int32Array, Name, Record
from models.sources import PASSAGES, SOURCES, read_mesh, read_passages, read_pool
from models.synonyms import SynonymPool, Synonyms, add_variants

PARTS: tuple[str, ...] = ("train", "dev")
"""Parts of a corpus that may be learned from."""

_TEST = "test"


class _Corpus(NamedTuple):
    """A folder of PubTator files, one a part, and the types of mentions that are learned."""

    folder: str
    types: tuple[str, ...]
    chemicals: bool = False
    corrections: str = ""


CORPORA: tuple[_Corpus, ...] = (
    _Corpus("ncbi-disease", (), corrections="medic-2012/ncbi-spell-check.txt"),
    _Corpus("bc5cdr", ("Disease",)),
    _Corpus("bc5cdr", ("Chemical",), chemicals=True),
)
"""Where the mentions come from."""


class Annotated(NamedTuple):
    """Mentions of diseases or of chemicals, with the id of each, and their terminology.

    A mention stands in `pairs` as often as an evaluation prepares it.
    """

    pairs: list[tuple[str, str]]
    terminology: Terminology
    chemicals: bool


def read_annotated(
    data: Path, parts: Sequence[str], *, log: Callable[[str], None] = lambda _: None
) -> tuple[Annotated, Annotated]:
    """Read the mentions of diseases, and those of chemicals, of `parts`."""
    diseases = Annotated([], Terminology.build(read_records(data / SOURCES["MEDIC 2012"])), False)
    chemicals = Annotated([], Terminology.build(read_mesh(data)), True)
    # Corpora are drawn from the same abstracts: a test document of one may be learned from another.
    folders = dict.fromkeys(corpus.folder for corpus in CORPORA)
    test = [one for folder in folders for one in _documents(data / folder, [_TEST])]
    for corpus in CORPORA:
        documents = _documents(data / corpus.folder, parts)
        check_apart(documents, test, name=corpus.folder)
        kind = chemicals if corpus.chemicals else diseases
        taken = training_mentions(
            documents,
            kind.terminology,
            types=corpus.types,
            corrections=read_corrections(data / corpus.corrections) if corpus.corrections else None,
        )
        # If annotators left several concepts open, none of them is known to be right.
        pairs = [(text, next(iter(ids))) for text, ids in taken.pairs if len(ids) == 1]
        kind.pairs.extend(pairs)
        counts = f"{len(pairs):,} mentions, {len(set(pairs)):,} distinct"
        log(f"{corpus.folder} {' '.join(corpus.types)}: {counts}")
    return diseases, chemicals


def check_apart(
    documents: Iterable[Document], test: Iterable[Document], *, name: str = "the corpus"
) -> None:
    """Raise `Mismatch` if a document is one of a test part, by its id or by its text."""
    held_out = list(test)
    ids = {document.id for document in held_out}
    texts = {document.text for document in held_out}
    shared = [one.id for one in documents if one.id in ids or one.text in texts]
    if shared:
        raise Mismatch(
            f"{len(shared):,} documents of {name} are in a test part too ({', '.join(shared[:5])}"
            f"{', …' if len(shared) > 5 else ''}); take them out of what is learned from"
        )


def _documents(folder: Path, parts: Sequence[str]) -> list[Document]:
    return [one for part in parts for one in read_pubtator(folder / f"{part}.pubtator")]


# "Gout is a disease …", "The flu (influenza) is a …": the name stands before the verb, the
# definition after it. Answers begin so; later sentences rarely do.
_OPENING = re.compile(
    r"(?:Summary : )?(?:The |A |An )?(?P<name>[A-Z0-9][^.:;?!()]{2,80}?)"
    r"(?: \([^()]{1,80}\))?,? (?:is|are) (?P<text>(?:a|an|the|one|any|when|caused)\b[^?]{20,})",
    re.DOTALL,
)
_MOST = 240  # characters: about forty tokens, more than an encoder of names takes


class Definition(NamedTuple):
    """A text that defines a concept, and the number of the concept.

    A definition brings words together that no name has side by side.
    """

    text: str
    concept: int


def shorten(text: str) -> str:
    """Return the beginning of a definition, in whole words.

    >>> shorten("  A   disease of the heart. ")
    'A disease of the heart.'
    """
    plain = " ".join(text.split())
    return plain if len(plain) <= _MOST else plain[:_MOST].rpartition(" ")[0]


def defined_in(passages: Iterable[str], names: Mapping[str, int | None]) -> Iterator[Definition]:
    """Yield the definitions of passages that begin with the name of one concept.

    `names` maps names in their `canonym.text.STRONG` form to concepts, ambiguous ones to None.

    >>> answer = "Gout is a disease of the joints that comes in attacks."
    >>> [found.text for found in defined_in([answer, "What is gout ?"], {"gout": 7})]
    ['a disease of the joints that comes in attacks.']
    """
    normal = MemoNormaliser(STRONG)
    for passage in passages:
        found = _OPENING.match(passage)
        if found is None:
            continue
        (form,) = normal([found["name"]])
        concept = names.get(form)
        if concept is not None:
            yield Definition(shorten(found["text"]), concept)


_MENTIONS = "mentions"


class Mixture(NamedTuple):
    """Names to fit an encoder to: names, variants of names, and mentions.

    Of each name its concept and weight; of each concept its terminologies as bits and its weight;
    pairs of related concepts; counts of all these; and definitions of some concepts.
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


def check_data(data: Path, *, parts: Sequence[str] = PARTS, defined: bool = False) -> None:
    """Refuse a data folder that lacks a file, before hours are spent."""
    files = mixture_files(parts, defined=defined)
    missing = [path for path in files.values() if not (data / path).is_file()]
    if missing:
        raise InvalidInput(
            f"{data} lacks {len(missing)} of the files that the encoder is made from "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); give the folder that "
            "holds the terminologies and corpora, or set CANONYM_DATA to it"
        )


def read_mixture(
    data: Path,
    *,
    parts: Sequence[str] = PARTS,
    mention_share: float = 0.3,
    everyday_weight: float = 0.0,
    defined: bool = False,
    more: Sequence[tuple[str, Record]] = (),
    held_out: Iterable[str] = (),
    extend: Callable[[Mixture, SynonymPool], Mixture] | None = None,
    log: Callable[[str], None] | None = None,
) -> Mixture:
    """Read the terminologies, and the mentions of `parts`.

    `mention_share` of the draws, in [0, 1), are mentions. The bundled everyday names of ICD-10-CM
    are drawn `everyday_weight` times as often as other names; 0 leaves them out. `defined` reads
    definitions from the terminologies and the consumer health text. `more` are records of a
    terminology by its name, `held_out` the ids of concepts that are left out, and `extend` adds to
    the mixture what the pool knows the concepts of. `log` takes a line a step.
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
    pool = read_pool(data, everyday=everyday, more=more, held_out=held_out, log=log)
    annotated = read_annotated(data, parts, log=say) if parts else []
    pairs = [pair for one in annotated for pair in one.pairs]
    known = [(text, id_) for text, id_ in pairs if id_ in pool]
    mentioned_names = (Name(text, id_) for text, id_ in dict.fromkeys(known))
    bit = pool.add(_MENTIONS, mentioned_names, weight=0.0, exclusive=False)
    joined = pool.synonyms()
    # A concept whose names are all those of concepts held out has none left.
    known = [(text, id_) for text, id_ in known if pool.concept_of(id_) is not None]
    synonyms = add_variants(joined)
    of_mentions = synonyms.sources & bit > 0
    # A concept counts for the terminologies that have it, not for being mentioned.
    n_sources = np.array([int(bits).bit_count() for bits in synonyms.sources])
    weights = synonyms.weights * (n_sources - of_mentions) / n_sources
    name_weights = np.ones(len(synonyms.names))
    if known and mention_share:
        name_weights = _weights_of_names(known, mention_share, pool, synonyms, weights)
    mentioned = int((name_weights != 1).sum())
    _weigh_everyday(everyday, everyday_weight, pool, synonyms, name_weights)
    definitions = _definitions(data, pool, joined, say) if defined else []
    related = pool.related()
    say(
        f"{len(joined.names):,} names, {len(synonyms.names) - len(joined.names):,} variants, "
        f"{mentioned:,} of them mentioned; {len(related):,} related concepts"
    )
    mixture = Mixture(
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
    return mixture if extend is None else extend(mixture, pool)


def _weights_of_names(
    mentions: Sequence[tuple[str, str]],
    share: float,
    pool: SynonymPool,
    synonyms: Synonyms,
    weights: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the weight of every name, so that mentions are `share` of the draws."""
    texts = [text for text, _ in mentions]
    owners = np.array([pool.concept_of(id_) for _, id_ in mentions], dtype=np.int32)
    found = mention_weights(
        [*synonyms.names, *texts],
        np.concatenate((synonyms.concepts, owners)),
        len(texts),
        share=share,
        weights=weights,
    )
    return found[: len(synonyms.names)]


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


def _definitions(
    data: Path, pool: SynonymPool, synonyms: Synonyms, log: Callable[[str], None]
) -> list[Definition]:
    found = [Definition(shorten(text), concept) for text, concept in pool.definitions()]
    names: dict[str, int | None] = {}
    forms = MemoNormaliser(STRONG)(synonyms.names)
    for form, concept in zip(forms, synonyms.concepts.tolist(), strict=True):
        if names.setdefault(form, concept) != concept:
            names[form] = None
    _, passages = read_passages(data)
    distinct = list(dict.fromkeys([*found, *defined_in(passages, names)]))
    log(f"{len(distinct):,} definitions")
    return distinct


def digests(
    data: Path, parts: Sequence[str] = PARTS, *, defined: bool = False
) -> Mapping[str, str]:
    """Return the SHA-256 of every file of `mixture_files`."""
    files = mixture_files(parts, defined=defined)
    return {name: file_digest(data / path) for name, path in files.items()}
