"""Terminologies that are fetched, imported and indexed under their names."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, InvalidInput, Linker, ReadError, Terminology
from canonym.linking.fetched import (
    FETCHING,
    IMPORTING,
    address_of,
    download_of,
    is_fetched,
    is_indexed,
    named_index,
)
from canonym.linking.named import index_folder, index_names
from canonym.linking.verify import verify_index
from canonym.terminology.catalogue import Entry, catalogue_entry
from tests.mirror import Mirror

OBO = """format-version: 1.2
data-version: hp/releases/2026-01-01

[Term]
id: HP:0001250
name: Seizure
synonym: "Fits" EXACT []

[Term]
id: HP:0012378
name: Fatigue
synonym: "No energy" EXACT []
"""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror with HPO, an empty data folder and an empty current folder."""
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with Mirror() as server:
        monkeypatch.setenv("CANONYM_MIRROR", f"{server.address}/")
        server.put("/hpo/hp.obo", OBO.encode())
        yield server


def get(name: str = "hpo", **options: Any) -> Path:
    return named_index(catalogue_entry(name), **options)


def left_behind(name: str = "hpo") -> list[str]:
    folder = download_of(catalogue_entry(name)).parent
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


def test_a_terminology_is_linked_to_by_its_name(mirror: Mirror) -> None:
    entry = catalogue_entry("hpo")
    assert not is_fetched(entry)
    assert not is_indexed(entry)
    told: list[str] = []
    folder = get(progress=lambda stage, _done, _total: told.append(stage))
    assert folder == index_folder("hpo")
    assert "hpo" in index_names()
    assert [one.id for one in Linker.load("hpo").link(["no energy", "seizures"])] == [
        "HP:0012378",
        "HP:0001250",
    ]
    stages = list(dict.fromkeys(told))
    assert stages[:2] == [FETCHING, IMPORTING]
    assert len(stages) > 2
    assert is_fetched(entry)
    assert is_indexed(entry)
    assert left_behind() == [".lock", "hp.obo", "hp.obo.sha256"]
    assert not verify_index(folder).findings
    assert mirror.paths() == ["/hpo/hp.obo.sha256", "/hpo/hp.obo"]


def test_nothing_is_done_twice(mirror: Mirror) -> None:
    made = (get() / "canonym.json").stat()
    assert (get() / "canonym.json").stat().st_ino == made.st_ino
    assert len(mirror.requests) == 2


def test_an_index_is_built_from_what_was_fetched(mirror: Mirror) -> None:
    folder = get()
    made = folder / "made-from"
    made.write_text("an earlier version\n")
    get()
    assert made.read_text() != "an earlier version\n"
    assert len(mirror.requests) == 2


def test_a_new_release_keeps_what_was_added(mirror: Mirror) -> None:
    get()
    Linker.load("hpo").synonyms.add("the shakes", "HP:0001250")
    mirror.put("/hpo/hp.obo", OBO.replace("Fits", "Convulsion").encode(), etag='"2"')
    for _ in range(2):  # it is kept by the second update too
        get(update=True)
        linker = Linker.load("hpo")
        assert [one.id for one in linker.link(["the shakes", "convulsion"])] == ["HP:0001250"] * 2
        assert [one.text for one in linker.synonyms] == ["the shakes"]


def test_an_added_name_of_a_concept_that_is_gone(mirror: Mirror) -> None:
    get()
    Linker.load("hpo").synonyms.add("worn out", "HP:0012378")
    mirror.put("/hpo/hp.obo", OBO.split("[Term]\nid: HP:0012378")[0].encode(), etag='"2"')
    get(update=True)
    assert Linker.load("hpo").link(["fits"])[0].id == "HP:0001250"


def test_a_failed_update_leaves_everything_as_it_was(mirror: Mirror) -> None:
    get()
    for content in (b"<html>", OBO.replace("id: HP:0001250", "nonsense").encode()):
        mirror.put("/hpo/hp.obo", content, etag='"2"')
        with pytest.raises(InvalidInput, match=r"a web page|canonym get hpo --update"):
            get(update=True)
        assert Linker.load("hpo").link(["seizure"])[0].id == "HP:0001250"


@pytest.mark.usefixtures("mirror")
def test_a_file_that_was_changed_is_refused() -> None:
    get()
    path = download_of(catalogue_entry("hpo"))
    path.write_text(OBO.replace("Seizure", "Fatigue"))
    with pytest.raises(ReadError, match="is not the file that was fetched") as caught:
        get()
    assert "canonym get hpo --update" in str(caught.value)
    assert Linker.load("hpo").terminology.concept("HP:0001250").label == "Seizure"
    get(update=True)
    assert path.read_text() == OBO


