"""``canonym train subword``: start, annotated mentions, report."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from canonym.encoders import load_encoder, save_encoder
from canonym.encoders.chargrams import CharGrams
from canonym.encoders.subword import Subword
from canonym.training.subword import held_out
from canonym.types import Encoder
from tests.cli.running import run
from tests.files import written


def fit(*arguments: str | Path, code: int = 0) -> Result:
    return run("train", "subword", *arguments, code=code)


SYNONYMS = "id,name\n" + "".join(
    f"{i},{a} {b}\n{i},{b} of {a}\n{i},{a}al {b}\n{i},{b} in the {a}\n"
    for i, (a, b) in enumerate(
        (a, b)
        for a in ("hip", "knee", "hand", "foot", "elbow")
        for b in ("fracture", "pain", "tumour", "wound", "burn", "swelling")
    )
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = np.random.default_rng(0).standard_normal((256, 8)).astype(np.float32)
    small = Subword(table, trained={"on": "a small table"})
    monkeypatch.setattr("canonym.encoders.make_encoder", lambda _spec: small)
    return written(tmp_path / "x.csv", SYNONYMS)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Learned names that the terminology does not have, one a document."""
    lines = [
        f"{n}|t|{sign} of the {organ}\n{n}|a|\n"
        f"{n}\t0\t{len(sign) + 8 + len(organ)}\t{sign} of the {organ}\tDisease\t{n}\n"
        for n, (organ, sign) in enumerate(
            (organ, sign)
            for organ in ("coxal", "genual", "manual", "pedal", "cubital")
            for sign in ("fractura", "algia", "neoplasm", "trauma", "ambustio", "oedema")
        )
    ]
    lines.append("99|t|cough\n99|a|\n99\t0\t5\tcough\tDisease\t999\n99\t0\t2\tco\tOther\t0\n")
    return written(tmp_path / "train.pubtator", "\n".join(lines))


SCRATCH = ("--start", "none", "--steps", "40", "--batch", "32", "--dimensions", "16")
WARM = ("--steps", "40", "--batch", "32")


