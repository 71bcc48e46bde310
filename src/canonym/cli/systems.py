"""What is evaluated: an index, or a terminology and encoders, named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.types import Encoder

__all__ = ["System", "open_system"]


class System(NamedTuple):
    """What `canonym.evaluation.run.evaluate_corpus` takes of a system, by the same names."""

    terminology: Terminology | None
    linker: Linker | None
    encoders: Sequence[str | Encoder]
    weights: Sequence[float] | None


def open_system(
    index: str | None,
    terminologies: Sequence[str],
    encoders: Sequence[str],
    weights: Sequence[float],
    protocol: str,
    *,
    quiet: bool,
) -> System:
    """Open what is evaluated.

    Parameters
    ----------
    index : str, optional
        An index; under every protocol but ``raw`` its terminology and, unless others are named,
        its encoders are taken.
    terminologies : sequence of str
        Otherwise: one terminology, or several that are read one after the other.
    encoders : sequence of str
        As `canonym.encoders.make_encoder` takes them; ``"verbatim"`` is none at all.
    weights : sequence of float
        One per encoder.
    protocol : str
        A key of `canonym.evaluation.protocols.PROTOCOLS`.
    quiet : bool
        Show no progress.

    Raises
    ------
    InvalidInput
        If encoders or weights do not go with each other or with the index.
    """
    from canonym.cli.sources import open_linker
    from canonym.errors import InvalidInput

    if "verbatim" in encoders and len(encoders) > 1:
        raise InvalidInput("verbatim is look-up without an encoder: it goes with no other")
    named: Sequence[str | Encoder] = () if "verbatim" in encoders else encoders or ("default",)
    if not index:
        return System(_open_terminology(terminologies, quiet=quiet), None, named, weights or None)
    linker = open_linker(index, quiet=quiet)
    if protocol == "raw" or encoders:
        return System(None, linker, named, weights or None)
    if weights:
        raise InvalidInput("--weight goes with --encoder: the index has weights of its own")
    described: list[dict[str, Any]] = linker.manifest["encoders"]
    return System(None, linker, _encoders_of(linker), [float(one["weight"]) for one in described])


def _encoders_of(linker: Linker) -> list[str | Encoder]:
    """Return the encoders of an index; one that is fitted to its names is fitted anew."""
    from canonym.encoders import SHIPPED, load_encoder, marked

    found: list[str | Encoder] = []
    for number, one in enumerate(linker.manifest["encoders"]):
        name = one["name"]
        if name == "chargrams":
            found.append(name)
        else:
            encoder = load_encoder(linker.folder / f"encoder-{number}")
            found.append(marked(encoder, name) if name in SHIPPED else encoder)
    return found


def _open_terminology(paths: Sequence[str], *, quiet: bool) -> Terminology:
    import itertools

    from canonym.cli.sources import open_terminology
    from canonym.terminology import Terminology, read_records

    if len(paths) == 1:
        return open_terminology(paths[0], quiet=quiet)
    return Terminology.build(itertools.chain.from_iterable(map(read_records, paths)))
