"""Rows of other tasks than linking, searches, weights, samples, and one row against another."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from canonym import Concept, InvalidInput, Name, ReadError, Terminology
from canonym.encoders import make_encoder
from canonym.encoders.static import StaticVectors
from canonym.evaluation.dictionary import build_dictionary
from canonym.types import Document, Mention, Relation, Xref
from models.sources import read_relation_table
from reproduce.data import Shelf, silver_conditions, silver_interventions
from reproduce.dictionaries import build_target_dictionary, reweighed
from reproduce.files import read_experiment
from reproduce.measures.relations import is_test_pair
from reproduce.readers.trials import Trial, make_trial
from reproduce.results import Measured, leave_out
from reproduce.run import reproduce
from reproduce.table import Table
from tests.encoders.conftest import make_tiny_bert
from tests.reproduce.test_models import pubtator

WORDS = ["fever", "ague", "pain", "ache", "hip", "knee", "drug", "pill"]
VECTORS = np.array(
    [[1, 0, 0.1], [0.9, 0.3, 0.1], [0, 1, 0], [0.2, 1, 0.1], [0, 0.1, 1], [0.1, 0, 1],
     [-1, 0.1, 0], [-1, 0.3, 0.1]],
    np.float32,
)  # fmt: skip
TERMS = "id\tname\ttype\nX:1\tfever\tA\nX:2\tpain\tA\nX:3\thip\tB\nX:4\tknee\tB\nX:5\tdrug\tB\n"
MENTIONS = {
    "train": [("ache", "X:1")],
    "dev": [("pill", "X:5"), ("knee", "X:4")],
    "test": [("ache", "X:1"), ("ague", "X:1"), ("hip", "X:3"), ("pain", "X:2"), ("knee", "X:4")],
}
HEAD = 'title = "a"\nsource = "b"\n'
LINK = 'corpus = "corpus"\nterminology = ["terms.tsv"]\nprotocol = "biosyn"\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "corpus").mkdir()
    for number, (part, mentions) in enumerate(MENTIONS.items()):
        (tmp_path / "corpus" / f"{part}.txt").write_text(pubtator(number, mentions))
    (tmp_path / "terms.tsv").write_text(TERMS)
    rows = [f"{w} {' '.join(map(str, v))}" for w, v in zip(WORDS, VECTORS.tolist(), strict=True)]
    (tmp_path / "w.vec").write_text(f"{len(rows)} 3\n" + "\n".join(rows) + "\n")
    (tmp_path / "pairs.tsv").write_text("fever\tague\t9\nfever\tpain\t3\nfever\tdrug\t1\nx\ty\t3\n")
    (tmp_path / "is.obo").write_text(
        "format-version: 1.2\n\n[Term]\nid: X:1\nname: a\nis_a: X:2\nconsider: X:2\n\n"
        "[Term]\nid: X:2\nname: b\n"
    )
    (tmp_path / "relations.tsv").write_text(
        "drug\tsign\tkind\n" + "".join(f"5\t{i}\ttreats\n1\t{i}\tnear\n" for i in (1, 2, 3, 4))
        + "5\t9\ttreats\n"
    )  # fmt: skip
    return tmp_path


def run(place: Path, *rows: str, head: str = "", **options: Any) -> Any:
    text = HEAD + head + "".join(f"[[row]]\n{row}\n" for row in rows)
    (place / "e.toml").write_text(text)
    models = {"w": str(place / "w.vec"), **options.pop("models", {})}
    return reproduce("e", folder=place, data=place, models=models, **options)


def row(name: str, more: str = "", published: str = '"accuracy@1" = 50') -> str:
    return f'name = "{name}"\npublished = {{ {published} }}\n{more}'


def test_searches_look_at_what_they_say(place: Path) -> None:
    searches = ["O-T", "O-C", "D-T", "OD-T", "D-T + O-T", "D-C + OD-C"]
    rows = [row(one, f'encoders = ["w"]\nsearch = "{one}"') for one in searches]
    found = {one.name: one for one in run(place, *rows, head=LINK).rows}
    assert {one.reading for one in found.values()} == {"strict"}
    # "ache" is a training mention of fever: only what looks at D can know.
    assert found["O-T"].value == found["O-C"].value == 80
    assert found["OD-T"].value == 100
    # Pain and hip are within 0.95 of the mentions ache and knee, which go first.
    assert found["D-T + O-T"].value == found["D-C + OD-C"].value == 60
    assert found["D-T"].value == 60  # neither hip nor pain is a training mention
    assert found["D-T"].n == 5


def test_a_search_needs_its_mentions_and_a_number(place: Path) -> None:
    terminology = Terminology.build([Concept("X:1", "fever")])
    encoder = StaticVectors(WORDS, VECTORS)
    with pytest.raises(InvalidInput, match="mention"):
        build_target_dictionary(terminology, (), search="D-T", encoders=[encoder])
    found = build_target_dictionary(terminology, (), search="O-T", encoders=[encoder])
    assert found.find(["ague", ""], 1)["ague"][1][0].id == "X:1"
    assert found.find([""], 1) == {"": ((), ())}
    with pytest.raises(InvalidInput, match="k is 0"):
        found.find(["ague"], 0)
    assert place.is_dir()


def test_a_dictionary_is_weighed_anew(place: Path) -> None:
    terminology = Terminology.build([Concept("X:1", "fever"), Concept("X:2", "ageu")])
    encoders = [StaticVectors(WORDS, VECTORS), "chargrams"]
    both = build_dictionary(terminology, encoders=encoders)
    dense, sparse = reweighed(both, [1, 0]), reweighed(both, [0, 1])
    del both  # its folder has to stay as long as the others want it
    assert dense.find_names(["ague"], 1)["ague"][0].text == "fever"
    assert sparse.find_names(["ague"], 1)["ague"][0].text == "ageu"
    for wrong in ([1], [0, 0], [1, -1]):
        with pytest.raises(InvalidInput, match="one is expected for each of the 2 encoders"):
            reweighed(dense, wrong)
    assert place.is_dir()


def test_a_weight_is_chosen_on_the_dev_part(place: Path) -> None:
    chosen = 'encoders = ["w", "chargrams"]\nweights = { dev = [9.0, 0.0, 0.5] }'
    found = run(place, row("a", chosen), head=LINK)
    said = "the weight 0 was chosen on the dev part, with 100.0 there"
    assert said in found.rows[0].remarks
    encoders = found.runs["a"].fingerprints["index"]["encoders"]
    assert [one["weight"] for one in encoders] == [1, 0]
    more = 'encoders = ["w", "chargrams"]\npart = "dev"\nweights = { dev = [1.0] }'
    with pytest.raises(InvalidInput, match="cannot choose weights"):
        run(place, row("a", more), head=LINK)


def test_a_search_is_chosen_on_the_dev_part(place: Path) -> None:
    more = 'encoders = ["w"]\nsearch = { dev = ["D-T", "OD-T"] }'
    found = run(place, row("a", more), head=LINK)
    assert found.rows[0].value == 100
    assert "the search OD-T was chosen on the dev part, with 100.0 there" in found.rows[0].remarks


def test_one_row_against_another(place: Path) -> None:
    rows = (
        row("dense", 'encoders = ["w"]\nagainst = "verbatim"'),
        row("verbatim", "encoders = []"),
    )
    table = run(place, *rows, head=LINK)
    found = table.rows[0].against
    assert found is not None
    assert found.name == "verbatim"
    assert (found.test.only_first, found.test.only_second, found.test.p) == (1, 0, 1.0)
    assert found.difference.value == pytest.approx(0.2)
    assert found.difference.low <= 0.2 <= found.difference.high
    content = json.loads(json.dumps(table.to_dict()))["rows"][0]["against"]
    assert content["mcnemar"]["only_first"] == 1
    assert table.rows[1].against is None
    assert run(place, *rows, head=LINK, rows=["dense"]).rows[0].against is None
    with pytest.raises(InvalidInput, match="ask the same mentions"):
        run(place, rows[0], row("verbatim", 'encoders = []\npart = "dev"'), head=LINK)


def test_only_some_mentions_may_count(place: Path) -> None:
    unseen = '\nslice = "unseen mention"'
    rows = (
        row("dense", f'encoders = ["w"]\nagainst = "verbatim"{unseen}'),
        row("verbatim", f"encoders = []{unseen}"),
    )
    table = run(place, *rows, head=LINK)
    # Of the five, "ache" and "knee" are mentions of the other parts.
    assert [(one.n, one.value) for one in table.rows] == [(3, 100), (3, pytest.approx(200 / 3))]
    found = table.rows[0].against
    assert found is not None
    assert found.difference.value == pytest.approx(1 / 3)
    assert (found.test.only_first, found.test.only_second) == (1, 0)
    pairs = row("pairs", f'task = "relatedness"\npairs = "pairs.tsv"\nencoders = ["w"]{unseen}')
    with pytest.raises(InvalidInput, match="'unseen mention' is of a row of linking"):
        run(place, pairs.replace("accuracy@1", "spearman"))
    with pytest.raises(ReadError, match="there is no slice 'new'; there are all, seen mention"):
        run(place, rows[1].replace("unseen mention", "new"), head=LINK)


def test_other_tasks_are_measured(place: Path) -> None:
    terms = 'terminology = ["terms.tsv"]\n'
    relations = (
        'relations = ["terminology", { file = "relations.tsv", head = "drug", tail = "sign", '
        'relation = "kind", relation_column = true, head_prefix = "X:", tail_prefix = "X:" }]'
    )
    table = run(
        place,
        row("a", 'task = "relatedness"\npairs = "pairs.tsv"', '"spearman" = 0.5'),
        row("b", f'task = "mcsm"\nk = 1\ntypes = ["A"]\n{terms}', '"mean" = "no", "A" = 9.4'),
        row("c", f'task = "relations"\nepochs = 2000\n{terms}{relations}', '"accuracy" = 90'),
        row("d", 'like = "c"\nmost = 3\nepochs = 1\nlearning_rate = 1.0', '"accuracy" = 9'),
        head='encoders = ["w"]\n',
    )
    relatedness, mean, _, accuracy, turned = table.rows
    assert (relatedness.value, relatedness.unit, relatedness.n) == (1.0, "", 4)
    assert relatedness.difference == 0.5
    assert "1 pairs have a term without a vector" in relatedness.remarks
    assert (mean.value, mean.low, mean.n) == (1.0, None, 2)
    known = [*((5, i) for i in (1, 2, 3, 4)), *((1, i) for i in (1, 2, 3, 4))]
    tested = [is_test_pair(Relation(f"X:{head}", "", f"X:{tail}")) for head, tail in known]
    assert accuracy.value == 100
    assert accuracy.n == sum(tested)
    assert "2 relations of 8 triplets" in accuracy.remarks
    assert "1 of 9 triplets" in accuracy.remarks[-1]
    assert table.runs["c"].details["n_train"] == 8 - sum(tested)
    assert any("of 6 triplets" in remark for remark in turned.remarks)
    assert table.header()["data"] == {
        name: hashlib.sha256((place / name).read_bytes()).hexdigest()
        for name in ("pairs.tsv", "terms.tsv", "relations.tsv")
    }


def test_thresholds_are_tried_on_absent_concepts(place: Path) -> None:
    many = [(word, id_) for word, id_ in MENTIONS["test"] * 12]
    (place / "corpus" / "test.txt").write_text(pubtator(2, many))
    names = ("false-positive", "true-positive", "weighted", "most-right", "learned", "never")
    published = ", ".join(f'"{name}" = 80' for name in names)
    more = 'task = "nil"\nencoders = ["w"]\nabsent = 0.5\nn_dev = 30\nrepetitions = 3'
    table = run(place, row("nil", more, published), head=LINK)
    never = table.rows[5]
    assert "2 concepts of the mentions were taken out of the terminology" in never.remarks
    gone = table.runs["nil"].details["fingerprints"]["terminology"]["n_concepts"]
    assert gone == 3
    assert 0 < never.value < 100
    assert never.low is None
    assert table.rows[0].sd is not None
    thresholds = table.runs["nil"].details["thresholds"]
    assert {name: len(drawn) for name, drawn in thresholds.items()} == dict.fromkeys(names[:5], 3)
    assert all(0 < one.value <= 100 and one.n == 30 for one in table.rows[:5])
    assert thresholds["learned"] == [0.0] * 3


def test_thresholds_of_distances_are_distances(place: Path) -> None:
    many = [(word, id_) for word, id_ in MENTIONS["test"] * 12]
    (place / "corpus" / "test.txt").write_text(pubtator(2, many))
    pytest.importorskip("torch")
    bert = make_tiny_bert(place / "bert")
    more = 'task = "nil"\nabsent = 0.5\nn_dev = 30\nrepetitions = 3\n'
    drawn = {}
    for similarity in ("cosine", "euclidean"):
        spec = f'{more}encoders = ["{bert},similarity={similarity}"]'
        outcome = run(place, row("nil", spec, '"weighted" = 80'), head=LINK).runs["nil"]
        drawn[similarity] = outcome.details["thresholds"]["false-positive"]
    assert all(0 < one <= 1 for one in drawn["cosine"])
    assert all(one <= 0 for one in drawn["euclidean"])


def test_rows_compare_searches_by_the_same_vectors(place: Path) -> None:
    pytest.importorskip("torch")
    bert = make_tiny_bert(place / "bert")
    shelf = Shelf(place)
    names = [f"name {number}" for number in range(1_200)]
    for similarity in ("euclidean", "cosine"):
        spec = f"{bert},pooling=mean,similarity={similarity}"
        shared, alone = shelf.encoder(spec), make_encoder(spec)
        assert shared.similarity == alone.similarity == similarity
        norms = np.linalg.norm(shared.encode(names), axis=1, keepdims=True)
        vectors = shared.encode(names) / (norms if alone.normalise else 1)
        np.testing.assert_allclose(vectors, alone.encode(names), atol=1e-6)
    assert shared.encode(names) is shelf.encoder(spec).encode(names)
    table = run(
        place,
        row("a", f'encoders = ["{bert}"]\nsimilarity = "euclidean"'),
        row("b", f'encoders = ["{bert}"]\nsimilarity = "inner"'),
        head=LINK,
    )
    first, second = ([one.score for one in table.runs[name].scored["lenient"]] for name in "ab")
    assert first != second
    with pytest.raises(InvalidInput, match="similarity"):
        shelf.encoder(f"{bert},similarity=manhattan")


def test_samples_of_a_model_are_averaged(place: Path) -> None:
    other = StaticVectors(WORDS, np.roll(VECTORS, 3, axis=0))
    models = {"m": [str(place / "w.vec"), other]}
    rows = (
        row("a", 'task = "relatedness"\nencoders = ["m"]\npairs = "pairs.tsv"', '"spearman" = 0.4'),
        row("b", f'encoders = ["m"]\n{LINK}'),
    )
    table = run(place, *rows, models=models)
    first, second = table.rows
    values = [one.value("spearman") for one in table.runs["a"].runs]
    assert first.value == pytest.approx(sum(values) / 2)
    assert "pairs.tsv" in table.header()["data"]
    assert values[0] != values[1]
    assert (first.samples, first.n, second.samples, second.n) == (2, 4, 2, 5)
    assert second.reading == "lenient"
    assert second.sd > 0
    assert len(table.runs["b"].runs) == 2
    one = run(place, rows[1], models={"m": [str(place / "w.vec")]})
    assert one.rows[0].samples is None
    with pytest.raises(InvalidInput, match="different numbers of samples"):
        run(place, row("c", f'encoders = ["m", "o"]\n{LINK}'), models={**models, "o": ["default"]})
    with pytest.raises(InvalidInput, match="ask the same mentions"):
        run(place, rows[0] + '\nagainst = "b"\n', rows[1], models=models)


def test_samples_are_pooled_against_another_row(place: Path) -> None:
    models = {"m": [str(place / "w.vec"), StaticVectors(WORDS, np.roll(VECTORS, 3, axis=0))]}
    for part in ("all", "unseen mention"):
        asked = f'{LINK}\nslice = "{part}"\n'
        rows = (
            row("a", f'encoders = ["{place / "w.vec"}"]\n{asked}'),
            row("b", f'encoders = ["m"]\n{asked}against = "a"\n'),
        )
        table = run(place, *rows, models=models)
        alone, pooled = table.rows
        values = [100 * one.figure("accuracy@1", slice=part).value for one in table.runs["b"].runs]
        assert values[0] == alone.value
        assert pooled.value == pytest.approx(sum(values) / 2)
        assert (pooled.n, pooled.samples) == (alone.n, 2)
        found = pooled.against
        assert found is not None
        assert found.test is None
        assert 100 * found.difference.value == pytest.approx(pooled.value - alone.value)
        assert 0 < found.difference.p <= 1


def test_a_model_of_the_file_that_is_not_trained_is_said(place: Path) -> None:
    pytest.importorskip("torch")
    head = '[model.m]\nrecipe = "few-shot"\nencoder = "w.vec"\ngroups = "g.json"\n'
    text = HEAD + f"[[row]]\n{row('a', LINK)}encoders = ['m']\n" + head
    (place / "e.toml").write_text(text)
    told: list[tuple[str, int, int]] = []
    table = reproduce("e", folder=place, data=place, progress=lambda *one: told.append(one))
    assert table.rows[0].problem == "not here: needs w.vec, g.json"
    assert told == [("a", 0, 1)]
    assert read_experiment("e", folder=place).models["m"]["recipe"] == "few-shot"


def test_folds_are_compared_and_have_no_samples(place: Path) -> None:
    for fold in ("f_0", "f_1"):
        (place / "folds" / fold).mkdir(parents=True)
        for part in ("train", "test"):
            text = "".join(f"{id_}\t{word}\n" for word, id_ in MENTIONS["test"])
            (place / "folds" / fold / f"{part}.txt").write_text(text)
        (place / "folds" / fold / "standard.txt").write_text("X:1\tfever\nX:2\tpain\nX:3\thip\n")
    head = 'corpus = "folds"\nformat = "folds"\nprotocol = "plain"\n'
    rows = (row("a", 'encoders = ["w"]\nagainst = "b"'), row("b", "encoders = []"))
    found = run(place, *rows, head=head).rows[0]
    assert found.folds == 2
    assert (found.against.test.only_first, found.against.test.only_second) == (2, 0)
    tables: list[Table] = []
    again = run(place, *rows, head=head, save=tables.append)
    assert [[row.name for row in table.rows] for table in tables] == [["a"], ["a", "b"]]
    assert [table.rows[0].against is None for table in tables] == [True, False]
    assert again.rows[0] == found
    with pytest.raises(InvalidInput, match="has folds and its models samples"):
        run(place, rows[0], rows[1], head=head, models={"w": [str(place / "w.vec")] * 2})


def test_conditions_of_trials_are_asked(place: Path) -> None:
    header = "nct\ttitle\tconditions\tcondition_mesh\tinterventions\tintervention_other_names"
    lines = [header + "\tintervention_mesh\tkeywords"]
    lines.append("N1\tt\tague\tFever\t\t\t\t")
    lines.append("N2\tt\tfever|pain\tFever\t\t\t\t")
    lines.append("N3\tt\tfever\tFever\t\t\t\t")
    lines.append("N4\tt\tAgue\tFever\t\t\t\t")
    lines.append("N5\tt\tache\tNothing\t\t\t\t")
    (place / "trials.tsv").write_text("\n".join(lines) + "\n")
    more = 'encoders = ["w"]\ncorpus = "trials.tsv"\nformat = "trials"\nprotocol = "biosyn"\n'
    table = run(place, row("a", more + 'terminology = ["terms.tsv"]'))
    assert (table.rows[0].n, table.rows[0].value) == (1, 100)
    assert "1 conditions with silver labels" in table.rows[0].remarks
    assert "1 trials whose condition is a name of a concept already were left out" in (
        table.rows[0].remarks
    )


def test_silver_labels_may_be_ids_and_may_be_none() -> None:
    terminology = Terminology.build([Concept("MESH:D1", "Fever")])
    trial = make_trial("N1", "t", ["ague"], [], condition_ids=["MESH:D1"])
    found = silver_conditions([trial], terminology)
    assert found.documents[0].mentions[0].ids == ("MESH:D1",)
    with pytest.raises(InvalidInput, match="1 whose condition is a name"):
        silver_conditions([make_trial("N1", "t", ["fever"], [], condition_ids=["MESH:D1"])],
                          terminology)  # fmt: skip
    with pytest.raises(InvalidInput, match="there is none"):
        silver_conditions([], terminology)


def test_interventions_of_trials_have_a_concept_or_none() -> None:
    terminology = Terminology.build(
        [Concept("DB:1", "Acetylsalicylic acid"), Name("Aspirin", "DB:1"), Concept("DB:2", "Iron")]
    )

    def trial(id_: str, *given: tuple[str, str], terms: tuple[str, ...] = ()) -> Trial:
        return make_trial(id_, "t", [], list(given), intervention_names=terms)

    found = silver_interventions(
        [
            trial("N1", ("Drug", "aspirin 100 mg"), terms=("Aspirin",)),
            trial("N2", ("Drug", "Aspirin"), terms=("Aspirin", "Salicylates")),
            trial("N3", ("Biological", "AB-123"), terms=("Antibodies",)),
            trial("N4", ("Drug", "placebo")),
            trial("N5", ("Procedure", "walking")),
            trial("N6", ("Drug", "iron")),
            trial("N7", ("Drug", "Placebo")),
            trial("N8", ("Drug", "one"), ("Drug", "two")),
            trial("N9"),
        ],
        terminology,
    )
    asked = [document.mentions[0] for document in found.documents]
    assert [(mention.text, mention.ids, mention.type) for mention in asked] == [
        ("aspirin 100 mg", ("DB:1",), "Drug"),
        ("Aspirin", ("DB:1",), "Drug"),
        ("AB-123", (), "Biological"),
        ("placebo", (), "Drug"),
    ]
    assert found.remarks == [
        "4 interventions with silver labels",
        "2 trials with several interventions or none were left out",
        "1 trials whose intervention is no drug were left out",
        "1 trials whose intervention is a name although its terms are none were left out",
        "1 trials whose intervention an earlier one has were left out",
    ]
    with pytest.raises(InvalidInput, match="no intervention to ask about: 1 whose intervention is"):
        silver_interventions([trial("N5", ("Procedure", "walking"))], terminology)


def test_nil_of_interventions_is_measured_and_says_what_was_left_out(place: Path) -> None:
    header = "nct\ttitle\tconditions\tcondition_mesh\tinterventions\tintervention_other_names"
    lines = [header + "\tintervention_mesh\tkeywords"]
    for number in range(9):
        lines.append(f"A{number}\tt\t\t\tDrug:fever {number}\t\tFever\t")
        lines.append(f"B{number}\tt\t\t\tDrug:hip {number}\t\tNothing\t")
    lines.append("C\tt\t\t\tDevice:ague\t\tFever\t")
    (place / "trials.tsv").write_text("\n".join(lines) + "\n")
    more = (
        'task = "nil"\nencoders = ["w"]\ncorpus = "trials.tsv"\nformat = "trial-interventions"\n'
        'protocol = "zero-shot"\nn_dev = 8\nterminology = ["terms.tsv"]\n'
    )
    table = run(place, row("a", more, published='never = "not published"'))
    assert "9 of 18 mentions have no concept in the terminology" in table.rows[0].remarks
    assert "1 trials whose intervention is no drug were left out" in table.rows[0].remarks


def test_a_shelf_reads_relations_and_keeps_concepts_of_no_type(place: Path) -> None:
    shelf = Shelf(place)
    terminology = shelf.terminology([{"file": "terms.tsv", "types": ["A"]}, "is.obo"])
    assert shelf.relations(["terminology", "is.obo"], terminology) == [
        *(Relation("X:1", "is_a", "X:2"),) * 2
    ]
    (place / "some.tsv").write_text("id\tname\ttype\nX:1\tfever\tA\nX:2\tpain\t\nX:3\thip\tB\n")
    kept = shelf.terminology([{"file": "some.tsv", "types": ["A", ""]}])
    assert [concept.id for concept in kept.iter_concepts()] == ["X:1", "X:2"]
    assert shelf.files("terms.tsv") == [place / "terms.tsv"]


def test_what_was_encoded_is_remembered(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reproduce.data._WORTH_KEEPING", 2)
    monkeypatch.setattr("reproduce.data._MOST_BATCHES", 1)
    monkeypatch.setattr("reproduce.data._OPEN", 2)
    shelf, path = Shelf(place), str(place / "w.vec")
    first = shelf.encoder(path).encode(["fever", "pain"])
    assert shelf.encoder(path).encode(["fever", "pain"]) is first
    other = shelf.encoder(path).encode(["fever", "hip"])
    assert np.array_equal(other[0], first[0])
    assert shelf.encoder(path).encode(["fever", "pain"]) is not first
    one = shelf.encoder(path).encode(["fever"])
    assert shelf.encoder(path).encode(["fever"]) is not one
    for name in ("default", "chargrams:1-3"):
        shelf.encoder(name)
    assert [spec for spec, _ in shelf._encoders] == ["default", "chargrams:1-3"]


def test_concepts_are_left_out_whole() -> None:
    records = [Concept("X:1", "a"), Concept("X:2", "b"), Xref("X:1", "X:7", "alternative")]
    documents = [Document("1", "", (Mention("a", ids=("X:1",)), Mention("b", ids=("X:2", "Y"))))]
    left, n = leave_out(Terminology.build(records), documents, share=0.5, seed=1)
    assert (n, left.n_concepts, left.n_names) == (1, 1, 1)
    for share in (0, 1, 0.1):
        with pytest.raises(InvalidInput, match=f"a share of {share} of the 2 concepts"):
            leave_out(Terminology.build(records), documents, share=share)


def test_what_was_measured_can_be_asked_for_by_name() -> None:
    found = Measured("mcsm", ())
    with pytest.raises(InvalidInput, match="no metric 'a'"):
        found.figure("a")
    with pytest.raises(InvalidInput, match="has no readings"):
        found.figure("a", reading="strict")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\nX\tY\n", "no column 'c'; there are a, b"),
        ("a\tc\nX\n", "1 cells; at least 2 are expected"),
    ],
)
def test_tables_of_relations_that_cannot_be_read(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "r.tsv").write_text(text)
    with pytest.raises(ReadError, match=said):
        list(read_relation_table(tmp_path / "r.tsv", head="a", tail="c", relation="is"))


def test_rows_of_relations_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text("a\tc\nX\tY\n\n\tY\n")
    found = read_relation_table(tmp_path / "r.tsv", head="a", tail="c", relation="is")
    assert list(found) == [Relation("X", "is", "Y")]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (row("a", 'task = "guess"'), ReadError, "no task 'guess'; there are link"),
        (row("a", 'task = "mcsm"\nencoders = ["w"]'), ReadError, "has no 'terminology'"),
        (row("a", LINK + 'against = "b"'), ReadError, "against 'b', which is no row"),
        (
            row("a", 'task = "relatedness"\npairs = "pairs.tsv"\nencoders = []', '"spearman" = 1'),
            InvalidInput,
            "encoders 0; as many weights as encoders are expected, at least 0 and not all",
        ),
        (
            row("a", 'task = "mcsm"\nterminology = ["terms.tsv"]\nencoders = ["a", "b"]'),
            InvalidInput,
            "for one encoder; 2 are named",
        ),
        (
            row("a", 'task = "mcsm"\nterminology = ["terms.tsv"]\nencoders = ["chargrams"]'),
            (InvalidInput, Exception),
            "dense vectors|fit",
        ),
    ],
)
def test_what_a_row_cannot_say(place: Path, given: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run(place, given)


def test_what_a_file_cannot_say_about_models(place: Path) -> None:
    (place / "e.toml").write_text(HEAD + f"model = 3\n[[row]]\n{row('a', LINK)}")
    with pytest.raises(ReadError, match=r"\[model.NAME\] tables"):
        read_experiment("e", folder=place)
