"""API keys: what is stored, what is found, and the commands around them."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from canonym.errors import InvalidInput, ReadError
from canonym.service.keys import Keys
from tests.cli.running import rows, run


def test_a_key_is_found_until_it_is_revoked(tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    given = keys.add(" team ", "review")
    found = keys.find(given)
    assert found is not None
    assert (found.name, found.scope, found.revoked) == ("team", "review", None)
    keys.revoke(found.id)
    assert keys.find(given) is None
    assert keys.list()[0].revoked is not None
    with pytest.raises(InvalidInput, match=f"no key in use has the id '{found.id}'"):
        keys.revoke(found.id)


def test_nothing_but_the_whole_key_is_found(tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    given = keys.add("team", "read")
    prefix, id_, secret = given.split("_", 2)
    for wrong in (
        *("", "_", "__", given[:-1], given + "x", f"x_{id_}_{secret}", f"{prefix}_{id_}_"),
        *(f"{prefix}_00000000_{secret}", secret, f"{prefix}_{id_}_\udcff"),
    ):
        assert keys.find(wrong) is None, wrong


def test_the_file_holds_no_secret_and_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    secret = Keys.create(path).add("team", "admin").split("_", 2)[2]
    assert secret.encode() not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600


def test_scopes_include_the_lower_ones(tmp_path: Path) -> None:
    keys = Keys.create(tmp_path / "keys.db")
    allowed = {}
    for scope in ("read", "review", "admin"):
        found = keys.find(keys.add(scope, scope))
        assert found is not None
        allowed[scope] = [one for one in ("read", "review", "admin") if found.allows(one)]
    assert allowed == {
        "read": ["read"],
        "review": ["read", "review"],
        "admin": ["read", "review", "admin"],
    }


def test_what_is_no_file_of_keys_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file; `canonym serve keys add NAME` makes one"):
        Keys(tmp_path / "keys.db")
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(ReadError, match="cannot be used as a file of keys"):
        Keys(tmp_path / "text")
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").connection.close()
    with pytest.raises(ReadError, match="is not a file of keys"):
        Keys(tmp_path / "other.db")
    keys = Keys.create(tmp_path / "keys.db")
    with pytest.raises(InvalidInput, match="there is no scope 'write'"):
        keys.add("team", "write")
    with pytest.raises(InvalidInput, match="says nothing"):
        keys.add("  ", "read")


def test_commands_add_list_and_revoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "keys.db")
    printed = run(
        "serve", "keys", "add", "curation team", "--scope", "review", "--keys", path
    ).output
    assert re.fullmatch(r"canonym_[0-9a-f]{8}_[\w-]{43}\n", printed)
    monkeypatch.setenv("CANONYM_KEYS", path)
    run("serve", "keys", "add", "robot")
    listed = rows(run("serve", "keys", "list").output)
    assert [(row["name"], row["scope"], row["revoked"]) for row in listed] == [
        ("curation team", "review", ""),
        ("robot", "read", ""),
    ]
    run("serve", "keys", "revoke", listed[0]["id"])
    again = rows(run("serve", "keys", "list").output)
    assert again[0]["revoked"] == again[0]["created"]
    assert again[1]["revoked"] == ""
    assert "no key in use" in run("serve", "keys", "revoke", "12", code=2).output
