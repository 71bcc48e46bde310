"""Candidates of a link in a better order: as annotated mentions taught it, or by all their names.

See `canonym.linking.features` for what tells candidates apart, and
`canonym.ranking.additive_model.Reranker` for the model."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from canonym.errors import InvalidInput, Mismatch, ReadError
from canonym.io.files import write_file
from canonym.linking.confidence import CONFIDENCE, Confidence
from canonym.linking.features import (
    COMPANY,
    MARGINAL,
    SIMILARITY,
    Decisions,
    candidate_features,
    feature_names,
    marginals_of,
)
from canonym.ranking.additive_model import AdditiveModel, Curve
from canonym.ranking.pooling import COSINE_SCALE
from canonym.types import Link

# --- reranking ---

RERANKER = "reranker.json"
"""Name of the file in the folder of an index."""

POOL = 20
"""Candidates that are put in a new order."""

_FORMAT = 5
# Features of the order that is fitted to nothing.
_BY_NAMES = (MARGINAL, COMPANY)
_MANY = 20.0  # log(1 + n) of more mentions than any document has
_FOUND = 1000.0  # worth of a candidate that was found by the mention itself: all of it


@dataclass(frozen=True)
class Reranker:
    """A fitted re-ranker with what it knows of earlier decisions.

    Parameters
    ----------
    model : AdditiveModel
        Of the features.
    decisions : Decisions
        Those it was fitted to.
    encoders : tuple of str
        The scorers of the index.
    """

    model: AdditiveModel
    decisions: Decisions
    encoders: tuple[str, ...]

    @property
    def by_names(self) -> bool:
        """Whether it is what `unfitted` returns."""
        return self.model.names == _BY_NAMES

    def facts(self) -> dict[str, Any]:
        """Return which order it is, or what it was fitted to, for a description of the index."""
        if self.by_names:
            return {"order": MARGINAL}
        return {
            "features": len(self.model.curves),
            "decisions": sum(sum(of.values()) for of in self.decisions.pairs.values()),
        }

    def features(self, link: Link) -> npt.NDArray[np.float64]:
        """Return the features of the candidates of a link."""
        if self.by_names:
            company = [one.near.get(COMPANY, math.nan) for one in link.candidates]
            columns = {MARGINAL: marginals_of(link), COMPANY: np.array(company, dtype=np.float64)}
            return np.stack([columns[name] for name in self.model.names], axis=1)
        return candidate_features(link, self.decisions, self.encoders)

    @classmethod
    def marginal(cls, encoders: Sequence[str]) -> Reranker:
        """Order candidates by all names of a concept and by the document; fitted to nothing.

        A share is the marginal probability of BioSyn among the candidates
        (`canonym.ranking.pooling.marginal_score`) times 1 + n, where n other mentions of the
        document have the concept first. A concept found by the mention itself stays first.
        """
        model = AdditiveModel(
            [
                Curve(MARGINAL, (-2.0, 2.0), (-2 * COSINE_SCALE, 2 * COSINE_SCALE), _FOUND),
                Curve(COMPANY, (0.0, _MANY), (0.0, _MANY), 0.0),
            ]
        )
        return cls(model, Decisions(), tuple(encoders))

    def apply(self, link: Link, k: int) -> Link:
        """Put the candidates of a link, or those of its parts, in a new order.

        Parameters
        ----------
        link : Link
            With `POOL` candidates, where there are so many.
        k : int
            Candidates kept.

        Returns
        -------
        Link
            Scores are shares of the candidates, which sum to 1; what they were before stands among
            the parts, as ``"similarity"``. Equal shares keep their order.
        """
        if link.parts:
            return replace(link, parts=tuple(self.apply(part, k) for part in link.parts))
        if not link.candidates:
            return link
        worth = self.model.worth(self.features(link))
        scores = worth.sum(axis=1)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        order = np.argsort(-shares, kind="stable").tolist()
        ranked = []
        for rank, place in enumerate(order[:k]):
            one = link.candidates[place]
            ranked.append(
                replace(
                    one,
                    score=float(shares[place]),
                    parts={SIMILARITY: one.score, **one.parts},
                    worth=self.model.named(worth[place]) if rank < 2 else {},
                    near={},
                )
            )
        return replace(link, candidates=tuple(ranked))

    @property
    def digest(self) -> str:
        """SHA-256 of the curves."""
        content = json.dumps([curve._asdict() for curve in self.model.curves])
        return hashlib.sha256(content.encode("ascii")).hexdigest()

    def renamed(self, encoders: Sequence[str]) -> Reranker:
        """Return the same for encoders of other names, in the order of the old ones.

        Raises
        ------
        InvalidInput
            If there are not as many.
        """
        if len(encoders) != len(self.encoders):
            raise InvalidInput(
                f"{len(encoders)} names were given for {len(self.encoders)} encoders; one for each "
                "is expected"
            )
        names = self.model.names if self.by_names else feature_names(encoders)
        curves = [c._replace(name=name) for c, name in zip(self.model.curves, names, strict=True)]
        return Reranker(AdditiveModel(curves), self.decisions, tuple(encoders))

    def save(self, path: Path) -> None:
        """Write a JSON file that appears whole or not at all."""
        content = {
            "format": _FORMAT,
            "encoders": self.encoders,
            "curves": [curve._asdict() for curve in self.model.curves],
            "decisions": {
                text: {id_: n for id_, n in sorted(of.items()) if n}
                for text, of in sorted(self.decisions.pairs.items())
                if any(of.values())
            },
        }
        with write_file(path) as partial:
            text = json.dumps(content, ensure_ascii=False)
            partial.write_text(text + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path, *, encoders: Sequence[str]) -> Reranker | None:
        """Read what `save` wrote; None where there is nothing.

        Raises
        ------
        ReadError
            If the file is damaged.
        Mismatch
            If it was written by another version of canonym, or for other encoders.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            written = content["format"], tuple(content["encoders"])
            model = AdditiveModel([_curve(curve) for curve in content["curves"]])
            decisions = Decisions()
            for text, of in content["decisions"].items():
                decisions.count(text, {str(id_): int(n) for id_, n in of.items()})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidInput) as error:
            raise ReadError(
                path, f"is damaged ({error}); fit the re-ranker again, or remove the file"
            ) from error
        if written != (_FORMAT, tuple(encoders)) or model.names not in {
            feature_names(encoders),
            _BY_NAMES,
        }:
            raise Mismatch(
                f"{path} was written by another version of canonym, or for other encoders; fit "
                "the re-ranker again, or remove the file"
            )
        return cls(model, decisions, tuple(encoders))


