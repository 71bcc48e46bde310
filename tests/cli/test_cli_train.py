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
from click.testing import CliRunner

from canonym.cli import main
from canonym.cli.train.command import train
from canonym.encoders import load_encoder, make_encoder
from canonym.errors import InvalidInput
from canonym.io.files import read_manifest
from canonym.training.keys import PLANS
from canonym.training.plan import (
    TrainingSpec,
    checked_values,
    plan_keys,
    plan_text,
    read_plan,
)
from canonym.training.recipes import RECIPES
from tests.cli.running import run
from tests.encoders.conftest import make_tiny_bert

os.environ["HF_HUB_OFFLINE"] = "1"

PLACES = ["hip", "knee", "hand", "foot"]
SIGNS = ["fracture", "pain", "tumour", "burn"]


def keys(**values: object) -> tuple[str, ...]:
    """The flags that set keys of a plan."""
    return tuple(word for key, value in values.items() for word in ("--set", f"{key}={value}"))


SMALL = keys(width=16, layers=1, heads=2, vocabulary=90)
QUICK = ("--device", "cpu", "--batch-size", "4", *keys(max_steps=3))


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
    "biosyn": ("--corpus", "train.txt", *keys(k=4)),
    "triplet": ("--corpus", "train.txt", "--batch-size", "12"),
    "dilbert": ("--corpus", "train.txt", *keys(positives=2, strategy="random+parents")),
    "coder": ("--batch-size", "8", *keys(repeats=2)),
}


def arguments(recipe: str) -> tuple[str, ...]:
    common = ("train", recipe, "-e", "scratch", "-t", "x.db", *SMALL, *QUICK)
    return (*common, *CASES[recipe])


def test_the_dev_score_is_what_evaluate_says_of_the_folder(place: Path) -> None:
    weight = keys(sparse_weight=6, sparse_rate=0)
    biosyn = (*arguments("biosyn"), *weight, "--dev", "dev.txt")
    run(*biosyn, *keys(keep="last"), "-o", "out")
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
    few = ("train", "few-shot", "-e", "default", "--device", "cpu", *keys(names=2, hidden=8))
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
    run(*coder, *keys(variant="none"), "-o", "out")
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    n = len(SIGNS) * len(PLACES)  # the signs themselves have one name
    assert facts["objective_settings"]["n_triplets"] == n
    assert facts["objective_settings"]["relations"] == ["synonym"]
    assert "synonym" in run(*coder, *keys(variant="none"), "--dry-run", "-o", "b").output


@pytest.mark.parametrize("recipe", CASES)
def test_a_transformer_is_trained_and_used(recipe: str, place: Path) -> None:
    told = run(*arguments(recipe), "--dev", "dev.txt", "-o", "out", *keys(log="log.jsonl"))
    assert re.search(r"dev accuracy@1 [01]\.\d", told.output)
    assert re.search(r"^steps +3$", told.output, re.MULTILINE)
    assert len([n for n in (place / "log.jsonl").read_text().splitlines() if "names" in n]) == 3
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    assert facts["paper"] == RECIPES[recipe].paper
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
        ("dilbert", keys(distance="cosine"), "cosine"),
        ("dilbert", keys(similarity="cosine"), "cosine"),
        ("biosyn", (), "inner"),
        ("biosyn", keys(similarity="euclidean"), "euclidean"),
        ("biosyn", keys(cosine_scale=20), "cosine"),
        ("triplet", (), "cosine"),
        ("triplet", keys(similarity="euclidean"), "euclidean"),
    ],
)
def test_it_is_searched_as_its_paper_says(
    recipe: str, options: tuple[str, ...], similarity: str
) -> None:
    weight = keys(sparse_weight=4) if recipe == "biosyn" else ()
    run(*arguments(recipe), *weight, *options, "-o", "out", "--quiet")
    encoder: Any = load_encoder("out")
    assert encoder.similarity == similarity
    assert encoder.normalise == (similarity == "cosine")
    run("index", "x.db", "-o", "index", "--encoder", "out", "--quiet")
    described = read_manifest(Path("index"), kind="linker", newest=2)["encoders"]
    assert described[0].get("similarity", "cosine") == similarity
    told = run("link", "--index", "index", "--explain", "xhip pains").output
    if recipe == "biosyn" and similarity != "euclidean":
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
    run(*arguments("biosyn"), *keys(sparse="default", sparse_weight=20), "-o", "out")
    facts = read_manifest(place / "out", kind="encoder", newest=1)["training"]
    assert facts["objective_settings"]["sparse"] == "default"
    assert facts["objective_settings"]["sparse_weight"] == 20
    told = run(*arguments("biosyn"), *keys(sparse="tf-idf"), "-o", "other", code=2).output
    assert "'tf-idf' is neither a file or folder here nor a kind of encoder" in told
    assert not (place / "other").exists()


