"""Folds of a cross-validation: names as they are written, one run per fold, and their spread."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from canonym import Concept, InvalidInput, Mention, Name, Terminology
from canonym.corpora import Fold, read_folds
from canonym.encoders.chargrams import CharGrams
from reproduce.folds import evaluate_folds
from reproduce.run import reproduce

TARGETS = "1\tmyalgia\n2\tasthenia\n3\tpins & needles\n"


def mentions(*pairs: tuple[str, str]) -> tuple[Mention, ...]:
    return tuple(Mention(text, ids=(id_,)) for text, id_ in pairs)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for number, test in enumerate(("1\tmyalgia\n2\tweak\n", "1\tmyalgia\n2\tasthenia\n")):
        folder = tmp_path / "tweets" / f"tweets_{number}"
        folder.mkdir(parents=True)
        (folder / "standard.txt").write_text(TARGETS)
        (folder / "train.txt").write_text("2\tweak\n")
        (folder / "test.txt").write_text(test)
    return tmp_path


def test_every_fold_is_searched_in_its_own_targets(corpus: Path) -> None:
    found = evaluate_folds(read_folds(corpus / "tweets"), encoders=())
    assert found.names == ("tweets_0", "tweets_1")
    assert found.n == 4
    assert [run.value("accuracy@1") for run in found.runs] == [0.5, 1.0]
    spread = found.spread("accuracy@1")
    assert (spread.mean, spread.n) == (0.75, 2)
    assert spread.sd == pytest.approx(math.sqrt(0.125))
    assert spread.low < 0.75 < spread.high
    # training is known, but adds no names: "weak" is seen and yet not found
    assert [case.seen_mention for case in found.runs[0].scored["strict"]] == [False, True]


def test_encoders_get_strings_letter_for_letter() -> None:
    terminology = Terminology.build(
        [Concept("1", "AIDS"), Concept("2", "aids"), Name("x-ray", "2"), Name("x ray", "1")]
    )
    cases = mentions(("AIDS", "1"), ("aids", "2"))
    hyphens = mentions(("x-ray", "2"), ("x ray", "1"))
    folds = [Fold("a", test=hyphens), Fold("b", test=hyphens)]
    own = CharGrams()
    for encoders in ((), ("chargrams",), (own,)):
        found = evaluate_folds(folds, terminology=terminology, encoders=encoders)
        assert [run.value("accuracy@1", reading="strict") for run in found.runs] == [1.0, 1.0]
        assert [run.value("accuracy@1", reading="lenient") for run in found.runs] == [1.0, 1.0]
    folds = [Fold("a", test=cases), Fold("b", test=hyphens)]
    found = evaluate_folds(folds, terminology=terminology, encoders=())
    assert [run.value("accuracy@1", reading="strict") for run in found.runs] == [1.0, 1.0]
    assert not hasattr(own, "steps")
    mixed = evaluate_folds(folds, terminology=terminology, protocol="zero-shot")
    assert mixed.runs[0].value("accuracy@1", reading="strict") < 1.0


def test_an_encoder_that_normalises_for_itself_stays_as_it_is() -> None:
    terminology = Terminology.build([Concept("1", "heart attack"), Concept("2", "asthma")])
    folds = [Fold(name, test=mentions(("Heart-Attack", "1"))) for name in "ab"]
    found = evaluate_folds(folds, terminology=terminology, encoders=["default"])
    assert [run.value("accuracy@1") for run in found.runs] == [1.0, 1.0]
    described = found.runs[0].fingerprints["index"]["encoders"][0]
    assert (described["name"], described["steps"]) == ("default", [])


def test_dev_is_asked_with_train_before_it() -> None:
    terminology = Terminology.build([Concept("1", "myalgia")])
    ache = mentions(("ache", "1"))
    folds = [Fold(name, train=ache, dev=ache, test=mentions(("pain", "1"))) for name in "ab"]
    found = evaluate_folds(folds, terminology=terminology, encoders=(), part="dev", metrics=["mrr"])
    assert [q.mention.text for q in found.runs[0].questions] == ["ache"]
    assert found.runs[0].part == "dev"
    assert found.spread("mrr").mean == 0.0


def test_folds_that_cannot_be_evaluated() -> None:
    one = Fold("a", test=mentions(("ache", "1")))
    with pytest.raises(InvalidInput, match="1 folds have no spread"):
        evaluate_folds([one])
    with pytest.raises(InvalidInput, match="'train'; 'test' or 'dev' is expected"):
        evaluate_folds([one, one], part="train")
    with pytest.raises(InvalidInput, match="the fold a has no dev mentions"):
        evaluate_folds([one, one], part="dev")
    with pytest.raises(InvalidInput, match="no list of targets"):
        evaluate_folds([one, one])


def test_folds_stand_in_an_experiment(corpus: Path) -> None:
    (corpus / "folds.toml").write_text(
        """
        protocol = "plain"
        corpus = "tweets"
        format = "folds"
        [[row]]
        name = "verbatim"
        encoders = []
        published = { "accuracy@1" = 75.0, "accuracy@3" = 80.0 }
        difference = 0.5
        [[row]]
        name = "other targets"
        terminology = [{ file = "names.tsv", trees = "trees.tsv", tree_types = 1, types = ["C"] }]
        encoders = []
        published = { "accuracy@1" = "none" }
        """
    )
    (corpus / "names.tsv").write_text("id\tname\n1\tmyalgia\n2\tweak\n2\tasthenia\n")
    (corpus / "trees.tsv").write_text("id\ttree\n1\tC01\n2\tD01\n1\tC01.2\n")
    table = reproduce("folds", folder=corpus, data=corpus)
    first, third, other = table.rows
    assert (first.value, first.n, first.folds, first.agrees) == (75.0, 4, 2, True)
    assert first.sd == pytest.approx(100 * math.sqrt(0.125))
    assert (third.metric, third.value, third.agrees) == ("accuracy@3", 75.0, False)
    # only the concept of branch C is there: the other's mentions are left out, and that is said
    assert (other.value, other.n, other.reading) == (100.0, 2, "lenient")
    assert other.remarks[0] == (
        "fold tweets_0: 1 mentions with an id that the terminology does not have were left out"
    )
    content = table.to_dict()
    assert content["rows"][0]["sd"] == first.sd
    wrong = (corpus / "folds.toml").read_text().replace("accuracy@3", "accuracy@x")
    (corpus / "bad.toml").write_text(wrong)
    with pytest.raises(InvalidInput, match="'accuracy@x': the cut-off is 'x'"):
        reproduce("bad", folder=corpus, data=corpus)


def test_cadec_gives_the_number_of_targets_and_mentions(data: Path) -> None:
    folds = list(read_folds(data / "cadec"))
    assert [len(fold.test) for fold in folds] == [504, 459, 424, 397, 375]
    found = evaluate_folds(folds, encoders=())
    assert found.n == 2159
    assert {run.fingerprints["terminology"]["n_concepts"] for run in found.runs} == {181}
    assert 100 * found.spread("accuracy@1").mean == pytest.approx(4.5, abs=0.05)
