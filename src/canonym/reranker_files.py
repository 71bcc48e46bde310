"""Re-rankers that come with canonym, and those in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from canonym.closeness import MARGINAL
from canonym.confidence import CONFIDENCE, Confidence
from canonym.errors import InvalidInput
from canonym.reranking import COLLECTIVE, RERANKER, Reranking

__all__ = [
    "SHIPPED",
    "UNFITTED",
    "check_reranker",
    "confidence_beside",
    "confidence_of",
    "install_reranker",
    "open_reranker",
    "shipped_file",
]

SHIPPED = "default"
"""What is written for the one that comes along for the encoders in use."""

UNFITTED = (MARGINAL, COLLECTIVE)
"""Orders that need no fitting, see `Reranking.unfitted`."""

_FOLDER = Path(__file__).parent / "models" / "rerankers"


def shipped_file(encoders: Sequence[str]) -> Path:
    """Return where the re-ranker for these encoders is, if there is one."""
    return _FOLDER / f"{'+'.join(encoders)}.json"


def confidence_beside(path: Path) -> Path:
    """Return where the confidence of what a re-ranker puts first is, if there is one."""
    return path.with_name(f"{path.stem}.confidence.json")


def confidence_of(spec: str | Path, encoders: Sequence[str]) -> Confidence | None:
    """Open the confidence that comes with a re-ranker, None where none does."""
    if str(spec) != SHIPPED:
        return None
    return Confidence.load(confidence_beside(shipped_file(encoders)))


def install_reranker(spec: str | Path, encoders: Sequence[str], folder: Path) -> None:
    """Write a re-ranker into the folder of an index.

    The one that comes along brings a confidence of its own; otherwise that of the index, which no
    longer holds, is removed.

    Raises
    ------
    InvalidInput, ReadError, Mismatch
        As `open_reranker` does.
    """
    open_reranker(spec, encoders).save(folder / RERANKER)
    sure = confidence_of(spec, encoders)
    if sure is None:
        (folder / CONFIDENCE).unlink(missing_ok=True)
    else:
        sure.save(folder / CONFIDENCE)


def open_reranker(spec: str | Path, encoders: Sequence[str]) -> Reranking:
    """Open a re-ranker.

    Parameters
    ----------
    spec : str or Path
        ``"default"``: the one that comes with canonym; ``"marginal"`` or ``"collective"``: an order
        by all names of a concept together, see `Reranking.unfitted`; otherwise a file, such as the
        ``reranker.json`` of an index.
    encoders : sequence of str
        The scorers whose candidates it is to order, in the order of the index.

    Raises
    ------
    InvalidInput
        If none comes along for these encoders, or there is no such file.
    ReadError
        If the file is damaged.
    Mismatch
        If it was fitted to other encoders, or by another version.
    """
    check_reranker(spec)
    if str(spec) in UNFITTED:
        return Reranking.unfitted(str(spec), encoders)
    path = shipped_file(encoders) if str(spec) == SHIPPED else Path(spec)
    found = Reranking.load(path, encoders=encoders)
    if found is not None:
        return found
    files = {file.name.split(".")[0] for file in _FOLDER.glob("*.json")}
    there = sorted(name.replace("+", " + ") for name in files)
    raise InvalidInput(
        f"no re-ranker comes with canonym for the encoders {' + '.join(encoders) or 'none'}; there "
        f"are some for {', '.join(there) or 'none'}. Fit one to annotated mentions: `canonym train "
        "reranker CORPUS --index FOLDER`"
    )


def check_reranker(spec: str | Path | None) -> None:
    """Refuse a file that is not there, before anything takes time.

    Raises
    ------
    InvalidInput
        If there is no such file.
    """
    if spec is not None and str(spec) not in (SHIPPED, *UNFITTED) and not Path(spec).is_file():
        raise InvalidInput(
            f"there is no file {str(spec)!r}; a re-ranker is expected, such as the reranker.json "
            "of an index, 'default', 'marginal' or 'collective'"
        )
