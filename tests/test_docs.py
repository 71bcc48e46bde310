"""The examples of README and docs are run, and their printed outputs compared.

In every Markdown file, in order and in one empty folder:

- ``python`` blocks are executed in one namespace; with ``>>>`` prompts they are doctests, without
  them their output is compared with the ``text`` block right after them, if there is one;
- ``console`` blocks run the lines that start with ``$`` and compare what follows;
- ``…`` stands for anything: within a line, or as a line of its own for any number of lines.

A comment right before a block changes what is done with it::

    <!-- file: NAME -->     write the block to a file of that name
    <!-- needs: data -->    run it only where the corpora are ($CANONYM_DATA)
    <!-- terminal -->       run it as if at a terminal
    <!-- not run: WHY -->   leave it alone

``python -m tests.test_docs PAGE...`` writes real outputs into the pages wherever they differ.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import runpy
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from canonym.encoders import ENCODERS
from tests import preloaded
from tests.conftest import clean_environment, own_folders

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"^(?:<!-- (?P<comment>[^\n]*?) -->\n)?```(?P<language>[\w-]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PORT = re.compile(r"--(?:port|http) (\d{4,5})\b")
_COMMAND = re.compile(
    r"^\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*\n)(?P<printed>(?:(?!\$ )[^\n]*\n)*)", re.M
)
# Pages that link to ICD-10-CM: its index is built once.
_WITH_ICD10CM = {
    *("README.md", "index.md", "homonyms-and-nil.md", "openrefine.md", "second-look.md"),
    *("spreadsheet.md", "text.md"),
}
# What a shell has to read: pipes, variables, patterns and the like.
_SHELL = re.compile(r"[|&;<>$`*?~#!(){}\[\]]")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Difference(NamedTuple):
    """An output that a page shows (`start` to `end` of its text), and the real one."""

    start: int
    end: int
    command: str
    printed: str


def _pages() -> list[Path]:
    whole = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return [*whole, *sorted((ROOT / "docs").rglob("*.md"))]


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _tidy(said: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in said.strip("\n").splitlines())


def matches(expected: str, said: str) -> bool:
    """Compare with ``…`` as a wildcard, and without blanks at the ends of lines."""
    pattern = ""
    for line in _tidy(expected).splitlines():
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(part) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, _tidy(said)) is not None


class Reader:
    """Someone who types in a page from top to bottom, in an empty folder."""

    def __init__(self, page: Path, folder: Path, environment: dict[str, str]) -> None:
        self.text = page.read_text(encoding="utf-8")
        self.ports = {port: str(free_port()) for port in _PORT.findall(self.text)}
        self.page = page
        self.folder = folder
        self.environment = environment
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def read(self, data: Callable[[], Path]) -> Iterator[Difference]:
        """Run the page's blocks and yield where an output differs."""
        blocks = list(_BLOCK.finditer(self.text))
        for number, block in enumerate(blocks):
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            comment = block["comment"] or ""
            if comment.startswith("not run: "):
                continue
            if comment == "needs: data":
                self.environment["CANONYM_DATA"] = str(data())
            if comment.startswith("file: "):
                name = comment.removeprefix("file: ")
                (self.folder / name).write_text(block["text"], encoding="utf-8")
            elif block["language"] == "console":
                yield from self._console(block, terminal=comment == "terminal")
            elif block["language"] == "python":
                printed = None
                if after is not None and after["language"] == "text":
                    between = self.text[block.end() : after.start()]
                    printed = None if between.strip() else after
                yield from self._python(block, printed)

    def _console(self, block: re.Match[str], *, terminal: bool) -> Iterator[Difference]:
        assert block["text"].startswith("$ "), f"{self._where(block)}: no prompt"
        for part in _COMMAND.finditer(self.text, block.start("text"), block.end("text")):
            said = self._shell(part["command"], terminal=terminal)
            if not matches(part["printed"], said):
                yield Difference(part.start("printed"), part.end("printed"), part["command"], said)

    def _python(self, block: re.Match[str], printed: re.Match[str] | None) -> Iterator[Difference]:
        where = self._where(block)
        if ">>> " in block["text"]:
            text = block["text"].replace("…", "...")
            test = doctest.DocTestParser().get_doctest(text, self.names, where, where, 0)
            wrong: list[str] = []
            runner = doctest.DocTestRunner(optionflags=_FLAGS)
            runner.run(test, out=wrong.append, clear_globs=False)
            self.names = test.globs
            assert not wrong, "".join(wrong)
            return
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(self._moved(block["text"]), where, "exec"), self.names)
        said = self._moved(output.getvalue(), back=True)
        if printed is not None and not matches(printed["text"], said):
            yield Difference(*printed.span("text"), block["text"], said)

    def _where(self, block: re.Match[str]) -> str:
        return f"{self.page.name}:{self.text.count(chr(10), 0, block.start('text'))}"

    def _moved(self, text: str, *, back: bool = False) -> str:
        """Put free ports for those that the page names, or those of the page again."""
        for shown, free in self.ports.items():
            old, new = (free, shown) if back else (shown, free)
            text = re.sub(rf"\b{old}\b", new, text)
        return text

    def _shell(self, command: str, *, terminal: bool) -> str:
        """Run one command and return the output of both streams."""
        return self._moved(self._run(self._moved(command), terminal=terminal), back=True)

    def _run(self, command: str, *, terminal: bool) -> str:
        if command.startswith("canonym ") and not terminal and not _SHELL.search(command):
            return preloaded.run(shlex.split(command)[1:], self.folder, self.environment)
        # At a terminal, progress is left out: it is gone when the command is done.
        spawn = "import pty, sys; pty.spawn(['bash', '-c', 'exec 2>/dev/null; ' + sys.argv[1]])"
        done = subprocess.run(
            [sys.executable, "-c", spawn, command] if terminal else ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env=self.environment,
            timeout=300,
        )
        return _ESCAPES.sub("", done.stdout.decode("utf-8"))


