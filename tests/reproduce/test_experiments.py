from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from canonym import InvalidInput, ReadError
from canonym.encoders.chargrams import CharGrams
from canonym.evaluation import wilson
from reproduce.files import read_experiment
from reproduce.run import reproduce
from reproduce.table import ReproducedRow

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "benchmarks" / "reproduce" / "experiments"

PUBTATOR = {
    "train": "1|t|Ague is a fever.\n1\t0\t4\tAgue\tDisease\tD4\n",
    "dev": "2|t|Brest cancer\n2\t0\t12\tBrest cancer\tDisease\tD1\n",
    "test": "3|t|ague, brest cancer\n3\t0\t4\tague\tDisease\tD4\n"
    "3\t6\t18\tbrest cancer\tDisease\tD1\n3\t6\t11\tbrest\tBreed\tD1\n",
}
CONCEPT = {
    "train": "1||0|4||Disease||ague||D4\n",
    "test": "3||0|4||Disease||ague||D4\n3||6|18||Disease||breast cancer|fever||D1|D4\n",
}
EXPERIMENT = Path(__file__).with_suffix(".toml").read_text("utf-8")


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for folder, files, ending in (
        ("corpus", PUBTATOR, "pubtator"),
        ("prepared", CONCEPT, "concept"),
    ):
        (tmp_path / folder).mkdir()
        for part, text in files.items():
            (tmp_path / folder / f"{part}.{ending}").write_text(text)
    (tmp_path / "names.txt").write_text("D1||Breast cancer|breast tumor\nD4||Fever\n")
    (tmp_path / "words.txt").write_text("brest||breast\n")
    (tmp_path / "two.toml").write_text(EXPERIMENT)
    return tmp_path


def test_ours_stands_beside_the_published_number(shelf: Path) -> None:
    table = reproduce("two", folder=shelf, data=shelf, models={"a model": CharGrams()})
    rows = {(row.name, row.metric): row for row in table.rows}
    first = rows["corrected", "accuracy@1"]
    assert (first.published, first.value, first.n, first.reading) == (90, 100, 2, "lenient")
    low, high = (100 * bound for bound in wilson(2, 2)[1:])
    assert (first.low, first.high) == (low, high)
    assert (first.difference, first.agrees) == (10, True)
    # Every draw of two right mentions is above 90.
    assert first.p_published == pytest.approx(2 / 10_001)
    assert rows["corrected", "accuracy@5"].agrees is False
    dev = rows["dev", "accuracy@1"]
    assert (dev.published, dev.value, dev.reading) == (None, 0, "strict")
    assert (dev.difference, dev.agrees, dev.caveat) == (None, None, "of no use")
    assert dev.p_published is None
    assert rows["prepared", "accuracy@1"].value == 100
    nowhere = rows["elsewhere", "accuracy@1"]
    assert nowhere.value is nowhere.difference is nowhere.n is None
    assert "nowhere is not in the data folder" in nowhere.problem
    assert list(table.runs) == ["corrected", "dev", "prepared"]
    assert table.runs["dev"].part == "dev"
    assert table.runs["corrected"].fingerprints["seed"] == 3
    assert set(table.runs["corrected"].fingerprints["corpus"]["files"]) == {
        *("train.pubtator", "dev.pubtator", "test.pubtator")
    }
    assert table.runs["prepared"].fingerprints["index"]["encoders"][0]["weight"] == 2.0
    content = table.to_dict()
    assert content["title"] == "Two names"
    assert content["rows"][0]["difference"] == 10
    assert set(content["data"]) == {
        *(f"corpus/{part}.pubtator" for part in PUBTATOR),
        *(f"prepared/{part}.concept" for part in CONCEPT),
        "names.txt",
    }
    assert content["rows"][0]["strict"]["value"] == 100
    prints = table.runs["corrected"].fingerprints["index"]["fingerprint"]
    assert content["rows"][0]["fingerprint"] == prints[:16]
    assert "remarks" not in content["rows"][0]
    assert content["rows"][-1]["value"] is None


def test_rows_may_leave_training_out(shelf: Path) -> None:
    text = EXPERIMENT[: EXPERIMENT.index("[[row]]")]
    for name, more in (("with", ""), ("without", "training = false")):
        text += f"""
        [[row]]
        name = "{name}"
        corpus = "corpus"
        types = ["Disease"]
        encoders = ["default"]
        {more}
        published = {{ "accuracy@1" = 50 }}
        """
    (shelf / "three.toml").write_text(text)
    runs = reproduce("three", folder=shelf, data=shelf).runs
    assert runs["with"].value("accuracy@1") == 1
    assert runs["with"].fingerprints["learned"] == 2
    assert runs["without"].fingerprints["learned"] == 0
    assert runs["without"].fingerprints["corpus"]["training_documents"] == 0


