"""Word pieces of a name, as BERT's tokenizer cuts them, in pure Python.

A text loses control characters and accents, and its capital letters; punctuation marks and Chinese
characters are words of their own. Each word is cut into the longest pieces of the vocabulary, from
left to right. A word that cannot be cut is unknown as a whole.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError
from canonym.io.files import load_json

_KNOWN_WORDS = 1 << 16
_LONGEST_KNOWN = 64  # characters: longer strings between spaces are cut each time
_CHINESE = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class WordPieces:
    """Cut texts into the pieces of a ``tokenizer.json``, with the first and the last token.

    Texts have at most `max_length` tokens, these two included. Raises `ReadError` if the file is
    missing or damaged, and `InvalidInput` if it describes another tokenizer than BERT's for text
    without capital letters.
    """

    def __init__(self, path: Path, max_length: int) -> None:
        try:
            content = load_json(path)
            self._read(content, path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InvalidInput | ReadError):
                raise
            raise ReadError(path, f"expected a tokenizer, found {error!r}") from error
        self._room = max_length - 2
        self._known = functools.lru_cache(_KNOWN_WORDS)(self._cut)

    def _read(self, content: Mapping[str, Any], path: Path) -> None:
        model, normalizer = content["model"], content["normalizer"]
        usual = {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}
        if (
            (model["type"], normalizer["type"]) != ("WordPiece", "BertNormalizer")
            or content["pre_tokenizer"]["type"] != "BertPreTokenizer"
            or any(normalizer[name] is not value for name, value in usual.items())
            or normalizer["strip_accents"] is False
        ):
            raise InvalidInput(f"{path} is not BERT's tokenizer for text without capital letters")
        self._vocabulary: dict[str, int] = model["vocab"]
        self._prefix: str = model["continuing_subword_prefix"]
        self._longest: int = model["max_input_chars_per_word"]
        self._unknown = self._vocabulary[model["unk_token"]]
        self._special = {token["content"]: token["id"] for token in content["added_tokens"]}
        self._specials = re.compile(f"({'|'.join(map(re.escape, self._special))})")
        self._first, self._last = self._special["[CLS]"], self._special["[SEP]"]
        self._longest_piece = max(map(len, self._vocabulary))

    def encode(self, text: str) -> list[int]:
        """Return the numbers of the tokens of a text, at most `max_length`."""
        tokens = [self._first]
        for part in text.split(" "):
            tokens += self._known(part) if len(part) <= _LONGEST_KNOWN else self._cut(part)
            if len(tokens) > self._room:
                break
        return [*tokens[: self._room + 1], self._last]

    def _cut(self, part: str) -> tuple[int, ...]:
        """Return the first tokens of a string without spaces."""
        tokens: list[int] = []
        for text in self._specials.split(part):
            if text in self._special:
                tokens.append(self._special[text])
                continue
            for word in words_of(text):
                tokens += self._pieces(word)
                if len(tokens) >= self._room:
                    return tuple(tokens[: self._room])
        return tuple(tokens)

    def _pieces(self, word: str) -> list[int]:
        """Cut a word into the longest pieces there are, from left to right."""
        if len(word) > self._longest:
            return [self._unknown]
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
    return unicodedata.normalize("NFD", text.translate(_CLEANED)).translate(_FOLDED).split()


class _Table(dict[int, str]):
    """What stands for each character in `str.translate`, by a rule that is asked once."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        super().__init__()
        self._rule = rule

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, self._rule(chr(code)))


def _cleaned(character: str) -> str:
    """Drop a control character, make any blank a space, set a Chinese character apart."""
    if character in "\t\n\r":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co"):
        return ""
    if any(first <= ord(character) <= last for first, last in _CHINESE):
        return f" {character} "
    return " " if character.isspace() else character


def _folded(character: str) -> str:
    """Drop an accent, set a mark apart, make a capital letter small."""
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    if category.startswith("P") or character in _ASCII_MARKS:
        return f" {character} "
    return character.lower()


_CLEANED, _FOLDED = _Table(_cleaned), _Table(_folded)