def _environment(data_home: Path) -> dict[str, str]:
    return {
        **clean_environment(),
        **own_folders(data_home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
        "TERM": "xterm",
    }


def _lacking() -> list[str]:
    """Modules of the extra `all` that are not installed."""
    from tests.test_layers import THIRD_PARTY

    alone = {"", "ray", "spacy", "spark"}
    return [
        name for name, extra in THIRD_PARTY.items() if extra not in alone and not find_spec(name)
    ]


def _pages_to_run() -> list[Path]:
    run = re.compile(r"^```(python|console)$", re.MULTILINE)
    return [page for page in _pages() if run.search(page.read_text(encoding="utf-8"))]


# They train, or read much: `make slow` runs them.
_SLOW = (
    "docs/guides/homonyms-and-nil.md",
    "docs/methods/triplet-search.md",
    "docs/models/multilingual.md",
)


def _marked(page: Path) -> Any:
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, marks=[pytest.mark.slow] if name in _SLOW else [], id=name)


@pytest.mark.parametrize("page", map(_marked, _pages_to_run()))
def test_page(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    for kind in set(re.findall(r'ENCODERS\["(\w+)"\]', page.read_text("utf-8"))):
        monkeypatch.setitem(ENCODERS, kind, "")  # is taken away again, whatever the page makes it
    data_home = tmp_path / "data"
    if lacking := _lacking():
        pytest.skip(f"needs the extra all: there is no {', '.join(lacking)}")
    if page.name in _WITH_ICD10CM:
        data_home = request.getfixturevalue("packaged")
    for variable, value in own_folders(data_home).items():
        monkeypatch.setenv(variable, value)
    folder = tmp_path / "page"
    folder.mkdir()
    monkeypatch.chdir(folder)
    reader = Reader(page, folder, _environment(data_home))
    for found in reader.read(lambda: request.getfixturevalue("data")):
        line = reader.text.count("\n", 0, found.start)
        pytest.fail(f"{page.name}:{line}: {found.command}says:\n{found.printed}", pytrace=False)


def test_ports_of_a_page_are_free_ones(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        served = f"python -m http.server --bind 127.0.0.1 --port {port}"
        page.write_text(
            f"```console\n$ echo {served}; echo 1{port}\n{served}\n1{port}\n```\n\n"
            f"```python\nimport socket\nsocket.create_server(('127.0.0.1', {port})).close()\n"
            f"print({port})\n```\n\n```text\n{port}\n```\n"
        )
        reader = Reader(page, tmp_path, dict(os.environ))
        assert [*reader.read(lambda: tmp_path)] == []


def test_links_lead_somewhere() -> None:
    assert not [
        f"{page.relative_to(ROOT)} links to {target}"
        for page in _pages()
        for target in re.findall(
            r"\]\(([^)#\s]+)(?:#[^)]*)?\)", _BLOCK.sub("", page.read_text(encoding="utf-8"))
        )
        if "://" not in target and not (page.parent / target).exists()
    ]


def test_names_of_the_library_exist() -> None:
    assert not [
        f"{page.relative_to(ROOT)} names {name}"
        for page in _pages()
        for name in re.findall(r"`(canonym\.(?!json`)[\w.]+)`", page.read_text(encoding="utf-8"))
        if not _exists(name)
    ]


def _exists(name: str) -> bool:
    """Whether a dotted name is a module, or a member of one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_pages_quote_the_results() -> None:
    filled = runpy.run_path(str(ROOT / "benchmarks" / "tables.py"))["filled"]
    texts = {page: page.read_text(encoding="utf-8") for page in _pages()}
    assert "<!-- results: " in texts[ROOT / "README.md"]
    stale = [str(page.relative_to(ROOT)) for page, text in texts.items() if text != filled(text)]
    assert not stale, "run: python benchmarks/tables.py"


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    pytest.importorskip("mkdocstrings", reason="needs the extra docs")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*build, "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**_environment(tmp_path), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "site" / "reference" / "canonym" / "index.html").read_text(encoding="utf-8")
    assert 'id="canonym.linker.Linker.link_document"' in page


def _modules_with_examples() -> list[str]:
    source = ROOT / "src"
    return [
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(source.rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("name", _modules_with_examples())
def test_examples_in_docstrings(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name))
    if any("Linker.default(" in example.source for test in tests for example in test.examples):
        for variable, folder in own_folders(request.getfixturevalue("packaged")).items():
            monkeypatch.setenv(variable, folder)
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    said: list[str] = []
    for test in tests:
        runner.run(test, out=said.append)
    assert runner.tries, "its examples are in no docstring"
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize(
    ("expected", "given", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a … d", "a b c d\n", True),
        ("a\n…\nd", "a\nb\nc\nd\n", True),
        ("a\n…\nd", "a\nd\n", True),
        ("a.c", "abc", False),
        ("", "", True),
        ("", "something", False),
        ("a\n…", "b\n", False),
    ],
)
def test_wildcards(expected: str, given: str, same: bool) -> None:
    assert matches(expected, given) is same


def _refresh(page: Path) -> None:
    """Write real outputs into a page wherever they differ from those it shows."""
    # Next to the repository, as in tests/conftest.py.
    data = Path(os.environ.get("CANONYM_DATA", ROOT.parent / "shared" / "data"))
    with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
        data_home = Path(scratch) / "data"
        os.environ.update(own_folders(data_home))
        folder = Path(scratch) / "page"
        folder.mkdir()
        os.chdir(folder)
        reader = Reader(page, folder, _environment(data_home))
        text = reader.text
        for found in reversed(list(reader.read(lambda: data))):
            text = text[: found.start] + _tidy(found.printed) + text[found.end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for named in sys.argv[1:]:
        _refresh(Path(named).resolve())