def test_a_head_is_trained(place: Path) -> None:
    common = ("train", "few-shot", "-e", "default", "-t", "x.db", "--device", "cpu")
    head = (*keys(hidden=20, names=2), "--top", "X:0")
    told = run(*common, *head, "--epochs", "3", "-o", "first")
    assert "validation score -" in told.output
    assert load_encoder(place / "first").encode(["hip"]).shape == (1, 128)
    again = ("-e", "first", "--epochs", "2", "-o", "second")
    settings = keys(width=140, keep="last", early_stopping=1)
    run(*common, *head, *again, *settings, "--dev", "dev.txt")
    second = load_encoder(place / "second")
    assert second.encode(["hip"]).shape == (1, 140)
    averaging = (*keys(head="dan", hidden=20, names=1), "--top", "X:0")
    run(*common, *averaging, "--epochs", "2", "-o", "dan")
    assert load_encoder(place / "dan").settings == {"head": "dan"}  # type: ignore[attr-defined]
    (place / "groups.json").write_text(
        json.dumps({sign: [f"{sign} of {p}" for p in PLACES] for sign in SIGNS[:3]})
    )
    told = run(*common, *head[:4], "--groups", "groups.json", "--dry-run", "-o", "third")
    assert re.search(r"^n concepts +3$", told.stdout, re.MULTILINE)
    for extra, message in (
        (("--groups", "groups.json"), "either --top or --groups"),
        ((*keys(concepts=2), "--top", "X:9"), "X:9"),
    ):
        given = head if "--top" not in extra else head[:4]
        assert message in run(*common, *given, *extra, "-o", "new", code=2).output
    assert "dense" in run("train", "few-shot", "-e", "chargrams", *common[4:], *head,
                          "-o", "new", code=2).output  # fmt: skip


def test_watched_mentions_are_shown_and_saved(place: Path) -> None:
    watched = (*keys(watch="the hip pain"), *keys(watch="sore elbow"))
    told = run(*arguments("biosyn"), *watched, "--dev", "dev.txt", "-o", "b").stdout
    for column in ("tf-idf", "epoch 0", "epoch 1"):
        assert re.search(rf"^the hip pain\n +{column}", told, re.MULTILINE), told
    assert re.search(r"^1 +hip pain\*", told, re.MULTILINE)
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
    told = run(*few, *watched[:2], *keys(hidden=8, names=2), "--epochs", "2", "-o", "f").stdout
    assert "underneath" in told
    assert len(re.findall(r" \(X:2\)|\(X:2\)", told)) >= 3
    empty = run(*arguments("biosyn"), *keys(watch="?!"), "-o", "none", code=2).output
    assert "a watched mention is empty when prepared" in empty


def test_an_option_that_is_gone_says_what_to_type() -> None:
    for recipe, flag, instead in (
        ("few-shot", "--try-hidden", "train with --set hidden=N for each width"),
        ("biosyn", "--config", "type --plan FILE"),
        ("biosyn", "--cosine-scale", "it is a key of the plan: type --set cosine_scale=VALUE"),
        ("biosyn", "-k", "it is a key of the plan: type --set k=VALUE"),
        ("dilbert", "--positives", "it is a key of the plan: type --set positives=VALUE"),
        ("coder", "--mention-type", "type --set mention_type=VALUE"),
        ("triplet", "--early-stopping", "type --set early_stopping=VALUE"),
    ):
        told = " ".join(run("train", recipe, flag, "4", "-o", "best", code=2).stderr.split())
        assert f"{flag} is gone: " in told
        assert instead in told
    assert "No such option" in run("train", "triplet", "-k", "4", code=2).stderr


