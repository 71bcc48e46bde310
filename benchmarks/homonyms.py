"""Does what stands around a mention tell the concepts of one name apart?

Mentions of NCBI disease and BC5CDR whose best candidates are tied (the same name belongs to several
concepts) are linked with and without their context, to MEDIC and to MeSH 2024 with and without
supplementary concepts; what counts is whether the first candidate is the very concept. A part of a
composite mention counts by itself. What is not tied has to stay as it is.

Few names of these terminologies are real homonyms, many belong to duplicates that no text can tell
apart. So there are made ones as well: a mention whose concept is plain and right, and that concept
in random order among three others that are meant elsewhere in the corpus, as if all four had its
name.

What canonym ships was chosen on the train parts, with another draw of made homonyms; beside it
stands what is best on this one among the weights of a grid, by the mean over the slices of both
kinds. The figures to look at are those of the dev parts. Test parts are not touched.

    canonym train default --part none -o names-alone
    python benchmarks/homonyms.py --encoder names-alone
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from canonym import Candidate, Document, Linker, Terminology
from canonym.corpora import read_pubtator
from canonym.linking.fitting import asked_of
from canonym.linking.homonyms import AHEAD, ANYWAY, EVIDENCE, TRUSTED, WEIGHTS, Decided
from canonym.linking.lookup import Answer
from canonym.linking.settings import SIEVES
from canonym.terminology.readers.medic import read_medic
from canonym.terminology.readers.table import read_table
from canonym.types import Link
from record import chosen_encoder, data_folder, save

KINDS = (*EVIDENCE, *AHEAD)
SHIPPED = (*WEIGHTS, TRUSTED, ANYWAY)
# Of the similarity to the document, whose weight only sets the scale, the others are multiples.
GRID = ((0.5,), (0.0, 0.1, 0.25), (0.0, 0.1, 0.25, 0.5, 1.0), (0.25, 0.5, 0.75, 1.0),
        (0.1, 0.2, 0.3), (0.02, 0.05, 0.1, 0.2))  # fmt: skip
MADE = {"ncbi-disease": 0.12, "bc5cdr": 0.05}
CORPORA = (("ncbi-disease", None), ("bc5cdr", "Disease"), ("bc5cdr", None))


class Tied(NamedTuple):
    """Evidence for tied concepts ``(n, 6)``, as they would be without it, and which are right."""

    evidence: np.ndarray
    right: np.ndarray


def terminologies() -> Iterator[tuple[str, Terminology, list[Path]]]:
    """Yield MEDIC, and MeSH 2024 without and with supplementary concepts."""
    data = data_folder()
    medic = data / "medic-2012" / "medic_06Jul2012.txt"
    yield "medic", Terminology.build(read_medic(medic)), [medic]
    terms, trees = (data / "mesh-2024" / f"{name}.tsv.gz" for name in ("terms", "trees"))
    more = data / "mesh-supplementary" / "scr_names.tsv.gz"
    mesh = list(read_table(terms, prefix="MESH:", trees=trees, tree_types=True))
    yield "mesh", Terminology.build(mesh), [terms, trees]
    supplementary = read_table(more, prefix="MESH:")
    yield "mesh with supplementary", Terminology.build([*mesh, *supplementary]), [more]


def documents_of(path: Path, wanted: str | None) -> list[Document]:
    """Read a part of a corpus, mentions of one type only if one is wanted."""
    return [
        replace(one, mentions=tuple(m for m in one.mentions if wanted in {None, m.type}))
        for one in read_pubtator(path)
    ]


def tied_of(candidates: tuple[Candidate, ...], order: list[str], gold: set[str]) -> Tied | None:
    """Return what was told about tied candidates, in their order without a context."""
    told = {one.id: one for one in candidates if one.context}
    there = [told[id_] for id_ in order if id_ in told]
    if len(there) < 2:
        return None
    values = [[one.context[kind] for kind in KINDS] for one in there]
    return Tied(
        np.array(values) / np.array(SHIPPED), np.array([one.id in gold for one in there], bool)
    )


def right(tied: Tied, weights: tuple[float, ...]) -> bool:
    """Say whether the concept that is first under some weights is right."""
    return bool(tied.right[int(np.argmax(np.round(tied.evidence @ np.array(weights), 6)))])


def measured(linker: Linker, documents: list[Document], made: float) -> dict[str, Any]:
    """Link documents both ways, count, and collect the evidence."""
    asked, find = asked_of(linker.terminology, documents, ())
    both = [list(linker.link_documents(asked, k=20, context=given)) for given in (False, True)]
    found: list[Tied] = []
    counts = dict.fromkeys(("links", "tied", "reachable", "without", "with", "changed"), 0)
    untied_changed = 0
    for (document, plain), (_, settled) in zip(*both, strict=True):
        for mention, old, new in zip(document.mentions, plain, settled, strict=True):
            gold = {id_ for each in mention.ids if (id_ := find(each))}
            for before, after in zip(old.parts or (old,), new.parts or (new,), strict=True):
                counts["links"] += 1
                n = sum(bool(one.context) for one in after.candidates)
                if not n:
                    untied_changed += before != after
                    continue
                counts["tied"] += 1
                ids = [one.id for one in before.candidates]
                counts["reachable"] += any(
                    one.id in gold for one in after.candidates if one.context
                )
                counts["without"] += ids[0] in gold
                counts["with"] += after.candidates[0].id in gold
                counts["changed"] += ids[0] != after.candidates[0].id
                one = tied_of(after.candidates, ids, gold)
                found += [one] if one and one.right.any() else []
    return {
        **counts,
        "others_that_changed": untied_changed,
        "found": found,
        "made": list(made_up(linker, both[1], find, made)),
    }


def made_up(linker: Linker, linked: list[Any], find: Any, share: float) -> Iterator[Tied]:
    """Make homonyms of mentions whose concept is plain and right, and collect the evidence."""
    sieves = {sieve.name for sieve in SIEVES}
    draw = random.Random(0)

    def plain(link: Link) -> bool:
        return bool(
            not link.parts
            and link.candidates
            and link.candidates[0].sieve in sieves
            and not link.candidates[0].context
        )

    best = {one.id: one.candidates[0] for _, links in linked for one in links if plain(one)}
    everywhere = sorted(id_ for id_ in best if id_)
    for document, links in linked:
        here = {one.id for one in links}
        for place, (mention, link) in enumerate(zip(document.mentions, links, strict=True)):
            if not plain(link) or link.id not in map(find, mention.ids) or draw.random() > share:
                continue
            drawn = draw.sample(everywhere, min(30, len(everywhere)))
            others = [id_ for id_ in drawn if id_ not in here][:3]
            name, scope = link.candidates[0].name, link.candidates[0].scope
            tied = [replace(best[id_], name=name, scope=scope) for id_ in [link.id, *others] if id_]
            draw.shuffle(tied)
            same = replace(link, candidates=tuple(tied))
            answers = {link.searched: Answer(same.candidates, "verbatim", "", tuple(tied))}
            # Mentions of the same string are as ambiguous: they tell nothing.
            rest = [
                Decided(one, {})
                for other, one in enumerate(links)
                if other != place and one.searched.lower() != link.searched.lower()
            ]
            settled = linker.contexts.settle(document.text, [Decided(same, answers), *rest])[0]
            one = tied_of(settled.candidates, [each.id for each in tied], {str(link.id)})
            if one is not None:
                yield one


def share_right(cases: list[Tied], weights: tuple[float, ...]) -> float:
    """Return the percentage of cases whose first concept is right."""
    return 100 * float(np.mean([right(case, weights) for case in cases])) if cases else 0.0


def choose(train: dict[str, dict[str, Any]]) -> tuple[list[float], float]:
    """Return the weights that are best on the train parts, and the mean they have there."""
    kinds = [[one[kind] for one in train.values() if one[kind]] for kind in ("found", "made")]
    best = max(
        (
            float(
                np.mean([np.mean([share_right(cases, w) for cases in slices]) for slices in kinds])
            ),
            [-x for x in w],
        )
        for w in itertools.product(*GRID)
    )
    return [-x for x in best[1]], best[0]


def main() -> None:
    """Index, link, print and save."""
    encoder = chosen_encoder(__doc__)
    files: list[Path] = []
    parts: dict[str, dict[str, dict[str, Any]]] = {"train": {}, "dev": {}}
    for name, terminology, sources in terminologies():
        files += sources
        with TemporaryDirectory() as scratch:
            linker = Linker.build(terminology, encoders=[encoder], folder=Path(scratch) / "index")
            for corpus, wanted in CORPORA:
                if (corpus, wanted) == ("bc5cdr", "Disease" if name != "medic" else None):
                    continue
                for part, known in parts.items():
                    path = data_folder() / corpus / f"{part}.pubtator"
                    files += [path] if path not in files else []
                    known[f"{name}, {corpus}"] = measured(
                        linker, documents_of(path, wanted), MADE[corpus]
                    )
                    print(part, name, corpus, flush=True)
    chosen, mean = choose(parts["train"])
    result: dict[str, Any] = {
        "weights": dict(zip(KINDS, SHIPPED, strict=True)),
        "best_on_train": {"weights": dict(zip(KINDS, chosen, strict=True)), "mean": round(mean, 2)},
    }
    nothing = (0.0,) * (len(KINDS) - 1) + (1.0,)
    for part, known in parts.items():
        result[part] = {}
        for name, one in known.items():
            found, made = one.pop("found"), one.pop("made")
            alone = {
                kind: round(share_right(made, tuple(float(kind == other) for other in KINDS)), 1)
                for kind in EVIDENCE
            }
            result[part][name] = {
                **one,
                "made_homonyms": {
                    "n": len(made),
                    "without": round(share_right(made, nothing), 1),
                    "with": round(share_right(made, SHIPPED), 1),
                    "by_one_kind_alone": alone,
                },
                "right_where_reachable": round(share_right(found, SHIPPED), 1),
            }
    print(json.dumps(result, indent=1))
    path = save("homonyms", result, packages=["numpy"], data=files)
    print(f"saved {path.name}")


if __name__ == "__main__":
    main()