def facts(text: str) -> dict[str, str]:
    pairs = (re.split(r" {2,}", line, maxsplit=1) for line in text.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def gained(found: dict[str, str], start: str = "") -> bool:
    before = float(found[f"{start}found, default encoder"].split()[0])
    after = float(found[f"{start}found, fitted encoder"].split()[0])
    return found[f"{start}gain"] == f"{after - before:+.1f} points"


def vectors_of(folder: Path, *names: str) -> np.ndarray:
    encoder: Encoder = load_encoder(folder)
    vectors = encoder.encode(list(names))
    assert isinstance(vectors, np.ndarray)
    return vectors


def test_fit_shows_what_is_gained(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "encoder"
    found = facts(fit(source, "-o", out, *SCRATCH).stdout)
    assert found["starts from"] == "none"
    assert found["names set aside"] == "3 looked up among 117"
    assert gained(found)
    assert "mentions" not in found
    vectors = vectors_of(out, "hip fracture", "fracture of hip", "hand burn")
    assert vectors.shape == (3, 16)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert "kind" in run("info", out).stdout


def test_every_option_changes_the_encoder(source: Path, tmp_path: Path) -> None:
    def fitted(name: str, *arguments: str) -> bytes:
        fit(source, "-o", tmp_path / name, "--held-out", "0", *arguments)
        return vectors_of(tmp_path / name, "hip fracture", "burn").tobytes()

    base = fitted("a", *SCRATCH)
    assert fitted("b", *SCRATCH) == base
    assert fitted("c", *SCRATCH, "--seed", "1") != base
    assert fitted("d", *SCRATCH, "--steps", "41") != base
    assert fitted("e", *SCRATCH, "--batch", "16") != base
    assert len(fitted("f", *SCRATCH, "--dimensions", "8")) == len(base) // 2
    assert fit(source, "-o", tmp_path / "a", "-q", *SCRATCH, code=2).stdout == ""
    quiet = ("--overwrite", "--quiet", "--held-out", "0")
    assert fit(source, "-o", tmp_path / "a", *quiet, *SCRATCH).output == ""


def test_fit_without_measuring_says_no_gain(source: Path, tmp_path: Path) -> None:
    text = fit(source, "-o", tmp_path / "x", "--held-out", "0", *SCRATCH).stdout
    assert "gain" not in text
    assert "names" in text


# --- the start ----------------------------------------------------------------------------------


def test_fit_starts_from_the_default_encoder(source: Path, tmp_path: Path) -> None:
    found = facts(fit(source, "-o", tmp_path / "a", *WARM).stdout)
    assert found["starts from"] == "default"
    assert gained(found)
    assert vectors_of(tmp_path / "a", "x").shape == (1, 8)
    settings = json.loads((tmp_path / "a" / "encoder.json").read_text())["settings"]
    assert settings["buckets"] == 256
    trained = settings["trained"]
    assert "another kind of processor" in trained["rests_on"]
    assert trained["start"] == {"on": "a small table"}
    assert trained["options"] == {"steps": 40, "batch": 32, "seed": 0, "start_share": 0.5}
    assert trained["data"]["names"] == 120
    assert len(trained["data"]["terminology"]) == 64


def test_fit_starts_from_a_folder(source: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    fit(source, "-o", first, "--held-out", "0", *SCRATCH)
    found = facts(fit(source, "-o", second, "--start", first, *WARM).stdout)
    assert found["starts from"] == str(first)
    assert f"found, {first}" in found
    assert vectors_of(second, "x").shape == (1, 16)
    names = ("hip fracture", "fracture of hip", "burn")
    assert not np.array_equal(vectors_of(first, *names), vectors_of(second, *names))
    trained = json.loads((second / "encoder.json").read_text())["settings"]["trained"]
    assert trained["start"]["start"] is None


def test_random_vectors_take_more_steps(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = sys.modules["canonym.cli.train.subword_command"]
    assert command._STEPS < command._STEPS_FROM_NONE
    monkeypatch.setattr(command, "_STEPS", 3)
    monkeypatch.setattr(command, "_STEPS_FROM_NONE", 5)
    for start, steps in (("default", 3), ("none", 5)):
        out = tmp_path / start
        fit(source, "-o", out, "--held-out", "0", "--start", start)
        settings = json.loads((out / "encoder.json").read_text())["settings"]
        assert settings["trained"]["options"]["steps"] == steps
        assert settings["dimensions"] == (128 if start == "none" else 8)


def test_a_share_of_the_start_stays(source: Path, tmp_path: Path) -> None:
    def fitted(name: str, *arguments: str) -> np.ndarray:
        out = tmp_path / name
        fit(source, "-o", out, "--held-out", "0", *WARM, *arguments)
        return vectors_of(out, "hip fracture")[0]

    start = np.random.default_rng(0).standard_normal((256, 8)).astype(np.float32)
    vector = Subword(start).encode(["hip fracture"])[0]
    near = [fitted(share, "--start-share", share) @ vector for share in ("0", "0.5", "0.999")]
    assert near[0] < near[1] < near[2]
    np.testing.assert_array_equal(fitted("half", "--start-share", "0.5"), fitted("usual"))
    none = ("--start", "none", "--start-share", "0.5")
    failed = fit(source, "-o", tmp_path / "no", *none, code=2)
    assert "--start none has none" in failed.stderr


def test_fit_warns_where_it_loses(source: Path, tmp_path: Path) -> None:
    gain = held_out.Gain(held_out.Found(9, 99, 0.5, 0.4), held_out.Found(9, 99, 0.5, 0.5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_out, "measure_gain", lambda *_, **__: gain)
        found = fit(source, "-o", tmp_path / "a", *WARM)
        quiet = fit(source, "-o", tmp_path / "b", *WARM, "--quiet")
    assert "fewer of the names set aside are found" in found.stderr
    assert "keep the default encoder" in found.stderr
    assert "mentions" not in found.stderr
    assert quiet.output == ""


def test_what_cannot_be_fitted_further(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    failed = fit(source, "-o", out, "--dimensions", "16", code=2)
    assert "keeps its 8 dimensions" in failed.stderr
    assert "--start none" in failed.stderr
    save_encoder(CharGrams().fit(["hip"]), tmp_path / "grams")
    failed = fit(source, "-o", out, "--start", tmp_path / "grams", code=2)
    assert "this is a CharGrams" in failed.stderr
    failed = fit(source, "-o", out, "--start", tmp_path / "no", code=2)
    assert "no" in failed.stderr
    assert not out.exists()


# --- annotated mentions --------------------------------------------------------------------------


def test_fit_learns_from_mentions(source: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ("--corpus", str(corpus), "--mention-type", "Disease", "--mention-share", "0.5")
    found = facts(fit(source, "-o", out, *SCRATCH, *options).stdout)
    assert found["mentions"] == "30"
    assert found["mentions left out"] == "1  with an id that the terminology does not have"
    assert found["mentions set aside"] == "6 looked up among 117"
    assert gained(found)
    assert gained(found, "mentions: ")
    data = json.loads((out / "encoder.json").read_text())["settings"]["trained"]["data"]
    assert (data["mentions"], data["mention_share"], len(data["corpus"])) == (30, 0.5, 64)
    near = vectors_of(out, "fractura of the coxal", "hip fracture", "hand burn")
    assert near[0] @ near[1] > near[0] @ near[2]


def test_every_option_of_mentions_changes_the_encoder(
    source: Path, corpus: Path, tmp_path: Path
) -> None:
    def fitted(name: str, *arguments: str) -> bytes:
        options = ("--held-out", "0", "-q", *SCRATCH, *arguments)
        fit(source, "-o", tmp_path / name, *options)
        return (tmp_path / name / "model.safetensors").read_bytes()

    table = written(tmp_path / "more.tsv", "0\tbad hip\n1\tsore hip\n")
    given = ("--corpus", str(corpus))
    base = fitted("a", *given)
    assert fitted("b") != base
    assert fitted("c", *given, "--mention-share", "0.6") != base
    assert fitted("d", *given, "--mention-type", "Other") != base
    assert fitted("e", *given, "--format", "pubtator") == base
    more = fitted("f", *given, "--corpus", str(table))
    assert more != base
    # A table names no document: each is one document.
    other = written(tmp_path / "other.tsv", "2\tlump of hip\n")
    assert fitted("g", *given, "--corpus", str(table), "--corpus", str(other)) != more


@pytest.mark.usefixtures("source")
def test_mentions_alone_can_be_learned_from(tmp_path: Path) -> None:
    file, table = tmp_path / "y.csv", tmp_path / "mentions.tsv"
    file.write_text("id,name\n1,flu\n2,cold\n")
    table.write_text("1\tgrippe\n1\tinfluenza\n2\tsniffles\n")
    options = (*WARM, "--corpus", str(table))
    found = facts(fit(file, "-o", tmp_path / "out", *options).stdout)
    assert found["names set aside"] == "none could be"
    assert found["mentions set aside"] == "1 looked up among 2"


def test_corpora_that_cannot_be_learned_from(source: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "mentions.tsv", tmp_path / "out"
    table.write_text("X:700\tcough\nX:800\tsneeze\n")
    failed = fit(source, "-o", out, "--corpus", table, code=2)
    assert "2 with an id that the terminology does not have" in failed.stderr
    for option in (("--mention-share", "0.1"), ("--mention-type", "A"), ("--format", "table")):
        failed = fit(source, "-o", out, *option, code=2)
        assert f"{option[0]} is about annotated mentions" in failed.stderr
    failed = fit(source, "-o", out, "--corpus", "nowhere", code=2)
    assert "no such file" in failed.stderr
    assert not out.exists()


@pytest.mark.usefixtures("source")
def test_a_terminology_without_synonyms_cannot_be_fitted_to(tmp_path: Path) -> None:
    file = written(tmp_path / "y.csv", "id,name\n1,a\n2,b\n")
    for options in ((), ("--held-out", "0")):
        failed = fit(file, "-o", tmp_path / "out", *options, code=2)
        assert "synonyms" in failed.stderr
    assert not (tmp_path / "out").exists()


def test_an_existing_encoder_is_kept(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    failed = fit(source, "-o", tmp_path / "out", *SCRATCH, code=2)
    assert "exists already" in failed.stderr
