"""A linker in forked children: locks, connections, threads, and a folder that was replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from canonym import Concept, Linker, Name, Terminology

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

MAIN = """
import os, sys, threading
from multiprocessing import get_context
from canonym import Document, Linker, Mention, Mismatch
from canonym.mentions import abbreviations

linker = Linker.load(sys.argv[1])
names = ["heart attaks", "the big one", "brest cancer", "heart attack and breast cancer"]
text = "Myocardial infarction (MI)."
document = Document("1", text, (Mention("MI", 23, 25),))

def answers():
    return [*linker.link(names, k=3), *linker.link_document(document)]

def in_child(work):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        return
    try:
        work()
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
"""

LOCKED = """
expected = answers()
locks = [
    linker._overlay._lock,
    linker.pipeline.names._renewing,
    linker.terminology._database._lock,
    abbreviations._lock,
]
held, done = threading.Event(), threading.Event()

def hold():
    for lock in locks:
        lock.__enter__()
    held.set()
    done.wait()
    for lock in locks:
        lock.__exit__()

thread = threading.Thread(target=hold, daemon=True)
thread.start()
held.wait()

def work():
    assert answers() == expected
    assert linker.synonyms.add("quite another", "X:2")
    assert linker.link(["quite another"])[0].id == "X:2"

in_child(work)
done.set()
thread.join()
assert linker.link(["quite another"])[0].id == "X:2"  # the parent follows
"""

CONNECTIONS = """
expected = answers()
database = linker.terminology._database
before = database._connect()
before.execute("SELECT 1")

def work():
    assert answers() == expected
    assert database._connect() is not before
    linker.terminology.close()
    assert before.execute("SELECT 1").fetchone() == (1,)  # left open as well

in_child(work)
assert database._connect() is before
assert answers() == expected
"""

POOL = """
def one(name):
    return linker.link([name])[0]

with get_context("fork").Pool(2) as pool:
    assert pool.map(one, names) == list(linker.link(names))
"""

REPLACED = """
import shutil
expected = answers()
os.rename(sys.argv[1], sys.argv[1] + "-old")
shutil.copytree(sys.argv[1] + "-old", sys.argv[1])
assert answers() == expected  # what is open stays as it is

def work():
    try:
        linker.terminology.names("X:1")
    except Mismatch as error:
        assert "was replaced by another file while it was open; open it again" in str(error)
    else:
        raise AssertionError("the new file was taken for the old one")

in_child(work)
"""


@pytest.mark.parametrize("script", [LOCKED, CONNECTIONS, POOL, REPLACED])
def test_a_linker_works_in_a_forked_child(script: str, tmp_path: Path) -> None:
    records = [
        Concept("X:1", "Myocardial infarction"),
        Name("heart attack", "X:1"),
        Concept("X:2", "Breast cancer"),
    ]
    linker = Linker.build(Terminology.build(records), folder=tmp_path / "index")
    linker.synonyms.add("the big one", "X:1")
    # Python 3.12 and later warn of any fork beside threads; whatever else is warned of is an error.
    warnings = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *warnings, "-c", MAIN + script, str(tmp_path / "index")]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (0, "")
