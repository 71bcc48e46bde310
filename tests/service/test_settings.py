"""Settings from flags and from the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from canonym.cli.serve import serve
from canonym.errors import InvalidInput
from canonym.exchange.auto_accept import LEAST_CONFIDENCE
from canonym.service import Settings

FULL = Settings(
    index=("a=/x/a", "/x/b"),
    keys="keys.db",
    reviews="postgresql://localhost/reviews",
    threads=3,
    queue=0,
    max_batch=20,
    max_body=5000,
    rate_limit=60,
    match_confidence=0.5,
    log_mentions=True,
    public_url="https://example.org/terms",
)


def test_settings_survive_the_way_through_the_environment() -> None:
    assert Settings.from_environment(FULL.to_environment()) == FULL
    assert Settings.from_environment(Settings().to_environment()) == Settings()


def test_variables_are_named_after_the_settings() -> None:
    given = {"CANONYM_MAX_BATCH": "50", "CANONYM_LOG_MENTIONS": "yes", "CANONYM_KEYS": " "}
    found = Settings.from_environment(given)
    assert (found.max_batch, found.log_mentions, found.keys) == (50, True, "")
    assert found.index == ()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CANONYM_MAX_BATCH", "many", "CANONYM_MAX_BATCH is 'many'; a number is expected"),
        ("CANONYM_MAX_BATCH", "9", "CANONYM_MAX_BATCH is 9; at least 10 is expected"),
        ("CANONYM_THREADS", "0", "at least 1 is expected"),
        ("CANONYM_LOG_MENTIONS", "perhaps", "yes or no is expected"),
        ("CANONYM_MATCH_CONFIDENCE", "1.5", "a probability from 0 to 1"),
        ("CANONYM_MATCH_CONFIDENCE", "nan", "a probability from 0 to 1"),
        ("CANONYM_PUBLIC_URL", "example.org", "begins with http"),
        ("CANONYM_INDEX", f"a=x{os.pathsep}a=y", "two indexes are called 'a'"),
        ("CANONYM_INDEX", "v1=x", "gives no name"),
        ("CANONYM_INDEX", "a b=x", "gives no name"),
        ("CANONYM_INDEX", "a=", "gives no name"),
    ],
)
def test_values_that_cannot_be_used_are_named(variable: str, value: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Settings.from_environment({variable: value})


def test_an_index_is_called_by_its_name_or_else_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").mkdir()
    with pytest.raises(InvalidInput, match="'a=b' gives no name"):
        Settings(index=("a=b",))
    assert Settings(index=("c=a=b", "deep/d/")).folders() == {
        "c": Path("a=b"),
        "d": Path("deep/d"),
    }
    assert Settings().folders() == {"icd10cm": None}


def test_the_command_and_the_settings_have_one_least_confidence() -> None:
    (option,) = [one for one in serve.params if one.name == "match_confidence"]
    assert option.default == Settings().match_confidence == LEAST_CONFIDENCE
