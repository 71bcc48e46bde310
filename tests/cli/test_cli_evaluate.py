"""The command `evaluate`: options, reports, and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import Result

from canonym.cli.annotated import open_corpus
from canonym.errors import ReadError
from tests.cli.running import run
from tests.tables import cases

OBO = """\
format-version: 1.2

[Term]
id: MESH:D000001
name: breast cancer
is_a: MESH:D000004

[Term]
id: MESH:D000002
name: migraine
synonym: "cold head" EXACT []

[Term]
id: MESH:D000003
name: common cold

[Term]
id: MESH:D000004
name: cancer
"""
PUBTATOR = """\
1|t|breast cancer and migraines
1|a|
1\t0\t13\tbreast cancer\tDisease\tD000001
1\t18\t27\tmigraines\tSymptom\tD000002

2|t|cancer, a fever
2|a|
2\t0\t6\tcancer\tDisease\tD000001
2\t10\t15\tfever\tDisease\tD000009
"""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.obo").write_text(OBO)
    Path("test.txt").write_text(PUBTATOR)
    return Path("test.txt")


def evaluated(*arguments: str, code: int = 0) -> Result:
    terminology = () if "--index" in arguments else ("-t", "t.obo", "-e", "chargrams")
    return run("evaluate", "test.txt", *terminology, *arguments, code=code)


def report(*arguments: str) -> dict[str, object]:
    evaluated(*arguments, "--json", "out.json", "--overwrite", "-q")
    found: dict[str, object] = json.loads(Path("out.json").read_text())
    return found


def value(found: dict[str, object], reading: str, slice: str = "all") -> float | None:
    for figure in found["headline"]:  # type: ignore[attr-defined]
        if (figure["slice"], figure["reading"]) == (slice, reading):
            return float(figure["value"])
    return None


@pytest.mark.usefixtures("corpus")
def test_the_table_the_page_and_the_json_agree() -> None:
    result = evaluated("--html", "r.html", "--json", "r.json", "--title", "My corpus")
    assert result.stdout.startswith("My corpus\n")
    assert re.search(r"All mentions +accuracy@1 +3 +66\.7 \[", result.stdout)
    assert "with an id that the terminology does not have" in result.stdout
    assert "1 of 4 ids (1 different ones) are not in the terminology: D000009" in result.stderr
    assert "The report is in r.html." in result.stderr
    (made_with,) = re.findall(r"Made with canonym .*; terminology [0-9a-f]{12}\.", result.stderr)
    page = Path("r.html").read_text()
    assert made_with in page
    assert "<h1>My corpus</h1>" in page
    assert ">66.7<" in page
    assert value(json.loads(Path("r.json").read_text()), "strict") == pytest.approx(2 / 3)


@pytest.mark.usefixtures("corpus")
def test_a_rerun_gives_the_same_bytes() -> None:
    for name in ("a", "b"):
        evaluated("--html", f"{name}.html", "--json", f"{name}.json", "--mentions")
    assert Path("a.html").read_bytes() == Path("b.html").read_bytes()
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()


@pytest.mark.usefixtures("corpus")
def test_every_option_changes_something() -> None:
    plain = report()
    Path("train.txt").write_text("9|t|cancer\n9|a|\n9\t0\t6\tcancer\tDisease\tD000001\n")
    Path("fix.txt").write_text("migraines||breast cancer\n")
    Path("other.tsv").write_text("1\t0\t13\tD000001\n1\t18\t27\tD000003\n3\t0\t1\t-1\n")
    trained = report("--training", "train.txt")
    assert value(trained, "lenient", "unseen mention") is not None
    assert value(trained, "lenient") == 1.0  # the training mention is a name now
    assert value(report("--mention-type", "Symptom"), "strict") == 1.0
    assert value(report("--corrections", "fix.txt"), "strict") == pytest.approx(1 / 3)
    refined = report("--training", "train.txt", "--protocol", "refined", "--same", "pair")
    assert (refined["protocol"], refined["n"]) == ("refined", 2)
    assert report("--split", "text")["split"] == "text"
    assert report("--part", "dev")["part"] == "dev"
    assert report("--note", "mind the gap")["caveats"] == ["mind the gap"]
    assert report("--seed", "7")["fingerprints"]["seed"] == "7"  # type: ignore[index]
    assert len(report("-k", "3")["recall"]["strict"]) == 3  # type: ignore[index]
    assert len(report("--mentions")["mentions"]) == 3  # type: ignore[arg-type]
    assert "mentions" not in plain
    (compared,) = report("--compare", "other.tsv")["comparisons"]  # type: ignore[misc]
    assert (compared["name"], compared["missing"]) == ("other.tsv", 1)
    assert compared["extra"] == {"that the corpus does not have": 1}
    run("evaluate", "test.txt", "-t", "t.obo", "-e", "verbatim", "--json", "v.json", "-q")
    assert value(json.loads(Path("v.json").read_text()), "strict") == pytest.approx(1 / 3)
    weighed = report("-e", "default", "--weight", "1", "--weight", "0.5")
    assert weighed["fingerprints"]["index, encoders 2, weight"] == "0.5"  # type: ignore[index]


@pytest.mark.usefixtures("corpus")
def test_several_terminologies_are_one() -> None:
    Path("u.obo").write_text("format-version: 1.2\n\n[Term]\nid: MESH:D000009\nname: fever\n\n")
    assert report("-t", "u.obo")["n"] == 4


@pytest.mark.usefixtures("corpus")
def test_an_index_is_asked_as_it_is_or_for_its_parts() -> None:
    encoders = ("-e", "chargrams", "-e", "default", "--weight", "1", "--weight", "0.25")
    run("index", "t.obo", "-o", "ix", *encoders, "-q")
    raw = report("--index", "ix", "--protocol", "raw")
    assert (raw["readings"], raw["n"]) == (["complete"], 4)
    strictest = report("--index", "ix", "--protocol", "raw", "--min-confidence", "0.999")
    assert value(strictest, "complete") != value(raw, "complete")
    prepared = report("--index", "ix")
    prints = prepared["fingerprints"]
    assert prints["index, encoders 1, name"] == "chargrams"  # type: ignore[index]
    assert prints["index, encoders 2, weight"] == "0.25"  # type: ignore[index]
    other = report("--index", "ix", "-e", "chargrams")["fingerprints"]
    assert "index, encoders 2, weight" not in other  # type: ignore[operator]
    refused = evaluated("--index", "ix", "--weight", "1", code=2)
    assert "the index has weights of its own" in refused.stderr


@cases("arguments", "said")
def test_what_cannot_work_is_refused(corpus: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in run("evaluate", corpus, *arguments, code=2).stderr


@cases("content", "said")
def test_bad_corpora_are_told_with_their_line(corpus: Path, content: str, said: str) -> None:
    corpus.write_text(content)
    result = evaluated(code=2)
    assert "test.txt" in result.stderr
    assert said in result.stderr


@pytest.mark.usefixtures("corpus")
@cases("content", "said")
def test_bad_predictions_are_told_with_their_line(content: str, said: str) -> None:
    Path("other.tsv").write_text(content)
    assert said in evaluated("--compare", "other.tsv", code=2).stderr


def test_ids_that_nobody_knows_leave_nothing_to_evaluate(corpus: Path) -> None:
    corpus.write_text(PUBTATOR.replace("D00000", "D90000"))
    said = evaluated(code=2).stderr
    assert "4 with an id that the terminology does not have" in said


BREAST_CANCER = {
    "id": "T1",
    "infons": {"type": "Disease", "MESH": "D000001"},
    "text": "breast cancer",
    "locations": [{"offset": 0, "length": 13}],
}
PASSAGE = {"offset": 0, "text": "breast cancer", "annotations": [BREAST_CANCER]}
BIOC = {"documents": [{"id": "1", "passages": [PASSAGE]}]}
XML = """\
<?xml version="1.0"?>
<collection><document><id>1</id><passage><offset>0</offset><text>breast cancer</text>
<annotation id="T1"><infon key="type">Disease</infon><infon key="MESH">D000001</infon>
<location offset="0" length="13"/><text>breast cancer</text></annotation></passage></document>
</collection>
"""
SPAN = {"start": 0, "end": 13, "ids": ["D000001"]}


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("pubtator", "\n1|t|breast cancer\n1|a|\n1\t0\t13\tbreast cancer\tDisease\tD000001\n"),
        ("concept", "1||0|13||Disease||breast cancer||D000001\n"),
        ("table", "D000001\tbreast cancer\n"),
        ("bioc", json.dumps(BIOC, indent=1)),
        ("bioc", json.dumps(BIOC)),
        ("bioc", XML),
        ("jsonl", json.dumps({"id": "1", "text": "breast cancer", "mentions": [SPAN]})),
        ("jsonl", json.dumps({"mention": "breast cancer", "ids": ["D000001"]})),
    ],
)
def test_formats_are_recognised(tmp_path: Path, format: str, content: str) -> None:
    file = tmp_path / "corpus"
    file.write_text(content)
    found = open_corpus(str(file))
    assert (found.format, found.files) == (format, (file,))
    (document,) = found.documents
    (mention,) = document.mentions
    assert (mention.text, mention.ids) == ("breast cancer", ("D000001",))
    assert open_corpus(str(file), format=format).documents == found.documents


def test_folders_are_recognised(tmp_path: Path) -> None:
    concepts, brat = tmp_path / "c", tmp_path / "b"
    for folder in (concepts, brat):
        folder.mkdir()
        with pytest.raises(ReadError, match=r"without a corpus \(\.ann, \.concept, "):
            open_corpus(str(folder))
    (concepts / "1.concept").write_text("1||0|6||Disease||cancer||D000001\n")
    (brat / "1.txt").write_text("breast cancer")
    (brat / "1.ann").write_text(
        "T1\tDisease 0 13\tbreast cancer\nN1\tReference T1 MESH:D000001\tbreast cancer\n"
    )
    assert open_corpus(str(concepts)).format == "concept"
    found = open_corpus(str(brat))
    assert (found.format, [file.name for file in found.files]) == ("brat", ["1.ann", "1.txt"])
    assert found.documents[0].mentions[0].ids == ("MESH:D000001",)
    with pytest.raises(ReadError, match="no such file"):
        open_corpus(str(tmp_path / "none"))


def test_oddities_of_the_corpus_are_told_and_what_has_no_text_is_not_odd(corpus: Path) -> None:
    corpus.write_text("1||0|13||Disease||breast cancer||D000001\n" * 2)
    (said,) = report()["remarks"]  # type: ignore[misc]
    assert said.startswith("1 mentions repeat the span and type of another")
    again = PUBTATOR.replace("1|", "2|").replace("1\t", "2\t")
    corpus.write_text(again)
    found = report()
    assert any(one.startswith("2 documents are the same (2)") for one in found["remarks"])  # type: ignore[attr-defined]
    assert {"reason": "in a repeated document", "n": 2}.items() <= found["left_out"][0].items()  # type: ignore[index]


def test_concept_files_are_split_as_they_are(corpus: Path) -> None:
    corpus.write_text("1||0|13||Disease||breast cancer|migraine||D000001|D000002\n")
    found = report()
    assert (found["split"], value(found, "complete")) == ("file", 1.0)


@pytest.mark.slow
def test_the_published_baseline_of_ncbi_disease(data: Path, tmp_path: Path) -> None:
    ncbi = data / "ncbi-disease"
    run(
        *("evaluate", ncbi / "test.pubtator", "-t", data / "medic-2012" / "medic_06Jul2012.txt"),
        *("-e", "verbatim", "--training", ncbi / "train.pubtator"),
        *("--training", ncbi / "dev.pubtator", "--json", tmp_path / "out.json", "-q"),
        *("--corrections", data / "medic-2012" / "ncbi-spell-check.txt"),
    )
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["n_mentions"] == 960
    lenient = value(found, "lenient")
    assert lenient is not None
    assert 0.765 <= lenient <= 0.775


def test_pairs_of_names_are_correlated_with_what_people_say(tmp_path: Path) -> None:
    from canonym.encoders import make_encoder, save_encoder
    from canonym.encoders.chargrams import CharGrams
    from canonym.evaluation.pairs import read_pairs, relatedness

    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("hip fracture\tbroken hip\t9\nflu\tinfluenza\t8\nflu\thip fracture\t1\n")
    found = relatedness(make_encoder("default"), read_pairs(pairs))
    told = run("evaluate", "--pairs", pairs)
    shown = f"{found.rho:.3f} [{found.low:.3f}, {found.high:.3f}]"
    assert told.stdout == f"pairs             3\nwithout a vector  0\ncorrelation       {shown}\n"
    several = ("--encoder", "default", "--encoder", "contextual", "--weight", "1", "--weight", "0")
    assert run("evaluate", "--pairs", pairs, *several).stdout == told.stdout
    letters = CharGrams().fit(["hip fracture", "broken hip", "flu", "influenza"])
    save_encoder(letters, tmp_path / "encoder-0")
    told = run("evaluate", "--pairs", pairs, "--encoder", tmp_path / "encoder-0")
    assert f"{relatedness(letters, read_pairs(pairs)).rho:.3f} [" in told.stdout


@cases("arguments", "said")
def test_pairs_that_cannot_be_read_are_refused(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("hip\tleg\n")
    Path("one.tsv").write_text("hip\tleg\t3\n")
    Path("two.tsv").write_text("hip\tleg\t3\nflu\trash\t1\n")
    assert said in run("evaluate", *arguments, code=2).stderr
    assert not Path("x.json").exists()
