"""What a linker learns from annotated mentions: a better order, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from canonym.linking.confidence import CONFIDENCE, METHODS, Confidence
from canonym.linking.reranker import RERANKER, Reranker, install_order
from canonym.types import Document, Mention

if TYPE_CHECKING:
    from canonym.linker import Linker

__all__ = ["Taught"]


class Taught:
    """The part of `canonym.Linker` that learns from annotated mentions."""

    folder: Path
    confidence: Confidence | None
    reranker: Reranker | None

    def _linker(self) -> Linker:
        return cast("Linker", self)

    def fit_reranker(
        self, corpus: Iterable[Document | Mention], *, types: Sequence[str] = ()
    ) -> dict[str, float]:
        """Learn from annotated mentions to put candidates in a better order, and keep that.

        From then on the first 20 candidates are ordered by what annotators decided before, how much
        mention, name and label share, and what each scorer said; `Candidate.score` is a share, all
        of which sum to 1, and the similarity stands among `Candidate.parts`. A confidence that was
        fitted before no longer holds and is removed.

        Parameters
        ----------
        corpus : iterable of Document or Mention
            Annotated, and not what the index was built with: mentions that it knows as names are
            too easy.
        types : sequence of str
            Only mentions of these types.

        Returns
        -------
        dict of str to float
            ``links``: how many it was fitted to; ``right before`` and ``right after``: the share
            whose first candidate is right, without it and with it, where each third of the
            documents is predicted from the others; ``among the candidates``: the share that has
            the right one among the 20 at all.

        Raises
        ------
        InvalidInput
            If there is no such type, or fewer than 50 mentions have the right concept among their
            candidates.
        """
        from canonym.linking.fitting import fit_reranking

        fitted, report = fit_reranking(self._linker(), corpus, types=types)
        fitted.save(self.folder / RERANKER)
        (self.folder / CONFIDENCE).unlink(missing_ok=True)
        self.confidence, self.reranker = None, fitted
        return report

    def use_order(self, order: str | Path) -> None:
        """Put candidates in another order from now on, and keep that with the index.

        A confidence that was fitted to another order no longer holds and is removed.

        Parameters
        ----------
        order : str or Path
            ``"nearest"``: the most similar name first. ``"marginal"``: by all names of a concept,
            and by the other mentions of a document. ``"fitted"``: the re-ranker shipped for the
            encoders of the index, with its confidence. Or the ``reranker.json`` of another index.

        Raises
        ------
        InvalidInput
            If there is no such order or file, or none is shipped for these encoders.
        ReadError
            If the file is damaged.
        Mismatch
            If it was fitted to other encoders, or by another version.
        """
        encoders = self._linker().encoder_names
        install_order(order, encoders, self.folder)
        self.confidence = Confidence.load(self.folder / CONFIDENCE)
        self.reranker = Reranker.load(self.folder / RERANKER, encoders=encoders)

    def fit_confidence(
        self,
        corpus: Iterable[Document | Mention],
        *,
        types: Sequence[str] = (),
        method: str = METHODS[0],
    ) -> dict[str, float]:
        """Learn from annotated mentions how sure links are, and keep that with the index.

        From then on links have a `Link.confidence`, and ``min_confidence=0.9`` makes those NIL that
        are right in fewer than nine of ten cases.

        Parameters
        ----------
        corpus : iterable of Document or Mention
            Annotated, and not what the index was built with: mentions that it knows as names are
            too easy.
        types : sequence of str
            Only mentions of these types.
        method : str
            One of `canonym.linking.confidence.METHODS`.

        Returns
        -------
        dict of str to float
            ``links``: how many it was fitted to; ``right``: the share of them that is right;
            ``ece``: the expected calibration error where each fifth of the documents is predicted
            from the others; ``answered at 0.9`` and ``right at 0.9``: the share of links that are
            at least so sure then, and how many of those are right (NaN if there are none).

        Raises
        ------
        InvalidInput
            If there is no such method or type, or fewer than 20 mentions have a candidate.
        """
        from canonym.linking.fitting import fit_confidence

        fitted, report = fit_confidence(self._linker(), corpus, types=types, method=method)
        fitted.save(self.folder / CONFIDENCE)
        self.confidence = fitted
        return report
