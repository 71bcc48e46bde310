"""Files of reviewed mappings, read."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canonym.errors import ReadError
from canonym.exchange.decisions import Review, read_reviews
from canonym.exchange.mappings import Origin
from canonym.exchange.omop import UsagiWriter
from canonym.exchange.sssom import SssomWriter
from canonym.types import Candidate, Link, Mention
from tests.files import written
from tests.io.making import make_xlsx
from tests.tables import cases

ORIGIN = Origin("1", "f00d", ("OMOP",))
HEAD = "subject_label\tpredicate_id\tobject_id\tmapping_justification\treviewer_label\n"
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).map(str.strip)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reviews")


@given(st.lists(texts.filter(bool), min_size=1, unique=True))
def test_every_text_that_is_written_is_read(folder: Path, names: list[str]) -> None:
    names = [*names, "#5", 'a "b', "x|y", "a, b", "=1", "'=1", "''-x", "two\nlines"]
    names += ["+49", "-itis", "@x", "'x", "a=1"]
    for writer_class, suffix in ((SssomWriter, "tsv"), (UsagiWriter, "csv")):
        stream = io.StringIO(newline="")
        writer = writer_class(stream, ORIGIN)
        for name in names:
            writer.write(Link(Mention(name), (Candidate("OMOP:1", "A", 1.0, "a"),)))
        writer.close()
        file = folder / f"a.{suffix}"
        file.write_text(stream.getvalue(), encoding="utf-8", newline="")
        found = read_reviews(file)
        assert [review.text for review in found.reviews] == list(dict.fromkeys(names))
        assert {review.reason for review in found.reviews} == {"not reviewed"}
        assert {review.id for review in found.reviews} == {"OMOP:1"}


def test_a_reviewer_is_kept_in_the_note(folder: Path) -> None:
    file = folder / "b.tsv"
    file.write_text(HEAD + "hip\tskos:exactMatch\tX:1\tsemapv:LexicalMatching\tAnn\n")
    found = read_reviews(file)
    assert found.reviews == (Review(2, "hip", "X:1", True, "", "reviewed in SSSOM, Ann"),)


@cases("head", "cell", "reason", "accepted")
def test_what_the_head_says_holds_for_every_row_that_says_nothing(
    folder: Path, head: str, cell: str, reason: str, accepted: bool
) -> None:
    names = HEAD.replace("\treviewer_label", "\treviewer_label\tpredicate_modifier")
    row = f"hip\tskos:exactMatch\tX:1\tsemapv:ManualMappingCuration\tAnn\t{cell}\n"
    file = written(folder / "modified.tsv", head + names + row)
    (review,) = read_reviews(file).reviews
    assert (review.reason, review.accepted) == (reason, accepted)
    if not cell:
        file.write_text(head + HEAD + row.removesuffix("\t\n") + "\n")
        assert read_reviews(file).reviews == (review,)


def test_a_table_saved_with_commas_is_read(folder: Path) -> None:
    file = folder / "c.csv"
    row = "hip,skos:exactMatch,X:1,semapv:LexicalMatching,Ann\n"
    file.write_text('"#license: x",,,,\n' + HEAD.replace("\t", ",") + row + ",,,,\n")
    assert [review.text for review in read_reviews(file).reviews] == ["hip"]


@pytest.mark.parametrize(
    ("line", "delimiter"), [("sep=;", ";"), ("sep=,", ","), ("sep=\\t", "\t"), ('"sep=|"', "|")]
)
def test_a_first_line_names_the_delimiter(folder: Path, line: str, delimiter: str) -> None:
    head = HEAD.replace("\t", delimiter)
    row = delimiter.join(["hip", "skos:exactMatch", "X:1", "semapv:LexicalMatching", "Ann"])
    file = written(folder / "s.csv", f"\ufeff{line}\r\n#license: x\n{head}{row}\n")
    (review,) = read_reviews(file).reviews
    assert (review.line, review.text, review.id, review.accepted) == (4, "hip", "X:1", True)


def test_a_decided_id_that_lost_digits_is_refused(folder: Path) -> None:
    names = [f"canonym_{name}" for name in ("mention", "state", "id", "relation", "proposed_id")]
    rows = [names, ["hip", "linked", 9.99001261e17, "equal", ""]]
    book = make_xlsx(folder / "d.xlsx", {"S": rows})
    with pytest.raises(ReadError, match="row 2: the id in C2 is a number"):
        read_reviews(book)
