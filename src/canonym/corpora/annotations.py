"""Annotations of a document: whether a span stands where it claims to stand."""

from __future__ import annotations

__all__ = ["span_problem"]


def span_problem(text: str, start: int, end: int, written: str | None = None) -> str | None:
    """Say what is wrong with a span, or None when it is sound.

    Parameters
    ----------
    text : str
        The document's text.
    start, end : int
        Half-open code-point offsets.
    written : str, optional
        The mention as the annotation writes it. Differences in white space alone are forgiven:
        corpora were passed through tools that collapse it.

    Returns
    -------
    str or None
        The problem as a sentence without its full stop.

    Examples
    --------
    >>> span_problem("broken hip", 7, 10, "hip") is None
    True
    >>> span_problem("broken hip", 0, 3, "hip")
    "offsets 0-3 hold 'bro', the annotation says 'hip': offsets count code points from 0"
    """
    if not 0 <= start < end <= len(text):
        return f"offsets {start}-{end} are no span of the text, which has {len(text):,} code points"
    found = text[start:end]
    if written is not None and found.split() != written.split():
        return (
            f"offsets {start}-{end} hold {found[:60]!r}, the annotation says {written[:60]!r}: "
            "offsets count code points from 0"
        )
    return None