@pytest.mark.parametrize("recipe", [*CASES, "few-shot"])
def test_a_dry_run_shows_what_would_be_sampled(recipe: str, place: Path) -> None:
    if recipe == "few-shot":
        head = (*keys(hidden=9, names=2), "--top", "X:0", "--device", "cpu")
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
    settings = keys(max_steps=5, checkpoint_every=1, checkpoints="elsewhere")
    whole = (*arguments(recipe), "--epochs", "3", *settings)
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
    other = run(*whole, "-o", "out", "--resume", *keys(clip=2), code=2).output
    was = {"biosyn": None}[recipe]
    assert f"settings.clip was {was} and is 2" in other
    run(*whole, "-o", "out", "--resume", *keys(keep_checkpoints="true"))
    assert (place / "elsewhere").is_dir()
    assert "exists already" in run(*whole, "-o", "out", "--resume", code=2).output
    assert "nothing to do" in run(*arguments(recipe), "-o", "whole", "--resume").output
    one, two = (load_encoder(place / name).encode(["hip burn"]) for name in ("whole", "out"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("keep", [(), keys(keep_checkpoints="true")])
def test_a_run_that_replaces_is_not_finished_before_its_first_checkpoint(
    keep: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    run(*arguments("biosyn"), "-o", "out", *keys(max_steps=1))
    old = (place / "out" / "model.safetensors").read_bytes()
    again = (*arguments("biosyn"), "-o", "out", *keys(max_steps=2), *keep)
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
    for output in (("-o", corpus), ("-o", "new", *keys(log=corpus))):
        assert "is an input as well" in run(*given, *output, *more, code=2).output
    assert "are both" in run(*given, "-o", "new", *keys(log="./new"), *more, code=2).output
    assert (place / corpus).read_bytes() == before


def test_a_log_that_exists_is_kept(place: Path) -> None:
    (place / "run.jsonl").write_text("of another run")
    refused = run(*arguments("biosyn"), "-o", "new", *keys(log="run.jsonl"), code=2)
    assert "log run.jsonl exists already" in refused.output
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
        ((*biosyn, "-e", "scratch", *keys(early_stopping=2)), "--dev corpus"),
        (biosyn, "no encoder to begin with: name one with -e"),
        (("train", "coder", "-e", "scratch", "-o", "out"), "coder trains on a terminology"),
        (("train", "coder", "-e", "scratch"), "Missing option '-o'"),
        ((*biosyn[:-1], "no/such/out", "-e", "scratch"), "does not exist"),
        ((*biosyn, "-e", "scratch", "-c", "train.txt", "--mention-type", "Gene"), "Gene"),
        ((*coder, "--relations", "bad.tsv"), "bad.tsv, line 1"),
        ((*coder, "--relations", "empty.tsv"), "holds no relation"),
        ((*coder, "--learning-rate", "0"), "learning_rate is 0.0; expected a number above 0"),
        ((*few, "--groups", "bad.json"), "lists of names by concept"),
        ((*few, "--groups", "none.json"), "none.json: there is no such file"),
    ):
        assert message in run(*given, code=2).output, given
        assert not (place / "out").exists()
    told = run(*coder, "--relations", "relations.tsv", "--dry-run", *keys(repeats=2)).stdout
    assert "near" in told
    assert "is_a" not in told


def test_several_terminologies_are_read_one_after_the_other(place: Path) -> None:
    (place / "more.csv").write_text("id,name\nY:1,sprained ankle\nY:1,ankle sprain\n")
    given = [one.replace("x.db", "x.obo") for one in arguments("triplet")]
    told = run(*given, "-t", "more.csv", "--dry-run", "-o", "out").stdout
    assert re.search(r"^concepts +22$", told, re.MULTILINE)  # 21, and one


# --- plans ----------------------------------------------------------------------------------------


def test_a_plan_fills_the_keys_and_the_command_line_wins(place: Path) -> None:
    (place / "run.toml").write_text(
        'encoder = "scratch"\nterminology = "x.db"\ncorpus = ["train.txt"]\nk = 4\nwidth = 16\n'
        "layers = 1\nheads = 2\nvocabulary = 90\nmax-steps = 2\nbatch_size = 4\n"
        'merge = true\nlearning-rate = 1\ndevice = "cpu"\n'
    )
    biosyn = ("train", "biosyn", "--plan", "run.toml", "-o")
    run(*biosyn, "by-file")
    run(*biosyn, "other", *keys(k=3, max_steps=9), "--seed", "5", *keys(max_steps=2), "--quiet")
    facts = {
        name: read_manifest(place / name, kind="encoder", newest=1)["training"]
        for name in ("by-file", "other")
    }
    assert [facts[name]["objective_settings"]["k"] for name in facts] == [4, 3]
    assert [facts[name]["settings"]["seed"] for name in facts] == [0, 5]
    for one in facts.values():
        assert one["objective_settings"]["merge"] is True
        assert one["settings"]["learning_rate"] == 1.0
        assert one["steps"] == 2
        assert one["counts"]["mentions"] == 8


@pytest.mark.parametrize("recipe", ["biosyn", "few-shot"])
def test_the_plan_beside_an_encoder_repeats_its_run(recipe: str, place: Path) -> None:
    if recipe == "biosyn":
        first = (*arguments(recipe), *keys(log="log.jsonl", watch='["hip pain", "a \\"knee\\""]'))
    else:
        first = ("train", recipe, "-e", "default", "-t", "x.db", "--top", "X:0", "--device", "cpu")
        first += (*keys(names=2, hidden=8, early_stopping="none"), "--epochs", "2")
    run(*first, "-o", "first")
    run("train", recipe, "--plan", "first", "-o", "second")
    facts = [
        read_manifest(place / name, kind="encoder", newest=1)["training"]
        for name in ("first", "second")
    ]
    for name in ("settings", "objective_settings", "data", "epochs", "steps"):
        assert facts[0][name] == facts[1][name]
    one, two = (load_encoder(place / name).encode(["hip burn"]) for name in ("first", "second"))
    np.testing.assert_array_equal(one, two)
    plans = [(place / name / "plan.toml").read_text() for name in ("first", "second")]
    assert plans[0] == plans[1]
    assert 'log = "none"' in plans[0]


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_plan_that_is_shown_is_whole_and_can_be_read(recipe: str, place: Path) -> None:
    shown = run("train", recipe, "--show-plan", "--epochs", "7", *keys(max_names=40)).stdout
    (place / "shown.toml").write_text(shown)
    values = read_plan(recipe, "shown.toml")
    assert set(values) == set(plan_keys(recipe))
    assert (values["epochs"], values["max_names"]) == (7, 40)
    assert plan_text(recipe, values) == shown
    assert run("train", recipe, "--plan", "shown.toml", "--show-plan").stdout == shown
    for key in plan_keys(recipe).values():
        assert key.help.endswith("."), key.key
        assert re.search(rf"^{key.key} = .+  # .+$", shown, re.MULTILINE)
    assert not [line for line in shown.splitlines() if line.startswith("#") and len(line) > 100]
    published = run("train", recipe, "--show-plan").stdout
    assert run("train", recipe, "--plan", f"{recipe}-published", "--show-plan").stdout == published


def test_a_budget_of_names_takes_the_place_of_epochs() -> None:
    shown = run("train", "biosyn", "--show-plan", *keys(max_names=40)).stdout
    assert 'epochs = "none"' in shown


def test_every_plan_that_comes_with_canonym_is_of_its_recipe() -> None:
    names = {path.stem for path in PLANS.iterdir()}
    assert {f"{recipe}-published" for recipe in RECIPES} < names
    for name in names:
        recipe = next(recipe for recipe in RECIPES if name.startswith(recipe))
        assert read_plan(recipe, name)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_published_plan_says_what_the_objective_has_by_default(recipe: str) -> None:
    """Who makes an objective in Python gets what the plan of its paper says."""
    from canonym.training.keys import keys_of

    published = read_plan(recipe, f"{recipe}-published")
    made: Any = RECIPES[recipe]
    plain = keys_of(made) | (keys_of(made.from_groups) if recipe == "few-shot" else {})
    own = {name: value for name, value in published.items() if name in plain}
    assert own == {name: plain[name].default for name in own}
    assert {**made.fit_settings, **made.encoder_settings}.items() <= published.items()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("learning_rat = 3", "no key 'learning_rat' (value 3): did you mean 'learning_rate'?"),
        ("positives = 3", "biosyn has no key 'positives' (value 3)"),
        ("zzz = 3", "no key 'zzz' (value 3): --show-plan prints all keys"),
        ("k = 2.5", "k is 2.5; expected a whole number at least 1"),
        ("cosine-scale = inf", "cosine_scale is inf; expected a number above 0"),
        ("k = 0", "k is 0; expected a whole number at least 1"),
        ("k = true", "k is True; expected a whole number"),
        ('k = "none"', "k is 'none'; expected a whole number"),
        ("merge = 1", "merge is 1; expected true or false"),
        (
            'loss = "softmax"',
            "loss is 'softmax'; expected one of 'marginal', 'hard-em', 'pair-wise'",
        ),
        ("cosine-scale = 0", "cosine_scale is 0; expected a number above 0"),
        ("dense_ratio = 2", "dense_ratio is 2; expected a number at least 0 and at most 1"),
        ("corpus = [1]", "corpus is [1]; expected a list of strings"),
        ('recipe = "coder"', "recipe is 'coder'; expected 'biosyn'"),
        ("k 3", "cannot be read as TOML"),
    ],
)
def test_a_plan_that_does_not_fit_is_a_message(line: str, message: str, place: Path) -> None:
    (place / "run.toml").write_text(line)
    # No file of it exists: the plan is checked before data are read.
    biosyn = ("train", "biosyn", "-e", "nothing", "-t", "nothing", "-c", "nothing", "-o", "out")
    told = run(*biosyn, "--plan", "run.toml", code=2).output
    assert message in told
    assert "run.toml" in told
    assert sorted(path.name for path in place.iterdir()) == ["dev.txt", "run.toml", "train.txt",
                                                             "x.db", "x.obo"]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (keys(learning_rat=3), "did you mean 'learning_rate'?"),
        (keys(k="many"), "k is 'many'; expected a whole number at least 1"),
        (keys(k=2.5), "k is 2.5; expected a whole number at least 1"),
        (("--set", "k"), "--set k: KEY=VALUE is expected"),
        (("--set", "=3"), "--set =3: KEY=VALUE is expected"),
        (("--plan", "biosyn-publishd"), "did you mean biosyn-published?"),
        (("--plan", "nowhere.toml"), "the plans that come with canonym are biosyn-beside-default"),
        (("--plan", "coder-published"), "recipe is 'coder'; expected 'biosyn'"),
        (("--epochs", "0"), "epochs is 0; expected a whole number at least 1"),
        (("--epochs", "many"), "'many' is not a valid integer"),
    ],
)
def test_a_setting_that_does_not_fit_is_a_message(given: tuple[str, ...], message: str) -> None:
    told = run("train", "biosyn", "-e", "a", "-t", "b", "-o", "out", *given, code=2).output
    assert message in told