def test_names_are_indexed_once_for_rows_that_search_the_same(shelf: Path) -> None:
    rows = [
        ("encoders = ['chargrams']", ""),
        ("encoders = ['chargrams']", "types = ['Disease']"),
        ("encoders = []", ""),
        ("encoders = ['chargrams']", "protocol = 'plain'"),
    ]
    text = EXPERIMENT[: EXPERIMENT.index("[[row]]")].replace('protocol = "biosyn"\n', "")
    for number, (encoders, more) in enumerate(rows):
        protocol = "" if "protocol" in more else "protocol = 'biosyn'"
        text += f"""
        [[row]]
        name = "row {number}"
        corpus = "corpus"
        {encoders}
        {more}
        {protocol}
        published = {{ "accuracy@1" = 50 }}
        """
    (shelf / "four.toml").write_text(text)
    runs = reproduce("four", folder=shelf, data=shelf).runs
    prints = [runs[f"row {n}"].to_dict()["fingerprints"]["index"]["fingerprint"] for n in range(4)]
    assert prints[0] == prints[1]
    assert len({*prints}) == 3
    alone = [reproduce("four", folder=shelf, data=shelf, rows=[f"row {n}"]) for n in range(4)]
    for n, table in enumerate(alone):
        again = table.runs[f"row {n}"].to_dict()
        assert again == runs[f"row {n}"].to_dict()


def test_only_the_rows_wanted_are_run(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANONYM_DATA", str(shelf))
    assert [row.name for row in reproduce(shelf / "two.toml", rows=["dev"]).rows] == ["dev"]
    with pytest.raises(InvalidInput, match="no row 'x'; there are corrected, dev"):
        reproduce(shelf / "two.toml", rows=["x"])


def test_a_model_that_is_not_here_is_said(shelf: Path) -> None:
    experiment = read_experiment("two", folder=shelf)
    row = reproduce(experiment, data=shelf, rows=["prepared"]).rows[0]
    assert row.value is None
    assert "the encoder 'a model' cannot be opened" in row.problem


def test_without_data_nothing_is_run(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CANONYM_DATA", raising=False)
    with pytest.raises(InvalidInput, match="set CANONYM_DATA"):
        reproduce("two", folder=shelf)
    with pytest.raises(InvalidInput, match=r"'.*gone' is not there"):
        reproduce("two", folder=shelf, data=shelf / "gone")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("[[row]]", "[row]"), ReadError, r"\[\[row\]\] is one of several|no TOML"),
        (("title =", "title"), ReadError, "is no TOML"),
        (("part =", "parts ="), ReadError, "there is no setting 'parts'"),
        (("part =", "precision ="), ReadError, "precision is 'dev'; there are fp32, bf16"),
        (("protocol =", "same ="), ReadError, "the row 'corrected' has no 'protocol'"),
        (('name = "dev"', ""), ReadError, r"the row '\?' has no 'name'"),
        (('format = "concept"', 'format = "doc"'), InvalidInput, "'doc' is none of pubtator"),
    ],
)
def test_what_an_experiment_cannot_say(
    shelf: Path, change: tuple[str, str], error: type[Exception], message: str
) -> None:
    (shelf / "two.toml").write_text(EXPERIMENT.replace(*change))
    with pytest.raises(error, match=message):
        reproduce("two", folder=shelf, data=shelf, models={"a model": CharGrams()})


def test_an_experiment_needs_rows_and_numbers(shelf: Path) -> None:
    (shelf / "two.toml").write_text('title = "none"\n')
    with pytest.raises(ReadError, match=r"has no \[\[row\]\]"):
        read_experiment("two", folder=shelf)
    (shelf / "two.toml").write_text("row = 3\n")
    with pytest.raises(ReadError, match=r"has no \[\[row\]\]"):
        read_experiment("two", folder=shelf)
    (shelf / "two.toml").write_text(EXPERIMENT.replace('{ "accuracy@1" = 50 }', "{}"))
    with pytest.raises(ReadError, match="the row 'elsewhere' has no 'published'"):
        read_experiment("two", folder=shelf)
    with pytest.raises(InvalidInput, match=r"no experiment 'three'; .* has two"):
        read_experiment("three", folder=shelf)
    with pytest.raises(InvalidInput, match="has none"):
        read_experiment("three", folder=shelf / "corpus")


def test_a_row_has_the_settings_of_the_row_that_it_is_like(tmp_path: Path) -> None:
    def read(*rows: str) -> list[dict[str, Any]]:
        listed = ",\n".join(f"{{ {row} }}" for row in rows)
        (tmp_path / "e.toml").write_text(f"k = 3\nrow = [{listed}]\n")
        return list(read_experiment("e", folder=tmp_path).rows)

    first = 'name = "a", task = "relatedness", pairs = "p", encoders = ["x"], published = { s = 1 }'
    second = 'name = "b", like = "a", encoders = ["y"], against = "a"'
    one, two, three = read(first, second, 'name = "c", like = "b", k = 4')
    assert two == {**one, "name": "b", "encoders": ["y"], "against": "a"}
    assert three == {**one, "name": "c", "encoders": ["y"], "k": 4}
    with pytest.raises(ReadError, match="the row 'b' is like 'd', which is no row"):
        read(first, second.replace('like = "a"', 'like = "d"'))
    with pytest.raises(ReadError, match="is like 'b', and so in a circle to itself"):
        read('name = "a", like = "b"', second)


def test_rounding_does_not_make_a_difference() -> None:
    row = ReproducedRow("a", "accuracy@1", "lenient", 87.6, 87.9, 87.0, 88.0, 10, allowed=0.3)
    assert row.agrees


@pytest.mark.parametrize("path", sorted(EXPERIMENTS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_experiment_of_ours_can_be_read(path: Path) -> None:
    experiment = read_experiment(path.stem, folder=EXPERIMENTS)
    assert experiment.source
    names = [row["name"] for row in experiment.rows]
    assert len(names) == len({*names})
