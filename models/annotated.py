"""The annotated mentions that the default encoders learn from, and that none is of a test part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from canonym.corpora.pubtator import read_pubtator
from canonym.errors import Mismatch
from canonym.evaluation.questions import read_corrections
from canonym.terminology import Terminology, read_records
from canonym.training.sampling.mentions import training_mentions
from canonym.types import Document
from models.sources import SOURCES, read_mesh

__all__ = ["CORPORA", "PARTS", "Annotated", "check_apart", "read_annotated"]

PARTS: tuple[str, ...] = ("train", "dev")
"""Parts of a corpus that may be learned from."""

_TEST = "test"


class _Corpus(NamedTuple):
    """A folder of PubTator files, one a part, and what of it is learned from."""

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
    """Mentions of one kind.

    Attributes
    ----------
    pairs : list of (str, str)
        Mention of one concept and its id, each as often as an evaluation prepares it.
    terminology : Terminology
        Where their concepts come from.
    chemicals : bool
        Whether they are of chemicals; else they are of diseases.
    """

    pairs: list[tuple[str, str]]
    terminology: Terminology
    chemicals: bool


def read_annotated(
    data: Path, parts: Sequence[str], *, log: Callable[[str], None] = lambda _: None
) -> tuple[Annotated, Annotated]:
    """Read the mentions of diseases, and those of chemicals.

    Parameters
    ----------
    data : Path
        The folder with the corpora, MEDIC and MeSH.
    parts : sequence of str
        Of `PARTS`.
    log : callable
        Called with a line of text for each corpus.

    Raises
    ------
    Mismatch
        If a document of the parts is one of a test part too.
    """
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
        # Where annotators leave several concepts open, none of them is known to be meant.
        pairs = [(text, next(iter(ids))) for text, ids in taken.pairs if len(ids) == 1]
        kind.pairs.extend(pairs)
        told = f"{len(pairs):,} mentions, {len(set(pairs)):,} distinct"
        log(f"{corpus.folder} {' '.join(corpus.types)}: {told}")
    return diseases, chemicals


def check_apart(
    documents: Iterable[Document], test: Iterable[Document], *, name: str = "the corpus"
) -> None:
    """Make sure that no document is one of a test part, by its id or by its text.

    Raises
    ------
    Mismatch
        If one is.
    """
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
