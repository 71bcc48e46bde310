"""Each extra in an environment of its own: what `pip install 'canonym[NAME]'` brings is enough."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TERMS = "id,name\nT:1,heart attack\nT:1,myocardial infarction\nT:2,hip fracture\nT:2,broken hip\n"
OWL = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#">
<owl:Class rdf:about="http://example.org/T_1"><rdfs:label>heart attack</rdfs:label></owl:Class>
</rdf:RDF>
"""
INDEX = "canonym index terms.csv -o ix -e chargrams -q"
BOOK = (
    "import openpyxl as o; b = o.Workbook(); [b.active.append([t]) for t in ('dx', 'broken hip')]"
)
SPACY = (
    "import spacy; n = spacy.blank('en'); n.add_pipe('canonym', config={'index': 'ix'}); "
    "print(type(n.get_pipe('canonym')).__module__)"
)
HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
)
ASK = """
import re, signal, subprocess, urllib.request
served = subprocess.Popen(["canonym", "serve", "--index", "ix", "--port", "0"],
                          stderr=subprocess.PIPE, text=True)
address = re.search(r"http://[\\w.:]+", served.stderr.readline()).group()
print(urllib.request.urlopen(address + "/readyz").status)
served.send_signal(signal.SIGTERM)
"""
PARTS = "canonym link --index ix --file visits.csv --column dx -o parts/"
USES = {
    "torch": (
        "canonym train triplet --encoder scratch --terminology terms.csv -o enc --set max_steps=2 "
        "-q && canonym index terms.csv -o nx --encoder enc -q && canonym link -i nx 'broken hips'",
        "T:2",
    ),
    "tables": (
        f"python -c \"{BOOK}; b.save('b.xlsx')\" && {INDEX} && canonym link --index ix "
        f"--file b.xlsx --column dx -o out.parquet && {PARTS} && ls parts && "
        "canonym link --index ix --file b.xlsx --column dx",
        "T:2",
    ),
    "ray": (f"{INDEX} && {PARTS} --engine ray && ls parts", "part-000000.parquet"),
    "spark": (f"{INDEX} && {PARTS} --engine spark && ls parts", "part-000000.parquet"),
    "owl": ("canonym import t.owl -o t.db -q && canonym terminology show t.db", "heart attack"),
    "text": (f'{INDEX} && python -c "{SPACY}"', "canonym.integrations.spacy"),
    "universal": (
        "canonym index terms.csv -o ux --encoder universal -q && canonym link -i ux herzinfarkt",
        "herzinfarkt",
    ),
    "service": (f"{INDEX} && python ask.py", "200"),
    "mcp": (f"{INDEX} && echo '{HELLO}' | canonym mcp --index ix", '"serverInfo"'),
}


def test_every_extra_has_a_use() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*USES, "all"} == set(extras["optional-dependencies"])


@pytest.mark.slow
@pytest.mark.parametrize("extra", USES)
def test_an_extra_alone_is_enough(extra: str, tmp_path: Path) -> None:
    if extra == "spark" and shutil.which("java") is None:
        pytest.skip("needs Java")
    for name, content in {
        "terms.csv": TERMS,
        "visits.csv": "dx\nbroken hip\n",
        "t.owl": OWL,
        "ask.py": ASK,
    }.items():
        (tmp_path / name).write_text(content)
    place = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    install = ["install", "--quiet", "-c", ROOT / "constraints.txt", f"{ROOT}[{extra}]"]
    subprocess.run([place / "bin" / "python", "-m", "pip", *install], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CANONYM_DATA_HOME": str(tmp_path / "data"),
    }
    command, expected = USES[extra]
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
