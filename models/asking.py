"""What is asked in the last batches of the default encoder: mentions and names, each in its list.

A mention has to find its concept in MEDIC or MeSH. So has a name of other terminologies: half of
the names of a concept are asked, the other half are there to be found.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from canonym.encoders.subword import NORMAL_STEPS
from canonym.terminology.readers.drugbank import read_drugbank_vocabulary
from canonym.terminology.readers.obo import read_obo
from canonym.text import PLAIN, UNORDERED
from canonym.text.memo import MemoNormaliser
from canonym.types import Concept, Name, Record
from models.mention_search import MentionQueries, QuerySet
from models.mixture import read_annotated
from models.sources import SOURCES, read_mesh

ASKING: Mapping[str, int] = {
    "diseases": 48,
    "chemicals": 16,
    "UBERON": 12,
    "HPO 2014": 12,
    "DOID 2015": 12,
    "DrugBank": 8,
    "MeSH D": 8,
    "MeSH BEFGIMN": 16,
    "wrong": 10,
    "right": 5,
}
"""Questions of a batch by what they are: mentions of diseases and chemicals, names of a terminology
or of trees of MeSH. Then the wrong and right names that each is compared with."""

_MOST = 20_000  # names of a terminology that are asked

Pairs = list[tuple[str, str]]


def asking(
    data: Path,
    parts: Sequence[str],
    kinds: Mapping[str, int] = ASKING,
    *,
    learned: Collection[str] | None = None,
) -> list[MentionQueries]:
    """Return the mentions of `parts` and the names that search in a batch.

    `kinds` is like `ASKING`; what it lacks is not asked. `learned` are the names that the encoder
    may know, where concepts are held out.
    """
    asked: list[tuple[int, Pairs, Pairs]] = []
    for annotated in read_annotated(data, parts):
        n = kinds["chemicals" if annotated.chemicals else "diseases"]
        names = [(name.text, name.concept_id) for name in annotated.terminology.iter_names()]
        asked.append((n, annotated.pairs, names))
    mesh = list(read_mesh(data)) if any(kind.startswith("MeSH ") for kind in kinds) else []
    for kind, n in kinds.items():
        if kind == "DrugBank":
            asked.append((n, *halves(read_drugbank_vocabulary(data / SOURCES[kind]))))
        elif kind in SOURCES:
            asked.append((n, *halves(read_obo(data / SOURCES[kind]))))
        elif kind.startswith("MeSH "):
            asked.append((n, *halves(_of_trees(mesh, kind.removeprefix("MeSH ")))))
    found = []
    for n, questions, names in asked:
        queries = make_query_set(_known(questions, learned), _known(names, learned))
        if queries.texts:
            compared = {"wrong": kinds["wrong"], "right": kinds["right"]}
            found.append(MentionQueries(queries, n=n, **compared))
    return found


def halves(records: Iterable[Record], *, most: int = _MOST) -> tuple[Pairs, Pairs]:
    """Split the names of each concept into those that are asked and those to be found.

    Names that are equal but for case, punctuation, inflection and order stay together. A concept
    of one form is only there to be found; at most `most` names are asked.

    >>> halves([Concept("A:1", "kidney"), Name("ren", "A:1"), Name("Kidneys", "A:1")])
    ([('ren', 'A:1')], [('kidney', 'A:1'), ('Kidneys', 'A:1')])
    """
    pairs: Pairs = []
    kept: set[str] = set()
    for record in records:
        if isinstance(record, Concept) and not record.deprecated:
            kept.add(record.id)
            pairs.append((record.label, record.id))
        elif isinstance(record, Name) and record.concept_id in kept:
            pairs.append((record.text, record.concept_id))
    forms = MemoNormaliser(UNORDERED)([text for text, _ in pairs])
    of_concept: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (text, id_), form in zip(pairs, forms, strict=True):
        of_concept[id_][form].append(text)
    asked: Pairs = []
    names: Pairs = []
    for id_, texts in of_concept.items():
        ordered = sorted(texts, key=lambda form: zlib.crc32(form.encode()))
        half = len(ordered) // 2
        asked += [(texts[form][0], id_) for form in ordered[:half]]
        names += [(text, id_) for form in ordered[half:] for text in texts[form]]
    drawn = sorted(asked, key=lambda pair: zlib.crc32("\t".join(pair).encode()))
    return drawn[:most], names


def _of_trees(records: Iterable[Record], letters: str) -> Iterator[Record]:
    kept: set[str] = set()
    for record in records:
        if isinstance(record, Concept) and {*letters} & {*record.types}:
            kept.add(record.id)
            yield record
        elif isinstance(record, Name) and record.concept_id in kept:
            yield record


def _known(pairs: Pairs, learned: Collection[str] | None) -> Pairs:
    """Return the pairs whose text is, in normal form, among the names that are learned."""
    if learned is None:
        return pairs
    normal = MemoNormaliser(PLAIN)
    known = {*normal(learned)}
    forms = normal([text for text, _ in pairs])
    return [pair for pair, form in zip(pairs, forms, strict=True) if form in known]


def make_query_set(
    pairs: Iterable[tuple[str, str]],
    names: Iterable[tuple[str, str]],
    *,
    normalisation: Sequence[str] = NORMAL_STEPS,
) -> QuerySet:
    """Make queries of (mention, concept id) pairs among (name, concept id) pairs.

    Mentions that are names are left out, since an exact look-up finds them; so are concepts without
    a name. The chances are those of `mention_weights`, ``√n · n / N``.
    """
    normalise = MemoNormaliser(tuple(normalisation))
    listed, annotated = list(names), list(pairs)
    forms = normalise([text for text, _ in listed])
    known = dict.fromkeys((form, id_) for form, (_, id_) in zip(forms, listed, strict=True) if form)
    numbers: dict[str, int] = {}
    concepts = [numbers.setdefault(id_, len(numbers)) for _, id_ in known]
    there = {form for form, _ in known}
    mentions = normalise([text for text, _ in annotated])
    times = Counter(zip(mentions, (id_ for _, id_ in annotated), strict=True))
    in_all = Counter(mentions)
    named = {
        (form, id_): n**0.5 * n / in_all[form]
        for (form, id_), n in times.items()
        if form and form not in there and id_ in numbers
    }
    total = sum(named.values())
    return QuerySet(
        [form for form, _ in named],
        np.array([numbers[id_] for _, id_ in named], dtype=np.int32),
        np.array([chance / total for chance in named.values()]),
        [form for form, _ in known],
        np.array(concepts, dtype=np.int32),
    )
