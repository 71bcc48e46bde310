"""Models that an experiment trains: from its file to the rows that use them."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from canonym import InvalidInput, Mismatch, ReadError
from canonym.encoders import make_encoder, path_of
from canonym.io.files import read_manifest
from canonym.types import Relation
from reproduce.command import main
from reproduce.data import Shelf
from reproduce.files import read_experiment
from reproduce.measures.relations import is_test_pair
from reproduce.models import in_order, read_models, resolve
from reproduce.run import reproduce
from reproduce.training import largest_groups, read_tree_groups, train_models

pytest.importorskip("torch", reason="trains models")
os.environ["HF_HUB_OFFLINE"] = "1"

EXPERIMENTS = Path(__file__).parents[2] / "benchmarks" / "reproduce" / "experiments"
PLACES = ["hip", "knee", "hand", "foot"]
SIGNS = ["fracture", "pain", "tumour"]
SCRATCH = 'encoder = "scratch"\nwidth = 16\nlayers = 1\nheads = 2\nvocabulary = 90\n'
NAMES = 'terminology = ["x.obo"]\n'
LINK = f'corpus = "corpus"\nprotocol = "biosyn"\n{NAMES}'


def obo() -> str:
    terms = ["[Term]\nid: X:0\nname: disorder"]
    for i, sign in enumerate(SIGNS):
        terms.append(f"[Term]\nid: X:{i + 1}\nname: {sign}\nis_a: X:0")
        for j, place in enumerate(PLACES):
            synonyms = [f"{place} {sign}", f"{sign} in the {place}"]
            rows = "\n".join(f'synonym: "{one}" EXACT []' for one in synonyms)
            terms.append(
                f"[Term]\nid: X:{100 + 10 * i + j}\nname: {sign} of {place}\n{rows}"
                f"\nis_a: X:{i + 1}"
            )
    return "format-version: 1.2\n\n" + "\n\n".join(terms) + "\n"


def pubtator(number: int, mentions: list[tuple[str, str]]) -> str:
    text, lines = "", []
    for words, id_ in mentions:
        lines.append(f"{number}\t{len(text)}\t{len(text) + len(words)}\t{words}\tSign\t{id_}")
        text += words + ". "
    return f"{number}|t|{text.strip()}\n{number}|a|\n" + "\n".join(lines) + "\n\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "x.obo").write_text(obo())
    (tmp_path / "corpus").mkdir()
    mentions = [
        (f"the {place} {sign}", f"X:{100 + 10 * i + j}")
        for i, sign in enumerate(SIGNS)
        for j, place in enumerate(PLACES)
    ]
    for number, part in enumerate(("train", "dev", "test")):
        text = pubtator(number, mentions[number::2])
        (tmp_path / "corpus" / f"{part}.txt").write_text(text)
    groups = {sign: [f"{sign} of {p}" for p in PLACES] for sign in SIGNS}
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    (tmp_path / "pairs.tsv").write_text("hip pain\tknee pain\t9\nhip\tfoot\t2\npain\ttumour\t1\n")
    (tmp_path / "words.txt").write_text("tumor||tumour\n")
    return tmp_path


def model(name: str, text: str) -> str:
    return f"[model.{name}]\n{text}\n"


def row(name: str, encoder: str, more: str = LINK) -> str:
    head = f'[[row]]\nname = "{name}"\nencoders = ["{encoder}"]\n'
    return f"{head}published = {{ {PUBLISHED} }}\n{more}\n"


PUBLISHED = '"accuracy@1" = 50'


class Trained:
    """An experiment in a folder, and what is said while it is trained."""

    def __init__(self, place: Path, *parts: str) -> None:
        (place / "e.toml").write_text('title = "a"\nsource = "b"\n' + "".join(parts))
        self.place = place
        self.said: list[str] = []
        self.steps: list[tuple[str, int]] = []

    def train(self, **options: Any) -> dict[str, Any]:
        return train_models(
            read_experiment("e", folder=self.place),
            self.place / "models",
            shelf=Shelf(self.place),
            device="cpu",
            progress=lambda name, now: self.steps.append((name, now.step)),
            notice=self.said.append,
            **options,
        )


QUICK = "max_steps = 2\nbatch_size = 4\n"
BASE = (
    f'recipe = "dilbert"\n{SCRATCH}{NAMES}{QUICK}corpus = "corpus"\nn_positives = 2\n'
    'corrections = "words.txt"\n'
)
MORE = BASE.replace('corrections = "words.txt"\n', "").replace(
    'corpus = "corpus"\n',
    'corpora = [\n{ corpus = "corpus", corrections = "words.txt" },\n'
    '{ corpus = "corpus", types = ["Sign"] },\n]\n',
)
AGAIN = 'like = "random"\nencoder = "random"\nstrategy = "re-sampling+siblings"\n' + (
    'random_epochs = 0\nhierarchy = ["x.obo"]\n'
)


def test_a_model_of_several_corpora_has_the_mentions_of_all(place: Path) -> None:
    (place / "words.txt").write_text("hand||elbow\n")
    counts = []
    for distinct in ("false", "true"):
        parts = (model("m", f"{MORE}distinct = {distinct}\n"), row("a", "m"))
        found = Trained(place, *parts).train()
        facts = read_manifest(Path(found["m"]), kind="encoder", newest=1)["training"]
        assert set(facts["data"]) == {"terminology", "corpus", "corrections"}
        counts.append(facts["counts"]["mentions"])
        shutil.rmtree(found["m"])
    assert counts == [12, 9]  # the first corpus says "elbow" where the second says "hand"


def test_a_model_begins_with_another_and_is_used_by_rows(place: Path) -> None:
    parts = (model("again", AGAIN), model("random", BASE), row("a", "again"), row("b", "random"))
    trained = Trained(place, *parts)
    found = trained.train()
    folder = place / "models"
    assert found == {"random": str(folder / "e-random"), "again": str(folder / "e-again")}
    assert trained.steps == [("e-random", 1), ("e-random", 2), ("e-again", 1), ("e-again", 2)]
    facts = read_manifest(folder / "e-again", kind="encoder", newest=1)["training"]
    assert facts["asked"]["settings"]["strategy"] == "re-sampling+siblings"
    assert facts["asked"]["start"]
    assert facts["objective_settings"]["n_relatives"] == 2
    assert set(facts["data"]) == {"terminology", "corpus", "corrections", "hierarchy", "start"}
    assert sorted(path.name for path in folder.iterdir()) == ["e-again", "e-random"]
    table = reproduce("e", folder=place, data=place, models=found)
    assert all(one.value is not None for one in table.rows)
    # A second time everything is there.
    again = Trained(place, *parts)
    assert again.train() == found
    assert not again.steps
    assert [said.rpartition("/")[2] for said in again.said] == [
        *("e-random is used again", "e-again is used again")
    ]


@pytest.mark.parametrize(
    ("recipe", "similarity"),
    [("biosyn", "inner"), ("dilbert", "euclidean"), ("triplet", "cosine"), ("coder", "cosine")],
)
def test_a_model_is_searched_as_its_recipe_says(place: Path, recipe: str, similarity: str) -> None:
    corpus = 'corpus = "corpus"\n' if recipe in {"biosyn", "dilbert"} else ""
    text = f'recipe = "{recipe}"\n{SCRATCH}{NAMES}{corpus}max_steps = 2\nbatch_size = 4\n'
    if recipe == "coder":
        text += 'repeats = 2\nrelations = ["x.obo"]\n'
    weight = "sparse_weight = 7.0\nsparse_rate = 0.0\n" if recipe == "biosyn" else ""
    trained = Trained(place, model("m", text + weight), row("a", "m")).train()
    encoder: Any = make_encoder(trained["m"])
    assert encoder.similarity == similarity
    assert encoder.sparse_weight == (7 if recipe == "biosyn" else 0)
    other = Trained(place, model("m", f'{text}{weight}similarity = "cosine"\n'), row("a", "m"))
    with pytest.raises(Mismatch, match="similarity is 'auto' there and 'cosine' here"):
        other.train()


def test_an_encoder_has_options_behind_its_name() -> None:
    assert resolve("m,pooling=mean", {"m": ["a", "b"]}) == ["a,pooling=mean", "b,pooling=mean"]
    assert resolve("m", {"m": "a"}) == "a"
    assert resolve("other,pooling=mean", {"m": "a"}) == "other,pooling=mean"
    with pytest.raises(InvalidInput, match="cannot take the options 'pooling=mean'"):
        resolve("m,pooling=mean", {"m": make_encoder("chargrams")})


def test_a_row_cannot_search_a_model_otherwise(place: Path) -> None:
    Trained(place, model("m", BASE), row("a", "m,similarity=cosine"))
    with pytest.raises(ReadError, match=r"set similarity in \[model.m\]"):
        read_experiment("e", folder=place)


def test_a_model_that_was_trained_otherwise_is_not_used(place: Path) -> None:
    text = f'recipe = "biosyn"\n{SCRATCH}{NAMES}{QUICK}corpus = "corpus"\nk = 3\n'
    Trained(place, model("m", text), row("a", "m")).train()
    other = Trained(place, model("m", text + "learning_rate = 0.1\n"), row("a", "m"))
    with pytest.raises(Mismatch, match=r"learning_rate is 'not given' there and 0\.1 here"):
        other.train()
    (place / "corpus" / "train.txt").write_text(pubtator(7, [("the hip pain", "X:110")]))
    with pytest.raises(Mismatch, match="corpus is"):
        Trained(place, model("m", text), row("a", "m")).train()
    manifest = place / "models" / "e-m" / "canonym.json"
    content = json.loads(manifest.read_text())
    del content["training"]["asked"]
    manifest.write_text(json.dumps(content))
    manifest.with_name("checksums.sha256").unlink()
    with pytest.raises(Mismatch, match=r"no settings of an experiment|size|damaged"):
        Trained(place, model("m", text), row("a", "m")).train()


def test_a_stopped_run_goes_on(place: Path) -> None:
    text = f'recipe = "triplet"\n{SCRATCH}{NAMES}batch_size = 100\nmax_steps = 4\n'
    first = Trained(place, model("m", text), row("a", "m"))

    class Stopped(Exception):
        pass

    def stop(name: str, now: Any) -> None:
        first.steps.append((name, now.step))
        if now.step == 3:
            raise Stopped

    experiment = read_experiment("e", folder=place)
    common: dict[str, Any] = {"shelf": Shelf(place), "device": "cpu", "notice": first.said.append}
    with pytest.raises(Stopped):
        train_models(experiment, place / "models", progress=stop, **common)
    assert (place / "models" / "e-m.checkpoints").is_dir()
    second = Trained(place, model("m", text), row("a", "m"))
    second.train()
    assert second.steps[0][1] > 1
    assert second.steps[-1] == ("e-m", 4)
    assert [path.name for path in (place / "models").iterdir()] == ["e-m"]


HEAD = (
    'recipe = "few-shot"\nencoder = "default"\ngroups = "groups.json"\nn = 2\nepochs = 2\n'
    "hidden = 8\nsamples = 2\nconcepts = 2\n"
)
PAIRS = 'task = "relatedness"\npairs = "pairs.tsv"\n'


def test_samples_are_stacked_on_samples(place: Path) -> None:
    parts = (model("first", HEAD), model("second", 'like = "first"\nencoder = "first"\n'))
    rows = row("a", "second", PAIRS).replace(PUBLISHED, '"spearman" = 0.5')
    trained = Trained(place, *parts, rows)
    found = trained.train()
    names = ["e-second-1", "e-second-2"]
    assert found == {"second": [str(place / "models" / name) for name in names]}
    facts = [
        read_manifest(place / "models" / name, kind="encoder", newest=1)["training"]
        for name in names
    ]
    assert [one["asked"]["settings"]["seed"] for one in facts] == [0, 1]
    assert facts[0]["asked"]["start"] != facts[1]["asked"]["start"]
    assert facts[0]["counts"]["concepts"] == 2
    table = reproduce("e", folder=place, data=place, models=found)
    assert table.rows[0].samples == 2
    assert trained.train() == found


def test_a_result_says_what_training_took_and_measured(place: Path) -> None:
    few = HEAD.replace("hidden = 8", 'try_hidden = [4, 8]\nwatch = ["pain of hip"]')
    biosyn = f'recipe = "biosyn"\n{SCRATCH}{NAMES}{QUICK}corpus = "corpus"\nk = 3\nrecall = true\n'
    parts = (model("few", few), model("syn", biosyn))
    rows = row("a", "few", PAIRS).replace(PUBLISHED, '"spearman" = 0.5') + row("b", "syn")
    Trained(place, *parts, rows)
    arguments = ["e", "--folder", place, "--data", place, "--models", place / "models"]
    done = CliRunner().invoke(
        main, [*map(str, arguments), "--device", "cpu", "--json", str(place / "r.json")]
    )
    assert done.exit_code == 0, done.output
    content = json.loads((place / "r.json").read_text())
    few_shot, by_recall = content["trained"]["few"], content["trained"]["syn"]
    assert few_shot["seconds"] >= 0
    assert few_shot["steps"] == 2
    assert set(few_shot["hidden"]) == {"4", "8"}
    first = few_shot["measured"][0]
    assert first["reference"][0] == "encoder underneath"
    assert all("right" in entry for entry in first["nearest"]["pain of hip"])
    assert few_shot["kept"] in {0, 1}
    assert set(by_recall["recall"]) == {"training", "dev"}
    assert len(by_recall["recall"]["dev"]) == 2  # before and after the only epoch
    assert all(0 <= share <= 1 for shares in by_recall["recall"].values() for share in shares)
    given = ["--model", f"few={place / 'models' / 'e-few-1'}", "--only-trained"]
    done = CliRunner().invoke(main, [*map(str, arguments), *given, "--json", str(place / "r.json")])
    assert done.exit_code == 0, done.output
    content = json.loads((place / "r.json").read_text())
    assert set(content["trained"]) == {"few", "syn"}


def test_word_vectors_are_a_model_too(place: Path) -> None:
    pytest.importorskip("gensim", reason="needs gensim")
    (place / "text.txt").write_text("the hip pain\nthe knee tumour\nfoot fracture of hand\n" * 9)
    words = (
        'recipe = "word-vectors"\ntext = ["text.txt"]\ndimensions = 8\nbuckets = 40\nepochs = 1\n'
    )
    head = HEAD.replace('"default"', '"words"')
    rows = [row("a", "words", PAIRS), row("b", "head", PAIRS)]
    published = [one.replace(PUBLISHED, '"spearman" = 0.5') for one in rows]
    trained = Trained(place, model("words", words), model("head", head), *published)
    found = trained.train()
    table = reproduce("e", folder=place, data=place, models=found)
    assert [one.value is not None for one in table.rows] == [True, True]
    assert trained.train() == found
    assert sum("Training" in said for said in trained.said) == 3
    (place / "text.txt").write_text("something else\n" * 9)
    with pytest.raises(Mismatch, match=r"text\.txt is"):
        trained.train()


def test_relations_and_a_dev_part_are_used(place: Path) -> None:
    (place / "r.tsv").write_text("one\tother\n100\t111\n101\t110\n102\t123\n")
    relations = (
        'relations = ["terminology", { file = "r.tsv", head = "one", tail = "other", '
        'relation = "near", head_prefix = "X:", tail_prefix = "X:" }]\n'
    )
    coder = (
        f'recipe = "coder"\n{SCRATCH}{NAMES}max_steps = 2\naccumulation = 1\nbatch_size = 8\n'
        f'repeats = 2\nvariant = "translation"\nrelation_weighing = {{ threshold = -4.0 }}\n'
    )
    kept = f'recipe = "triplet"\n{SCRATCH}{NAMES}{QUICK}corpus = "corpus"\ndev = true\n'
    trained = Trained(
        place, model("coder", coder + relations), model("kept", kept), row("a", "coder"),
        row("b", "kept"), model("plain", coder), row("c", "plain"),
    )  # fmt: skip
    trained.train()
    folder = place / "models"
    facts = read_manifest(folder / "e-coder", kind="encoder", newest=1)["training"]
    assert facts["objective_settings"]["relations"] == ["is_a", "near"]
    assert facts["objective_settings"]["relation_weighing"]["threshold"] == -4
    assert facts["objective_settings"]["n_triplets"] == 18
    assert "relations of r.tsv" in facts["data"]
    plain = read_manifest(folder / "e-plain", kind="encoder", newest=1)["training"]
    assert plain["objective_settings"]["relations"] == ["is_a"]
    facts = read_manifest(folder / "e-kept", kind="encoder", newest=1)["training"]
    assert facts["epochs"][-1]["dev"] is not None
    classes = f'task = "relations"\n{NAMES}{relations}finetuned = true\nepochs = 1\nmost = 50'
    again = Trained(
        place, model("held", coder + relations + "held_out = true\n"),
        row("classified", "held", classes).replace("accuracy@1", "accuracy"),
    )  # fmt: skip
    table = reproduce("e", folder=place, data=place, models=again.train())
    assert "3 relations of 18 triplets" in table.rows[0].remarks
    fewer = read_manifest(folder / "e-held", kind="encoder", newest=1)["training"]
    assert is_test_pair(Relation("X:102", "near", "X:123"))
    assert fewer["objective_settings"]["n_triplets"] == 17
    with pytest.raises(InvalidInput, match="cannot be trained on its dev part"):
        Trained(place, model("m", kept + 'part = "train+dev"\n'), row("a", "m")).train()


def test_what_is_not_here_is_left_out_and_said(place: Path) -> None:
    lost = BASE.replace('corpus = "corpus"', 'corpus = "none"')
    again = AGAIN + 'corpus = "corpus"\n'
    trained = Trained(
        place, model("random", lost), model("again", again), row("a", "again"),
        model("far", BASE.replace('"scratch"', '"no/model"')), row("b", "far"),
        model("heads", HEAD.replace('"default"', '"chargrams"')), row("c", "heads"),
    )  # fmt: skip
    assert trained.train() == {}
    told = "\n".join(trained.said)
    assert "random: none is not in the data folder" in told
    assert "again begins with random, which is not there" in told
    assert "'no/model' cannot be trained" in told
    assert "'chargrams' cannot be trained" in told
    assert trained.train(only_trained=True) == {}
    given = dict.fromkeys(("again", "far", "heads"), "default")
    assert trained.train(given=given) == {}
    given = {"random": "scratch", "far": "default", "heads": "default"}
    assert list(trained.train(given=given)) == ["again"]
    (place / "models" / "file").write_text("")
    with pytest.raises(InvalidInput, match="is a file; a folder for models"):
        train_models(
            read_experiment("e", folder=place), place / "models" / "file", shelf=Shelf(place)
        )


def test_the_command_trains_and_reproduces(place: Path) -> None:
    text = f'recipe = "triplet"\n{SCRATCH}{NAMES}batch_size = 12\nmax_steps = 2\n'
    Trained(place, model("m", text), row("a", "m"), row("b", "m"))

    def run(*more: str) -> Any:
        common = (str(place / "e.toml"), "--data", str(place), "--device", "cpu")
        return CliRunner().invoke(main, [*common, *more])

    folder = ("--models", str(place / "models"))
    assert "not run" in run(*folder, "--only-trained").stdout
    assert not (place / "models").exists()
    result = run(*folder, "--row", "a")
    assert result.exit_code == 0, result.stderr
    assert "Training" in result.stderr
    assert re.search(r"^a +accuracy@1 +lenient +\d", result.stdout, re.MULTILINE)
    assert "used again" in run(*folder, "--only-trained").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("recipe = 'none'", "has the recipe 'none'; there are biosyn"),
        ("", "has the recipe None"),
        ("recipe = 'triplet'", "has no 'encoder'"),
        ("recipe = 'biosyn'\nencoder = 'a'\nterminology = []", "has no 'corpus'"),
        ("recipe = 'few-shot'\nencoder = 'a'", "has no 'groups'"),
        ("recipe = 'word-vectors'", "has no 'text'"),
        ("recipe = 'word-vectors'\ntext = []\nmargin = 3", "no setting 'margin'"),
        ("recipe = 'triplet'\nstrategy = 'x'", "triplet has no setting 'strategy'"),
        ("recipe = 'coder'\ncorpus = 'x'", "coder has no setting 'corpus'"),
        (f"{BASE}samples = 0", "samples is 0; a number from 1"),
        (f"{BASE}seed = true", "seed is True; a number from 0"),
        (f"{BASE}part = 'test'", "on the part 'test'; 'train' or"),
        (f"{MORE}corpus = 'x'", "has corpora, and beside them 'corpus', which is of one"),
        (f"{MORE}types = ['x']", "has corpora, and beside them 'types', which is of one"),
        (MORE.replace('"corpus"', "3"), r"a corpus 3: the name of one of the folder is expected"),
        (MORE.replace("corrections", "spelling"), "a corpus has no setting 'spelling'"),
        (MORE.replace("{", "#{"), r"corpora is \[\]; tables with a corpus are expected"),
        ("like = 'none'", "'m' is like 'none', which is no model"),
        (f"{BASE}encoder = 'a,pooling=cls'".replace(SCRATCH, ""), "options behind the name are"),
        ("like = 'm'", "like each other: m → m"),
    ],
)
def test_what_a_model_cannot_be(place: Path, text: str, said: str) -> None:
    Trained(place, model("m", text), row("a", "m"))
    with pytest.raises(InvalidInput, match=said):
        read_models(read_experiment("e", folder=place).models)


def test_models_cannot_begin_with_each_other(place: Path) -> None:
    text = BASE.replace('"scratch"', '"n"')
    Trained(place, model("m", text), model("n", 'like = "m"\nencoder = "m"'), row("a", "m"))
    models = read_models(read_experiment("e", folder=place).models)
    with pytest.raises(InvalidInput, match="begin with each other: m → n → m"):
        in_order(models, ["m"])
    text = 'like = "n"\nencoder = "n"\nsamples = 3'
    Trained(place, model("n", BASE + "samples = 2"), model("m", text), row("a", "m"))
    with pytest.raises(
        InvalidInput, match="'m' has 3 samples, and 'n', which it begins with, has 2"
    ):
        read_models(read_experiment("e", folder=place).models)


def test_categories_are_groups(tmp_path: Path) -> None:
    path = tmp_path / "trees.tsv"
    rows = ["C01\tAll", "C01.1\ta", "C01.2\tb", "C01.2.3\tc", "C02.1\tc", "C02.2\td", "C02.3\te"]
    lines = [
        f"{name}\t{number}" for number, name in (one.split("\t") for one in [*rows, "D01.1\tx"])
    ]
    path.write_text("descriptor_name\ttree_number\n" + "\n".join(lines) + "\n")
    groups = read_tree_groups(path, letters="C")
    assert groups == {"C01": ["a", "b", "c"], "C02": ["c", "d", "e"]}
    assert largest_groups(groups, None, least=2) == {"C01": ["a", "b"], "C02": ["d", "e"]}
    with pytest.raises(InvalidInput, match="0 of 2 concepts have 3 names of their own"):
        largest_groups(groups, None, least=3)
    with pytest.raises(ReadError, match="no tree number begins with 'E'"):
        read_tree_groups(path, letters="E")
    with pytest.raises(ReadError, match="no column 'label'"):
        read_tree_groups(path, letters="C", name="label")


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*-train.toml")), ids=lambda p: p.stem)
def test_every_model_of_ours_can_be_made_and_is_used(path: Path) -> None:
    experiment = read_experiment(path)
    models = read_models(experiment.models)
    used = [path_of(spec) for row in experiment.rows for spec in row["encoders"]]
    assert set(in_order(models, used)) == set(models)
    for model in models.values():
        if model.recipe != "word-vectors":
            assert model.loop(0).seed == 0
            assert model.encoder
