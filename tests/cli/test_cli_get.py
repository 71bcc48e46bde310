"""``canonym get``: what it lists, asks, says and leaves behind."""

from __future__ import annotations

import hashlib
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from canonym.terminology.catalogue import own_catalogue
from tests.cli.running import command, rows, run
from tests.mirror import Mirror

OBO = "format-version: 1.2\ndata-version: hp/releases/2026-01-01\nontology: hp\n" + "".join(
    f"\n[Term]\nid: HP:{n:07d}\nname: {name}\n"
    for n, name in enumerate(["Seizure", "Fatigue", *(f"finding {n}" for n in range(2000))], 1)
)
CTD = "# Fields:\n# DiseaseName\tDiseaseID\tParentIDs\tSynonyms\nAnemia\tMESH:D000740\t\t\n"


@pytest.fixture
def data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder, and an empty current folder."""
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "data"


@pytest.fixture
def mirror(data_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror with HPO and the diseases of CTD."""
    with Mirror() as server:
        monkeypatch.setenv("CANONYM_MIRROR", server.address)
        server.put("/hpo/hp.obo", OBO.encode())
        server.put("/ctd-diseases/CTD_diseases.tsv.gz", CTD.encode())
        yield server
    assert not list(data_home.rglob("*.partial-*"))


def test_a_name_is_fetched_and_linked_to(mirror: Mirror) -> None:
    fetched = run("get", "hpo")
    assert fetched.stdout == ""
    for line in (
        "Human Phenotype Ontology",
        f"from     {mirror.address}/hpo/hp.obo",
        "licence  HPO licence: acknowledge and cite it, show its version, change nothing (https://",
        "hpo is here: 2,002 concepts, 2,002 names (HP 2026-01-01)",
        'canonym link --index hpo "..."',
    ):
        assert line in fetched.stderr
    linked = rows(run("link", "--index", "hpo", "seizures", "fatigue").stdout)
    assert [row["id"] for row in linked] == ["HP:0000001", "HP:0000002"]
    again = run("get", "hpo")
    assert "licence" not in again.stderr
    assert "hpo is here" in again.stderr
    assert len(mirror.requests) == 2
    assert run("get", "hpo", "--update", "--quiet").output == ""
    assert len(mirror.requests) == 4
    assert "name: hpo, terminology: HP 2026-01-01, concepts: 2,002" in run("info").stdout


def test_a_folder_is_a_mirror(
    data_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANONYM_MIRROR", f"file://{tmp_path}/a%20mirror/")
    missing = run("get", "hpo", code=2).stderr
    assert f"{tmp_path}/a mirror/hpo/hp.obo cannot be copied: No such file" in missing
    place = tmp_path / "a mirror" / "hpo" / "hp.obo"
    place.parent.mkdir(parents=True)
    place.write_text(OBO)
    digest = hashlib.sha256(OBO.encode()).hexdigest()
    place.with_name("hp.obo.sha256").write_text(f"{'0' * 64}  hp.obo\n")
    assert "nothing was kept" in run("get", "hpo", code=2).stderr
    place.with_name("hp.obo.sha256").write_text("none\n")
    assert "holds no checksum of hp.obo" in run("get", "hpo", code=2).stderr
    place.with_name("hp.obo.sha256").write_text(f"{digest}  hp.obo\n")
    assert "hpo is here: 2,002 concepts" in run("get", "hpo").stderr
    assert (data_home / "downloads" / "hpo" / "hp.obo").read_text() == OBO
    monkeypatch.setenv("CANONYM_MIRROR", "file://host/mirror")
    refused = run("get", "hpo", "--update", code=2).stderr.replace("\n", " ")
    assert "'file://host/mirror' is no address of a file" in refused


@pytest.mark.usefixtures("mirror")
def test_an_index_that_is_there_is_not_replaced_without_a_word(tmp_path: Path) -> None:
    run("get", "hpo")
    run("synonyms", "add", "fits", "HP:0000001", "--index", "hpo")
    newer = tmp_path / "hp.obo"
    newer.write_text(OBO + "\n[Term]\nid: HP:0009999\nname: Cough\n")
    refused = run("get", "hpo", "--from", newer, code=2).stderr.replace("\n", " ")
    assert "hpo is indexed already: with --update the index is replaced" in refused
    assert "2,003 concepts" in run("get", "hpo", "--from", newer, "--update").stderr
    assert "fits" in run("synonyms", "list", "--index", "hpo").stdout


@pytest.mark.usefixtures("mirror")
def test_the_list_says_what_is_here() -> None:
    def listed() -> dict[str, str]:
        lines = run("get").stdout.splitlines()
        assert lines[0].split() == ["name", "here", "size", "licence", "terminology"]
        return {line.split()[0]: line for line in lines[1:]}

    before = listed()
    assert before["mondo"].split()[:5] == ["mondo", "51", "MB", "CC", "BY"]
    assert before["loinc"].split()[1:3] == ["by", "hand"]
    assert before["icd10cm"].split()[1:3] == ["comes", "along"]
    run("get", "hpo")
    after = listed()
    assert after["hpo"].split()[1] == "indexed"
    assert {name for name in after if after[name] != before[name]} == {"hpo"}


@pytest.mark.usefixtures("mirror")
def test_a_catalogue_of_the_user() -> None:
    own_catalogue().parent.mkdir(exist_ok=True)
    own_catalogue().write_text(
        '[mine]\ntitle = "Mine"\nlicence = "none"\nformat = "obo"\n'
        'address = "https://nowhere.invalid/hp.obo"\n'
    )
    assert "Mine" in run("get").stdout
    assert "404" in run("get", "mine", code=2).stderr  # of the mirror, which has none
    own_catalogue().write_text("[mine]\n")
    assert f"{own_catalogue()}: entry mine: lacks title and licence" in run("get", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["yours"], "'yours' is not in the catalogue; its names are"),
        (["hpo", "yours"], "'yours' is not in the catalogue"),
        (["snomedct"], "Then: canonym get snomedct --from"),
        (["medic"], "canonym get ctd-diseases"),
        (["ctd-diseases"], "must be accepted"),
        (["--from", "x"], "goes with the NAME"),
        (["hpo", "doid", "--from", "x"], "name that one alone"),
        (["hpoo"], "'hpoo' is not in the catalogue (did you mean hpo?); its names are"),
        (["hpo", "--from", "x.obo"], "x.obo: there is no such file"),
        (["doid"], "404"),
    ],
)
def test_refusals(mirror: Mirror, data_home: Path, arguments: list[str], phrase: str) -> None:
    refused = run("get", *arguments, code=2)
    assert phrase in refused.stderr
    assert refused.stderr.count("Error: ") == 1
    assert not [path for path in mirror.paths() if path.startswith("/hpo")]
    assert {path.name for path in data_home.rglob("*") if path.is_file()} <= {".lock"}


