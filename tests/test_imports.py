"""`import canonym` is quick and loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from tests.conftest import clean_environment

# What `import canonym` may load beyond a bare interpreter. Nothing of ours but the package itself,
# nothing of anybody else's: not even numpy.
ALLOWED = {"canonym", "__future__", "typing", "importlib"}
LIMIT = 0.4


def _run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(),
        timeout=60,
    )
    return done.stdout


def _loaded(code: str) -> set[str]:
    return set(
        json.loads(_run(f"{code}; import sys, json; print(json.dumps(sorted(sys.modules)))"))
    )


def _seconds(code: str) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        _run(code)
        times.append(time.perf_counter() - start)
    return min(times)


def test_importing_loads_only_the_package_itself() -> None:
    # What typing and importlib bring along is the standard library's own business.
    bare = _loaded("import typing, importlib")
    extra = {name for name in _loaded("import canonym") - bare if not name.startswith("_")}
    foreign = {name for name in extra if name.split(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"canonym"}
    assert {name.split(".")[0] for name in extra} <= ALLOWED


def test_importing_is_quick() -> None:
    assert _seconds("import canonym") - _seconds("pass") < LIMIT


def test_the_nouns_need_numpy_and_nothing_heavier() -> None:
    loaded = _loaded("from canonym import Linker, Terminology, Concept, Name, Mention")
    heavy = {
        *("torch", "transformers", "onnxruntime", "pyarrow", "pandas", "rdflib", "sklearn"),
        *("polars", "duckdb"),
        *("pyab3p", "simple_icd_10_cm", "rich", "click"),
    }
    assert not loaded & heavy


HEAVY = {
    *("torch", "transformers", "scipy", "pandas", "pyarrow", "polars", "onnxruntime", "tokenizers"),
    *("rich", "jinja2", "openpyxl", "asyncio", "multiprocessing", "concurrent.futures.process"),
    *("urllib.request", "http.client", "ssl", "email.parser", "xml.sax", "importlib.metadata"),
    *("canonym.corpora", "canonym.terminology.formats", "canonym.terminology.readers"),
    *("canonym.mentions.trial_fields", "canonym.linking.fitting"),
}
"""What linking a few names has no use for, and what takes milliseconds to import."""


def test_linking_a_name_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,name\nX:1,heart attack\nX:2,hip fracture\n")
    build = f"import canonym.cli; canonym.cli.main(['index', '-q', {str(tmp_path / 'x.csv')!r}, "
    _run(f"{build}'-o', {str(tmp_path / 'x')!r}], standalone_mode=False)")
    link = f"['link', 'heart attck', '--index', {str(tmp_path / 'x')!r}]"
    code = (
        "import io, sys, contextlib, canonym.cli\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        f"    canonym.cli.main({link}, standalone_mode=False)\n"
        "assert 'X:1' in out.getvalue()"
    )
    loaded = {name for name in _loaded_after(code) if name in HEAVY}
    assert not loaded


def _loaded_after(code: str) -> set[str]:
    return set(json.loads(_run(f"{code}\nimport json; print(json.dumps(sorted(sys.modules)))")))
