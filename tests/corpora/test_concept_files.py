"""BioSyn's concept files."""

from __future__ import annotations

from pathlib import Path

import pytest

from canonym.corpora.concept_files import mention_parts, read_concepts
from canonym.errors import ReadError
from canonym.types import Mention

LINES = """\
7||0|10||Disease||broken hip||D006620
7||12||30||CompositeMention||breast cancer|ovarian cancer||D001943|D010051

8||0|16||Disease||renal|hamartomas||D007674+D006222
8||20|24||Disease||rare||-1
"""


def test_lines_become_mentions(tmp_path: Path) -> None:
    path = tmp_path / "train.concept"
    path.write_text(LINES)
    assert list(read_concepts(path)) == [
        Mention("broken hip", 0, 10, "Disease", ("D006620",), "any", "7"),
        Mention(
            "breast cancer|ovarian cancer",
            *(12, 30, "CompositeMention", ("D001943", "D010051"), "all", "7"),
        ),
        Mention("renal|hamartomas", 0, 16, "Disease", ("D007674", "D006222"), "all", "8"),
        Mention("rare", 20, 24, "Disease", (), "nil", "8"),
    ]


def test_a_folder_is_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.concept").write_text("2||0|1||T||b||D2\n")
    (tmp_path / "a.concept").write_text("1||0|1||T||a||D1\n")
    (tmp_path / "c.concept").write_text("")
    (tmp_path / "notes.txt").write_text("no concept file")
    assert [mention.text for mention in read_concepts(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7||0|10||Disease||D006620", "was expected, found '7"),
        ("7||0||Disease||broken hip||D006620", "was expected"),
        ("7||a|10||Disease||broken hip||D006620", "'a' and '10' are no span"),
        ("7||10|10||Disease||broken hip||D006620", "no span"),
        (f"7||0|{'9' * 5000}||Disease||broken hip||D006620", "'0' and '9{20}' are no span"),
        ("7||0|10||Disease|| ||D006620", "is empty"),
        ("broken hip\tD006620", "was expected"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "x.concept"
    path.write_text(f"1||0|1||T||a||D1\n{line}\n")
    with pytest.raises(ReadError, match=message) as caught:
        list(read_concepts(path))
    assert caught.value.line == 2


def test_no_mention(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"no mention \(0 \.concept files\)"):
        list(read_concepts(tmp_path))
    path = tmp_path / "x.concept"
    path.write_text("\n")
    with pytest.raises(ReadError, match="no mention"):
        list(read_concepts(path))


@pytest.mark.parametrize(
    ("text", "parts"),
    [("a", ("a",)), ("a|b", ("a", "b")), ("a| b+c", ("a", "b", "c")), ("|", ("|",))],
)
def test_parts(text: str, parts: tuple[str, ...]) -> None:
    assert mention_parts(Mention(text)) == parts


@pytest.mark.parametrize(
    ("name", "counts"),
    [("ncbi-disease", (5134, 787, 960)), ("bc5cdr-disease", (4131, 4178, 4287))],
)
def test_published_counts(data: Path, name: str, counts: tuple[int, int, int]) -> None:
    folder = data / "biosyn-processed" / name
    found = [len(list(read_concepts(folder / f"{p}.concept"))) for p in ("train", "dev", "test")]
    assert tuple(found) == counts
