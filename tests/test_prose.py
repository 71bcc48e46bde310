"""README, guides and model cards are written in short, plain sentences."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_layers import tree_of

ROOT = Path(__file__).parents[1]
LONGEST = 40  # words of a sentence
MEDIAN = 18

_NOT_PROSE = re.compile(r"<!--.*?-->|^```.*?^```|^#.*?$|^\|.*?$|^:::.*?$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BLOCK_END = re.compile(r"\n\s*\n|\n\s*(?=[-*] |\d+\. )")
_SENTENCE_END = re.compile(r"(?<=[.!?])[*_\")]*\s+(?=[*_\"(`]*[A-Z0-9`])")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|et al|vs|etc|Fig|No)\.\s", re.IGNORECASE)


def _pages() -> list[Path]:
    docs = ROOT / "docs"
    named = [ROOT / "README.md", docs / "index.md", docs / "quickstart.md"]
    return [
        *named,
        *sorted((docs / "guides").glob("*.md")),
        *sorted((docs / "models").glob("*.md")),
    ]


def sentences(markdown: str) -> list[str]:
    """Return the sentences of a page, without code, tables, headings and comments."""
    prose = _LINK.sub(r"\1", _NOT_PROSE.sub("\n\n", markdown))
    found = []
    for block in _BLOCK_END.split(prose):
        text = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", block)
        text = _ABBREVIATION.sub(r"\1 ", " ".join(text.split()))
        found += [one for one in _SENTENCE_END.split(text) if re.search(r"\w", one)]
    return found


def _faults_of_a_page(text: str) -> Iterator[str]:
    lengths = {sentence: len(sentence.split()) for sentence in sentences(text)}
    if not lengths:
        yield "has no sentence"
    elif statistics.median(lengths.values()) > MEDIAN:
        yield f"half of its sentences have over {MEDIAN} words"
    for sentence, n in lengths.items():
        if n > LONGEST:
            yield f"over {LONGEST} words: {sentence}"


def test_sentences_are_short() -> None:
    assert not [
        f"{page.relative_to(ROOT)}: {fault}"
        for page in _pages()
        for fault in _faults_of_a_page(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One thing. Another thing!", ["One thing.", "Another thing!"]),
        ("# Head\n\nText of\ntwo lines.\n", ["Text of two lines."]),
        ("- one item\n- [a link](x.md) and more\n", ["one item", "a link and more"]),
        ("Before.\n\n```text\nno prose. None.\n```\n", ["Before."]),
        ("| a | b |\n|---|---|\n\n<!-- nor\nthis -->\n", []),
        ("Sung et al. (2020) say so.", ["Sung et al (2020) say so."]),
        ("Version 3.11 or `x.y`. `z` too.", ["Version 3.11 or `x.y`.", "`z` too."]),
    ],
)
def test_pages_are_cut_into_sentences(markdown: str, expected: list[str]) -> None:
    assert sentences(markdown) == expected


def test_no_module_docstring_begins_with_a_question_word() -> None:
    begins = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "src").rglob("*.py"))
        if re.match(
            r"(What|How|Whether|Which)\b",
            ast.get_docstring(tree_of(path)) or "",
        )
    ]
    assert not begins
