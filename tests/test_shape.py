"""The shape of the code: no circle of imports, short functions, few floors in linking."""

from __future__ import annotations

import ast
import functools
import sys
import tokenize
import types
from pathlib import Path

from canonym import Concept, Linker, Terminology
from tests.test_layers import tree_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "canonym"
LONGEST_FUNCTION = 60
LONGEST_FILE = 600
MOST_FLOORS = 9
MOST_FILES_AT_THE_TOP = 5
MOST_FILES_OF_A_LINK = 10
VAGUE = {"found", "one", "each", "given", "chosen", "wanted", "kept"}
MOST_VAGUE_NAMES = 200


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        dotted = ".".join(["canonym", *path.relative_to(PACKAGE).with_suffix("").parts])
        found[dotted.removesuffix(".__init__")] = path
    return found


def _for_types_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _imported(node: ast.AST, modules: dict[str, Path]) -> set[str]:
    """The modules of ours that a tree imports anywhere, but for type checkers."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                module = f"{child.module}.{alias.name}"
                found.add(module if module in modules else child.module)
        elif isinstance(child, ast.Import):
            found.update(alias.name for alias in child.names)
        elif not _for_types_only(child):
            found |= _imported(child, modules)
    return {name for name in found if name in modules}


@functools.cache
def _graph() -> dict[str, set[str]]:
    modules = _modules()
    return {name: _imported(tree_of(path), modules) - {name} for name, path in modules.items()}


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    circles = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], number[other])
        if lowest[name] == number[name]:
            circle = stack[stack.index(name) :]
            del stack[-len(circle) :]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for name in graph:
        if name not in number:
            visit(name)
    return circles


def test_no_imports_run_in_a_circle() -> None:
    # A package's front door imports its modules, and a module may name its package.
    assert _circles(_graph()) == []


def test_circles_are_found() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert _circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_linking_has_few_floors() -> None:
    graph = _graph()
    room = {name for name in graph if name.startswith("canonym.link")}

    @functools.cache
    def floors(name: str) -> int:
        return 1 + max((floors(other) for other in graph[name] & room), default=0)

    assert floors("canonym.linker") <= MOST_FLOORS


def test_a_link_is_made_by_few_files() -> None:
    linker = Linker.build(Terminology.build([Concept("X:1", "heart attack")]))
    linker.link(["heart attacks"])  # what is made at the first call does not count
    ran: set[str] = set()

    def note(frame: types.FrameType, *_: object) -> None:
        ran.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        linker.link(["attack of the heart"])
    finally:
        sys.setprofile(None)
    room = {PACKAGE / "linker.py", *(PACKAGE / "linking").glob("*.py")}
    files = {path.name for path in room if str(path) in ran}
    assert {"linker.py", "pipeline.py", "search.py"} <= files
    assert len(files) <= MOST_FILES_OF_A_LINK, sorted(files)


def _vague_names(tree: ast.AST) -> int:
    """Count where a variable or a parameter is called by what was done with it."""
    names = [
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return sum(name in VAGUE for name in names)


def test_variables_are_called_what_they_are() -> None:
    example = "def f(found, rows):\n    for one in found:\n        kept = [each for each in rows]"
    assert _vague_names(ast.parse(example)) == 4
    trees = [tree_of(path) for path in _modules().values()]
    assert sum(map(_vague_names, trees)) <= MOST_VAGUE_NAMES


def test_linking_stands_below_evaluation_and_training() -> None:
    for name, imported in _graph().items():
        if name.startswith(("canonym.linking", "canonym.linker")):
            above = {one for one in imported if one.startswith(("canonym.eval", "canonym.train"))}
            assert not above, f"{name} imports {above}"


def test_few_files_stand_at_the_top() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_FILES_AT_THE_TOP


@functools.cache
def _lines_of_code(path: Path) -> set[int]:
    """Numbers of the lines that hold code: no blanks, no comments."""
    skipped = {
        *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
        tokenize.ENCODING,
    }
    lines: set[int] = set()
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            if token.type not in skipped:
                lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def _docstring_lines(node: ast.AST) -> set[int]:
    lines: set[int] = set()
    for one in ast.walk(node):
        if (
            isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and one.body
            and isinstance(one.body[0], ast.Expr)
            and isinstance(one.body[0].value, ast.Constant)
            and isinstance(one.body[0].value.value, str)
        ):
            lines.update(range(one.body[0].lineno, (one.body[0].end_lineno or 0) + 1))
    return lines


def _long_functions(name: str, path: Path) -> list[str]:
    tree = tree_of(path)
    long = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines = set(range(node.lineno, (node.end_lineno or 0) + 1))
        if len(lines) > LONGEST_FUNCTION:
            n = len(lines & _lines_of_code(path) - _docstring_lines(node))
            if n > LONGEST_FUNCTION:
                long.append(f"{name}.{node.name} has {n} lines of code")
    return long


def test_functions_are_short() -> None:
    modules = _modules().items()
    assert not [long for name, path in modules for long in _long_functions(name, path)]


def test_files_are_no_longer_than_a_subject() -> None:
    lines = {
        name: len(path.read_text(encoding="utf-8").splitlines())
        for name, path in _modules().items()
    }
    assert not {name: n for name, n in lines.items() if n > LONGEST_FILE}
