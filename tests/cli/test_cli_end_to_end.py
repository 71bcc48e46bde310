"""From a source to links with the commands alone: nothing is replaced, nothing is made up."""

from __future__ import annotations

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from canonym.encoders import make_encoder, save_encoder
from tests.cli.running import command, in_terminal, rows, run

TABLE = """\
id,name,type,source,language
D:1,Myocardial infarction,disease,one,en
D:1,Heart attack,disease,one,en
D:1,Herzinfarkt,disease,one,de
D:2,Breast cancer,disease,one,en
D:3,Ovarian cancer,disease,one,en
D:4,Hip fracture,injury,two,en
D:4,Broken hip,injury,two,en
D:5,Knee fracture,injury,two,en
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("end")
    (folder / "x.csv").write_text(TABLE)
    run("import", folder / "x.csv", "-o", folder / "x.db")
    return folder / "x.db"


@pytest.fixture(scope="module")
def index(db: Path) -> Path:
    folder = db.parent / "x-index"
    run("index", db, "-o", folder, "--encoder", "chargrams", "--quiet")
    return folder


def linked(index: Path, *arguments: str, input: str | None = None) -> list[dict[str, str]]:
    return rows(run("link", "--index", index, *arguments, input=input).stdout)


# --- index ----------------------------------------------------------------------------------------


def test_an_index_reports_what_it_is(db: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = run(
        *("index", db, "-o", out, "--encoder", "chargrams", "--encoder", "chargrams:2-3"),
        *("--weight", "1", "--weight", "0.5"),
    ).stdout
    assert "concepts     5" in text
    assert "name: chargrams" in text
    assert "weight: 0.5" in text
    assert not re.search(r": *(,|$)", text, re.MULTILINE)
    info = json.loads(run("info", out, "--format", "json").stdout)
    assert [encoder["weight"] for encoder in info["encoders"]] == [1.0, 0.5]
    assert info["fingerprint"] in text


def test_an_index_is_made_of_a_source_too(db: Path, index: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("index", db.with_suffix(".csv"), "-o", out, "-e", "chargrams", "-q")
    fingerprints = {
        json.loads(run("info", folder, "--format", "json").stdout)["fingerprint"]
        for folder in (index, out)
    }
    assert len(fingerprints) == 1


@pytest.mark.parametrize(
    ("arguments", "setting", "value"),
    [
        (("--no-spelling",), "spelling", False),
        (("--no-composites",), "composites", False),
        (("--trials",), "trials", True),
        (("--abbreviations", "schwartz-hearst"), "abbreviations", "schwartz-hearst"),
        (("--min-length", "5"), "min_length", 5),
    ],
)
def test_every_setting_of_an_index_is_kept(
    db: Path, index: Path, tmp_path: Path, arguments: tuple[str, ...], setting: str, value: object
) -> None:
    run("index", db, "-o", tmp_path / "out", "-e", "chargrams", *arguments)
    before = json.loads(run("info", index, "--format", "json").stdout)["settings"]
    after = json.loads(run("info", tmp_path / "out", "--format", "json").stdout)["settings"]
    assert before[setting] != value
    assert after == {**before, setting: value}


def test_an_existing_index_is_kept_without_overwrite(db: Path, index: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(index, out)
    arguments = ("index", str(db), "-o", str(out), "--encoder", "chargrams", "--trials")
    assert "exists already" in run(*arguments, code=2).stderr
    assert "trials: no" in run("info", out).stdout
    run(*arguments, "--overwrite")
    assert "trials: yes" in run("info", out).stdout


@pytest.mark.parametrize("kind", ["auto", "exact", "ivf"])
def test_the_kind_of_an_index_is_chosen_said_and_verified(
    db: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "out"
    names = json.loads(run("info", db, "--format", "json").stdout)["names"]
    text = run("index", db, "-o", out, "--kind", kind).stdout
    said = f"exact: {names} names; ivf from 1,000,000" if kind == "auto" else kind
    assert re.search(rf"^kind +{said}$", text, re.MULTILINE)
    (encoder,) = json.loads(run("info", out, "--format", "json").stdout)["encoders"]
    assert encoder["index"] == kind.replace("auto", "exact")
    if kind == "ivf":
        assert 1 <= encoder["probes"] <= encoder["lists"] <= names
        assert encoder["recall@1"] >= 0.99
        assert 0 < encoder["recall@10"] <= 1
        assert f"probes: {encoder['probes']}, rarity: 0.25, recall@1: " in text
    assert "is sound" in run("index", "--verify", out).stdout
    assert linked(out, "brokn hips")[0]["label"] == "Hip fracture"


def test_an_index_is_verified(index: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(index, copy)
    n = len(json.loads((copy / "canonym.json").read_text())["files"]) + 1
    assert f"copy is sound: all {n} files" in run("index", "--verify", copy).stdout
    victim = copy / "terminology.db"
    content = bytearray(victim.read_bytes())
    content[-10] ^= 1
    victim.write_bytes(content)
    (copy / "notes.txt").touch()
    failed = run("index", "--verify", copy, code=2).stderr
    assert "files that are not as they were written: 2" in failed
    assert "terminology.db: is damaged" in failed
    assert "notes.txt: is no file of this index" in failed
    log = run("-v", "link", "--index", index, "broken hip").stderr
    assert "only the size was compared" in log


def test_a_saved_encoder_is_verified(tmp_path: Path) -> None:
    encoder = tmp_path / "encoder"
    save_encoder(make_encoder("default"), encoder)
    n = len(json.loads((encoder / "canonym.json").read_text())["files"]) + 1
    assert f"encoder is sound: all {n} files" in run("index", "--verify", encoder).stdout
    (encoder / "notes.txt").touch()
    victim = encoder / "model.safetensors"
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    failed = run("index", "--verify", encoder, code=2).stderr
    assert "files that are not as they were written: 2" in failed
    assert f"{victim.name}: is damaged" in failed
    assert "notes.txt: is no file of this encoder" in failed
    assert "Make the encoder again" in failed
    (encoder / "checksums.sha256").unlink()
    (encoder / "notes.txt").unlink()
    failed = run("index", "--verify", encoder, code=2).stderr
    assert "only the sizes of its files were compared, and agree" in failed


def test_an_index_without_checksums_is_no_sound_one(index: Path, tmp_path: Path) -> None:
    shutil.copytree(index, tmp_path / "old")
    (tmp_path / "old" / "checksums.sha256").unlink()
    failed = run("index", "--verify", tmp_path / "old", code=2).stderr
    assert "has no checksums" in failed
    assert "Build it again" in failed


def test_verifying_goes_without_building(db: Path, index: Path) -> None:
    failed = run("index", db, "--verify", index, code=2).stderr
    assert "leave out 'TERMINOLOGY'" in failed
    failed = run("index", "--verify", index, "-e", "chargrams", code=2).stderr
    assert "leave out '-e' / '--encoder'" in failed
    assert "Missing argument 'TERMINOLOGY'" in run("index", "-o", "x", code=2).stderr
    assert "Missing option '-o' / '--output'" in run("index", db, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--encoder", "nonsense"), "neither a file or folder"),
        (("--encoder", "chargrams", "--weight", "1", "--weight", "2"), "2 weights"),
        (("--encoder", "chargrams", "--weight", "-1"), "not in the range x>=0"),
    ],
)
def test_what_an_index_cannot_use_is_refused(
    db: Path, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    failed = run("index", db, "-o", tmp_path / "out", *arguments, code=2)
    assert problem in failed.stderr
    assert not (tmp_path / "out").exists()


def test_training_mentions_are_searched_as_well(db: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "train.pubtator"
    corpus.write_text(
        "1|t|A stroke and a lump\n1|a|\n1\t2\t8\tstroke\tDisease\tD:1\n1\t15\t19\tlump\tSign\tD:2\n"
    )
    make = ("index", str(db), "--encoder", "chargrams", "--mentions", str(corpus))
    text = run(*make, "-o", tmp_path / "a").stdout
    assert "2, with 2 names" in text
    assert "D-T + OD-T" in text
    assert linked(tmp_path / "a", "stroke")[0]["id"] == "D:1"
    found = linked(tmp_path / "a", "strokes of something")[0]
    assert (found["id"], found["sieve"], found["name"]) == ("D:1", "OD-T", "stroke")
    more = ("--mention-type", "Sign", "--search", "d-c", "--search-threshold", "0.5")
    run(*make, *more, "-o", tmp_path / "b", "--quiet")
    info = json.loads(run("info", tmp_path / "b", "--format", "json").stdout)
    assert info["settings"]["search"] == "D-C"
    assert info["settings"]["search_threshold"] == 0.5
    assert linked(tmp_path / "b", "a lump", "stroke")[0]["sieve"] == "D-C"
    assert "mean of a concept's names" in run(
        *("link", "--index", tmp_path / "b", "a lump", "--explain", "--format", "table")
    ).stdout  # fmt: skip
    for wrong, problem in (
        (("--search", "D-D"), "there is no search"),
        (("--mention-type", "Drug"), "no mention is of the type 'Drug'; there are Disease, Sign"),
    ):
        assert problem in run(*make, *wrong, "-o", tmp_path / "c", code=2).stderr
    alone = ("index", str(db), "-o", str(tmp_path / "c"))
    assert "give mentions" in run(*alone, "--search", "D-T", code=2).stderr
    assert "goes with --mentions" in run(*alone, "--mention-type", "X", code=2).stderr


def test_a_seed_breaks_ties_at_random(tmp_path: Path) -> None:
    table = tmp_path / "cold.csv"
    table.write_text("id,name\n" + "".join(f"D:{n},Cold\n" for n in range(6)))
    run("index", table, "-o", tmp_path / "out", "--encoder", "chargrams", "--quiet")
    first = [linked(tmp_path / "out", "cold", "--seed", str(n))[0]["id"] for n in range(8)]
    assert len(set(first)) > 1
    assert linked(tmp_path / "out", "cold")[0]["id"] == "D:0"
    assert linked(tmp_path / "out", "cold", "--seed", "7")[0]["id"] == first[7]


# --- link -----------------------------------------------------------------------------------------


def test_names_are_linked(index: Path) -> None:
    found = linked(index, "heart attacks", "Hip, broken", "hert atack", "!!", "")
    assert [(r["id"], r["sieve"]) for r in found] == [
        ("D:1", "normalised"),
        ("D:4", "reordered"),
        ("D:1", "search"),
        ("", ""),
        ("", ""),
    ]
    assert found[0]["label"] == "Myocardial infarction"
    assert found[3]["reason"]


def test_composites_have_rows_for_their_parts(index: Path) -> None:
    found = linked(index, "breast and ovarian cancer")
    assert [(r["row"], r["part"], r["id"]) for r in found] == [
        ("1", "breast cancer", "D:2"),
        ("1", "ovarian cancer", "D:3"),
    ]


def test_filters_change_what_is_found(index: Path, tmp_path: Path) -> None:
    assert linked(index, "broken hip")[0]["id"] == "D:4"
    assert linked(index, "broken hip", "--type", "disease")[0]["id"] != "D:4"
    assert linked(index, "Herzinfarkt", "--language", "de")[0]["name"] == "Herzinfarkt"
    assert linked(index, "Herzinfarkt", "--language", "en")[0]["name"] != "Herzinfarkt"
    ids = tmp_path / "ids"
    ids.write_text("D:5\n")
    assert linked(index, "broken hip", "--ids", str(ids))[0]["id"] in {"D:5", ""}
    assert len(linked(index, "cancer", "-k", "2", "--min-confidence", "0")) == 2
    assert linked(index, "cancer", "--min-score", "0.99")[0]["nil"] == "true"


@pytest.mark.parametrize(
    "arguments",
    [("--type", "nonsense"), ("--source", "nonsense"), ("--language", "tlh")],
)
def test_filters_that_name_nothing_are_refused(index: Path, arguments: tuple[str, ...]) -> None:
    failed = run("link", "--index", index, "x", *arguments, code=2)
    assert arguments[1] in failed.stderr
    assert failed.stdout == ""


def test_abbreviations_of_a_context_and_of_a_document(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("dx,note\nBH,a broken hip (BH)\n")
    arguments = ("--file", str(file), "--column", "dx", "--format", "tsv")
    assert linked(index, *arguments)[0]["canonym_id"] == ""
    assert linked(index, *arguments, "--context-column", "note")[0]["canonym_id"] == "D:4"
    text = "1|t|A broken hip (BH)\n1\t14\t16\tBH\tInjury\t-1\n"
    assert linked(index, input=text)[0]["id"] == "D:4"


def test_a_terminology_is_indexed_for_the_run(
    db: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from canonym.linker import Linker

    build = Linker.build
    monkeypatch.setattr(
        Linker, "build", lambda terminology, **_: build(terminology, encoders=["chargrams"])
    )
    result = run("link", "--index", db, "broken hip")
    assert rows(result.stdout) == linked(index, "broken hip")
    assert "Indexing x.db for this run" in result.stderr
    assert run("link", "--index", db, "-q", "broken hip").stderr == ""


@pytest.mark.parametrize("damage", ["missing", "newer", "cut", "other", "manifest", "weight"])
def test_an_index_that_cannot_be_used_is_refused(index: Path, tmp_path: Path, damage: str) -> None:
    broken = tmp_path / "broken"
    if damage != "missing":
        shutil.copytree(index, broken)
    manifest = broken / "canonym.json"
    if damage == "newer":
        content = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**content, "format": 999}))
    elif damage == "cut":
        victim = broken / "rows" / "concept_of_row.npy"
        victim.write_bytes(victim.read_bytes()[:-4])
    elif damage == "manifest":
        manifest.write_text("{")
    elif damage in ("other", "weight"):
        content = json.loads(manifest.read_text())
        if damage == "other":
            content["terminology"]["digest"] = "0" * 64
        else:
            content["encoders"][0]["weight"] = 10**400
        (broken / "checksums.sha256").unlink()
        manifest.write_text(json.dumps(content))
    failed = run("link", "--index", broken, "x", code=2)
    expected = {
        "missing": "no such index",
        "newer": "newer canonym",
        "cut": "damaged",
        "other": "was built for the terminology",
        "manifest": "the manifest is damaged",
        "weight": "the manifest is damaged: 'encoders' is",
    }
    assert expected[damage] in failed.stderr


def test_strange_mentions_are_nil_or_refused_but_never_a_crash(index: Path) -> None:
    strange = ["", "!!", "漢字", "a\0b", "\ud800", "x" * 1_000_000]
    text = "".join(json.dumps({"mention": mention}) + "\n" for mention in strange)
    found = run("link", "--index", index, "--format", "jsonl", input=text).stdout
    mentions = [mention.replace("\ud800", "\ufffd") for mention in strange]  # half a character
    assert [json.loads(line)["mention"] for line in found.splitlines()] == mentions
    assert len(linked(index, input=text)) >= len(strange)


# --- info -----------------------------------------------------------------------------------------


def test_info_describes_whatever_it_is_given(db: Path, index: Path, tmp_path: Path) -> None:
    assert "concepts          5" in run("info", db).stdout
    assert "encoder" in run("info", index / "encoder-0").stdout
    failed = run("info", tmp_path / "nothing", code=2)
    assert "no such file or folder" in failed.stderr
    failed = run("info", db.with_suffix(".csv"), code=2)
    assert "neither a terminology" in failed.stderr
    assert "canonym.json" in run("info", tmp_path, code=2).stderr


def test_info_describes_the_installation(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "data"))
    content = json.loads(run("info", "--format", "json").stdout)
    assert [index["name"] for index in content["indexes"]] == ["icd10cm", "icd10cm-official"]
    assert {"torch", "tables", "text"} < set(content["extras"])
    assert not {"all", "dev"} & set(content["extras"])
    for name in ("one", "broken"):
        shutil.copytree(index, tmp_path / "data" / "indexes" / name)
    (tmp_path / "data" / "indexes" / "broken" / "terminology.db").unlink()
    needed = [
        *("click>=8", "nothing_of_the_kind>=1; extra == 'missing'", "numpy; extra == 'there'"),
        *("numpy; extra == 'half'", "nothing_of_the_kind; extra == 'half'", "x; extra == 'dev'"),
    ]
    monkeypatch.setattr("importlib.metadata.requires", lambda _name: needed)
    shown = run("info").stdout
    assert "name: one, terminology: (not said), concepts: 5, names: " in shown
    assert "name: broken, problem: " in shown
    assert "name: icd10cm, terminology: ICD-10-CM, built at first use" in shown
    assert json.loads(run("info", "--format", "json").stdout)["extras"] == {
        "half": "not installed: pip install 'canonym[half]'",
        "missing": "not installed: pip install 'canonym[missing]'",
        "there": "installed",
    }


# --- in a real process ----------------------------------------------------------------------------


def test_a_terminal_gets_a_table_and_progress(index: Path, tmp_path: Path) -> None:
    shown = in_terminal(command("link", "--index", str(index), "broken hip"))
    assert "matched name" in shown
    assert "D:4" in shown
    names = tmp_path / "names.txt"
    names.write_text("broken hip\n" * 50)
    out = ("-o", str(tmp_path / "x.tsv"), "--overwrite")
    arguments = ("link", "--index", str(index), "--file", str(names), *out)
    shown = in_terminal(command(*arguments), columns=120)
    assert "Linking" in shown
    assert "50 of 50 mentions" in shown
    assert "Linking" not in in_terminal(command(*arguments, "--quiet"))


def test_a_terminal_with_nothing_to_link_gets_a_hint(index: Path) -> None:
    assert "there is nothing to link" in in_terminal(command("link", "--index", str(index)))
    assert "--format parquet is binary" in in_terminal(command("link", "x", "--format", "parquet"))


def test_progress_of_importing_and_indexing(db: Path, tmp_path: Path) -> None:
    source = str(db.with_suffix(".csv"))
    shown = in_terminal(command("import", source, "-o", str(tmp_path / "x.db")))
    assert "Importing" in shown
    shown = in_terminal(command("index", source, "-o", str(tmp_path / "i"), "-e", "chargrams"))
    assert "chargrams" in shown


def test_a_killed_run_is_resumed(index: Path, tmp_path: Path) -> None:
    names, out = tmp_path / "names.txt", tmp_path / "out.tsv"
    names.write_text("".join(f"broken hip {i}\n" for i in range(2000)))
    arguments = ("link", "--index", str(index), "--file", str(names), "-o", str(out), "-q")
    often = "import canonym.io.journal as j, canonym.cli as c; j._INTERVAL = 0.2; c.main()"
    process = subprocess.Popen([sys.executable, "-c", often, *arguments])
    record = tmp_path / "out.tsv.partial.json"
    deadline = time.monotonic() + 60
    while not record.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
    if not out.exists():  # else the machine was faster than the first record
        assert record.exists()
        subprocess.run(command(*arguments, "--resume"), check=True)
    with out.open() as stream:
        assert [row["row"] for row in csv.DictReader(stream, delimiter="\t")] == [
            str(i) for i in range(1, 2001)
        ]
    assert sorted(f.name for f in tmp_path.iterdir()) == ["names.txt", "out.tsv"]


def test_a_full_disk_is_a_message(index: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("link", "--index", str(index), "broken hip"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_index_learns_how_sure_it_is(index: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(index, own)
    lines = []
    for number in range(10):
        for text, id_ in (("heart attack", "D:1"), ("hip fractures", "D:4"), ("broken hip", "D:9")):
            lines.append(f"{number}|t|{text}\n{number}\t0\t{len(text)}\t{text}\tSign\t{id_}\n")
            number += 10
    (tmp_path / "dev.pubtator").write_text("\n".join(lines))
    fit = ("train", "confidence", str(tmp_path / "dev.pubtator"), "--index", str(own))
    text = run(*fit).stdout
    assert "links              30" in text
    assert "right              66.7 %" in text
    assert run(*fit, "--mention-type", "Sign", "--quiet").stdout == ""
    assert "there are Sign" in run(*fit, "--mention-type", "Drug", code=2).stderr
    info = json.loads(run("info", own, "--format", "json").stdout)
    assert info["confidence"] == "adapted to 30 links of annotated mentions"
    names = ("heart attack", "broken hip")
    sure, unsure = linked(own, *names, "--min-confidence", "0")
    assert float(sure["confidence"]) > 0.6 > float(unsure["confidence"])
    assert [row["id"] for row in linked(own, *names, "--min-confidence", "0.6")] == ["D:1", ""]
    shown = run("link", "-i", own, "heart attack", "--explain", "--format", "table").stdout
    assert f"confidence: {float(sure['confidence']):.2g}"[:15] in shown


def test_the_status_of_a_mention_is_a_column_and_negated_ones_may_be_kept(
    tmp_path: Path,
) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("id\tname\nX:1\tAsthma\nX:2\tGout\n")
    folder = tmp_path / "status-index"
    run("index", terms, "-o", folder, "--encoder", "chargrams", "--quiet")
    names = ("no asthma", "h/o gout", "gout")
    found = linked(folder, *names)
    assert [(one["id"], one["status"]) for one in found] == [
        ("", "negated"),
        ("X:2", "historical"),
        ("X:2", ""),
    ]
    assert found[0]["reason"] == "the mention is negated"
    assert linked(folder, *names, "--keep-negated")[0]["id"] == "X:1"
    table = run("link", "--index", folder, "--format", "table", *names).stdout
    assert table.splitlines()[0].split()[:3] == ["mention", "status", "id"]
    table = run("link", "--index", folder, "--format", "table", "gout").stdout
    assert "status" not in table
    explained = run("link", "--index", folder, "--explain", "h/o gout").stdout
    assert "status: historical" in explained
