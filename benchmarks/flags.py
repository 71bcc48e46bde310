"""Precision and recall of flags on clinical sentences, and what they cost.

Both files have sentences that were written for this: one mention each, in brackets, and its flags.
Those of ``flag_sentences.tsv`` are by the same hand as the rules of `canonym.mentions.cues`. Those
of ``report_sentences.tsv`` are in the manner of reports, letters and notes, by others who knew none
of the rules. The rules were mended with most of them; nobody looked at those called ``apart``,
whose figures count, and no rule was mended with those called ``natural``. The cost is that of flags
alone, on notes made of all sentences.

    python benchmarks/flags.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from canonym.mentions.flags import FLAGS, with_flags
from canonym.types import Mention
from inputs import percents, rows_beside
from record import parser, save
from timing import least_seconds

_REPEATS = 5
_NOTE = 20  # sentences


class Sentence(NamedTuple):
    """A sentence, its mention, the flags that it has, and when it was written."""

    text: str
    mention: Mention
    flags: tuple[str, ...]
    written: str


def read_sentences(name: str) -> list[Sentence]:
    """Return the sentences of a list beside this file, without their brackets."""
    sentences = []
    for row in rows_beside(name):
        before, _, rest = row["sentence"].partition("[")
        named, _, after = rest.partition("]")
        mention = Mention(named, len(before), len(before) + len(named))
        flags = tuple(filter(None, row["flags"].split(",")))
        sentences.append(Sentence(before + named + after, mention, flags, row["written"]))
    return sentences


def measured(sentences: Iterable[Sentence]) -> dict[str, Any]:
    """Return precision and recall of each flag, with Wilson's intervals, in percent."""
    right, wrong, missed = (Counter[str]() for _ in range(3))
    n = n_right = 0
    for one in sentences:
        (found,) = with_flags(one.text, [one.mention])
        given, flags = set(found.flags or ()), set(one.flags)
        n, n_right = n + 1, n_right + (given == flags)
        right.update(given & flags)
        wrong.update(given - flags)
        missed.update(flags - given)
    result: dict[str, Any] = {"sentences": n, "all flags right": percents(n_right, n)}
    for flag in FLAGS:
        result[flag] = {
            "right": right[flag],
            "wrong": wrong[flag],
            "missed": missed[flag],
            "precision": percents(right[flag], right[flag] + wrong[flag]),
            "recall": percents(right[flag], right[flag] + missed[flag]),
        }
    return result


def cost(sentences: list[Sentence]) -> dict[str, float]:
    """Return processor seconds for a megabyte of notes, each with all its mentions."""
    notes = []
    for start in range(0, len(sentences), _NOTE):
        text, mentions = "", []
        for one in sentences[start : start + _NOTE]:
            places = (len(text) + (one.mention.start or 0), len(text) + (one.mention.end or 0))
            mentions.append(Mention(one.mention.text, *places))
            text += f"{one.text}\n"
        notes.append((text, mentions))
    size = sum(len(text.encode()) for text, _ in notes)
    ways = {"flags": lambda: [with_flags(*note) for note in notes]}
    best = least_seconds(ways, _REPEATS)["flags"]
    return {
        "seconds a megabyte": round(best / size * 1e6, 1),
        "mentions a megabyte": round(len(sentences) / size * 1e6),
    }


def main() -> None:
    """Measure, print and save."""
    sentences = [*read_sentences("flag_sentences"), *read_sentences("report_sentences")]
    result: dict[str, Any] = {
        written: measured(one for one in sentences if one.written == written)
        for written in dict.fromkeys(one.written for one in sentences)
    }
    result["cost"] = cost(sentences)
    for name, found in result.items():
        print(name, found)
    save("flags", result, packages=[])


if __name__ == "__main__":
    parser(__doc__).parse_args()
    main()