def test_a_mirror_whose_file_was_changed_is_refused(mirror: Mirror) -> None:
    mirror.put("/hpo/hp.obo.sha256", b"0" * 64 + b"  hp.obo\n")
    with pytest.raises(InvalidInput, match=r"by http://.*/hpo/hp\.obo\.sha256"):
        get()
    assert left_behind() == [".lock"]
    assert not is_indexed(catalogue_entry("hpo"))


def test_checksums_of_the_catalogue(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CANONYM_MIRROR")
    fields: dict[str, Any] = {"title": "t", "licence": "l", "format": "obo"}
    fields["address"] = f"{mirror.address}/hpo/hp.obo"
    with pytest.raises(InvalidInput, match=r"should be 0{32} by the catalogue"):
        named_index(Entry(name="fixed", digest="0" * 32, **fields))
    fields["checksum"] = f"{mirror.address}/hpo/hp.md5"
    with pytest.raises(InvalidInput, match=r"hp\.md5: the server answers 404"):
        named_index(Entry(name="listed", **fields))
    mirror.put("/hpo/hp.md5", b"0" * 32)
    with pytest.raises(InvalidInput, match=r"should be 0{32} by http://.*hp\.md5"):
        named_index(Entry(name="listed", **fields))


def test_a_download_that_broke_off_goes_on(mirror: Mirror) -> None:
    served = mirror.put("/hpo/hp.obo", OBO.encode(), stop_after=100)
    with pytest.raises(InvalidInput, match="broke off after 100 of"):
        get()
    assert left_behind() == [".lock", "hp.obo.part", "hp.obo.part.json"]
    assert not is_indexed(catalogue_entry("hpo"))
    served.stop_after = None
    get()
    assert mirror.requests[-1][1]["Range"] == "bytes=100-"
    assert left_behind() == [".lock", "hp.obo", "hp.obo.sha256"]


def test_a_file_without_concepts(mirror: Mirror) -> None:
    mirror.put("/hpo/hp.obo", b"format-version: 1.2\n\n[Typedef]\nid: x\n")
    with pytest.raises(ReadError, match=r"hp\.obo"):
        get()
    assert not is_indexed(catalogue_entry("hpo"))


def _zip(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _order(*rows: tuple[str, str]) -> str:
    return "".join(
        f"{n:05d} {code:<7} {int(len(code) > 3)} {title[:60]:<60} {title}\n"
        for n, (code, title) in enumerate(rows, 1)
    )


def test_a_file_of_an_archive(mirror: Mirror) -> None:
    rows = _order(("A00", "Cholera"), ("A009", "Cholera, unspecified"))
    inner = "icd10cm-code-descriptions-2027/icd10cm-order-2027.txt"
    packed = _zip(**{inner: rows, "icd10cm-code-descriptions-2027/icd10cm-codes-2027.txt": "A00"})
    mirror.put("/icd10cm-2027/icd10cm-code-descriptions-2027.zip", packed)
    get("icd10cm-2027")
    linker = Linker.load("icd10cm-2027")
    assert linker.link(["cholera, unspecified"])[0].id == "ICD10CM:A00.9"
    assert list(linker.terminology.sources()) == [("ICD-10-CM", "2027")]


def test_a_release_of_several_files(mirror: Mirror) -> None:
    def atom(cui: str, kind: str, text: str) -> str:
        return f"{cui}|ENG||||||{cui}0||{cui}||RXNORM|{kind}|{cui}|{text}||N|4096|\n"

    packed = _zip(
        **{
            "rrf/RXNCONSO.RRF": atom("5640", "IN", "ibuprofen")
            + atom("161", "IN", "acetaminophen"),
            "rrf/RXNREL.RRF": "",
            "rrf/RXNSAT.RRF": "",
            "scripts/load.sql": "drop everything",
        }
    )
    mirror.put("/rxnorm/RxNorm_full_prescribe_current.zip", packed)
    get("rxnorm")
    assert Linker.load("rxnorm").link(["Ibuprofen"])[0].id == "RXNORM:5640"
    assert left_behind("rxnorm")[1:] == [
        "RxNorm_full_prescribe_current.zip",
        "RxNorm_full_prescribe_current.zip.sha256",
    ]


def test_an_archive_without_what_is_expected(mirror: Mirror) -> None:
    mirror.put("/rxnorm/RxNorm_full_prescribe_current.zip", _zip(**{"../../rrf.txt": "a"}))
    with pytest.raises(ReadError, match=r"has nothing that fits 'rrf/\*\.RRF'"):
        get("rxnorm")
    assert not is_indexed(catalogue_entry("rxnorm"))


def test_an_archive_that_would_fill_the_disk(mirror: Mirror) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rrf/RXNCONSO.RRF", b"0" * 10**8)
    mirror.put("/rxnorm/RxNorm_full_prescribe_current.zip", packed.getvalue())
    with pytest.raises(InvalidInput, match="compression bomb"):
        get("rxnorm")


def test_a_licence_must_be_accepted(mirror: Mirror) -> None:
    rows = "# Fields:\n# DiseaseName\tDiseaseID\tParentIDs\tSynonyms\nAnemia\tMESH:D000740\t\t\n"
    mirror.put("/ctd-diseases/CTD_diseases.tsv.gz", gzip.compress(rows.encode()))
    with pytest.raises(InvalidInput, match=r"must be accepted.*legal\.jsp.*--accept-licence"):
        get("ctd-diseases")
    assert not mirror.requests
    get("ctd-diseases", accepted=True)
    assert Linker.load("ctd-diseases").link(["anemia"])[0].id == "MESH:D000740"
    get("ctd-diseases")  # what is here is not fetched again


@pytest.mark.parametrize("name", ["loinc", "snomedct", "umls", "meddra"])
def test_what_may_not_be_fetched_says_what_to_do(mirror: Mirror, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"https://.*\nThen: canonym get {name} --from "):
        get(name)
    assert not mirror.requests


@pytest.mark.parametrize(
    ("name", "phrase"),
    [("medic", "get ctd-diseases"), ("omim", "get ctd-diseases"), ("icd10cm", "comes with")],
)
def test_what_is_elsewhere_says_where(mirror: Mirror, name: str, phrase: str) -> None:
    with pytest.raises(InvalidInput, match=phrase):
        get(name)
    assert not mirror.requests


def test_a_file_of_the_user_is_taken(mirror: Mirror, tmp_path: Path) -> None:
    table = tmp_path / "Loinc.csv"
    table.write_text(
        '"LOINC_NUM","COMPONENT","CLASS","SHORTNAME","LONG_COMMON_NAME"\n'
        '"2345-7","Glucose","CHEM","Glucose SerPl-mCnc","Glucose [Mass/volume] in Serum"\n'
    )
    get("loinc", source=table)
    concept = Linker.load("loinc").terminology.concept("LOINC:2345-7")
    assert (concept.label, concept.types) == ("Glucose [Mass/volume] in Serum", ("CHEM",))
    assert not mirror.requests
    with pytest.raises(ReadError, match="no such file"):
        get("loinc", source=tmp_path / "other.csv")
    assert Linker.load("loinc").terminology.n_concepts == 1


def test_an_index_of_the_user_is_left_alone(mirror: Mirror) -> None:
    folder = index_folder("icd10cm").parent / "hpo"
    folder.parent.mkdir(parents=True)
    terminology = Terminology.build([Concept("X:1", "mine")])
    Linker.build(terminology, folder=folder, encoders=["chargrams"])
    with pytest.raises(InvalidInput, match="is an index of yours"):
        get()
    assert Linker.load("hpo").link(["mine"])[0].id == "X:1"
    assert not mirror.requests


@pytest.mark.parametrize("address", ["mirror", "file://srv/x", "ftp://mirror"])
def test_a_mirror_needs_an_address(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("CANONYM_MIRROR", address)
    with pytest.raises(InvalidInput, match="CANONYM_MIRROR"):
        get()
    assert not mirror.requests


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = catalogue_entry("icd10cm-2026")
    monkeypatch.delenv("CANONYM_MIRROR", raising=False)
    assert address_of(entry) == entry.address
    monkeypatch.setenv("CANONYM_MIRROR", "https://mirror/of/ours/")
    assert address_of(entry) == (
        "https://mirror/of/ours/icd10cm-2026/icd10cm-Code%20Descriptions-2026.zip"
    )


def test_the_downloads_of_one_machine_are_a_mirror_for_others(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get()
    folder = download_of(catalogue_entry("hpo")).parent
    for path in folder.glob("hp*"):
        mirror.put(f"/shared/hpo/{path.name}", path.read_bytes())
    monkeypatch.setenv("CANONYM_MIRROR", f"{mirror.address}/shared")
    monkeypatch.setenv("CANONYM_DATA_HOME", str(tmp_path / "other"))
    get()
    assert mirror.paths()[-2:] == ["/shared/hpo/hp.obo.sha256", "/shared/hpo/hp.obo"]
    assert Linker.load("hpo").link(["fits"])[0].id == "HP:0001250"


HOLD = """
import sys
from canonym.linking.fetched import _alone
from canonym.terminology.catalogue import catalogue_entry
with _alone(catalogue_entry("hpo")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_spoil_each_other(mirror: Mirror) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD], **pipes, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(InvalidInput, match=r"another process is writing .*hpo"):
            get()
        assert not mirror.requests
        other.communicate()
    get()
    assert is_indexed(catalogue_entry("hpo"))
