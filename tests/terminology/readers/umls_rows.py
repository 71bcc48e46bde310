"""Rows of a release of UMLS."""

from __future__ import annotations


def atom(
    cui: str,
    text: str,
    *,
    lat: str = "ENG",
    best: bool = False,
    sab: str = "MSH",
    tty: str = "PM",
    code: str = "NOCODE",
    suppress: str = "N",
    aui: str = "A1",
) -> str:
    """Return a row of MRCONSO."""
    rank = "P|L1|PF|S1|Y" if best else "S|L1|VO|S1|N"
    return f"{cui}|{lat}|{rank}|{aui}||||{sab}|{tty}|{code}|{text}|0|{suppress}||\n"


def edge(
    first: str, rel: str, second: str, rela: str = "", sab: str = "MSH", sup: str = "N"
) -> str:
    """Return a row of MRREL."""
    return f"{first}|A1|AUI|{rel}|{second}|A2|AUI|{rela}|R1||{sab}|{sab}|||{sup}||\n"
