"""Making the encoder that comes with canonym, from the files that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from canonym.encoders.subword import Subword
from canonym.errors import InvalidInput
from canonym.training.mixture import PARTS, digests, mixture_files, read_mixture
from canonym.training.subword import fit_subword

__all__ = ["OPTIONS", "check_data", "make_default_encoder"]

OPTIONS: Mapping[str, Any] = {
    "batch": 512,
    "dimensions": 128,
    "n_bits": 17,
    "temperature": 0.05,
    "dropout": 0.3,
    "learning_rate": 4e-3,
    "hard_neighbours": 1,
    "refresh": 5,
    "positives": 3,
}
"""Options of `canonym.training.subword.fit_subword`, chosen on the development parts."""

MENTION_SHARE = 0.3
"""Share of the draws that are mentions, chosen on the development parts."""


def check_data(data: Path, *, parts: Sequence[str] = PARTS) -> None:
    """Make sure that every file is there before hours are spent.

    Raises
    ------
    InvalidInput
        If one is not.
    """
    missing = [path for path in mixture_files(parts).values() if not (data / path).is_file()]
    if missing:
        raise InvalidInput(
            f"{data} lacks {len(missing)} of the files that the default encoder is made from "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}); give the folder that "
            "holds the terminologies and corpora, or set CANONYM_DATA to it"
        )


def make_default_encoder(
    data: Path,
    *,
    parts: Sequence[str] = PARTS,
    steps: int = 8000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    log: Callable[[str], None] | None = None,
) -> Subword:
    """Fit the subword encoder to the terminologies and mentions under `data`.

    Parameters
    ----------
    data : Path
        The folder with the files of `canonym.training.mixture.mixture_files`.
    parts : sequence of str
        Parts of the corpora that are learned from: both for the encoder that is given away, the
        training part alone for one to make choices with.
    steps, seed, progress, log
        Those of `canonym.training.subword.fit_subword`.

    Returns
    -------
    Subword
        Of 8-bit integers; how it came about is in ``trained``. Equal files, options and libraries
        give equal bytes on the same machine.

    Raises
    ------
    InvalidInput
        If a file is missing.
    Mismatch
        If a document that is learned from is in a test part too.
    """
    check_data(data, parts=parts)
    of_files = {**digests(data, parts), "ICD-10-CM": _package("simple-icd-10-cm")}
    mixture = read_mixture(data, parts=parts, mention_share=MENTION_SHARE, log=log)
    options = {**OPTIONS, "steps": steps, "seed": seed}
    encoder = fit_subword(
        mixture.names,
        mixture.concepts,
        weights=mixture.weights,
        name_weights=mixture.name_weights,
        sources=mixture.sources,
        progress=progress,
        log=log,
        **options,
    )
    trained = {
        "options": {**options, "mention_share": MENTION_SHARE, "parts": list(parts)},
        "concepts": len(mixture.weights),
        **mixture.counts,
        "data": of_files,
        "versions": {name: version(name) for name in ("numpy", "scipy")},
    }
    return Subword(encoder.table, scale=encoder.scale, **encoder.options() | {"trained": trained})


def _package(name: str) -> str:
    return f"{name} {version(name)}"
