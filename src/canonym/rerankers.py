"""Re-rankers that come with canonym, and those in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from canonym.errors import InvalidInput
from canonym.reranking import Reranking

__all__ = ["SHIPPED", "check_reranker", "open_reranker", "shipped_file"]

SHIPPED = "default"
"""What is written for the one that comes along for the encoders in use."""

_FOLDER = Path(__file__).parent / "models" / "rerankers"


def shipped_file(encoders: Sequence[str]) -> Path:
    """Return where the re-ranker for these encoders is, if there is one."""
    return _FOLDER / f"{'+'.join(encoders)}.json"


def open_reranker(spec: str | Path, encoders: Sequence[str]) -> Reranking:
    """Open a re-ranker.

    Parameters
    ----------
    spec : str or Path
        ``"default"``: the one that comes with canonym; otherwise a file, such as the
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
    path = shipped_file(encoders) if str(spec) == SHIPPED else Path(spec)
    found = Reranking.load(path, encoders=encoders)
    if found is not None:
        return found
    there = sorted(file.stem.replace("+", " + ") for file in _FOLDER.glob("*.json"))
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
    if spec is not None and str(spec) != SHIPPED and not Path(spec).is_file():
        raise InvalidInput(
            f"there is no file {str(spec)!r}; a re-ranker is expected, such as the reranker.json "
            "of an index, or 'default'"
        )
