"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator

import pytest

from canonym.regex import regex
from tests.package_patterns import every_pattern, modules, patterns_in
from tests.patterns import SQUARE, explodes
from tests.tables import cases
from tests.test_layers import PACKAGE, tree_of


def test_it_is_the_pattern() -> None:
    ours, pattern = regex("b(a)", re.IGNORECASE), re.compile("b(a)", re.IGNORECASE)
    assert ours.pattern == pattern.pattern
    for name in ("findall", "split"):
        assert getattr(ours, name)("aBAb") == getattr(pattern, name)("aBAb")
    assert ours.sub("x", "BA ba") == "x x"
    assert (ours.flags, ours.groups) == (pattern.flags, pattern.groups)


@pytest.mark.parametrize("used", [False, True])
def test_it_is_copied_and_sent_to_other_processes(used: bool) -> None:
    ours = regex("b(a)", re.IGNORECASE)
    if used:
        assert ours.search("BA")
    for again in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert again.fullmatch("Ba")


def test_an_error_in_it_is_that_of_re() -> None:
    with pytest.raises(re.error, match="unterminated"):
        regex("(a").search("a")


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is evaluated as a module is loaded."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _at_import(child)


def test_no_module_compiles_a_pattern_of_text_as_it_is_loaded() -> None:
    assert not [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: use canonym.regex"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in _at_import(tree_of(path))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "re.compile"
        and not ast.unparse(node.args[0]).lstrip("r").startswith("b")
    ]


def test_every_pattern_can_be_compiled() -> None:
    compiled = 0
    for module in modules().values():
        for pattern in patterns_in(list(vars(module).values())):
            assert pattern.flags is not None
            compiled += 1
    assert compiled > 200


# --- how long they take ---------------------------------------------------------------------------

_DRUG_LINE = "a drug line has at most 300 characters"
_COMPOSITE = "a composite mention has at most 300 characters"
_MENTION = "a mention has at most 1,000 characters, of which it takes milliseconds"
_OF_OURS = "the text is of this package, or of one that is installed"
_OF_A_FILE = "a line of a file that the caller has; one of 10,000 characters takes two seconds"
_TURN = "what fails behind the loop does not fail one turn earlier"

ALLOWED = {
    "canonym.cli.annotated._CONCEPT": "it is tried at the beginning of a line only",
    "canonym.cli.annotated._MCN": "it is tried at the beginning of a line only",
    "canonym.cli.annotated._SHARE": "it is tried at the beginning of a line only",
    "canonym.cli.failures._ARGUMENT": _OF_OURS,
    "canonym.cli.failures._NO_ENCODING": _OF_OURS,
    "canonym.cli.info._extras": _OF_OURS,
    "canonym.corpora.transliteration._ways": "the text is the name of a character",
    "canonym.mentions.abbreviations._without_gloss": _MENTION,
    "canonym.mentions.composites._BEFORE": "it is asked for 80 characters",
    "canonym.mentions.composites._HANGING": _COMPOSITE,
    "canonym.mentions.drug_lines._JOINT": _DRUG_LINE,
    "canonym.mentions.drug_lines._share": _DRUG_LINE,
    "canonym.mentions.drug_lines._ending": _DRUG_LINE,
    "canonym.mentions.drug_lines._forms": _DRUG_LINE,
    "canonym.mentions.drug_lines._quantities": _DRUG_LINE,
    "canonym.mentions.status._healthy": "it only matches whole texts",
    "canonym.mentions.status._not_result": _MENTION,
    "canonym.mentions.trial_fields._noise": _MENTION,
    "canonym.terminology.readers.obo._SOUND_END": _OF_A_FILE,
    "canonym.mentions.spread._spreads": "it is asked for 150 characters",
    "canonym.text.characters._CHAIN": "its last choice reads to the end whatever comes",
    "canonym.text.qualifiers._MEASURED": "it is asked for 90 characters",
    "canonym.text.running._word_pattern": _TURN,
    "canonym.text.words._POSSESSIVE": _TURN,
}
"""Patterns whose steps may be a square of their text, and why that is harmless."""


def test_no_pattern_of_the_package_explodes() -> None:
    faults: dict[str, str] = {}
    for used in every_pattern():
        for use in sorted(used.uses):
            fault = explodes(used.pattern, used.flags, use=use)
            if fault and (used.name not in ALLOWED or not fault.startswith(SQUARE)):
                raise AssertionError(f"{used.name}, used for {use}: {fault}: {used.pattern[:300]}")
            if fault:
                faults[used.name] = fault
    assert sorted(ALLOWED) == sorted(faults), "what is allowed has no fault any more"


@cases("pattern")
def test_two_ways_round_a_loop_are_found(pattern: str) -> None:
    assert str(explodes(pattern, use="match")).startswith("doubling")


@cases("pattern", "use")
def test_runs_that_are_read_again_and_again_are_found(pattern: str, use: str) -> None:
    assert str(explodes(pattern, use=use)).startswith(SQUARE)


@cases("pattern", "use")
def test_what_reads_a_text_once_is_sound(pattern: str, use: str) -> None:
    assert explodes(pattern, use=use) is None


def test_the_letters_of_both_cases_are_the_same() -> None:
    assert explodes("(?:ab|AB)*c", use="match") is None
    assert explodes("(?:ab|AB)*c", re.IGNORECASE, use="match") is not None
