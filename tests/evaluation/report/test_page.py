"""The page is whole, self-contained and reproducible, and has every number in words."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from canonym import Concept, Document, InvalidInput, Mention, Name, Relation, Terminology
from canonym.evaluation.comparison import compare
from canonym.evaluation.report import make_page, summarise, write_page
from canonym.evaluation.report.charts import Chart, draw_bars, draw_recall, draw_refusal, draw_trust
from canonym.evaluation.report.page import p_value
from canonym.evaluation.report.summary import Refusal, Trust, percent, slice_title
from canonym.evaluation.run import Run, evaluate_corpus
from canonym.evaluation.slices import Figure

RECORDS = [
    Concept("MESH:D000001", "Breast cancer"),
    Concept("MESH:D000002", "Cold <b>temperature</b>"),
    Name("cold", "MESH:D000002"),
    Concept("MESH:D000003", "Common cold"),
    Name("cold", "MESH:D000003"),
    Concept("MESH:D000004", "Cancer"),
    Relation("MESH:D000001", "is_a", "MESH:D000004"),
]


def document(id_: str, *mentions: tuple[str, str]) -> Document:
    found, text = [], ""
    for span, written in mentions:
        ids = tuple(written.split("|")) if written else ()
        rule = "nil" if not ids else "all" if len(ids) > 1 else "any"
        start = len(text)
        found.append(Mention(span, start, start + len(span), "Disease", ids, rule, id_))
        text += f"{span} . "
    return Document(id_, text, tuple(found))


TEST = [
    document("1<2", ("cold", "D000003"), ("cold", "D000003"), ("breast cancer", "D000001")),
    document("2", ("cancer", "D000001"), ("<i>lump & more", "D000004"), ("nothing", "")),
    document("3", *((f"unknown {i}", f"D00010{i}") for i in range(6))),
]
TRAINING = [document("9", ("breast cancer", "D000001"))]


def evaluated(protocol: str = "biosyn") -> Run:
    return evaluate_corpus(
        TEST, terminology=Terminology.build(RECORDS), training=TRAINING, protocol=protocol, k=5
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return evaluated()


@pytest.fixture(scope="module")
def page(run: Run) -> str:
    other = compare(run, {("1<2", 0, 4): ("D000003",)}, name="<other>")
    return make_page(
        summarise(run, title="A & B", comparisons=[other], caveats=["mind <this>"], oddities=["o"])
    )


class Tags(HTMLParser):
    """Checks that tags are closed in order."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_beside_it(page: str) -> None:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert not tags.open
    names = {tag for tag, _ in tags.seen}
    assert not names & {"script", "link", "img", "iframe", "b", "i0"}
    assert not any(key in {"src", "href", "onload"} for _, attrs in tags.seen for key in attrs)
    assert not re.search(r"https?:|url\(|@import", page)
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        ET.fromstring(svg)
    assert page.count('class="chart"') == 3


def test_what_others_wrote_is_escaped(page: str) -> None:
    assert "<title>A &amp; B</title>" in page
    assert "&lt;i&gt;lump &amp; more" in page
    assert "Cold &lt;b&gt;temperature&lt;/b&gt;" in page
    assert "mind &lt;this&gt;" in page
    assert "&lt;other&gt;" in page


def test_what_html_cannot_hold_is_replaced(run: Run) -> None:
    page = make_page(summarise(run, title="a\x00\ud800<\x1b"))
    assert "<h1>a\ufffd\ufffd&lt;\ufffd</h1>" in page
    page.encode("utf-8")


def test_the_page_has_the_numbers(page: str, run: Run) -> None:
    summary = summarise(run)
    text = re.sub(r" +", " ", re.sub(r"<[^>]+>", " ", page))
    for figure in (*summary.headline, *summary.metrics, *summary.slices):
        assert percent(figure.value) in text
        assert f"{percent(figure.low)}–{percent(figure.high)}" in text
    for one in (*summary.refusal, *summary.trust):
        area = one.ece if isinstance(one, Trust) else one.area
        assert f"{area:.4f}" in text
    for value in summary.fingerprints.values():
        assert f"<td>{value}</td>" in unescape(page)
    for rule in summary.rules:
        assert f"<li>{rule}</li>" in unescape(page)
    assert "5 of 12 mentions were asked" in text
    assert "2 mentions in all" in text
    assert "Ids that the terminology does not have: 6" in text
    assert ", …" in text  # six were left out for one reason, five are shown
    (places,) = re.findall(r'aria-label="Wrong concepts in the hierarchy">.*?</table>', page, re.S)
    assert '<th scope="col" class="number">Wrong concepts</th>' in places
    assert re.findall(r'row">(\w+)</th><td class="number">(\d)', places) == [
        *(("Parent", "1"), ("Child", "0"), ("Sibling", "0"), ("Ancestor", "0")),
        *(("Descendant", "0"), ("Elsewhere", "3"), ("All", "4")),
    ]


