"""Published tables, described in files and run again.

An experiment is a TOML file: where the published numbers stand, the settings that its rows share,
and the rows, each of which may have settings of its own::

    title = "TF-IDF on disease names"
    source = "Sung et al. (2020), table 2"
    protocol = "biosyn"
    terminology = ["medic-2012/medic_06Jul2012.txt"]

    [[row]]
    name = "NCBI disease"
    corpus = "ncbi-disease"
    encoders = ["chargrams"]
    published = { "accuracy@1" = 87.6 }

==============  ==================================================================================
setting         meaning
==============  ==================================================================================
corpus          folder with train, dev and test files
format          ``"pubtator"`` (default), ``"concept"``, or ``"folds"`` of a cross-validation
types           only mentions of these types
part            ``"test"`` (default), or ``"dev"``
terminology     its files, read one after the other; folds may bring lists of targets instead
protocol        a key of `canonym.evaluation.protocols.PROTOCOLS`; ``split`` and ``same`` vary it
encoders        as `canonym.linker.Linker.build` takes them; none is verbatim look-up
weights         one per encoder
corrections     file of ``wrong||right`` words
reading         which reading is compared; the protocol's first by default
published       percentages by metric; a name without a number to show ours alone
difference      the most, in points, that ours may differ from what is published
caveat          what forbids a strict comparison
seed, k         as `canonym.evaluation.run.evaluate_corpus` takes them
==============  ==================================================================================

Paths are relative to the data folder. A file of a terminology may be a table of its name and of
options of `canonym.terminology.read_records`; ``types`` keeps the concepts that have one of them::

    terminology = [
        { file = "terms.tsv", trees = "trees.tsv", tree_types = true, types = ["D"] },
    ]
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canonym.errors import InvalidInput, ReadError

__all__ = ["EXPERIMENTS", "Experiment", "read_experiment"]

EXPERIMENTS = Path("benchmarks") / "experiments"
"""Where experiments are looked for by name, from the current folder on."""

_SHARED = {
    *("corpus", "format", "types", "part", "terminology", "protocol", "split", "same", "encoders"),
    *("weights", "corrections", "reading", "difference", "caveat", "seed", "k"),
}
_NEEDED = ("name", "corpus", "terminology", "protocol")


@dataclass(frozen=True, slots=True)
class Experiment:
    """A published table: its name, title, source, and the settings of its rows."""

    name: str
    title: str
    source: str
    rows: tuple[dict[str, Any], ...]


def read_experiment(name: str | Path, *, folder: str | Path = EXPERIMENTS) -> Experiment:
    """Read an experiment.

    Parameters
    ----------
    name : str or Path
        A file, or the name of one of `folder` without its ending.
    folder : str or Path
        Where experiments are.

    Raises
    ------
    InvalidInput
        If there is no such experiment.
    ReadError
        If the file is no TOML, a setting is unknown, or one that is needed is missing.
    """
    path = Path(name) if Path(name).suffix == ".toml" else Path(folder) / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in Path(folder).glob("*.toml"))) or "none"
        raise InvalidInput(f"there is no experiment {str(name)!r}; {folder} has {known}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ReadError(path, f"is no TOML ({error})") from error
    rows = content.pop("row", [])
    title, source = content.pop("title", path.stem), content.pop("source", "")
    if not rows or not isinstance(rows, list):
        raise ReadError(path, "has no [[row]]: nothing would be run")
    for row in rows:
        unknown = sorted({*content, *row} - _SHARED - {"name", "published"})
        whole = {**content, **row}
        missing = [key for key in _NEEDED if key not in whole]
        if whole.get("format") == "folds" and "terminology" in missing:
            missing.remove("terminology")
        if unknown:
            raise ReadError(path, f"there is no setting {unknown[0]!r}")
        if missing or not row.get("published"):
            what = missing[0] if missing else "published"
            raise ReadError(path, f"the row {row.get('name', '?')!r} has no {what!r}")
    return Experiment(path.stem, title, source, tuple({**content, **row} for row in rows))
