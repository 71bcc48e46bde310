"""``canonym fit``, the default linker, and pieces that no command shows alone."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from canonym.cli import main
from canonym.cli.inputs import count_items
from canonym.cli.progress import counter, stages
from canonym.encoders import load_encoder
from canonym.encoders.subword import Subword

SYNONYMS = "id,name\n" + "".join(
    f"{i},{a} {b}\n{i},{b} of {a}\n{i},{a}al {b}\n{i},{b} in the {a}\n"
    for i, (a, b) in enumerate(
        (a, b)
        for a in ("hip", "knee", "hand", "foot", "elbow")
        for b in ("fracture", "pain", "tumour", "wound", "burn", "swelling")
    )
)


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = np.random.default_rng(0).standard_normal((256, 8)).astype(np.float32)
    monkeypatch.setattr("canonym.encoders.make_encoder", lambda _spec: Subword(table))
    file = tmp_path / "x.csv"
    file.write_text(SYNONYMS)
    return file


SMALL = ("--steps", "40", "--batch", "32", "--dimensions", "16")


def test_fit_shows_what_is_gained(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "encoder"
    text = run("fit", str(source), "-o", str(out), *SMALL).stdout
    split = (re.split(r" {2,}", line) for line in text.splitlines())
    lines = dict(split)
    assert "names set aside" in text
    before = float(lines["found, default encoder"].split()[0])
    after = float(lines["found, fitted encoder"].split()[0])
    assert lines["gain"] == f"{after - before:+.1f} points"
    vectors = load_encoder(out).encode(["hip fracture", "fracture of hip", "hand burn"])
    assert isinstance(vectors, np.ndarray)
    assert vectors.shape == (3, 16)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert "kind" in run("info", str(out)).stdout


def test_fit_hears_its_options(source: Path, tmp_path: Path) -> None:
    def fitted(name: str, *arguments: str) -> bytes:
        run("fit", str(source), "-o", str(tmp_path / name), "--held-out", "0", *arguments)
        encoder = load_encoder(tmp_path / name)
        return np.asarray(encoder.encode(["hip fracture", "burn"])).tobytes()

    base = fitted("a", *SMALL)
    assert fitted("b", *SMALL) == base
    assert fitted("c", *SMALL, "--seed", "1") != base
    assert fitted("d", "--steps", "41", *SMALL[2:]) != base
    assert fitted("e", "--steps", "40", "--batch", "16", "--dimensions", "16") != base
    assert len(fitted("f", *SMALL[:4], "--dimensions", "8")) == len(base) // 2
    assert run("fit", str(source), "-o", str(tmp_path / "a"), "-q", *SMALL, code=2).stdout == ""
    quiet = ("--overwrite", "--quiet", "--held-out", "0")
    assert run("fit", str(source), "-o", str(tmp_path / "a"), *quiet, *SMALL).output == ""


def test_fit_without_measuring_says_no_gain(source: Path, tmp_path: Path) -> None:
    text = run("fit", str(source), "-o", str(tmp_path / "x"), "--held-out", "0", *SMALL).stdout
    assert "gain" not in text
    assert "names" in text


def test_a_terminology_without_synonyms_cannot_be_fitted_to(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("id,name\n1,a\n2,b\n")
    failed = run("fit", str(file), "-o", str(tmp_path / "out"), code=2)
    assert "fit without measuring" in failed.stderr
    failed = run("fit", str(file), "-o", str(tmp_path / "out"), "--held-out", "0", code=2)
    assert "synonyms" in failed.stderr
    assert not (tmp_path / "out").exists()


def test_an_encoder_that_is_there_is_kept(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    failed = run("fit", str(source), "-o", str(tmp_path / "out"), *SMALL, code=2)
    assert "exists already" in failed.stderr


def test_without_an_index_the_default_linker_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    from canonym.linker import Linker
    from canonym.types import Link, Mention

    class Default:
        def info(self) -> dict[str, Any]:
            return {"fingerprint": "x"}

        def link_stream(self, mentions: Any, **_: Any) -> Any:
            return (Link(Mention("default was here")) for _ in mentions)

    def default(*, everyday: bool, progress: Any) -> Default:
        assert everyday
        progress("reading", 0, 1)
        return Default()

    monkeypatch.setattr(Linker, "default", staticmethod(default))
    assert "default was here" in run("link", "x").stdout


def test_items_are_counted_where_that_is_cheap(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("1|t|a\n1|a|b\n\n2|t|c\n")
    assert count_items(str(file), documents=True) == 2
    assert count_items(str(file), documents=False) == 4
    file.write_text('{"text": 1}\n{"text": 2}\n')
    assert count_items(str(file), documents=True) == 2
    packed = tmp_path / "x.txt.gz"
    packed.write_bytes(gzip.compress(b"a\n"))
    assert count_items(str(packed), documents=False) is None
    assert count_items("-", documents=False) is None
    assert count_items(None, documents=False) is None


def test_nobody_is_shown_progress_who_does_not_watch(capsys: pytest.CaptureFixture[str]) -> None:
    with counter("Counting", unit="sheep") as report:
        report(1)
    with stages() as staged:
        staged("Sleeping", 1, 2)
    assert capsys.readouterr() == ("", "")
