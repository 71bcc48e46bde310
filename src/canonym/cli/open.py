"""Systems to evaluate: an index, or a terminology and encoders, named on the command line."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from canonym.cli.device import check_device
from canonym.errors import InvalidInput

if TYPE_CHECKING:
    from canonym.linker import Linker
    from canonym.terminology import Terminology
    from canonym.types import Encoder


def open_system(
    index: str | None,
    terminologies: Sequence[str],
    encoders: Sequence[str],
    weights: Sequence[float],
    protocol: str,
    device: str | None,
) -> dict[str, Any]:
    """Open an index; or, without one, terminologies and encoders (``"verbatim"`` means none).

    The system is returned by the names of the parameters of
    `canonym.evaluation.run.evaluate_corpus`. Under every protocol but ``raw`` an index gives its
    terminology and, unless others are named, its encoders. Raises `InvalidInput` if encoders,
    weights or the device do not go with each other or with the index.
    """
    from canonym.cli.named_indexes import open_linker

    if "verbatim" in encoders and len(encoders) > 1:
        raise InvalidInput("verbatim is look-up without an encoder: it goes with no other")
    named: Sequence[str | Encoder] = () if "verbatim" in encoders else encoders or ("default",)
    linker = open_linker(index) if index else None
    terminology = open_terminologies(terminologies) if linker is None else None
    if linker is not None and protocol != "raw" and not encoders:
        if weights:
            raise InvalidInput("--weight goes with --encoder: the index has weights of its own")
        named = _encoders_of(linker)
        weights = [float(encoder["weight"]) for encoder in linker.manifest["encoders"]]
    check_device(device, named, linker if protocol == "raw" else None)
    return {
        "terminology": terminology,
        "linker": linker,
        "encoders": named,
        "weights": weights or None,
    }


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
    from canonym.cli.named_indexes import open_terminology
    from canonym.terminology import Terminology, read_records

    if len(paths) == 1:
        return open_terminology(paths[0])
    return Terminology.build(itertools.chain.from_iterable(map(read_records, paths)))
