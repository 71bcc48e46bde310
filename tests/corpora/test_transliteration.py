"""Mentions as annotations in ASCII write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from canonym.corpora.bioc import read_bioc
from canonym.corpora.offsets import pieces_problem, span_problem
from canonym.corpora.pubtator import parse_pubtator
from canonym.corpora.transliteration import is_transliteration
from canonym.errors import ReadError
from tests.tables import tables


@pytest.mark.parametrize(
    ("text", "written", "same"),
    [(*pair, name == "same") for name, pairs in tables(__file__).items() for pair in pairs],
)
def test_a_copy_differs_only_beyond_ascii(text: str, written: str, same: bool) -> None:
    assert is_transliteration(text, written) == same
    assert is_transliteration(written, text) == same
    assert (span_problem(text, 0, len(text), written) is None) == same


def test_pieces_may_be_copies() -> None:
    text = "α- or β-cell"
    assert pieces_problem(text, [(0, 2), (8, 12)], "a-cell") is None
    assert "hold" in str(pieces_problem(text, [(0, 2), (8, 12)], "b-cell"))


def test_pubtator_may_write_a_copy() -> None:
    lines = ["1|t|Serum TNF-α\n", "1|a|\n", "1\t6\t11\tTNF-alpha\tGene\t7124\n"]
    (document,) = parse_pubtator(lines, "x")
    assert [mention.text for mention in document.mentions] == ["TNF-α"]


# --- what offsets count ---------------------------------------------------------------------------

TITLE = "Role of 𝛼-synuclein and naïve cells"
ABSTRACT = "In 🧬 studies, β-catenin rose; Sjögren’s disease did not."
NAMES = ["synuclein", "naïve cells", "studies", "β-catenin", "Sjögren’s disease", "did not"]


def _written(
    folder: Path, encoding: str, width: int, *, texts: bool = True, shift: int = 0
) -> Path:
    """Write a document whose offsets count units of an encoding."""

    def units(text: str) -> int:
        return len(text.encode(encoding)) // width

    whole = f"{TITLE}\n{ABSTRACT}"
    annotations = [
        {
            "id": str(n),
            "text": name if texts else None,
            "locations": [
                {"offset": units(whole[: whole.index(name)]) + shift, "length": units(name)}
            ],
        }
        for n, name in enumerate(NAMES)
    ]
    passages = [
        {"offset": 0, "text": TITLE, "annotations": annotations[:2]},
        {"offset": units(TITLE) + 1, "text": ABSTRACT, "annotations": annotations[2:]},
    ]
    file = folder / "a.json"
    file.write_text(json.dumps({"documents": [{"id": "7", "passages": passages}]}))
    return file


@pytest.mark.parametrize(("encoding", "width"), [("utf-32-le", 4), ("utf-16-le", 2), ("utf-8", 1)])
def test_offsets_may_count_other_units(tmp_path: Path, encoding: str, width: int) -> None:
    (document,) = read_bioc(_written(tmp_path, encoding, width))
    assert document.text == f"{TITLE}\n{ABSTRACT}"
    assert [mention.text for mention in document.mentions] == NAMES
    for mention in document.mentions:
        assert document.text[mention.start : mention.end] == mention.text


@pytest.mark.parametrize(("encoding", "width"), [("utf-32-le", 4), ("utf-16-le", 2), ("utf-8", 1)])
def test_offsets_that_are_wrong_in_every_unit_are_refused(
    tmp_path: Path, encoding: str, width: int
) -> None:
    with pytest.raises(
        ReadError, match=r"document '7': annotation '0': .*offsets count code points"
    ):
        list(read_bioc(_written(tmp_path, encoding, width, shift=3)))


def test_without_texts_nobody_knows_what_offsets_count(tmp_path: Path) -> None:
    (document,) = read_bioc(_written(tmp_path, "utf-16-le", 2, texts=False))
    assert [mention.text for mention in document.mentions] != NAMES
    file = _written(tmp_path, "utf-8", 1, texts=False)
    with pytest.raises(ReadError, match="are no span of the text"):
        list(read_bioc(file))
