"""Systems to evaluate: an index, or a terminology and encoders, named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from canonym.cli.device import check_device, encoders_of

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.types import Encoder


class System(NamedTuple):
    """A system, by the names of the parameters of `canonym.evaluation.run.evaluate_corpus`."""

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
    device: str | None = None,
) -> System:
    """Open an index; or, without one, terminologies and encoders (``"verbatim"`` means none).

    Under every protocol but ``raw`` an index gives its terminology and, unless others are named,
    its encoders. Raises `InvalidInput` if encoders, weights or the device do not go with each other
    or with the index.
    """
    system = _open_system(index, terminologies, encoders, weights, protocol)
    raw = system.linker if protocol == "raw" else None
    check_device(device, encoders_of(raw) if raw else system.encoders, raw)
    return system


def _open_system(
    index: str | None,
    terminologies: Sequence[str],
    encoders: Sequence[str],
    weights: Sequence[float],
    protocol: str,
) -> System:
    from canonym.cli.named_indexes import open_linker
    from canonym.errors import InvalidInput

    if "verbatim" in encoders and len(encoders) > 1:
        raise InvalidInput("verbatim is look-up without an encoder: it goes with no other")
    named: Sequence[str | Encoder] = () if "verbatim" in encoders else encoders or ("default",)
    if not index:
        return System(open_terminologies(terminologies), None, named, weights or None)
    linker = open_linker(index)
    if protocol == "raw" or encoders:
        return System(None, linker, named, weights or None)
    if weights:
        raise InvalidInput("--weight goes with --encoder: the index has weights of its own")
    of_index = [float(encoder["weight"]) for encoder in linker.manifest["encoders"]]
    return System(None, linker, _encoders_of(linker), of_index)


def _encoders_of(linker: Linker) -> list[str | Encoder]:
    """Return the encoders of an index; one that is fitted to its names is only named."""
    from canonym.encoders import SHIPPED, load_encoder, marked

    opened: list[str | Encoder] = []
    for number, described in enumerate(linker.manifest["encoders"]):
        name = described["name"]
        if name == "chargrams":
            opened.append(name)
        else:
            encoder = load_encoder(linker.folder / f"encoder-{number}")
            opened.append(marked(encoder, name) if name in SHIPPED else encoder)
    return opened


def open_terminologies(paths: Sequence[str]) -> Terminology:
    """Open one terminology, or several as if they were one."""
    import itertools

    from canonym.cli.named_indexes import open_terminology
    from canonym.terminology import Terminology, read_records

    if len(paths) == 1:
        return open_terminology(paths[0])
    return Terminology.build(itertools.chain.from_iterable(map(read_records, paths)))
