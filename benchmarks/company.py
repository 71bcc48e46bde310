"""Whether the link of a mention depends on what is linked beside it: it must not.

    python benchmarks/company.py                   2,000 draws on each of ICD-10-CM, HPO and MEDIC
    python benchmarks/company.py --draws 200 --seed 7

Mentions are drawn from names and ids of a terminology: as they stand, misspelt, clipped, as lists
with every separator, codes alone, in rows and beside labels, shorthand, mixed cells, and with words
of status. Beside each are its own pieces, in random order. Every draw is linked three times: alone
by a linker that remembers nothing, in its company, and in batches of another size. What differs in
any digit counts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from canonym import Linker
from canonym.linking.hits import KnownHits
from canonym.linking.links import KnownLinks
from inputs import terminology_called
from record import parser, save_rows

SOURCES = ("ICD-10-CM", "HPO", "MEDIC")
JOINTS = (", ", " and ", "; ", "/", " + ", "\n", " & ", " ", " or ", " | ", ",")
STATUSES = (
    "no {}", "h/o {}", "family history of {}", "?{}", "{} - neg", "r/o {}", "denies {}", "s/p {}",
    "[ ] {}", "{}: no", "mother has {}", "possible {}", "-{}", "+{}", "without {}",
)  # fmt: skip
SHORTHAND = (
    "HTN", "DM2", "CKD 3", "r/o MI", "c/o SOB", "b/l OA", "L knee pain", "COPD w/ exac", "PCP",
    "MS", "severe MS", "AFIB", "CHF", "PE", "dvt", "UTI", "s/p CABG", "DM w CKD", "GERD",
    "ESRD on HD",
)  # fmt: skip

Draw = tuple[str, list[str]]
"""A mention, and what is in it."""


def kinds(names: Sequence[str], ids: Sequence[str]) -> dict[str, Callable[[random.Random], Draw]]:
    """Return what draws a mention of each kind."""

    def some(pool: Sequence[str], rng: random.Random) -> list[str]:
        return rng.sample(pool, rng.randint(2, 3))

    def joined(pieces: list[str], rng: random.Random) -> Draw:
        return rng.choice(JOINTS).join(pieces), pieces

    def code(rng: random.Random) -> str:
        id_ = rng.choice(ids)
        return rng.choice((id_, id_.partition(":")[2], id_.partition(":")[2].lower()))

    def with_status(rng: random.Random) -> Draw:
        pieces = some([*names, *SHORTHAND], rng)
        said = [rng.choice((*STATUSES, "{}")).format(piece) for piece in pieces]
        return rng.choice(JOINTS).join(said), [*said, *pieces]

    def labelled(rng: random.Random) -> Draw:
        name, id_ = rng.choice(names), code(rng)
        form = rng.choice(("{0} - {1}", "{1} ({0})", "{0} {1}", "{1}, {0}"))
        return form.format(id_, name), [name, id_]

    return {
        "name": lambda rng: (name := rng.choice(names), name.split()),
        "misspelt": lambda rng: (name := _misspelt(rng.choice(names), rng), name.split()),
        "list": lambda rng: joined(some(names, rng), rng),
        "misspelt list": lambda rng: joined([_misspelt(n, rng) for n in some(names, rng)], rng),
        "codes": lambda rng: joined([code(rng) for _ in range(rng.randint(2, 3))], rng),
        "code and label": labelled,
        "mixed": lambda rng: joined(
            [rng.choice(names), code(rng), rng.choice(SHORTHAND)][: rng.randint(2, 3)], rng
        ),
        "shorthand": lambda rng: joined(some(SHORTHAND, rng), rng),
        "status": with_status,
    }


def _misspelt(name: str, rng: random.Random) -> str:
    at = rng.randrange(len(name))
    return name[:at] + rng.choice(("", name[at] * 2, " ", "-", "x")) + name[at + 1 :]


def differences(linker: Linker, draws: Sequence[Draw], rng: random.Random) -> Iterator[str]:
    """Yield the mentions of which a link differs alone, in company, and in other batches."""
    company = [text for mention, pieces in draws for text in (mention, *pieces)]
    rng.shuffle(company)
    forget(linker)
    together = dict(zip(company, linker.link(company).to_dicts(), strict=True))
    forget(linker)
    parted = dict(
        zip(company[::-1], linker.link(company[::-1], batch=rng.choice((2, 7, 100))), strict=True)
    )
    for mention, _ in draws:
        forget(linker)
        alone = linker.link([mention])[0].to_dict()
        if not alone == together[mention] == parted[mention].to_dict():
            yield mention


def forget(linker: Linker) -> None:
    """Let a linker know nothing of what it linked."""
    linker.pipeline.known, linker.pipeline.known_links = KnownHits(), KnownLinks()


def measured(sources: Sequence[str], n_draws: int, seed: int) -> Iterator[dict[str, Any]]:
    """Draw, link and compare."""
    for source in sources:
        linker = Linker.build(terminology_called(source))
        names = sorted({text for batch in linker.terminology.iter_texts() for text in batch})
        ids = sorted(concept.id for concept in linker.terminology.iter_concepts())
        rng, ways = random.Random(seed), kinds(names, ids)
        drawn = {
            kind: [way(rng) for _ in range(-(-n_draws // len(ways)))] for kind, way in ways.items()
        }
        counts: Counter[str] = Counter()
        for kind, draws in drawn.items():
            for mention in differences(linker, draws, rng):
                counts[kind] += 1
                print(f"{source}  {kind}  {mention!r}", flush=True)
        n = sum(map(len, drawn.values()))
        yield {"terminology": source, "draws": n, "differ": counts.total(), **counts}


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--draws", type=int, default=2000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--only", nargs="*", default=[*SOURCES])
    options = arguments.parse_args()
    save_rows("company", measured(options.only, options.draws, options.seed))
