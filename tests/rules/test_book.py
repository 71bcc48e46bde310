"""The rule book: tables that are read, rows that are refused, books that count one at a time."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from canonym import Concept, Linker, Terminology
from canonym.errors import ReadError
from canonym.linking.book import RULES, check_rules
from canonym.mentions.status import may_have_status, read_status
from canonym.rules import Rule, current, once_a_book, remembered, shipped, using

HEADER = "id\tkind\tform\tmeans\twhere\texample\tcounter\n"
NIL_OF = (
    "ward.zip-of\tcue\tzip of\tnegated\tbefore:sentence\tzip of [fever]\tzip of note, has [gout]\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ward.tsv"
    path.write_text(HEADER + NIL_OF.replace("note, has", "note, but has"), "utf-8")
    return path


def _refused(path: Path, row: str) -> str:
    path.write_text(HEADER + row + "\n", "utf-8")
    with pytest.raises(ReadError) as caught:
        check_rules(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("w.a\tcue\tzip of\tnegatd\tbefore:sentence\tzip of [gout]\t", "means 'negatd'; expected"),
        ("w.a\tcue\tzip of\tnegated\t\tzip of [gout]\t", "stands ''; expected as in"),
        ("w.a\tcue\tzip of\tnegated\tbefore:far\tzip of [gout]\t", "stands 'before:far'"),
        (
            "w.a\tcues\tzip of\tnegated\tbefore:next\tzip of [gout]\t",
            "the kind is 'cues'; expected",
        ),
        ("w.a\tcue\tnil (of\tnegated\tbefore:next\tzip of [gout]\t", "cannot be read"),
        ("w.a\tcue\t--\tnegated\tbefore:next\t-- [gout]\t", "is '--'; expected words"),
        ("w.a\tcue\tzip of\tnegated\tbefore:next\tzip of gout\t", "has no mention in brackets"),
        ("w.a\tcue\tzip of\tnegated\tbefore:next\tnone [gout]s\t", "no effect on its example"),
        (
            "w.a\tcue\tzip of\tnegated\tbefore:sentence\tzip of [gout]\tzip of [gout]",
            "acts on its counter-example",
        ),
        ("cues.no\tcue\tzip of\tnegated\tbefore:next\tzip of [gout]\t", "is there already"),
        ("w.a\toff\tcues.nope\t\t\t\t", "no rule 'cues.nope' to switch off"),
        ("w.a\toff\tspelling.oedema\t\t\t\t", "no rule 'spelling.oedema' to switch off"),
        ("w.a\tcue\t\tnegated\tbefore:next\tzip of [gout]\t", "the column 'form' is empty"),
        ("w.a\tcue", "2 columns; expected 7"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(table: Path, row: str, problem: str) -> None:
    message = _refused(table, row)
    assert f"{table}, line 2: " in message
    assert problem in message


def test_a_file_that_is_no_table_of_rules_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content, problem in (
        (b"\xe2\x00", "UTF-8"),
        (b"id,name\n", "unknown columns id,name"),
        (b"", "the column 'id' is missing"),
        (b"id\tkind\tform\texample\tn\nw.a\tcue\tx\tx [y]\tmany\n", "'many'; expected a number"),
    ):
        path.write_bytes(content)
        with pytest.raises(ReadError, match=problem):
            check_rules(path)
    with pytest.raises(ReadError, match="no such file"):
        check_rules(tmp_path)


def test_rules_of_an_index_count_there_alone(table: Path, tmp_path: Path) -> None:
    table.write_text(table.read_text("utf-8") + "ward.no\toff\tcues.denies\t\t\t\t\n", "utf-8")
    terminology = Terminology.build([Concept("X:1", "fever"), Concept("X:2", "gout")])
    own = Linker.build(terminology, folder=tmp_path / "own", rules=table)
    plain = Linker.build(terminology)
    texts = ["zip of fever", "denies gout", "no gout"]
    for _ in range(2):  # what is remembered of one book says nothing of the other
        statuses = [link.status for link in own.link(texts, keep_negated=True)]
        assert statuses == [("negated",), (), ("negated",)]
        statuses = [link.status for link in plain.link(texts, keep_negated=True)]
        assert statuses == [(), ("negated",), ("negated",)]
        plain.pipeline.known_links = type(plain.pipeline.known_links)()
    assert (own.folder / RULES).read_bytes() == table.read_bytes()
    again = Linker.load(own.folder)
    assert again.info()["rules"] == {"own": ["ward.zip-of"], "switched off": ["cues.denies"]}
    assert again.link(["zip of fever"])[0].status == ("negated",)
    assert "rules" not in plain.info()
    assert again.fingerprint != plain.fingerprint
    assert [m.flags for m in (link.mention for link in own.annotate("zip of gout"))] == [
        ("negated",)
    ]


def test_an_explanation_names_the_rules_of_the_linker(table: Path, tmp_path: Path) -> None:
    terminology = Terminology.build([Concept("X:1", "fever")])
    own = Linker.build(terminology, folder=tmp_path / "own", rules=table)
    mentions = ["zip of fever", "no fever"]
    links = own.link(mentions, keep_negated=True)
    text = "\n".join(links[0].explain())
    assert "(by ward.zip-of)" in text
    assert "\n".join(pickle.loads(pickle.dumps(links[0])).explain()) == text
    of_process = list(own.link(mentions, keep_negated=True, workers=2))
    assert of_process[0].explain() == links[0].explain()
    assert of_process == list(links)
    (plain,) = Linker.build(terminology).link(["fever"])
    assert plain.book is None


def test_a_bad_table_leaves_no_index(table: Path, tmp_path: Path) -> None:
    table.write_text(HEADER + "w.a\tcue\n", "utf-8")
    terminology = Terminology.build([Concept("X:1", "fever")])
    with pytest.raises(ReadError):
        Linker.build(terminology, folder=tmp_path / "own", rules=table)
    assert not (tmp_path / "own").exists()


def test_what_is_made_of_a_book_is_made_once_for_each() -> None:
    made: list[object] = []

    @once_a_book
    def n_rules() -> int:
        made.append(current())
        return sum(1 for _ in current().rules)

    asked: list[str] = []

    @remembered(2)
    def twice(text: str) -> str:
        asked.append(text)
        return text * 2

    other = shipped().with_rules([Rule("w.a", "cue", "zip of", "negated", example="zip of [x]")])
    for book in (shipped(), other, shipped()):
        with using(book):
            assert (n_rules(), twice("a")) == (sum(1 for _ in book.rules), "aa")
    assert made == [shipped(), other]
    assert asked == ["a", "a"]
    assert current() is shipped()


def test_the_status_of_a_mention_is_read_by_the_book_that_counts() -> None:
    rule = Rule("w.a", "cue", "void of", "negated", "before:sentence", example="void of [x]")
    assert not may_have_status("void of fever")
    with using(shipped().with_rules([rule])):
        assert may_have_status("void of fever")
        assert read_status("void of fever") == ("fever", ("negated",))
    assert read_status("void of fever") == ("void of fever", ())
