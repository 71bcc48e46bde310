"""What links and linkers show of themselves, in a console and in a notebook."""

from __future__ import annotations

from canonym import Concept, Linker, Terminology
from canonym.linking.links import Links
from canonym.types import Candidate, Link, Mention

FOUND = Link(
    Mention("<b>MI & co"), (Candidate("X:1", "Heart <attack>", 0.9312, '"infarct"', "exact"),)
)
NIL = Link(Mention("xyz"), nil=True, reason="nothing <found>")
COMPOSITE = Link(Mention("a and b"), parts=(FOUND, FOUND))


def test_a_link_in_a_line() -> None:
    assert repr(FOUND) == "<Link '<b>MI & co' -> X:1 (Heart <attack>), score 0.931>"
    assert str(NIL) == "'xyz' -> NIL (nothing <found>)"
    assert repr(NIL) == "<Link 'xyz' -> NIL (nothing <found>)>"
    assert str(COMPOSITE) == "'a and b' -> X:1, X:1"


def test_tables_are_escaped() -> None:
    html = Links([FOUND, NIL, COMPOSITE])._repr_html_()
    for text in ("&lt;b&gt;MI &amp; co", "Heart &lt;attack&gt;", "&quot;infarct&quot;", "0.931"):
        assert text in html
    assert "NIL</td>" in html
    assert "nothing &lt;found&gt;" in html
    assert "X:1, X:1" in html
    assert "<b>" not in html
    assert "&lt;b&gt;MI" in FOUND._repr_html_()


def test_the_first_twenty_links_and_how_many_more() -> None:
    assert Links([NIL] * 20)._repr_html_().endswith("</table>")
    html = Links([NIL] * 1025)._repr_html_()
    assert html.count("xyz") == 20
    assert "… 1,005 more of 1,025 links" in html


def test_a_linker() -> None:
    terminology = Terminology.build([Concept("X:1", "Migraine", source="<Mine>", version="7")])
    linker = Linker.build(terminology, encoders=["chargrams"])
    assert repr(linker) == (
        "<Linker, terminology: <Mine> 7, concepts: 1, names: 1, encoders: chargrams>"
    )
    html = linker._repr_html_()
    assert "&lt;Mine&gt; 7" in html
    for fact in ("terminology", "concepts", "names", "encoders"):
        assert f"{fact}</th>" in html
