"""A small terminology, and documents annotated with its concepts."""

from __future__ import annotations

from canonym import Document, Mention
from tests.linkers import concepts


def annotated(id_: str, text: str, *spans: tuple[str, str]) -> Document:
    """Make a document; ids of a composite are joined by a bar, and ``-1`` is NIL."""
    mentions = []
    for span, written in spans:
        start = text.index(span)
        ids = () if written == "-1" else tuple(written.split("|"))
        rule = "nil" if not ids else "all" if len(ids) > 1 else "any"
        mentions.append(Mention(span, start, start + len(span), "Disease", ids, rule, id_))
    return Document(id_, text, tuple(mentions))


TERMINOLOGY = concepts(
    "MESH:D1|Breast cancer",
    "MESH:D2|Ovarian cancer",
    "MESH:D3|Wilson disease|hepatolenticular degeneration",
    "MESH:D4|Cold",
    "MESH:D5|Common cold|cold",
)
TEST = [
    annotated(
        "1",
        "Wilson disease (WD) after a cold. WD again.",
        ("Wilson disease", "D3"),
        ("WD", "D3"),
        ("cold", "D5"),
    ),
    annotated("2", "Breast and ovarian cancer, no xyzzy.", ("Breast and ovarian cancer", "D1|D2")),
    annotated("3", "qqqq and a strange thing", ("qqqq", "-1"), ("strange thing", "D99")),
]
