"""Orders of candidates: by all names of a concept, or as annotated mentions taught it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import open_sealed, sealed, write_file
from canonym.io.numbers import exp
from canonym.linking.features import (
    MARGINAL,
    SAME_CONCEPT,
    AnnotationCounts,
    Candidates,
    Compared,
    FloatArray,
    candidate_features,
    compare_drafts,
    feature_names,
)
from canonym.linking.search import BatchHits, ConceptHit, Draft
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.ranking.pooling import COSINE_SCALE
from canonym.types.links import SIMILARITY

_log = logging.getLogger(__name__)

RERANKER = "reranker.json"
"""Name of the file in the folder of an index."""

POOL = 20
"""Candidates that are put in a new order."""

_FORMAT = 5
_BLOCK_HITS = 1 << 15  # whose features are computed at once
_EXPLAINED = 2  # candidates of a mention with the worth of each feature
# Features of the order that is fitted to nothing.
_BY_NAMES = (MARGINAL, SAME_CONCEPT)
_MOST = 1 << 53  # mentions with a decision
_DAMAGE = (ValueError, TypeError, OverflowError)
_MANY = 20.0  # log(1 + n) of more mentions than any document has
_FOUND = 1000.0  # for a candidate found by the mention itself: more than anything else adds


@dataclass(frozen=True)
class Reranker:
    """An additive model of the features of candidates, and the annotations it was fitted to.

    `encoders` are the scorers of the index, whose scores are among the features.
    """

    model: AdditiveModel
    annotations: AnnotationCounts
    encoders: tuple[str, ...]

    @classmethod
    def marginal(cls, encoders: Sequence[str]) -> Reranker:
        """Order candidates by all names of a concept and by the document; fitted to nothing.

        A share is the marginal probability of BioSyn among the candidates times 1 + n, see
        `canonym.ranking.pooling.marginal_scores`. Here n other mentions of the document have the
        concept first. A concept found by the mention itself stays first.
        """
        model = AdditiveModel(
            [
                Curve(MARGINAL, (-2.0, 2.0), (-2 * COSINE_SCALE, 2 * COSINE_SCALE), _FOUND),
                Curve(SAME_CONCEPT, (0.0, _MANY), (0.0, _MANY), 0.0),
            ]
        )
        return cls(model, AnnotationCounts(), tuple(encoders))

    @property
    def by_names(self) -> bool:
        """Whether this is the marginal order."""
        return self.model.names == _BY_NAMES

    def facts(self) -> dict[str, int]:
        """Count the features, and the annotations that it was fitted to."""
        pairs = self.annotations.pairs.values()
        return {
            "features": len(self.model.curves),
            "annotations": sum(sum(counts.values()) for counts in pairs),
        }

    def order(
        self, documents: Sequence[Sequence[Draft]], found: BatchHits, k: int, *, context: bool
    ) -> list[list[Draft]]:
        """Put the hits of the drafts of each document in order, and keep k of each.

        A score is a share of the hits then, all of which sum to 1; the similarity stands among the
        scores. Equal shares keep their order. Without `context` every mention is a document by
        itself, with its parts.
        """
        alone = documents if context else [[draft] for drafts in documents for draft in drafts]
        ordered = chain.from_iterable(self._order(some, found, k) for some in _blocks(alone))
        return [
            [
                draft._replace(parts=tuple(next(ordered) for _ in draft.parts))
                if draft.parts
                else next(ordered)
                for draft in drafts
            ]
            for drafts in documents
        ]

    def _order(self, documents: Sequence[Sequence[Draft]], found: BatchHits, k: int) -> list[Draft]:
        compared = compare_drafts(documents, found)
        return self.order_hits(compared.candidates, self.features(compared), k)

    def features(self, compared: Compared) -> FloatArray:
        """Return the features that the model takes, one row per hit."""
        if self.by_names:
            return np.stack([compared.marginal, compared.counts[:, 0]], axis=1)
        return candidate_features(compared, self.annotations, self.encoders)

    def order_hits(self, candidates: Candidates, features: FloatArray, k: int) -> list[Draft]:
        """Put the hits of undivided drafts in the order that their features give them."""
        worth = self.model.worth(features)
        scores = worth.sum(axis=1)
        shares = exp(scores - candidates.highest(scores))
        bounds = candidates.starts.tolist()
        for first, last in pairwise(bounds):
            shares[first:last] /= shares[first:last].sum()
        draft_of = candidates.draft_of
        order = np.lexsort((-shares, draft_of))  # hits of a draft stay together
        rank = np.arange(len(order)) - candidates.starts[draft_of]
        explained = iter(self.model.named(worth[order[rank < min(k, _EXPLAINED)]]))
        ordered: list[list[ConceptHit]] = [[] for _ in candidates.drafts]
        kept = order[rank < k]
        for place, draft, share in zip(
            kept.tolist(), draft_of[kept].tolist(), shares[kept].tolist(), strict=True
        ):
            hit, hits = candidates.hits[place], ordered[draft]
            scored = {SIMILARITY: hit.score, **hit.scores}
            contributions = next(explained) if len(hits) < _EXPLAINED else {}
            hits.append(
                ConceptHit(
                    hit.concept, hit.row, share, scored, hit.found_by, contributions, hit.evidence
                )
            )
        return [
            draft._replace(hits=tuple(hits)) if hits else draft
            for draft, hits in zip(candidates.drafts, ordered, strict=True)
        ]

    @property
    def digest(self) -> str:
        """SHA-256 of the curves."""
        content = json.dumps([curve._asdict() for curve in self.model.curves])
        return hashlib.sha256(content.encode("ascii")).hexdigest()

    def renamed(self, encoders: Sequence[str]) -> Reranker:
        """Return the same for as many encoders of other names, in the order of the old ones."""
        if len(encoders) != len(self.encoders):
            raise InvalidInput(
                f"{len(encoders)} names were given for {len(self.encoders)} encoders; one for each "
                "is expected"
            )
        names = self.model.names if self.by_names else feature_names(encoders)
        curves = [c._replace(name=name) for c, name in zip(self.model.curves, names, strict=True)]
        return Reranker(AdditiveModel(curves), self.annotations, tuple(encoders))

    def save(self, path: Path) -> None:
        """Write a JSON file that appears whole or not at all."""
        content = {
            "format": _FORMAT,
            "encoders": self.encoders,
            "curves": [curve._asdict() for curve in self.model.curves],
            "decisions": {
                text: {id_: n for id_, n in sorted(counts.items()) if n}
                for text, counts in sorted(self.annotations.pairs.items())
                if any(counts.values())
            },
        }
        with write_file(path) as partial:
            text = json.dumps(sealed(content), ensure_ascii=False)
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path, *, encoders: Sequence[str]) -> Reranker | None:
        """Read what `save` wrote; None where there is no file.

        Raises
        ------
        ReadError
            If the file is damaged.
        Mismatch
            If it was written by another version of canonym, or for other encoders.
        """
        try:
            content = open_sealed(path.read_text(encoding="utf-8"))
            written = content["format"], tuple(content["encoders"])
            model = AdditiveModel([Curve.from_dict(curve) for curve in content["curves"]])
            annotations = AnnotationCounts()
            for text, counts in content["decisions"].items():
                annotations.count(text, {str(id_): _count(n) for id_, n in counts.items()})
        except FileNotFoundError:
            return None
        except (*_DAMAGE, OSError, KeyError, AttributeError, InvalidInput) as error:
            raise ReadError(
                path, f"is damaged ({error}); fit the re-ranker again, or remove the file"
            ) from error
        known = (feature_names(encoders), _BY_NAMES)
        if written != (_FORMAT, tuple(encoders)) or model.names not in known:
            raise Mismatch(
                f"{path} was written by another version of canonym, or for other encoders; fit "
                "the re-ranker again, or remove the file"
            )
        return cls(model, annotations, tuple(encoders))


def _blocks(documents: Sequence[Sequence[Draft]]) -> Iterator[list[Sequence[Draft]]]:
    """Cut documents into blocks of bounded memory, by the number of hits."""
    block: list[Sequence[Draft]] = []
    n_hits = 0
    for drafts in documents:
        block.append(drafts)
        n_hits += sum(len(part.hits) for draft in drafts for part in draft.whole_or_parts)
        if n_hits >= _BLOCK_HITS:
            yield block
            block, n_hits = [], 0
    if block:
        yield block


def _count(given: Any) -> int:
    if type(given) is not int or not 0 <= given <= _MOST:
        raise ValueError(f"{given!r:.40} is no number of mentions")
    return given


ORDERS = ("nearest", "marginal", "fitted")
"""Words for the order of candidates; a file with a fitted re-ranker is the fourth choice.

