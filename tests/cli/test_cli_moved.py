"""Commands and options of before: they work, and a note says what to type instead."""

from __future__ import annotations

import tomllib
from pathlib import Path

import click
import pytest

from canonym import Concept, Linker, Terminology
from canonym.cli import _MOVED, main
from canonym.cli.key_options import KeyOption
from canonym.cli.link import link
from tests.tables import cases

from .running import run

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("word", _MOVED)
def test_a_word_of_before_leads_to_the_new_one(word: str) -> None:
    words = [part for part in _MOVED[word] if not part.startswith("--")]
    usage = f"Usage: canonym {' '.join(words).removesuffix(' local')}"
    assert usage in run(word, "--help").output


def test_the_note_about_a_word_of_before_can_be_hidden(tmp_path: Path) -> None:
    arguments = ("keys", "list", "--keys", str(tmp_path / "none.db"))
    assert "`canonym keys` is `canonym serve keys` now." in run(*arguments, code=2).stderr
    assert "is `canonym serve keys` now" not in run("-q", *arguments, code=2).stderr


def test_what_a_person_has_to_hold_in_the_head_stays_small() -> None:
    shown = [p for p in link.params if isinstance(p, click.Option) and not p.hidden]
    names = {option.name for option in shown} - {"quiet", "verbose"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(main.list_commands(click.Context(main))) <= 14  # type: ignore[attr-defined]
    assert len(names) <= 30, sorted(map(str, names))
    assert len([name for name in dir(Linker) if not name.startswith("_")]) <= 18
    assert len(extras["optional-dependencies"]) <= 12


def test_pairs_do_what_their_flags_did(tmp_path: Path) -> None:
    table = tmp_path / "v.csv"
    table.write_text("dx;n\nheart attack;1\n;2\n", encoding="utf-8")
    given = ("link", "--file", str(table), "--column", "dx", "-o")
    pairs = (
        *("--input-option", "delimiter=;", "--format-option", "encoding=utf-16"),
        *("--format-option", "skip_empty=yes", "--format-option", "formula-guard=no"),
    )
    flags = ("--delimiter", ";", "--output-encoding", "utf-16", "--skip-empty")
    quiet = run(*given, tmp_path / "a.csv", *pairs)
    loud = run(*given, tmp_path / "b.csv", *flags, "--no-formula-guard")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert "now." not in quiet.stderr
    assert "--output-encoding is --format-option encoding=NAME now." in loud.stderr
    assert "--delimiter is --input-option delimiter=CHAR now." in loud.stderr
    assert "--skip-empty is --format-option skip-empty=yes now." in loud.stderr
    assert "--formula-guard is --format-option formula-guard=no now." in loud.stderr


@cases("pair", "says")
def test_pairs_that_cannot_be_used(pair: str, says: str) -> None:
    assert says in run("link", "gout", "--format-option", pair, "--format", "tsv", code=2).stderr


def test_the_help_lists_the_keys() -> None:
    shown = run("link", "--help").stdout
    keyed = [option for option in link.params if isinstance(option, KeyOption)]
    assert len(keyed) > 10
    for option in keyed:
        assert f"  {option.key}=" in shown.partition("Keys of --input-option")[2]
        assert option.opts[0] not in shown.partition("Keys of")[0].split()


@cases("options", "says")
def test_a_folder_of_parts_says_what_it_needs(options: tuple[str, ...], says: str) -> None:
    assert says in run("link", *options, code=2).stderr


def test_annotate_takes_the_option_that_is_always_so(tmp_path: Path) -> None:
    terminology = Terminology.build([Concept("X:1", "Fever")])
    linker = Linker.build(terminology, encoders=["chargrams"], folder=tmp_path / "index")
    (tmp_path / "note.txt").write_text("No fever.", encoding="utf-8")
    told = run("annotate", tmp_path / "note.txt", "-i", tmp_path / "index", "--flags")
    assert '"status": ["negated"]' in told.stdout
    assert "--flags has no effect any more: every mention has its status." in told.stderr
    with pytest.warns(DeprecationWarning, match="every mention has its status"):
        (link,) = linker.annotate("No fever.", flags=True)  # type: ignore[call-arg]
    assert link.status == ("negated",)
