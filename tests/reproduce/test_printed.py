"""The commands that the pages of the methods print and the docs do not run, on stand-ins."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from canonym.cli import main as canonym
from reproduce.command import main as tables
from reproduce.tools import TOOLS, tool
from tests.encoders.conftest import make_tiny_bert
from tests.reproduce.test_published import PLACES, SIGNS, THINGS, ctd, mesh, pubtator, umls
from tests.terminology.readers.test_ctd import DISEASE_FIELDS

pytest.importorskip("torch")

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
PRINTED = re.compile(r"<!-- not run: .*? -->\n```console\n(.*?)```", re.DOTALL)
REPRODUCE = "python benchmarks/reproduce "
QUICK = {
    "biosyn": "--set max_steps=1",
    "triplet": "--set max_steps=1 --batch-size 16",
    "dilbert": "--set max_steps=1",
    "coder": "--set max_steps=1 --batch-size 8 --set repeats=2 --set accumulation=1",
    "few-shot": "--epochs 1 --set hidden=8",
}
"""Options that make a training short; everything else is as it is printed."""


def printed(page: Path) -> list[str]:
    """Return the commands of a page that the docs do not run, each in a line."""
    blocks = PRINTED.findall(page.read_text(encoding="utf-8"))
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def obo() -> str:
    """Return an ontology with as many children of a disorder as there are signs, 40 names below."""
    terms = ["[Term]\nid: DOID:4\nname: disorder"]
    for s, sign in enumerate(SIGNS):
        terms.append(f"[Term]\nid: DOID:1{s}\nname: {sign}\nis_a: DOID:4")
        terms += [
            f"[Term]\nid: DOID:{s}9{n}\nname: {sign} {n} of the {PLACES[n % 6]}\nis_a: DOID:1{s}"
            for n in range(40)
        ]
    return "format-version: 1.2\n\n" + "\n\n".join(terms) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files that the commands name."""
    folder = tmp_path_factory.mktemp("printed")
    rows = [f"D{n:06}||{'|'.join((label, *names))}" for n, (label, names, _) in enumerate(THINGS)]
    (folder / "medic.txt").write_text("\n".join(rows) + "\n")
    ctd(folder / "ctd" / "ctd.tsv.gz", DISEASE_FIELDS, lambda n: f"D{n:06}")
    for name in ("ctd.tsv", "CTD_diseases.tsv"):
        packed = (folder / "ctd" / "ctd.tsv.gz").read_bytes()
        (folder / name).write_bytes(gzip.decompress(packed))
    pubtator(folder / "corpus", lambda n: f"D{n:06}", ["Disease"])
    for path in (folder / "corpus").iterdir():
        shutil.copy(path, folder)
    umls(folder / "umls")
    mesh(folder / "mesh" / "desc.xml.gz")
    (folder / "doid.obo").write_text(obo())
    for source in ("medic.txt", "umls", "mesh/desc.xml.gz", "doid.obo"):
        name = Path(source).parts[0].partition(".")[0]
        given = ["import", str(folder / source), "-o", str(folder / f"{name}.db"), "--quiet"]
        assert CliRunner().invoke(canonym, given).exit_code == 0
    related = [f"MESH:D{n:06}\tnear\tMESH:D{(n + 1) % 24:06}\n" for n in range(24)]
    (folder / "relations.tsv").write_text("".join(related))
    chapters = {sign: [f"{sign} {n} of {p}" for p in PLACES for n in range(6)] for sign in SIGNS}
    (folder / "chapters.json").write_text(json.dumps(chapters))
    sentences = "\n".join(label for label, *_ in THINGS).encode() * 20
    (folder / "abstracts.txt.xz").write_bytes(lzma.compress(sentences))
    for name in ("BioBERT", "PubMedBERT"):
        make_tiny_bert(folder / "models" / name)
    (folder / "corpora").mkdir()
    return folder


def run(command: str) -> Result:
    """Run a printed command, a training shortened, a table of a paper with ``--check``."""
    if not command.startswith(REPRODUCE):
        program, *arguments = shlex.split(command)
        assert program == "canonym"
        if arguments[0] == "train":
            arguments += [*shlex.split(QUICK[arguments[1]]), "--device", "cpu"]
        return CliRunner().invoke(canonym, arguments)
    name, *arguments = shlex.split(command.removeprefix(REPRODUCE))
    if name in TOOLS:
        few = ["--dimensions", "8", "--min-count", "1"] if name == "word-vectors" else []
        return CliRunner().invoke(tool(name), [*arguments, *few])
    done = CliRunner().invoke(tables, [name, *arguments, "--check"])
    assert "missing" in done.output
    assert done.exit_code == 1
    done.exit_code = 0
    return done


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if printed(page)], ids=lambda p: p.stem)
def test_printed_commands_run(
    page: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for command in printed(page):
        command = command.replace("$CANONYM_DATA/ncbi-disease/", "")
        command = command.replace("$CANONYM_DATA", "corpora")
        trained = re.search(r"--encoder trained/(\S+)", command)
        if trained:  # of an experiment, which `run` does not train
            shutil.copytree("models/BioBERT", f"trained/{trained[1]}")
        done = run(command)
        assert done.exit_code == 0, f"{command}\n{done.output}"


def test_every_page_of_a_method_prints_commands() -> None:
    assert {page.stem for page in PAGES if printed(page)} >= {
        *("biosyn", "coder", "data", "dilbert", "few-shot-names", "objectives", "triplet-search")
    }
    commands = [command for page in PAGES for command in printed(page)]
    recipes = {command.split()[2] for command in commands if command.startswith("canonym train ")}
    assert recipes == set(QUICK)
