"""Mentions damaged at random: no error, no long wait, and no other concept that looks certain.

    python benchmarks/mutated.py                   30,000 mentions, by ICD-10-CM, HPO and MEDIC
    python benchmarks/mutated.py --draws 3000 --seed 7

A name gets what broken exports, keyboards and strangers put into cells: signs and runs of signs,
markup, controls, marks of direction, lone surrogates, other widths, quotes and brackets, half of
another name, or all of it thousands of times. What is left may be unreadable. A link counts as
wrong where it is stated at 0.95 or more for a concept that neither has a name of the words that are
left nor is that of the name.
"""

from __future__ import annotations

import argparse
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence

from canonym import Link
from canonym.text import STRONG, normalise
from company import SOURCES, open_linker
from record import save

SURE = 0.95
UNSAID = frozenset(("nos", "other", "specified", "unspecified"))
LONGEST = 5.0  # seconds
SIGNS = (
    *("\n", "\r\n", "\t", "  ", "\u00a0", "\u200b", "\ufeff", "\u202e", "\0", "\a", "\ud800"),
    *("<b>", "</td>", "&nbsp;", "&#0;", "&lt;", "<!--", "<", ">", "%20", "\\n", "_x000D_", "Ã©"),
    *("(", ")", "[", "]", "{", "}", '"', "'", "`", "´", "*", "**", "_", "~~", "#", "|", "||"),
    *("^", ",", ";", ":", ".", "...", "…", "?", "!", "/", "\\", "=", "@", "$", "§"),
    *("\u0301", "\u20dd"),
)  # fmt: skip


def _sprinkled(name: str, rng: random.Random, _: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(name))
        name = name[:at] + rng.choice(SIGNS) + name[at:]
    return name


def _pumped(name: str, rng: random.Random, other: str) -> str:
    piece = rng.choice((*SIGNS, name, f"{other} ", f"({name}) ", rng.choice(name)))
    at = rng.choice((0, len(name), rng.randint(0, len(name))))
    return name[:at] + piece * rng.choice((20, 300, 5000)) + name[at:]


def _wrapped(name: str, rng: random.Random, _: str) -> str:
    first, last = rng.choice(
        (*("()", "[]", "{}", "<>", "«»", "“”", "''", "**", "__", "||"), ("<p>", "</p>"), ("- ", ""))
    )
    return first * rng.choice((1, 2, 40)) + name + last * rng.choice((1, 2, 40))


def _widened(name: str, rng: random.Random, _: str) -> str:
    wide = {c: chr(ord(c) + 0xFEE0) for c in map(chr, range(33, 127))}
    return "".join(wide.get(c, c) if rng.random() < 0.5 else c for c in name)


def _cut(name: str, rng: random.Random, other: str) -> str:
    return name[: rng.randint(0, len(name))] + rng.choice(("", "…", " ", other[: len(other) // 2]))


def _encoded(name: str, rng: random.Random, _: str) -> str:
    text = f"{name}{rng.choice(('', ' é', ' β', ' – x'))}"
    return text.encode("utf-8").decode(rng.choice(("latin-1", "cp1252", "cp437")), "replace")


KINDS: dict[str, Callable[[str, random.Random, str], str]] = {
    "signs": _sprinkled,
    "pumped": _pumped,
    "wrapped": _wrapped,
    "wide": _widened,
    "cut": _cut,
    "misread": _encoded,
}


def is_wrong(link: Link, meant: Sequence[str | None], names: Sequence[str]) -> bool:
    """Tell whether a link is certain of a concept that has nothing to do with its mention.

    `meant` are the concept of the name and what the name is linked to undamaged. A word may be cut.
    """
    if link.nil or (link.confidence or 0.0) < SURE or link.id in meant:
        return False
    said = normalise(link.mention.text, STRONG).split()
    return not any(
        all(
            word in UNSAID
            or any(word == own or (len(own) > 3 and word.startswith(own)) for own in said)
            for word in normalise(name, STRONG).split()
        )
        for name in names
    )


def main() -> None:
    """Draw, damage, link and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rows, rng = [], random.Random(arguments.seed)
    for source in SOURCES:
        linker = open_linker(source)
        names = [(name.text, name.concept_id) for name in linker.terminology.iter_names()]
        for kind, damage in KINDS.items():
            row: Counter[str] = Counter()
            for _ in range(-(-arguments.draws // len(SOURCES) // len(KINDS))):
                (name, id_), (other, _) = rng.sample(names, 2)
                text = damage(name, rng, other)
                began = time.perf_counter()
                try:
                    link = linker.link([text])[0]
                except Exception:
                    row["errors"] += 1
                    print(f"{source}  {kind}  {text!r:.200}\n{traceback.format_exc()}", flush=True)
                    continue
                seconds = time.perf_counter() - began
                row["slow"] += seconds > LONGEST
                if seconds > 1:
                    print(f"{source}  {kind}  {seconds:.1f} s  {text!r:.200}", flush=True)
                own = [] if link.id is None else linker.terminology.names(link.id)
                if is_wrong(link, (None, id_, linker.link([name])[0].id), [n.text for n in own]):
                    row["wrong"] += 1
                    print(f"{source}  {kind}  {text!r:.200} -> {link.id} {link.label}", flush=True)
                row["n"] += 1
            rows.append({"terminology": source, "kind": kind, **row})
            print(rows[-1], flush=True)
    save("mutated", {"seed": arguments.seed, "rows": rows}, packages=("numpy",))


if __name__ == "__main__":
    main()
