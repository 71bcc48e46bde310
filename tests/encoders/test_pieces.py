"""Word pieces are those of the tokenizers library, token for token."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import canonym
from canonym.encoders.onnx import OnnxTransformer, WordPieces, is_like_bert, words_of
from canonym.errors import ReadError
from canonym.io.encodings import without_surrogates

CONTEXTUAL = Path(canonym.__file__).parent / "models" / "contextual"
TOKENIZER = CONTEXTUAL / "tokenizer.json"
CONTENT = json.loads(TOKENIZER.read_text(encoding="utf-8"))
HOSTILE = [
    *("", " ", "\0", "a\0b", "\t\n\r", "a\u00a0b\u2028c\u3000d\x85e\x0bf\x1cg", "\u200b\ufeff"),
    *("[CLS] a[MASK]b[SEP]", "[mask]", "[PAD]x [UNK]", "[CLS", "[SEP][SEP]", "##s ## #a"),
    *("👩‍⚕️ flu", "🤒🤒", "𝓯𝓵𝓾", "心筋梗塞 x心y", "한국어", "कार्य", "ไทย", "ａｂｃ", "\ufffd?"),
    *("é e\u0301 ǖ İ ß ΑΣ ς ŉ", "e" + "\u0301" * 200, "\u0301", "a\u0323\u0301b", "ﬁ ① ½ ²"),
    *("a" * 10_000, "ab " * 5000, "a-" * 5000, "é" * 101, "x" * 100, "x" * 101, "`~$^+<=>|"),
    "\u202eabc \ud800",
]


@pytest.fixture(scope="module")
def library() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    tokenizer.enable_truncation(32)
    tokenizer.no_padding()
    return tokenizer


def check(names: list[str], library: Any) -> None:
    ours = WordPieces(CONTENT, 32)
    texts = [without_surrogates(name) for name in names]
    for text, expected in zip(texts, library.encode_batch(texts), strict=True):
        assert ours.encode(text) == expected.ids, ascii(text)


def test_hostile_texts(library: Any) -> None:
    check(HOSTILE, library)
    assert WordPieces(CONTENT, 32).encode("") == [101, 102]


def test_drawn_texts(library: Any) -> None:
    rng = random.Random(1)
    rare = "[]CLSMASK心Σσςİıßéñ👩\u200d\u0301\u0323\ufeff\u1100\uac00"
    letters = [*map(chr, range(0x250)), *rare]
    check(["".join(rng.choices(letters, k=rng.randint(1, 40))) for _ in range(5000)], library)


@pytest.mark.parametrize("length", [3, 4, 31, 64])
def test_other_lengths(length: int, library: Any) -> None:
    library.enable_truncation(length)
    ours = WordPieces(CONTENT, length)
    for text in HOSTILE[:-1]:
        assert ours.encode(text) == library.encode(text).ids
    library.enable_truncation(32)


def test_words() -> None:
    assert words_of("Ménière's  (acute)\tNOS") == ["meniere", "'", "s", "(", "acute", ")", "nos"]
    assert words_of("\x00 \u0301") == []
    assert words_of("a心b") == ["a", "心", "b"]


def names_of(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of four terminologies."""
    for file in ("hpo/hp-2014-11-14.obo.gz", "doid/HumanDO-2015-05-14.obo.gz"):
        text = gzip.decompress((data / file).read_bytes()).decode()
        yield file, re.findall(r'^(?:name: |synonym: ")([^"\n]*)', text, re.MULTILINE)
    file = "drugbank-vocabulary/drugbank_vocabulary.csv.gz"
    with gzip.open(data / file, "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    yield file, [name for row in rows for name in (row["Common name"], *row["Synonyms"].split("|"))]
    file = "mesh-2024/terms.tsv.gz"
    with gzip.open(data / file, "rt", encoding="utf-8") as stream:
        terms = sorted({row["term"] for row in csv.DictReader(stream, delimiter="\t")})
    yield file, random.Random(0).sample(terms, 50_000)


@pytest.mark.slow
def test_names_of_terminologies(library: Any, data: Path) -> None:
    for _, names in names_of(data):
        assert len(names) > 10_000
        check(names, library)


def test_other_tokenizers(tmp_path: Path) -> None:
    assert is_like_bert(CONTENT)
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    for changes in (
        {"normalizer": {**normalizer, "strip_accents": None, "lowercase": False}},
        {"normalizer": {**normalizer, "strip_accents": False, "lowercase": True}},
        {"normalizer": None},
        {"model": {"type": "BPE"}},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"added_tokens": []},
    ):
        assert not is_like_bert(CONTENT | changes)
    assert not is_like_bert({})
    folder = Path(shutil.copytree(CONTEXTUAL, tmp_path / "model"))
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
    for broken in ({}, {"vocab": {"a": 1}, "max_input_chars_per_word": 9}, {"vocab": {}}):
        content = CONTENT | {"model": model | broken}
        (folder / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ReadError, match="expected a tokenizer"):
            OnnxTransformer(folder)
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ReadError, match="expected JSON"):
        OnnxTransformer(folder)


def test_no_library_is_needed_for_pieces_of_bert() -> None:
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from canonym.encoders import make_encoder\n"
        "print(make_encoder('contextual').encode(['heart attack']).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(1, 384)"
