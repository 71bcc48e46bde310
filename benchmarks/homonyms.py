"""Accuracy of the context of a mention on concepts that share a name.

Mentions of NCBI disease and BC5CDR whose best candidates are tied, since the same name belongs to
several concepts, are linked with and without context: to MEDIC and to MeSH 2024 with and without
supplementary concepts. The first candidate has to be the very concept. A part of a composite
mention counts by itself. Mentions without a tie have to stay unchanged.

Few names of these terminologies are real homonyms, many belong to duplicates that no text can
distinguish. So artificial ones are added: a mention whose concept is plain and right, with that
concept in random order among three others of the corpus, as if all four had its name.

The shipped weights were chosen on the train parts, with another draw of artificial homonyms. The
best weights of a grid on this draw stand beside them. The figures to look at are those of the dev
parts. Test parts are not touched.

    python -m models.make_default --part none -o names-alone
    python benchmarks/homonyms.py --encoder names-alone
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from canonym import Document, Linker, Terminology
from canonym.linking.fitting import annotated_documents
from canonym.linking.hits import Draft
from canonym.linking.homonyms import AHEAD, ANYWAY, EVIDENCE, TRUSTED, WEIGHTS
from canonym.linking.pipeline import Pipeline
from canonym.linking.search import BatchHits
from canonym.linking.settings import SIEVES
from canonym.mentions.documents import batches_of
from canonym.terminology.readers.table import read_table
from inputs import MEDIC, MESH, TREES, documents_of, linked_mentions, part_of, terminology_of
from record import data_folder, save, unread_encoder

KINDS = (*EVIDENCE, *AHEAD)
SHIPPED = (*WEIGHTS, TRUSTED, ANYWAY)
# Of the similarity to the document, whose weight only sets the scale, the others are multiples.
GRID = ((0.5,), (0.0, 0.1, 0.25), (0.0, 0.1, 0.25, 0.5, 1.0), (0.25, 0.5, 0.75, 1.0),
        (0.1, 0.2, 0.3), (0.02, 0.05, 0.1, 0.2))  # fmt: skip
MADE = {"ncbi-disease": 0.12, "bc5cdr": 0.05}
CORPORA = (("ncbi-disease", ""), ("bc5cdr", "Disease"), ("bc5cdr", ""))


class Tied(NamedTuple):
    """Evidence for tied concepts ``(n, 6)``, as they would be without it, and which are right."""

    evidence: np.ndarray
    right: np.ndarray


def terminologies() -> Iterator[tuple[str, Terminology, list[Path]]]:
    """Yield MEDIC, and MeSH 2024 without and with supplementary concepts."""
    data = data_folder()
    yield "medic", terminology_of(MEDIC), [data / MEDIC]
    more = data / "mesh-supplementary" / "scr_names.tsv.gz"
    mesh = list(read_table(data / MESH, prefix="MESH:", trees=data / TREES, tree_types=True))
    yield "mesh", Terminology.build(mesh), [data / MESH, data / TREES]
    supplementary = read_table(more, prefix="MESH:")
    yield "mesh with supplementary", Terminology.build([*mesh, *supplementary]), [more]


def tied_of(evidence: dict[str, dict[str, float]], order: list[str], gold: set[str]) -> Tied | None:
    """Return the concepts with evidence, in their order without it."""
    tied = [id_ for id_ in order if id_ in evidence]
    if len(tied) < 2:
        return None
    values = [[evidence[id_][kind] for kind in KINDS] for id_ in tied]
    return Tied(np.array(values) / np.array(SHIPPED), np.array([id_ in gold for id_ in tied], bool))


def right(tied: Tied, weights: tuple[float, ...]) -> bool:
    """Say whether the concept that is first under some weights is right."""
    return bool(tied.right[int(np.argmax(np.round(tied.evidence @ np.array(weights), 6)))])


def measured(linker: Linker, documents: list[Document], made: float) -> dict[str, Any]:
    """Link documents both ways, count, and collect the evidence."""
    asked, find = annotated_documents(linker.terminology, documents, ())
    both = [linked_mentions(linker, asked, k=20, context=given) for given in (False, True)]
    found: list[Tied] = []
    counts = dict.fromkeys(("links", "tied", "reachable", "without", "with", "changed"), 0)
    untied_changed = 0
    for (mention, old), (_, new) in zip(*both, strict=True):
        gold = {id_ for each in mention.ids if (id_ := find(each))}
        for before, after in zip(old.parts or (old,), new.parts or (new,), strict=True):
            counts["links"] += 1
            # A candidate above or below the first has other evidence than a tied one.
            tied = {c.id: c.context for c in after.candidates if EVIDENCE[0] in c.context}
            if not tied:
                untied_changed += before != after
                continue
            counts["tied"] += 1
            ids = [one.id for one in before.candidates]
            counts["reachable"] += not gold.isdisjoint(tied)
            counts["without"] += ids[0] in gold
            counts["with"] += after.candidates[0].id in gold
            counts["changed"] += ids[0] != after.candidates[0].id
            one = tied_of(tied, ids, gold)
            found += [one] if one and one.right.any() else []
    return {
        **counts,
        "others_that_changed": untied_changed,
        "found": found,
        "made": list(made_up(linker.pipeline, asked, find, made)),
    }


def made_up(
    pipeline: Pipeline, documents: list[Document], find: Any, share: float
) -> Iterator[Tied]:
    """Make homonyms of mentions whose concept is plain and right, and collect the evidence."""
    request = pipeline.request(k=20)
    drafted = []
    for batch in batches_of(documents, mentions=request.batch):
        of_batch, found = pipeline.draft(batch, request, {})
        drafted += [(one, drafts, found) for one, drafts in zip(batch, of_batch, strict=True)]
    best = {
        id_of(draft, found): draft.hits[0]
        for _, drafts, found in drafted
        for draft in drafts
        if is_plain(draft)
    }
    everywhere = sorted(filter(None, best))
    draw = random.Random(0)
    for document, drafts, found in drafted:
        here = {id_of(one, found) for one in drafts}
        for place, (mention, draft) in enumerate(zip(document.mentions, drafts, strict=True)):
            own = id_of(draft, found)
            if not is_plain(draft) or own not in map(find, mention.ids) or draw.random() > share:
                continue
            drawn = draw.sample(everywhere, min(30, len(everywhere)))
            others = [id_ for id_ in drawn if id_ not in here][:3]
            tied = [best[id_]._replace(row=draft.hits[0].row) for id_ in [own, *others] if id_]
            draw.shuffle(tied)
            same = draft._replace(hits=tuple(tied), tied=tuple(tied))
            # Mentions of the same string are as ambiguous: they tell nothing.
            rest = [
                untied(one)
                for other, one in enumerate(drafts)
                if other != place and one.string.lower() != draft.string.lower()
            ]
            chosen = pipeline.homonyms.choose(document, [same, *rest], found)[0]
            evidence = {
                found.concepts[hit.concept].id: hit.evidence for hit in chosen.hits if hit.evidence
            }
            one = tied_of(evidence, [found.concepts[hit.concept].id for hit in tied], {str(own)})
            if one is not None:
                yield one


def id_of(draft: Draft, found: BatchHits) -> str | None:
    """Return the concept of an undivided draft, None for NIL."""
    return None if draft.nil or not draft.hits else found.concepts[draft.hits[0].concept].id


def is_plain(draft: Draft) -> bool:
    """Return whether a sieve alone decided a draft."""
    sieves = {sieve.name for sieve in SIEVES}
    return bool(draft.hits) and draft.hits[0].found_by in sieves and not draft.hits[0].evidence


def untied(draft: Draft) -> Draft:
    """Return a draft without its ties."""
    return draft._replace(tied=(), parts=tuple(map(untied, draft.parts)))


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
    encoder = unread_encoder(__doc__)
    files: list[Path] = []
    parts: dict[str, dict[str, dict[str, Any]]] = {"train": {}, "dev": {}}
    for name, terminology, sources in terminologies():
        files += sources
        linker = Linker.build(terminology, encoders=[encoder])
        for corpus, wanted in CORPORA:
            if (corpus, wanted) == ("bc5cdr", "Disease" if name != "medic" else ""):
                continue
            for part, known in parts.items():
                files.append(part_of(corpus, part))
                documents = documents_of(corpus, part, type=wanted)
                known[f"{name}, {corpus}"] = measured(linker, documents, MADE[corpus])
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
            result[part][name] = {
                **one,
                "made_homonyms": {
                    "n": len(made),
                    "without": round(share_right(made, nothing), 1),
                    "with": round(share_right(made, SHIPPED), 1),
                },
                "right_where_reachable": round(share_right(found, SHIPPED), 1),
            }
    print(json.dumps(result, indent=1))
    save("homonyms", result, packages=["numpy"], data=list(dict.fromkeys(files)))


if __name__ == "__main__":
    main()
