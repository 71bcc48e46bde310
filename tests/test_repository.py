"""What a tracked file must not hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
LARGEST = 5_000_000


def _tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def _texts() -> list[tuple[Path, str]]:
    found = []
    for path in _tracked():
        raw = path.read_bytes() if path.stat().st_size <= LARGEST else b"\0"
        if b"\0" not in raw and path != Path(__file__):
            found.append((path.relative_to(ROOT), raw.decode("utf-8", "replace")))
    return found


def _found(pattern: str, texts: list[tuple[Path, str]]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in texts
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<![\w.])/(work|root|farm|home)/[a-z]",
        r"pypi\.org/simple|files\.pythonhosted|registry\.npmjs|deb\.debian\.org",
        r"\b(TODO|FIXME|XXX)\b",
        r"[ \t]+$",
    ],
    ids=["machine path", "package registry", "unfinished", "trailing blanks"],
)
def test_no_tracked_file_holds(pattern: str) -> None:
    texts = _texts()
    if pattern.endswith("$"):
        texts = [(path, text) for path, text in texts if path.suffix in {".py", ".md", ".toml"}]
    assert not _found(pattern, texts)


def test_nothing_is_ever_unpickled() -> None:
    code = [(path, text) for path, text in _texts() if path.parts[0] in {"src", "benchmarks"}]
    pattern = r"^\s*(import|from)\s+(pickle|dill|cloudpickle|joblib|shelve|marshal)\b"
    assert not _found(pattern, code)
    assert not _found(r"allow_pickle\s*=\s*True|torch\.load\((?!.*weights_only=True)", code)


def test_nothing_large_is_tracked_but_the_model() -> None:
    large = [
        str(path.relative_to(ROOT))
        for path in _tracked()
        if path.stat().st_size > LARGEST and ROOT / "src/canonym/models" not in path.parents
    ]
    assert not large


def test_what_a_repository_needs_is_there() -> None:
    for name in (
        *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "Makefile"),
        *("SECURITY.md", ".pre-commit-config.yaml", ".github/ISSUE_TEMPLATE/bug.yml"),
        *("constraints.txt", "pyproject.toml", ".ci/run", "src/canonym/py.typed"),
    ):
        assert (ROOT / name).is_file(), f"{name} is missing"
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111, ".ci/run cannot be executed"


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-issue-forms", "ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", "ISSUE_TEMPLATE/config.yml"),
    ],
)
def test_what_github_reads_is_valid(schema: str, pattern: str) -> None:
    pytest.importorskip("check_jsonschema", reason="needs check-jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    files = sorted((ROOT / ".github").glob(pattern))
    assert files
    subprocess.run([*command, *files], check=True)


def test_every_python_that_is_promised_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = re.findall(r":: Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={promised[0]}"
    workflow = (WORKFLOWS / "test.yml").read_text(encoding="utf-8")
    assert f"python: [{', '.join(map(json.dumps, promised))}]" in workflow


def test_ruff_is_the_same_everywhere() -> None:
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"^ruff==(.+)$", constraints, re.MULTILINE)
    assert f"rev: v{version}\n" in (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
