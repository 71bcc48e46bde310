"""``canonym train``: five recipes on a terminology made for the purpose, and what can go wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from canonym.cli import main
from canonym.cli.train.command import train
from canonym.encoders import load_encoder, make_encoder
from canonym.errors import InvalidInput
from canonym.io.files import read_manifest
from canonym.training.recipes import (
    PAPERS,
    RECIPES,
    TrainingSpec,
    checked_values,
    spec_options,
)
from tests.encoders.conftest import make_tiny_bert

os.environ["HF_HUB_OFFLINE"] = "1"

PLACES = ["hip", "knee", "hand", "foot"]
SIGNS = ["fracture", "pain", "tumour", "burn"]
SMALL = ("--width", "16", "--layers", "1", "--heads", "2", "--vocabulary", "90")
QUICK = ("--device", "cpu", "--max-steps", "3", "--batch-size", "4")


def run(*arguments: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def obo() -> str:
    terms = ['[Term]\nid: X:0\nname: "disorder"']
    for i, sign in enumerate(SIGNS):
        terms.append(f"[Term]\nid: X:{i + 1}\nname: {sign}\nis_a: X:0")
        for j, place in enumerate(PLACES):
            number = 100 + 10 * i + j
            synonyms = [f"{place} {sign}", f"{sign} in the {place}", f"{sign} of a {place}"]
            rows = "\n".join(f'synonym: "{one}" EXACT []' for one in synonyms)
            terms.append(
                f"[Term]\nid: X:{number}\nname: {sign} of {place}\n{rows}\nis_a: X:{i + 1}"
            )
    return "format-version: 1.2\n\n" + "\n\n".join(terms) + "\n"


def pubtator(number: int, mentions: list[tuple[str, str]]) -> str:
    text, lines = "", []
    for words, id_ in mentions:
        lines.append(f"{number}\t{len(text)}\t{len(text) + len(words)}\t{words}\tDisease\t{id_}")
        text += words + ". "
    return f"{number}|t|{text.strip()}\n{number}|a|\n" + "\n".join(lines) + "\n\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.obo").write_text(obo())
    run("import", "x.obo", "-o", "x.db", "--quiet")
    mentions = [
        (f"the {place} {sign}", f"X:{100 + 10 * i + j}")
        for i, sign in enumerate(SIGNS)
        for j, place in enumerate(PLACES)
    ]
    (tmp_path / "train.txt").write_text(pubtator(1, mentions[::2]))
    (tmp_path / "dev.txt").write_text(pubtator(2, mentions[1::2]))
    return tmp_path


CASES: dict[str, tuple[str, ...]] = {
    "biosyn": ("--corpus", "train.txt", "-k", "4"),
    "triplet": ("--corpus", "train.txt", "--batch-size", "12"),
    "dilbert": ("--corpus", "train.txt", "--positives", "2", "--strategy", "random+parents"),
    "coder": ("--repeats", "2", "--batch-size", "8"),
}


def arguments(recipe: str) -> tuple[str, ...]:
    common = ("train", recipe, "-e", "scratch", "-t", "x.db", *SMALL, *QUICK)
    return (*common, *CASES[recipe])


def test_the_dev_score_is_what_evaluate_says_of_the_folder(place: Path) -> None:
    weight = ("--sparse-weight", "6", "--sparse-rate", "0")
    biosyn = (*arguments("biosyn"), *weight, "--dev", "dev.txt")
    run(*biosyn, "--keep", "last", "-o", "out")
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    asked = ("evaluate", "dev.txt", "-t", "x.db", "-e", "out", "--training", "train.txt")
    run(*asked, "--json", "report.json")
    headline = json.loads((place / "report.json").read_text())["headline"]
    (evaluated,) = (
        one["value"]
        for one in headline
        if (one["slice"], one["reading"], one["metric"]) == ("all", "lenient", "accuracy@1")
    )
    assert facts["epochs"][-1]["dev"] == evaluated


@pytest.mark.parametrize(("given", "expected"), [(None, "passive"), ("active", "active")])
def test_threads_that_wait_sleep_unless_the_environment_says_otherwise(
    given: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", given or "")
    if given is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    met: list[str] = []
    monkeypatch.setattr(
        "canonym.cli.train.training_run.run_training",
        lambda _: met.append(os.environ["OMP_WAIT_POLICY"]),
    )
    run("train", "triplet", "-e", "scratch", "-t", "x.db", "-o", "out")
    assert met == [expected]


def test_groups_need_no_terminology(place: Path) -> None:
    groups = {sign: [f"{sign} of {p}" for p in PLACES] for sign in SIGNS}
    (place / "groups.json").write_text(json.dumps(groups))
    few = ("train", "few-shot", "-e", "default", "--device", "cpu", "--names", "2", "--hidden", "8")
    run(*few, "--groups", "groups.json", "--epochs", "1", "-o", "out")
    counts = read_manifest(place / "out", kind="encoder", newest=1)["training"]["counts"]
    assert counts == {"concepts": len(SIGNS), "names": len(SIGNS) * len(PLACES)}
    assert "--top needs a terminology" in run(*few, "--top", "X:0", "-o", "b", code=2).output
    told = run(*few, "--groups", "groups.json", "--dev", "dev.txt", "-o", "b", code=2).output
    assert "--dev needs a terminology" in told


def test_coder_without_relations_learns_from_synonyms(place: Path) -> None:
    lines = [line for line in obo().splitlines() if not line.startswith("is_a:")]
    (place / "flat.obo").write_text("\n".join(lines) + "\n")
    coder = ("train", "coder", "-e", "scratch", "-t", "flat.obo", *SMALL, *QUICK, *CASES["coder"])
    assert "the variant 'none' learns from synonyms" in run(*coder, "-o", "a", code=2).output
    run(*coder, "--variant", "none", "-o", "out")
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    n = len(SIGNS) * len(PLACES)  # the signs themselves have one name
    assert facts["objective_settings"]["n_triplets"] == n
    assert facts["objective_settings"]["relations"] == ["synonym"]
    assert "synonym" in run(*coder, "--variant", "none", "--dry-run", "-o", "b").output


@pytest.mark.parametrize("recipe", CASES)
def test_a_transformer_is_trained_and_used(recipe: str, place: Path) -> None:
    told = run(*arguments(recipe), "--dev", "dev.txt", "-o", "out", "--log", "log.jsonl")
    assert re.search(r"dev accuracy@1 [01]\.\d", told.output)
    assert re.search(r"^steps +3$", told.output, re.MULTILINE)
    assert len([n for n in (place / "log.jsonl").read_text().splitlines() if "names" in n]) == 3
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    assert facts["paper"] == PAPERS[recipe]
    assert facts["steps"] == 3
    assert facts["epochs"][-1]["dev"] is not None
    assert set(facts["data"]) >= {"terminology", "dev"}
    assert "dev accuracy@1" in (place / "out" / "README.md").read_text()
    assert not (place / "out.checkpoints").exists()
    run("index", "x.db", "-o", "index", "--encoder", "out", "--quiet")
    linked = run("link", "--index", "index", "--format", "jsonl", "knee burn")
    assert json.loads(linked.stdout)["ids"] == ["X:131"]
    assert run("train", recipe, *arguments(recipe)[2:], "-o", "out", code=2).output.count("exists")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("recipe", "options", "similarity"),
    [
        ("dilbert", (), "euclidean"),
        ("dilbert", ("--distance", "cosine"), "cosine"),
        ("dilbert", ("--similarity", "cosine"), "cosine"),
        ("biosyn", (), "inner"),
        ("biosyn", ("--similarity", "euclidean"), "euclidean"),
        ("biosyn", ("--cosine-scale", "20"), "cosine"),
        ("triplet", (), "cosine"),
        ("triplet", ("--similarity", "euclidean"), "euclidean"),
    ],
)
def test_it_is_searched_as_its_paper_says(
    recipe: str, options: tuple[str, ...], similarity: str
) -> None:
    weight = ("--sparse-weight", "4") if recipe == "biosyn" else ()
    run(*arguments(recipe), *weight, *options, "-o", "out", "--quiet")
    encoder: Any = load_encoder("out")
    assert encoder.similarity == similarity
    assert encoder.normalise == (similarity == "cosine")
    run("index", "x.db", "-o", "index", "--encoder", "out", "--quiet")
    described = read_manifest(Path("index"), kind="linker", newest=1)["encoders"]
    assert described[0].get("similarity", "cosine") == similarity
    told = run("link", "--index", "index", "--explain", "xhip pains").output
    if recipe == "biosyn" and "--similarity" not in options:
        trained = _extra("out")["sparse_weight.weight"].item()
        assert 3.9 < trained < 4.1
        wanted = trained / (20 if options else 1)
        assert [one["name"] for one in described] == ["transformer", "chargrams"]
        assert described[1]["weight"] == pytest.approx(wanted)
        assert "chargrams" in told
    else:
        assert [one["name"] for one in described] == ["transformer"]
        assert encoder.sparse_weight == 0


def _extra(folder: str) -> Any:
    from safetensors.numpy import load_file

    return load_file(Path(folder) / "extra.safetensors")


def test_sparse_scores_of_another_encoder(place: Path) -> None:
    run(*arguments("biosyn"), "--sparse", "default", "--sparse-weight", "20", "-o", "out")
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    assert facts["objective_settings"]["sparse"] == "default"
    assert facts["objective_settings"]["sparse_weight"] == 20
    told = run(*arguments("biosyn"), "--sparse", "tf-idf", "-o", "other", code=2).output
    assert "'tf-idf' is neither a file or folder here nor a kind of encoder" in told
    assert not (place / "other").exists()


def test_a_head_is_trained(place: Path) -> None:
    common = ("train", "few-shot", "-e", "default", "-t", "x.db", "--device", "cpu")
    head = ("--hidden", "20", "--names", "2", "--top", "X:0")
    told = run(*common, *head, "--epochs", "3", "-o", "first")
    assert "validation score -" in told.output
    assert load_encoder(place / "first").encode(["hip"]).shape == (1, 128)
    again = ("-e", "first", "--width", "140", "--epochs", "2", "-o", "second")
    run(*common, *head, *again, "--dev", "dev.txt", "--keep", "last", "--early-stopping", "1")
    second = load_encoder(place / "second")
    assert second.encode(["hip"]).shape == (1, 140)
    averaging = ("--head", "dan", "--hidden", "20", "--names", "1", "--top", "X:0")
    run(*common, *averaging, "--epochs", "2", "-o", "dan")
    assert load_encoder(place / "dan").settings == {"head": "dan"}  # type: ignore[attr-defined]
    (place / "groups.json").write_text(
        json.dumps({sign: [f"{sign} of {p}" for p in PLACES] for sign in SIGNS[:3]})
    )
    told = run(*common, *head[:4], "--groups", "groups.json", "--dry-run", "-o", "third")
    assert re.search(r"^n concepts +3$", told.stdout, re.MULTILINE)
    for extra, message in (
        (("--groups", "groups.json"), "either --top or --groups"),
        (("--concepts", "2", "--top", "X:9"), "X:9"),
    ):
        given = head if "--top" not in extra else head[:4]
        assert message in run(*common, *given, *extra, "-o", "new", code=2).output
    assert "dense" in run("train", "few-shot", "-e", "chargrams", *common[4:], *head,
                          "-o", "new", code=2).output  # fmt: skip


def test_watched_mentions_are_shown_and_saved(place: Path) -> None:
    watched = ("--watch", "the hip pain", "--watch", "sore elbow")
    told = run(*arguments("biosyn"), *watched, "--dev", "dev.txt", "-o", "b").stdout
    assert re.search(r"^tf-idf +epoch 0 +epoch 1", told, re.MULTILINE)
    assert re.search(r"^hip pain\*", told, re.MULTILINE)
    assert re.search(r"^dev candidates +right for [0-9.]+ %, at the end", told, re.MULTILINE)
    facts = read_manifest(place / "b", kind="encoder", newest=1)["training"]
    assert set(facts["measured"][0]["recall"]) == {"training", "dev"}
    assert set(facts["measured"][0]["nearest"]) == {"the hip pain", "sore elbow"}
    assert facts["seconds"] > 0
    assert "names nearest to *sore elbow*" in (place / "b" / "README.md").read_text()
    plain = run(*arguments("biosyn"), "-o", "plain").stdout
    assert "candidates" not in plain
    assert "hip pain" not in plain
    few = ("train", "few-shot", "-e", "default", "-t", "x.db", "--device", "cpu", "--top", "X:0")
    told = run(
        *few, *watched[:2], "--hidden", "8", "--names", "2", "--epochs", "2", "-o", "f"
    ).stdout
    assert "underneath" in told
    assert len(re.findall(r" \(X:2\)|\(X:2\)", told)) >= 3
    empty = run(*arguments("biosyn"), "--watch", "?!", "-o", "none", code=2).output
    assert "a watched mention is empty when prepared" in empty


def test_an_option_that_is_gone_says_what_to_type() -> None:
    told = run("train", "few-shot", "--try-hidden", "4", "-o", "best", code=2).stderr
    assert "--try-hidden is gone: train with --hidden for each width" in told


@pytest.mark.parametrize("recipe", [*CASES, "few-shot"])
def test_a_dry_run_shows_what_would_be_sampled(recipe: str, place: Path) -> None:
    if recipe == "few-shot":
        head = ("--hidden", "9", "--top", "X:0", "--names", "2", "--device", "cpu")
        given: tuple[str, ...] = ("train", recipe, "-e", "default", "-t", "x.db", *head)
    else:
        given = arguments(recipe)
    before = sorted(place.iterdir())
    told = run(*given, "--dry-run", "-o", "out").stdout
    assert sorted(place.iterdir()) == before
    assert "First examples" in told
    assert "in the first epoch" in told
    assert any(f"{sign} of" in told or f"{sign} in" in told for sign in SIGNS)
    assert run(*given, "--dry-run", "-o", "out").stdout == told
    assert run(*given, "--dry-run", "-o", "out", "--seed", "5").stdout != told


def test_as_many_examples_as_there_are(place: Path) -> None:
    from canonym import Terminology
    from canonym.cli.train.plan_examples import COLUMNS, examples
    from canonym.training.recipes import build_objective, group_names, open_head

    def encode(names: Any, **_: bool) -> np.ndarray:
        return np.eye(len(names), 16, dtype=np.float32)

    content = Terminology(place / "x.db")
    pairs = [("the hip burn", frozenset({"X:130"})), ("the foot pain", frozenset({"X:113"}))]
    head = open_head("default", hidden=4, dropout=0.5, width=None, seed=0)
    groups = group_names(content, "X:0", n_concepts=3)
    parts: dict[str, dict[str, Any]] = {
        "biosyn": {"mentions": pairs, "k": 3, "preparation": "biosyn"},
        "triplet": {"mentions": pairs},
        "dilbert": {"mentions": pairs, "n_positives": 1, "n_negatives": 2},
        "coder": {},
        "few-shot": {"groups": groups, "trainable": head, "n": 2},
    }
    expected = {"biosyn": 2, "triplet": None, "dilbert": 4, "coder": 20}
    expected["few-shot"] = 6
    for recipe, options in parts.items():
        objective = build_objective(recipe, content, **options)
        plan = objective.plan(encode, 0, np.random.default_rng(0))
        found = examples(objective, plan, 10_000)
        assert {len(one) for one in found} == {len(COLUMNS[objective.name])}
        assert len(found) == (expected[recipe] or len(plan["names"])), recipe
        assert examples(objective, plan, 2) == found[:2]
    with pytest.raises(InvalidInput, match="no recipe 'other'"):
        build_objective("other", content)
    with pytest.raises(InvalidInput, match="a head to train"):
        build_objective("few-shot", content, groups=groups)


@pytest.mark.parametrize("recipe", ["biosyn"])
def test_a_run_is_resumed(recipe: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (*arguments(recipe), "--epochs", "3", "--max-steps", "5", "--checkpoint-every", "1")
    whole = (*whole, "--checkpoints", "elsewhere")
    run(*whole, "-o", "whole", "--quiet")
    assert not (place / "elsewhere").exists()
    assert not (place / "whole.checkpoints").exists()
    from canonym.training.loop.reports import Journal

    plain = Journal.add_step

    def interrupted(self: Journal, **entry: Any) -> None:
        plain(self, **entry)
        if entry["step"] == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "add_step", interrupted)
    CliRunner().invoke(main, [*whole, "-o", "out"])
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert not (place / "out").exists()
    assert (place / "elsewhere" / "step-00000003").is_dir()
    assert "go on with --resume" in run(*whole, "-o", "out", code=2).output
    other = run(*whole, "-o", "out", "--resume", "--clip", "2", code=2).output
    was = {"biosyn": None}[recipe]
    assert f"settings.clip was {was} and is 2.0" in other
    run(*whole, "-o", "out", "--resume", "--keep-checkpoints")
    assert (place / "elsewhere").is_dir()
    assert "exists already" in run(*whole, "-o", "out", "--resume", code=2).output
    assert "nothing to do" in run(*arguments(recipe), "-o", "whole", "--resume").output
    one, two = (load_encoder(place / name).encode(["hip burn"]) for name in ("whole", "out"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("keep", [(), ("--keep-checkpoints",)])
def test_a_run_that_replaces_is_not_finished_before_its_first_checkpoint(
    keep: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    run(*arguments("biosyn"), "-o", "out", "--max-steps", "1")
    old = (place / "out" / "model.safetensors").read_bytes()
    again = (*arguments("biosyn"), "-o", "out", "--max-steps", "2", *keep)
    monkeypatch.setattr("canonym.cli.train.training_run.prepare", interrupted)
    CliRunner().invoke(main, [*again, "--overwrite"])
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert "exists already" in run(*again, "--resume", code=2).output
    assert (place / "out" / "model.safetensors").read_bytes() == old
    assert "nothing to do" not in run(*again, "--resume", "--overwrite").output
    assert (place / "out" / "model.safetensors").read_bytes() != old
    assert (place / "out.checkpoints").exists() is bool(keep)
    assert not (place / "out.checkpoints" / "begun").exists()


@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_what_a_run_uses_is_no_output(more: tuple[str, ...], place: Path) -> None:
    given = arguments("biosyn")
    corpus = given[given.index("--corpus") + 1]
    before = (place / corpus).read_bytes()
    for output in (("-o", corpus), ("-o", "new", "--log", corpus)):
        assert "is an input as well" in run(*given, *output, *more, code=2).output
    assert "are both" in run(*given, "-o", "new", "--log", "./new", *more, code=2).output
    assert (place / corpus).read_bytes() == before


def test_a_log_that_exists_is_kept(place: Path) -> None:
    (place / "run.jsonl").write_text("of another run")
    refused = run(*arguments("biosyn"), "-o", "new", "--log", "run.jsonl", code=2)
    assert "--log run.jsonl exists already" in refused.output
    assert (place / "run.jsonl").read_text() == "of another run"


def test_what_cannot_be_trained_is_a_message(place: Path) -> None:
    (place / "bad.tsv").write_text("X:1\tis_a\n")
    (place / "empty.tsv").write_text("\n")
    (place / "relations.tsv").write_text("X:100\tnear\tX:101\nX:110\tnear\tX:111\n\n")
    (place / "bad.json").write_text("[1]")
    biosyn = ("train", "biosyn", "-t", "x.db", "-o", "out")
    coder = ("train", "coder", "-e", "scratch", "-t", "x.db", "-o", "out", *SMALL, *QUICK)
    few = ("train", "few-shot", "-e", "default", "-t", "x.db", "-o", "out")
    for given, message in (
        ((*biosyn, "-e", "scratch", *SMALL), "give an annotated corpus"),
        ((*biosyn, "-e", "nothing/here", "-c", "train.txt"), "nothing/here"),
        ((*biosyn, "-e", "x.db", "-c", "train.txt"), "give the folder of one"),
        ((*biosyn, "-e", "scratch", "--early-stopping", "2"), "--dev corpus"),
        ((*biosyn[:-1], "no/such/out", "-e", "scratch"), "does not exist"),
        ((*biosyn, "-e", "scratch", "-c", "train.txt", "--mention-type", "Gene"), "Gene"),
        ((*coder, "--relations", "bad.tsv"), "bad.tsv, line 1"),
        ((*coder, "--relations", "empty.tsv"), "holds no relation"),
        ((*coder, "--learning-rate", "0"), "0.0 is not in the range x>0"),
        ((*few, "--groups", "bad.json"), "lists of names by concept"),
        ((*few, "--groups", "none.json"), "none.json: there is no such file"),
    ):
        assert message in run(*given, code=2).output, given
        assert not (place / "out").exists()
    told = run(*coder, "--relations", "relations.tsv", "--dry-run", "--repeats", "2").stdout
    assert "near" in told
    assert "is_a" not in told


def test_several_terminologies_are_read_one_after_the_other(place: Path) -> None:
    (place / "more.csv").write_text("id,name\nY:1,sprained ankle\nY:1,ankle sprain\n")
    given = [one.replace("x.db", "x.obo") for one in arguments("triplet")]
    told = run(*given, "-t", "more.csv", "--dry-run", "-o", "out").stdout
    assert re.search(r"^concepts +22$", told, re.MULTILINE)  # 21, and one


# --- options in a file ----------------------------------------------------------------------------


def test_a_file_fills_the_options_and_the_command_line_wins(place: Path) -> None:
    (place / "run.toml").write_text(
        'encoder = "scratch"\nterminology = "x.db"\ncorpus = ["train.txt"]\nk = 4\nwidth = 16\n'
        "layers = 1\nheads = 2\nvocabulary = 90\nmax-steps = 2\nbatch_size = 4\n"
        'merge = true\nlearning-rate = 1\noutput = "by-file"\ndevice = "cpu"\n'
    )
    run("train", "biosyn", "--config", "run.toml")
    run("train", "biosyn", "--config", "run.toml", "-k", "3", "-o", "other", "--quiet")
    facts = {
        name: read_manifest(place / name, kind="encoder", newest=1)["training"]
        for name in ("by-file", "other")
    }
    assert [facts[name]["objective_settings"]["k"] for name in facts] == [4, 3]
    for one in facts.values():
        assert one["objective_settings"]["merge"] is True
        assert one["settings"]["learning_rate"] == 1.0
        assert one["steps"] == 2
        assert one["counts"]["mentions"] == 8


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("size = 3", "biosyn has no option 'size'; it has accumulation, batch_size, checkpoint"),
        ("positives = 3", "biosyn has no option 'positives'"),
        ("k = 2.5", "k is 2.5; expected a whole number at least 1"),
        ("cosine-scale = inf", "cosine_scale is inf; expected a number above 0"),
        ("k = 0", "k is 0; expected a whole number at least 1"),
        ("k = true", "k is True; expected a whole number"),
        ("merge = 1", "merge is 1; expected true or false"),
        (
            'loss = "softmax"',
            "loss is 'softmax'; expected one of 'marginal', 'hard-em', 'pair-wise'",
        ),
        ("cosine-scale = 0", "cosine_scale is 0; expected a number above 0"),
        ("dense_ratio = 2", "dense_ratio is 2; expected a number at least 0 and at most 1"),
        ("corpus = [1]", "corpus is [1]; expected a list of strings"),
        ("k 3", "cannot be read as TOML"),
    ],
)
def test_a_file_that_does_not_fit_is_a_message(line: str, message: str, place: Path) -> None:
    (place / "run.toml").write_text(line)
    told = run("train", "biosyn", "--config", "run.toml", "-o", "out", code=2).output
    assert message in told
    assert "run.toml" in told
    assert "none.toml" in run("train", "coder", "--config", "none.toml", code=2).output


def test_a_recipe_checks_options_without_the_command_line() -> None:
    assert checked_values("dilbert", {"positives": 3, "n_negatives": 2, "margin": 1}) == {
        "n_positives": 3,
        "n_negatives": 2,
        "margin": 1,
    }
    spec = TrainingSpec.from_values("dilbert", {"n_positives": 3, "max_steps": 7})
    assert spec.objective["n_positives"] == 3
    assert (spec.loop.max_steps, spec.loop.epochs) == (7, 10)
    assert (spec.module["pooling"], spec.preparation) == ("mean", "biosyn")
    with pytest.raises(InvalidInput, match="dilbert has no option 'k'; it has accumulation"):
        TrainingSpec.from_values("dilbert", {"k": 3})
    with pytest.raises(InvalidInput, match="there is no recipe 'other'"):
        spec_options("other")


PUBLISHED: dict[str, dict[str, object]] = {
    "biosyn": {
        **{"k": 20, "dense_ratio": 0.5, "epochs": 10, "batch_size": 16, "learning_rate": 1e-5},
        **{"weight_decay": 0.01, "pooling": "cls", "max_length": 25, "preparation": "biosyn"},
    },
    "triplet": {
        **{"share": pytest.approx(1 / 3), "batch_size": 1500, "learning_rate": 3e-5},
        **{"pooling": "mean", "max_length": 8, "preparation": "none"},
    },
    "dilbert": {
        **{"n_positives": 30, "n_negatives": 5, "batch_size": 48, "learning_rate": 1e-5},
        **{"margin": 1.0, "distance": "euclidean", "pooling": "mean", "preparation": "biosyn"},
    },
    "coder": {
        **{"alpha": 2.0, "beta": 50.0, "threshold": 0.5, "margin": 0.1, "batch_size": 128},
        **{"repeats": 8, "accumulation": 8, "max_steps": 100_000, "max_length": 32, "epochs": None},
    },
    "few-shot": {"margin": 0.1, "hidden": 9600, "dropout": 0.5, "n": 15, "patience": 5},
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_defaults_are_those_of_the_paper(recipe: str) -> None:
    found = {name: option.default for name, option in spec_options(recipe).items()}
    assert {name: found[name] for name in PUBLISHED[recipe]} == PUBLISHED[recipe]
    assert found["seed"] == 0


def test_every_flag_says_what_it_is() -> None:
    recipes = {name: train.commands[name] for name in RECIPES}
    assert set(train.commands) == {*RECIPES, "subword", "confidence"}
    assert list(RECIPES) == list(PAPERS)
    plain = {"--seed", "--learning-rate", "--weight-decay", "--optimizer", "--pooling", "--loss"}
    plain |= {"--positives", "--negatives", "--distance", "--margin", "--hidden", "--dropout"}
    for command in recipes.values():
        assert "\b" in (command.help or "")
        assert f"canonym train {command.name}" in (command.help or "")
        for option in command.get_params(click.Context(command)):
            if isinstance(option, click.Argument):
                continue
            assert option.help or set(option.opts) <= plain, option.opts


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("quiet", [False, True])
def test_a_dry_run_without_a_terminal_tells_what_it_does(
    monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    monkeypatch.setattr("canonym.cli.progress._EVERY", 0.003)
    found = run(*arguments("biosyn"), "--dry-run", "-o", "out", *(["-q"] if quiet else []))
    lines = re.findall(r"^(?:Reading|Sampling|Working): .*\d s$", found.stderr, re.MULTILINE)
    assert bool(lines) is not quiet


@pytest.mark.slow
def test_two_processes_take_the_steps_of_one_that_accumulates(place: Path) -> None:
    """Two processes, started by torchrun, share the batches of a plan and their gradients."""
    start = make_tiny_bert(place / "start")
    settings = json.loads((start / "config.json").read_text())
    settings |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (start / "config.json").write_text(json.dumps(settings))
    asked = ("train", "triplet", "-e", "start", "-t", "x.db", "--device", "cpu", "--seed", "3")
    asked += ("--batch-size", "8", "--max-steps", "4", "--precision", "float32")
    run(*asked, "--accumulation", "2", "-o", "one")
    launcher = (sys.executable, "-m", "torch.distributed.run", "--standalone")
    command = (*launcher, "--nproc-per-node", "2", "-m", "canonym", *asked, "-o", "two")
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("encoder  two") == 1
    one, two = (
        read_manifest(place / n, kind="encoder", newest=1)["training"] for n in ("one", "two")
    )
    assert (two["steps"], two["names"]) == (one["steps"], one["names"])
    names = [f"{sign} of {site}" for sign in SIGNS for site in PLACES]
    alone, shared, before = (
        make_encoder(str(folder)).encode(names) for folder in (place / "one", place / "two", start)
    )
    np.testing.assert_allclose(shared, alone, atol=1e-4)
    assert np.abs(alone - before).max() > 1e-3