def test_the_value_of_a_key_is_typed_without_quotes() -> None:
    typed = (*keys(loss="hard-em", merge="true", sparse_weight=2), "--set", "watch=12", "--set",
             "watch=a, b", "--set", 'corpus=["x", "y"]')  # fmt: skip
    shown = run("train", "biosyn", "--show-plan", *typed).stdout
    for line in ('loss = "hard-em"', "merge = true", "sparse_weight = 2", 'watch = ["12", "a, b"]',
                 'corpus = ["x", "y"]'):  # fmt: skip
        assert f"\n{line}  # " in shown


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
    with pytest.raises(InvalidInput, match=r"dilbert has no key 'k' \(value 3\)"):
        TrainingSpec.from_values("dilbert", {"k": 3})
    with pytest.raises(InvalidInput, match="there is no recipe 'other'"):
        plan_keys("other")


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
    found = {name: option.default for name, option in plan_keys(recipe).items()}
    assert {name: found[name] for name in PUBLISHED[recipe]} == PUBLISHED[recipe]
    assert found["seed"] == 0


def test_every_flag_says_what_it_is() -> None:
    recipes = {name: train.commands[name] for name in RECIPES}
    assert set(train.commands) == {*RECIPES, "subword", "confidence"}
    for command in recipes.values():
        assert (command.help or "").count(f"canonym train {command.name}") == 2
        ctx = click.Context(command, max_content_width=100)
        flags = command.get_params(ctx)
        assert len(flags) <= 20
        assert all(isinstance(flag, click.Option) and flag.help for flag in flags)
        assert len(run("train", command.name, "--help").output.splitlines()) <= 60


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
    asked += ("--batch-size", "8", *keys(max_steps=4, precision="float32"))
    run(*asked, *keys(accumulation=2), "-o", "one")
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


def test_long_names_near_a_watched_one_stay_on_a_line(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [
        f"other specified and unspecified disorders of the left limb number {n}" for n in range(9)
    ]
    groups = {"upper": names, "lower": [name.replace("left", "right") for name in names]}
    (place / "groups.json").write_text(json.dumps(groups))
    few = ("train", "few-shot", "-e", "default", "--groups", "groups.json", "--device", "cpu")
    small = keys(watch="sore limb", hidden=8, names=2)
    told = run(*few, *small, "--epochs", "1", "-o", "long").stdout
    assert (
        len(re.findall(r"^\d +other specified .* limb number \d \((?:upp|low)er\) *$", told, re.M))
        == 12
    )


def test_random_weights_are_offered_a_cosine_scale(place: Path) -> None:
    del place
    scratch = [*arguments("biosyn")]
    scratch[scratch.index("-e") + 1] = "scratch"
    assert "--set cosine_scale=20" in run(*scratch, "--dry-run", "-o", "out").stderr
    scaled = run(*scratch, *keys(cosine_scale=20), "--dry-run", "-o", "out")
    assert "WARNING" not in scaled.stderr