``"nearest"``: the most similar name first. ``"marginal"``: `Reranker.marginal`. ``"fitted"``: the
re-ranker that is shipped for the encoders in use.
"""

OLD_ORDERS = {"default": "fitted", "collective": "marginal"}
"""Orders of today by their former names."""

_FOLDER = Path(__file__).parents[1] / "models" / "rerankers"


def shipped_file(encoders: Sequence[str]) -> Path:
    """Return the place of the re-ranker shipped for these encoders."""
    return _FOLDER / f"{'+'.join(encoders)}.json"


def install_order(order: str | Path, encoders: Sequence[str], folder: Path) -> None:
    """Write an order into the folder of an index."""
    _log.info("order of candidates: %s", order)
    reranker = open_order(order, encoders)
    if reranker is None:
        (folder / RERANKER).unlink(missing_ok=True)
    else:
        reranker.save(folder / RERANKER)


def open_order(order: str | Path, encoders: Sequence[str]) -> Reranker | None:
    """Open the re-ranker of an order: one of `ORDERS`, or a file. None for ``"nearest"``.

    Raises
    ------
    InvalidInput
        If there is no such order or file, or none is shipped for these encoders.
    ReadError
        If the file is damaged.
    Mismatch
        If it was fitted to other encoders, or by another version.
    """
    check_order(order)
    if str(order) == "nearest":
        return None
    if str(order) == MARGINAL:
        return Reranker.marginal(encoders)
    path = shipped_file(encoders) if str(order) == "fitted" else Path(order)
    found = Reranker.load(path, encoders=encoders)
    if found is not None:
        return found
    files = {file.name.split(".")[0] for file in _FOLDER.glob("*.json")}
    shipped = sorted(name.replace("+", " + ") for name in files)
    raise InvalidInput(
        f"no re-ranker is shipped for the encoders {' + '.join(encoders) or 'none'}; there are "
        f"some for {', '.join(shipped)}. Fit one to annotated mentions: `canonym train reranker "
        "CORPUS --index FOLDER`"
    )


def check_order(order: str | Path) -> None:
    """Refuse an unknown order or a missing file, before anything takes time."""
    if str(order) in ORDERS or Path(order).is_file():
        return
    if str(order) in OLD_ORDERS:
        raise InvalidInput(
            f"the order {str(order)!r} is called {OLD_ORDERS[str(order)]!r} now; expected "
            f"{', '.join(ORDERS)} or a file written by `canonym train reranker`"
        )
    raise InvalidInput(
        f"the order is {str(order)!r}; expected {', '.join(ORDERS)}, or a file written by "
        "`canonym train reranker`, such as the reranker.json of an index"
    )
