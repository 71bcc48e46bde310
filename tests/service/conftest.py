"""One small index for all tests of the service, and clients of applications."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import strategies as st

from canonym import Concept, Linker, Mention, Name, Relation, Terminology, Xref
from canonym.service import Settings, create_app
from tests.chromium import chromium

RECORDS = [
    Concept("X:0", "Disease", types=("Disease",)),
    Concept(
        "X:1",
        "Myocardial infarction",
        "Death of heart muscle <by> lack of blood.",
        types=("Disease",),
        source="Tests",
        version="1",
    ),
    Name("heart attack", "X:1"),
    Name("MI", "X:1", "abbreviation"),
    Name("Herzinfarkt", "X:1", language="de"),
    Concept("X:2", "Diabetes mellitus", types=("Disease",)),
    Concept("X:3", "Type 2 diabetes mellitus", types=("Disease", "Finding")),
    Name("type 2 diabetes", "X:3"),
    Concept("X:4", "Common cold", types=("Disease",)),
    Name("cold", "X:4"),
    Concept("X:5", "Cold temperature", types=("Phenomenon",)),
    Name("cold", "X:5"),
    Concept("X:6", "Hip fracture", types=("Finding",)),
    Name("broken hip", "X:6"),
    Name("hip crack", "X:6", source="canonym everyday names"),
    Concept("X:7", "Old name of nothing", deprecated=True, replaced_by=("X:6",)),
    Relation("X:1", "is_a", "X:0"),
    Relation("X:2", "is_a", "X:0"),
    Relation("X:3", "is_a", "X:2"),
    Relation("X:4", "is_a", "X:0"),
    Xref("X:1", "ICD10:I21"),
    Xref("X:3", "ICD10:E11"),
    Xref("X:3", "D434", "alternative"),
]

BASE = "http://localhost:8000"
"""Where clients find the service."""

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
"""Whatever JSON may say."""


def build(folder: Path, records: list[Any] = RECORDS, **options: Any) -> Linker:
    """Build an index of records."""
    return Linker.build(
        Terminology.build(records), encoders=["chargrams"], folder=folder, **options
    )


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sorted names and reviews are kept in folders of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANONYM_CACHE", str(tmp_path_factory.mktemp("service-cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("service-data")))
        yield


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index that no test changes."""
    folder = tmp_path_factory.mktemp("service") / "small"
    build(folder)
    return folder


@pytest.fixture(scope="session")
def sure_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index with a confidence."""
    folder = tmp_path_factory.mktemp("service") / "sure"
    names = [("heart attacks", "X:1"), ("diabetes type 2", "X:3"), ("broken hips", "X:6")]
    wrong = [("hip attack", "X:0"), ("hearts of diabetes", "X:0")]
    corpus = [Mention(text, ids=(id_,)) for text, id_ in names * 20 + wrong * 5]
    build(folder).fit_confidence(corpus)
    return folder


@pytest.fixture(scope="session")
def client(index: Path) -> Iterator[TestClient]:
    """A client of a service with one terminology, called ``small``, and no keys."""
    with TestClient(create_app(Settings(index=(str(index),))), BASE) as client:
        yield client


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium that the system has."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def serving() -> Iterator[Callable[..., TestClient]]:
    """Start applications with settings; they stop with the test."""
    started: list[TestClient] = []

    def start(**settings: Any) -> TestClient:
        client = TestClient(create_app(Settings(**settings)), BASE)
        client.__enter__()
        started.append(client)
        return client

    yield start
    for client in started:
        client.__exit__(None, None, None)
