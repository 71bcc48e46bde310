"""The same bytes on every processor: an index, what it learns and its links, kernel by kernel.

NumPy, BLAS and the C library choose kernels by the processor, and those round differently. Each
test runs the same work in a process that is told to choose others, and compares the bytes.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys

import pytest

WORK = r"""
import hashlib, json, random, sys
from pathlib import Path

import numpy as np

def digest(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]

draws = np.random.default_rng(0)
x, table, weights = draws.normal(size=4000), draws.normal(size=(500, 17)), draws.normal(size=17)
if "other roundings" in sys.argv:
    # Functions that are right but for the last bit, as those for other processors are.
    def nearly(function):
        def rounded(*arguments, **options):
            exact = np.asarray(function(*arguments, **options))
            if exact.dtype.kind != "f":
                return exact[()]
            chance = np.random.default_rng(exact.size).random((2, *exact.shape))
            towards = np.where(chance[0] < 0.5, -np.inf, np.inf).astype(exact.dtype)
            sure = ~np.isfinite(exact) | (exact == 0) | (exact == 1) | (chance[1] < 0.5)
            return np.where(sure, exact, np.nextafter(exact, towards))[()]
        return rounded
    for name in ("exp", "expm1", "log", "log1p", "log2", "logaddexp", "power", "tanh"):
        setattr(np, name, nearly(getattr(np, name)))
kernels = digest(
    np.exp(x).tobytes(), np.log(np.abs(x)).tobytes(), np.exp(x.astype(np.float32)).tobytes(),
    (table @ weights).tobytes(), (table.T @ table).tobytes(),
)

from canonym import Concept, Document, Linker, Mention, Name, Terminology

rng, folder = random.Random(3), Path(sys.argv[1])
sounds = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
words = ["".join(rng.choices(sounds, k=rng.randint(2, 4))) for _ in range(90)]
records, mentions = [], []
for number in range(320):
    label = rng.sample(words, rng.randint(1, 4))
    records.append(Concept(f"X:{number}", " ".join(label)))
    for _ in range(rng.randint(0, 3)):
        other = [rng.choice(words) if rng.random() < 0.3 else word for word in label]
        rng.shuffle(other)
        records.append(Name(" ".join(other), f"X:{number}"))
    if number % 2:
        place = rng.randrange(len(label))
        label[place] = label[place][:-1] + rng.choice("aeiou")
        mentions.append(Mention(" ".join(label), ids=(f"X:{number}",)))
documents = [
    Document(str(start), "", tuple(mentions[start : start + 5]))
    for start in range(0, len(mentions), 5)
]
terminology = Terminology.build(records, folder / "names.db")
seen = {}

def look(name, linker, figures):
    links = [repr(link) for _, links in linker.link_documents(documents, k=5) for link in links]
    files = {
        str(path.relative_to(linker.folder)): digest(path.read_bytes())
        for path in sorted(linker.folder.rglob("*"))
        if path.is_file()
    }
    seen[name] = {
        "files": files, "figures": figures, "links": digest(repr(links).encode()),
        "fingerprint": linker.fingerprint,
    }

def build(name, *encoders):
    return Linker.build(terminology, encoders=encoders, folder=folder / name)

linker = build("default", "default")
look("default", linker, {})
linker = build("both", "default", "chargrams")
look("both", linker, {})
linker = build("grams", "chargrams")
look("by mentions", linker, linker.fit_confidence(documents))
print(json.dumps({"kernels": kernels, "seen": seen}))
"""


def _kernels_of_2013() -> dict[str, str]:
    """Switch off all newer kernels of NumPy and BLAS that this processor has."""
    from numpy._core import _multiarray_umath as core

    has = core.__cpu_features__
    newer = {"NPY_DISABLE_CPU_FEATURES": " ".join(one for one in core.__cpu_dispatch__ if has[one])}
    return newer | ({"OPENBLAS_CORETYPE": "Haswell"} if has.get("AVX2") else {})


SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": {},
    "kernels of 2013": _kernels_of_2013(),
    "kernels of 2008": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F",
    },
    "other roundings": {},
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    @functools.cache
    def work(setting: str) -> dict[str, object]:
        folder = tmp_path_factory.mktemp("processor")
        command = [sys.executable, "-c", WORK, str(folder), setting]
        found = subprocess.run(
            command,
            env={**os.environ, "OMP_NUM_THREADS": "1", **SETTINGS[setting]},
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert found.returncode == 0, found.stderr
        result: dict[str, object] = json.loads(found.stdout)
        return result

    return work


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("kernels of 2008", marks=pytest.mark.slow),
        "kernels of 2013",
        "other roundings",
    ],
)
def test_bytes_links_and_figures_do_not_depend_on_kernels(setting: str, done) -> None:  # type: ignore[no-untyped-def]
    usual, other = done("as it comes"), done(setting)
    if usual["kernels"] == other["kernels"]:
        pytest.skip(f"{setting}: these settings choose no other kernels on this machine")
    assert other["seen"] == usual["seen"]


def test_what_is_learned_is_worth_comparing(done) -> None:  # type: ignore[no-untyped-def]
    seen = done("as it comes")["seen"]
    assert "judge.json" in seen["by mentions"]["files"]
    assert len({one["links"] for one in seen.values()}) == len(seen)
    assert 0 < seen["by mentions"]["figures"]["ece"] < 0.2