def test_a_rerun_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    for name, one in (("a", run), ("b", evaluated())):
        write_page(summarise(one), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(InvalidInput, match="folder"):
        write_page(summarise(run), tmp_path)


@pytest.mark.parametrize("protocol", ["refined", "raw"])
def test_other_protocols(protocol: str) -> None:
    run = evaluated(protocol)
    page = make_page(summarise(run))
    assert f"Protocol {protocol}" in page
    if protocol == "raw":
        assert "Recall of NIL" in page
        assert "Every mention of the corpus was asked" in page
    else:
        assert "None of these mentions is in the training data" in page


def test_without_training_errors_hierarchy_and_anything_left_out() -> None:
    terminology = Terminology.build(RECORDS[:1])
    corpus = [document("1", ("breast cancer", "D000001"))]
    page = make_page(summarise(evaluate_corpus(corpus, terminology=terminology)))
    assert "no training data was given" in page
    assert "<p>There are none.</p>" in page
    assert "Beside other tools" not in page
    wrong = [document("1", ("breast cancer", "D000001"), ("cancer", "D000001"))]
    flat = Terminology.build([one for one in RECORDS if not isinstance(one, Relation)])
    page = make_page(summarise(evaluate_corpus(wrong, terminology=flat)))
    assert "The terminology has no hierarchy" in page


def test_scores_beyond_one_have_no_reliability(run: Run) -> None:
    summary = summarise(run)
    shown = tuple(replace(one, bins=(), ece=math.nan, high=3.5) for one in summary.trust)
    page = make_page(replace(summary, trust=shown))
    assert "n/a: scores go from" in page
    assert page.count('class="chart"') == 2
    assert draw_trust(shown[0]) == ""


def test_recall_that_is_not_defined_is_drawn_as_nothing(run: Run) -> None:
    summary = replace(summarise(run), recall={"strict": (math.nan, math.nan)})
    assert "polyline" not in draw_recall(summary)
    assert "strict n/a % at 1" in draw_recall(summary)


def test_a_chart_puts_values_where_they_belong() -> None:
    chart = Chart((0, 10), (0, 1), x_ticks=[], y_ticks=[(0.5, "half")], x_label="x", y_label="y")
    assert chart.x(5) == pytest.approx((chart.x(0) + chart.x(10)) / 2)
    assert chart.y(1) < chart.y(0.5) < chart.y(0)
    chart.add(chart.line([(0, 0), (5, math.nan), (10, 1)]), style="strict", title="a < b")
    chart.add(chart.line([(5, math.nan)]))
    svg = ET.fromstring(chart.draw("T", "<d>"))
    assert svg.get("aria-label") == "T. <d>"
    (line,) = svg.iter("polyline")
    assert line.get("points") == (
        f"{chart.x(0):.1f},{chart.y(0):.1f} {chart.x(10):.1f},{chart.y(1):.1f}"
    )
    assert [one.text for one in svg.iter("title")] == ["a < b"]


def test_charts_draw_every_reading(run: Run) -> None:
    summary = summarise(run)
    svg = ET.fromstring(draw_recall(summary))
    assert len(list(svg.iter("polyline"))) == 3
    shapes = [len(list(svg.iter(shape))) for shape in ("circle", "rect", "path")]
    assert shapes == [5, 5, 5]  # a marker for each of five candidates, one shape per reading
    svg = ET.fromstring(draw_trust(summary.trust[0]))
    bars = [one for one in svg.iter("rect") if one.get("class") == "bar"]
    assert len(bars) == sum(one.n > 0 for one in summary.trust[0].bins) > 0
    for worst, top in ((0.0, "1 %"), (0.011, "2 %"), (0.5, "50 %"), (0.51, "100 %")):
        drawn = draw_refusal((Refusal("strict", (0.5, 1.0), (0.0, worst), worst, 0.0),))
        ticks = [one.text for one in ET.fromstring(drawn).iter("text") if one.get("text-anchor")]
        assert ticks[5] == top
        assert len(list(ET.fromstring(drawn).iter("polyline"))) == 1


def test_bars_have_the_length_of_their_values() -> None:
    nan = math.nan
    figures = [
        Figure("all", "strict", "accuracy@1", 9, 0.5, 0.4, 0.6),
        Figure("all", "lenient", "accuracy@1", 0, nan, nan, nan),
        Figure("all", "complete", "accuracy@1", 9, 1.0, nan, nan),
        None,
    ]
    svg = ET.fromstring(draw_bars("All", figures))
    found = [one for one in svg.iter("rect") if one.get("class") == "bar"]
    assert [one.get("width") for one in found] == ["100.0", "200.0"]
    assert len([one for one in svg.iter("line") if one.get("class") == "whisker"]) == 1
    assert svg.findtext(".//title") == "All, strict: 50.0 %, interval 40.0 to 60.0"


def test_words_and_numbers() -> None:
    assert [percent(value) for value in (0.1234, math.nan)] == ["12.3", "n/a"]
    assert [p_value(p) for p in (0.0002, 0.0123, 0.5, math.nan)] == [
        *("< 0.001", "0.012", "0.50", "n/a"),
    ]
    names = ["length ≤1", "length 2", "frequency 1", "type Disease", "homonym", "unseen concept"]
    assert [slice_title(name) for name in names] == [
        *("1 word", "2 words", "Concept 1 × in training", "Disease", "Homonym"),
        "Concept not in training",
    ]


def test_figures_that_are_not_defined_or_missing(run: Run) -> None:
    summary = summarise(run)
    nothing = Figure("all", "strict", "nil-recall", 0, math.nan, math.nan, math.nan)
    page = make_page(replace(summary, metrics=(*summary.metrics, nothing)))
    row = re.search(r"<tr><th scope=\"row\">Recall of NIL</th>.*</tr>", page)
    assert row is not None
    missing = '<td><span class="range">n/a</span></td>'
    assert row[0].count(missing) == 2
    assert "<td>n/a</td>" in row[0]
