"""Word pieces of a name, as BERT's tokenizer cuts them, in pure Python.

A text loses control characters and accents, and its capital letters; punctuation marks and Chinese
characters are words of their own. Each word is cut into the longest pieces of the vocabulary, from
left to right. A word that cannot be cut is unknown as a whole.
"""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from collections.abc import Mapping
from typing import Any

_KNOWN_WORDS = 1 << 16
_CHINESE = (
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF)),
    *((0x2A700, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F)),
)
_LIKE_BERT = {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}


def is_like_bert(tokenizer: Mapping[str, Any]) -> bool:
    """Tell whether a ``tokenizer.json`` is that of BERT for text without capital letters."""
    parts = [tokenizer.get(name) or {} for name in ("model", "normalizer", "pre_tokenizer")]
    special = {token["content"] for token in tokenizer.get("added_tokens") or ()}
    return (
        [part.get("type") for part in parts] == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        and _LIKE_BERT.items() <= parts[1].items()
        and parts[1].get("strip_accents") is not False
        and {"[CLS]", "[SEP]"} <= special
    )


class WordPieces:
    """Cuts texts into the pieces of such a ``tokenizer.json``, with the first and the last token.

    Texts have at most `max_length` tokens, these two included.
    """

    def __init__(self, tokenizer: Mapping[str, Any], max_length: int) -> None:
        model = tokenizer["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._prefix: str = model["continuing_subword_prefix"]
        self._longest: int = model["max_input_chars_per_word"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self._specials = re.compile(f"({'|'.join(map(re.escape, self._special))})")
        self._longest_piece = max(map(len, self._vocabulary))
        self._room = max_length - 2
        self._known = functools.lru_cache(_KNOWN_WORDS)(self._cut)

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the tokens of a text, at most `max_length`."""
        tokens = [self._special["[CLS]"]]
        for part in self._specials.split(text):
            if part in self._special:
                tokens.append(self._special[part])
                continue
            for word in words_of(part):
                tokens += self._known(word) if len(word) <= self._longest else [self._unknown]
                if len(tokens) > self._room:
                    break
        return [*tokens[: self._room + 1], self._special["[SEP]"]]

    def _cut(self, word: str) -> list[int]:
        """Cut a word into the longest pieces there are, from left to right."""
        pieces, start, prefix = [], 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                piece = self._vocabulary.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(piece)
            start, prefix = end, self._prefix
        return pieces


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without accents; each mark is a word.

    >>> words_of("Sjögren's syndrome")
    ['sjogren', "'", 's', 'syndrome']
    """
    return unicodedata.normalize("NFD", text).translate(_FOLDED).split()


class _Folded(dict[int, str]):
    """What stands for each character in `str.translate`, found out once."""

    def __missing__(self, code: int) -> str:
        """Drop accents and control characters, set marks and Chinese apart, make capitals small."""
        character = chr(code)
        category, folded = unicodedata.category(character), character.lower()
        if character.isspace() and (category != "Cc" or character in "\t\n\r"):
            folded = " "
        elif category in ("Mn", "Cc", "Cf", "Co") or character == "\ufffd":
            folded = ""
        elif (
            category.startswith("P")
            or character in string.punctuation
            or any(first <= code <= last for first, last in _CHINESE)
        ):
            folded = f" {character} "
        return self.setdefault(code, folded)


_FOLDED = _Folded()
