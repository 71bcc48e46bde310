"""What the README and the guides show is run, and what they say comes out does come out.

In every Markdown file, in order and in one empty folder:

- ``python`` blocks are executed in one namespace; with ``>>>`` prompts they are doctests, without
  them what they print is compared with the ``text`` block right after them, if there is one;
- ``console`` blocks run the lines that start with ``$`` and compare what follows;
- ``…`` stands for anything: within a line, or as a line of its own for any number of lines.

A comment right before a block changes what is done with it::

    <!-- file: NAME -->     write the block to a file of that name
    <!-- needs: data -->    run it only where the corpora are ($CANONYM_DATA)
    <!-- terminal -->       run it as if at a terminal
    <!-- not run: WHY -->   leave it alone
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import canonym

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(
    r"^(?:<!-- (?P<comment>[^\n]*?) -->\n)?```(?P<language>[\w-]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass
class Block:
    """A fenced block: its language, the comment before it, its text and its line."""

    language: str
    comment: str
    text: str
    line: int
    adjacent: bool
    """Whether nothing but blank lines stands between the block before and this one."""


def _pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, last = [], -1
    for match in _BLOCK.finditer(text):
        found.append(
            Block(
                match["language"],
                match["comment"] or "",
                match["text"],
                text.count("\n", 0, match.start()) + 1,
                last >= 0 and not text[last : match.start()].strip(),
            )
        )
        last = match.end()
    return found


def matches(expected: str, given: str) -> bool:
    """Compare with ``…`` as a wildcard, and without blanks at the ends of lines."""
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    pattern = ""
    for line in lines:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.split("…")) + "\n"
    said = "".join(f"{line.rstrip()}\n" for line in given.strip("\n").splitlines())
    return re.fullmatch(pattern, said) is not None


class Reader:
    """Someone who types in a page from top to bottom."""

    def __init__(self, page: Path, folder: Path, environment: dict[str, str]) -> None:
        self.page = page
        self.folder = folder
        self.environment = environment
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block, printed: str | None) -> None:
        """Do what a block says; `printed` is what it should print."""
        where = f"{self.page.relative_to(ROOT)}:{block.line}"
        if block.language == "console":
            self.console(block, where)
        elif ">>> " in block.text:
            self.session(block, where)
        else:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block.text, where, "exec"), self.names)
            if printed is not None:
                assert matches(printed, said.getvalue()), f"{where} prints:\n{said.getvalue()}"

    def session(self, block: Block, where: str) -> None:
        """Run a Python session with its prompts."""
        text = block.text.replace("…", "...")
        test = doctest.DocTestParser().get_doctest(text, self.names, where, where, block.line)
        runner = doctest.DocTestRunner(optionflags=_FLAGS)
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        self.names = test.globs
        assert not runner.failures, "".join(said)

    def console(self, block: Block, where: str) -> None:
        """Run the commands of a shell session."""
        parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        assert not parts[0].strip(), f"{where}: a console block starts with a prompt"
        for part in parts[1:]:
            lines = part.splitlines()
            n_lines = 1 + sum(1 for _ in self._continued(lines))
            command, expected = "\n".join(lines[:n_lines]), "\n".join(lines[n_lines:])
            said = self.shell(command, terminal=block.comment == "terminal")
            assert matches(expected, said), f"{where}: {command}\nprints:\n{said}"

    @staticmethod
    def _continued(lines: list[str]) -> list[str]:
        whole = []
        for line in lines:
            if not line.endswith("\\"):
                break
            whole.append(line)
        return whole

    def shell(self, command: str, *, terminal: bool) -> str:
        """Run one command and return what it says on both streams."""
        spawn = "import pty, sys; pty.spawn(['bash', '-c', sys.argv[1]])"
        done = subprocess.run(
            [sys.executable, "-c", spawn, command] if terminal else ["bash", "-c", command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=self.folder,
            env=self.environment,
            timeout=120,
        )
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", done.stdout.decode("utf-8"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE_", "COV_CORE_"))}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "CANONYM_CACHE": str(tmp_path_factory.mktemp("cache")),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page(
    page: Path,
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CANONYM_CACHE", environment["CANONYM_CACHE"])
    reader = Reader(page, tmp_path, dict(environment))
    blocks = _blocks(page)
    for number, block in enumerate(blocks):
        if block.comment.startswith("not run: "):
            continue
        if block.comment.startswith("file: "):
            (tmp_path / block.comment.removeprefix("file: ")).write_text(block.text, "utf-8")
            continue
        if block.language not in {"python", "console"}:
            continue
        if block.comment == "needs: data":
            reader.environment["CANONYM_DATA"] = str(request.getfixturevalue("data"))
        after = blocks[number + 1 : number + 2]
        printed = (
            after[0].text if after and after[0].adjacent and after[0].language == "text" else None
        )
        reader.run(block, printed)


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"


@pytest.mark.parametrize(
    "name", [found.name for found in pkgutil.walk_packages(canonym.__path__, "canonym.")]
)
def test_examples_in_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name.endswith("__main__"):
        return
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=_FLAGS)
    said: list[str] = []
    for test in finder.find(module):
        runner.run(test, out=said.append)
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