def _curve(given: dict[str, Any]) -> Curve:
    return Curve(
        str(given["name"]),
        tuple(map(float, given["knots"])),
        tuple(map(float, given["values"])),
        float(given["missing"]),
    )


# --- reranker files ---
# MODULE: Re-rankers that come with canonym, and those in files.

ORDERS = ("nearest", "marginal", "fitted")
"""Words for the order of candidates; a file with a fitted re-ranker is the fourth choice.

``"nearest"``: the most similar name first. ``"marginal"``: `Reranker.marginal`. ``"fitted"``: the
re-ranker that is shipped for the encoders in use.
"""

_OLD_ORDERS = {"default": "fitted", "collective": "marginal"}
_FOLDER = Path(__file__).parents[1] / "models" / "rerankers"


def shipped_file(encoders: Sequence[str]) -> Path:
    """Return the place of the re-ranker shipped for these encoders."""
    return _FOLDER / f"{'+'.join(encoders)}.json"


def confidence_beside(path: Path) -> Path:
    """Return the place of the confidence that belongs to a re-ranker."""
    return path.with_name(f"{path.stem}.confidence.json")


def confidence_of(order: str | Path, encoders: Sequence[str]) -> Confidence | None:
    """Open the confidence shipped with an order, None where there is none."""
    if str(order) != "fitted":
        return None
    return Confidence.load(confidence_beside(shipped_file(encoders)))


def install_order(order: str | Path, encoders: Sequence[str], folder: Path) -> None:
    """Write an order into the folder of an index; a confidence of another order is removed."""
    reranker = open_order(order, encoders)
    confidence = confidence_of(order, encoders)
    for name, saved in ((RERANKER, reranker), (CONFIDENCE, confidence)):
        if saved is None:
            (folder / name).unlink(missing_ok=True)
        else:
            saved.save(folder / name)


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
    if str(order) in _OLD_ORDERS:
        raise InvalidInput(
            f"the order {str(order)!r} is called {_OLD_ORDERS[str(order)]!r} now; expected "
            f"{', '.join(ORDERS)} or a file written by `canonym train reranker`"
        )
    raise InvalidInput(
        f"the order is {str(order)!r}; expected {', '.join(ORDERS)}, or a file written by "
        "`canonym train reranker`, such as the reranker.json of an index"
    )