@pytest.mark.usefixtures("mirror")
def test_a_licence_is_accepted_by_an_option() -> None:
    fetched = run("get", "ctd-diseases", "--accept-licence")
    assert "legal.jsp" in fetched.stderr
    assert rows(run("link", "--index", "ctd-diseases", "anemia").stdout)[0]["id"] == "MESH:D000740"


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_a_person_is_asked_about_a_licence(answer: str, code: int, data_home: Path) -> None:
    outer, inner = pty.openpty()
    with subprocess.Popen(
        command("get", "ctd-diseases"), stdin=inner, stdout=inner, stderr=inner, close_fds=True
    ) as process:
        os.close(inner)
        os.write(outer, f"{answer}\n".encode())
        shown = b""
        try:
            while block := os.read(outer, 65536):
                shown += block
        except OSError:
            pass
    os.close(outer)
    assert process.returncode == code
    assert b"Do you accept it? [y/N]" in shown
    assert b"legal.jsp" in shown
    assert (data_home / "indexes" / "ctd-diseases").is_dir() is (code == 0)


def test_nothing_else_fetches(mirror: Mirror) -> None:
    refused = run("link", "--index", "hpo", "seizure", code=2)
    assert "`canonym get hpo` fetches it" in refused.stderr
    run("get")
    run("get", "hpo", "--help")
    assert not mirror.requests


def _killed(when: Path, *, larger_than: int = -1) -> None:
    """Run ``canonym get hpo``, and kill it as soon as a file is there and so large."""
    process = subprocess.Popen(command("get", "hpo"), stderr=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            if when.exists() and when.stat().st_size > larger_than:
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"{when} did not come")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_a_killed_download_goes_on(mirror: Mirror, data_home: Path) -> None:
    served = mirror.put("/hpo/hp.obo", OBO.encode(), pause=0.02)
    part = data_home / "downloads" / "hpo" / "hp.obo.part"
    _killed(part, larger_than=5000)
    size = part.stat().st_size
    assert 5000 < size < len(OBO)
    assert not (data_home / "indexes").exists()
    served.pause = 0.0
    run("get", "hpo")
    assert mirror.requests[-1][1]["Range"] == f"bytes={size}-"
    assert rows(run("link", "--index", "hpo", "finding 1999").stdout)[0]["id"] == "HP:0002002"


def test_a_killed_import_begins_again(mirror: Mirror, data_home: Path) -> None:
    _killed(data_home / "downloads" / "hpo" / "hp.obo")
    n_requests = len(mirror.requests)
    run("get", "hpo")
    assert len(mirror.requests) == n_requests
    assert sorted(one.name for one in (data_home / "downloads" / "hpo").iterdir()) == [
        *(".lock", "hp.obo", "hp.obo.sha256"),
    ]
    assert [one.name for one in (data_home / "indexes").iterdir()] == ["hpo"]
    assert rows(run("link", "--index", "hpo", "seizure").stdout)[0]["id"] == "HP:0000001"


@pytest.mark.usefixtures("mirror")
def test_a_tampered_file_is_refused(data_home: Path) -> None:
    run("get", "hpo")
    file = data_home / "downloads" / "hpo" / "hp.obo"
    file.write_text(OBO.replace("Seizure", "Fatigue", 1))
    refused = run("get", "hpo", code=2)
    assert "is not the file that was fetched" in refused.stderr
    assert "canonym get hpo --update" in refused.stderr
