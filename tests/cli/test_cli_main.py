"""The command as a whole: help, version, completion, exit codes, the page of reference."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from canonym import __version__
from canonym.cli import main
from canonym.cli.failures import printable
from canonym.cli.options import keyword_options
from canonym.cli.reference import reference
from canonym.errors import InvalidInput, MissingExtra, NotTrained
from tests.cli.running import every_command, run


def test_help_names_all_commands() -> None:
    for flag in ("--help", "-h"):
        shown = run(flag).stdout
        for name in main.list_commands(click.Context(main)):
            assert f"\n  {name} " in shown
        assert 'canonym link "heart attack"' in shown


def test_every_command_has_help_with_examples() -> None:
    for words, one in every_command():
        text = run(*words.split()[1:], "--help").stdout
        assert text.startswith(f"Usage: {words} ")
        if not isinstance(one, click.Group):
            assert f"{words} " in text.split("\n", 1)[1], words


def test_help_is_short_enough_to_be_read() -> None:
    lines = {
        words: run(*words.split()[1:], "--help").stdout.count("\n") for words, _ in every_command()
    }
    assert lines.pop("canonym link") <= 120
    assert max(lines.values()) <= 100, lines


def test_the_version_is_that_of_the_package() -> None:
    assert run("--version").stdout == f"canonym {__version__}\n"


def test_an_unknown_command_is_refused() -> None:
    assert "lnik" in run("lnik", code=2).stderr


def test_the_page_of_reference_is_up_to_date() -> None:
    pages = (Path(__file__).parents[2] / "docs" / "cli").glob("*.md")
    assert {page.name: page.read_text() for page in pages} == reference(), (
        "run: python -m canonym.cli.reference docs/cli"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    assert "_CANONYM_COMPLETE" in run("--completion", shell).stdout


def test_completion_completes() -> None:
    environment = {**os.environ, "_CANONYM_COMPLETE": "bash_complete"}
    environment |= {"COMP_WORDS": "canonym li", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "from canonym.cli import main; main(prog_name='canonym')"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "plain,link\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InvalidInput("bad \ud800 \x1b name"), 2, "Error: bad \\ud800 \\x1b name\n"),
        (NotTrained("fit it first"), 2, "Error: fit it first\n"),
        (MissingExtra("writing Parquet", "tables"), 2, "pip install 'canonym[tables]'"),
        (OSError(28, "No space left on device", "/x/y"), 1, "Error: /x/y: No space left"),
        (PermissionError(13, "Permission denied"), 1, "Error: Permission denied"),
        (OSError("odd"), 1, "Error: odd"),
        (MemoryError(), 1, "the memory is not enough"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ],
)
def test_failures_are_messages_and_codes(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, message: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("canonym.cli.named_indexes.open_linker", fail)
    assert message in run("link", "x", code=code).stderr


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("canonym.cli.named_indexes.open_linker", fail)
    assert isinstance(CliRunner().invoke(main, ["link", "x"]).exception, ZeroDivisionError)


def test_printable_keeps_what_can_be_shown() -> None:
    assert printable("a\tb\nç – 漢字 \x07\u202e") == "a\tb\nç – 漢字 \\x07\\u202e"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from canonym.cli import main;"
        "r = CliRunner().invoke(main, ['--help']); assert r.exit_code == 0;"
        "heavy = {'numpy', 'scipy', 'rich', 'pyarrow', 'pandas', 'torch', 'sklearn'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "canonym", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"canonym {__version__}\n"


def test_a_reader_that_goes_is_no_error(tmp_path: Path) -> None:
    source = tmp_path / "x.csv"
    source.write_text("id,name\n" + "".join(f"{i},name {i}\n" for i in range(30_000)))
    command = f"{sys.executable} -m canonym terminology show {source} "
    ids = " ".join(map(str, range(5000)))
    done = subprocess.run(
        ["bash", "-c", f"{command} {ids} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[1] == "141"
    assert done.stderr == ""


# --- options of readers ---------------------------------------------------------------------------


def reader(
    *,
    flag: bool = True,
    several: tuple[str, ...] | None = None,
    either: bool | Collection[str] = True,  # type: ignore[name-defined]  # noqa: F821
    number: int = 3,
    word: str | None = None,
    mapping: Mapping[str, str] | None = None,  # type: ignore[name-defined]  # noqa: F821
    separator: str = "|",
) -> None: ...


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ("flag=no", False),
        ("flag=TRUE", True),
        ("either=yes", True),
        ("either=a, b,", ("a", "b")),
        ("number=7", 7),
        ("word=none", None),
        ("word=12", "12"),
        ("word=", ""),
        ("mapping=a=b,c=d", {"a": "b", "c": "d"}),
        ("separator=\\t", "\t"),
    ],
)
def test_values_become_what_the_reader_takes(pair: str, expected: Any) -> None:
    import inspect

    known = dict(inspect.signature(reader).parameters)
    name = pair.partition("=")[0]
    assert keyword_options(known, {"word": None}, [pair], format="x") == {name: expected}
    assert keyword_options(known, {name: pair.partition("=")[2]}, [], format="x") == {
        name: expected
    }


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ("flag=perhaps", "flag is 'perhaps'; yes or no"),
        ("number=many", "number is 'many'; a whole number"),
        ("other=1", "the format 'x' has no option 'other'; it has either, flag,"),
        ("=1", "KEY=VALUE"),
    ],
)
def test_values_that_the_reader_does_not_take_are_refused(pair: str, problem: str) -> None:
    import inspect

    with pytest.raises(InvalidInput) as caught:
        keyword_options(dict(inspect.signature(reader).parameters), {}, [pair], format="x")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("lnik x", "Did you mean 'link'?"),
        ("anotate", "Did you mean 'annotate'?"),
        ("import-decision x", "Did you mean 'review import'?"),
        ("xyzzy", "No such command 'xyzzy'"),
        ("train reranker corpus", "`canonym train confidence` adapts"),
        ("picture", "python benchmarks/reproduce picture"),
    ],
)
def test_a_command_that_is_none_gets_advice(typed: str, said: str) -> None:
    assert said in run(*typed.split(), code=2).stderr


@pytest.mark.parametrize(("given", "expected"), [(None, "4"), ("20", "20")])
def test_threads_of_products_sleep_while_they_wait(given: str | None, expected: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"}
    if given is not None:
        environment["OPENBLAS_THREAD_TIMEOUT"] = given
    asked = "import os, sys, canonym.cli; print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    # It has no effect once NumPy is there.
    asked += "; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split() == [expected, "False"]
