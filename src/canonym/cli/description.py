"""Counts and samples of a terminology, for reports, and the formats of these."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from canonym.cli.failures import printable

if TYPE_CHECKING:
    from canonym.terminology import Terminology


_MOST = 12  # sources, types and languages named in a report


def distinct_names(terminology: Terminology) -> int:
    """Count the distinct names after lower-casing and removing punctuation.

    A name that several concepts share counts once, as in the dictionaries of BioSyn's protocol.
    """
    import numpy as np

    from canonym.text import biosyn_normal

    # Hashes of 64 bits: among ten million names a collision has a chance of one in 400,000.
    hashes = array("q")
    for texts in terminology.iter_texts():
        hashes.extend(hash(biosyn_normal(text)) for text in texts)
    return len(np.unique(np.frombuffer(hashes, dtype=np.int64)))


def counts(terminology: Terminology) -> dict[str, Any]:
    """Return the counts of a terminology, each with its name, ready for JSON."""
    sources = {
        " ".join(filter(None, pair)) or "(not said)": count
        for pair, count in terminology.sources().items()
    }
    return {
        "source": sources,
        "concepts": terminology.n_concepts,
        "names": terminology.n_names,
        "distinct names": distinct_names(terminology),
        "relations": terminology.n_relations,
        "cross-references": terminology.n_xrefs,
        "languages": terminology.languages(),
        "types": terminology.types(),
        "remarks": terminology.remarks,
        "digest": terminology.digest,
    }


def print_json(content: Any) -> None:
    """Print facts as JSON."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print facts, each on a line, or several lines where it has several values."""
    width = max(len(name) for name in facts) + 2
    for name, value in facts.items():
        lines = list(_lines(value))
        if name == "distinct names":
            lines[0] += "  (after lower-casing and removing punctuation)"
        for place, line in enumerate(lines or [""]):
            click.echo(printable(f"{name if place == 0 else '':<{width}}{line}"))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for part in value:
            if isinstance(part, Mapping):
                yield ", ".join(
                    f"{key}: {_shown(item)}" for key, item in part.items() if item != []
                )
            else:
                yield _shown(part)
    elif isinstance(value, Mapping) and all(type(number) is int for number in value.values()):
        ranked = sorted(value.items(), key=lambda pair: (-pair[1], pair[0]))
        yield from (f"{count:,}  {key or '(none)'}" for key, count in ranked[:_MOST])
        if len(ranked) > _MOST:
            yield f"… and {len(ranked) - _MOST:,} more"
    elif isinstance(value, Mapping):
        yield from (f"{key}: {_shown(item)}" for key, item in value.items() if item != [])
    else:
        yield _shown(value)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def report_option(usual: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option for the format of a report: for people by default, or JSON."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice([usual, "json"]),
        default=usual,
        help="Format of the report.",
    )
