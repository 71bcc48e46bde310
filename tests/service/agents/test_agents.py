"""The tools for agents, called by the client of the SDK over streams and over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from canonym import Concept, Linker, Terminology, Xref
from canonym.service.agents.server import make_server
from canonym.service.served import Served
from canonym.service.work import Work
from tests.cli.running import command, run
from tests.conftest import clean_environment
from tests.service.conftest import RECORDS, build
from tests.service.test_server import announced

pytest.importorskip("mcp", reason="the SDK of MCP is not installed (extra mcp)")

from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOLS = ["link", "annotate", "concept", "search", "map_code"]
CODES = [
    Concept("ICD10:I21", "Acute myocardial infarction", source="Codes", version="2"),
    Concept("ICD10:E11", "Type 2 diabetes mellitus"),
    Concept("ICD10:E10", "Type 1 diabetes mellitus"),
    Xref("ICD10:E10", "SNO:46635009"),
    Concept("ICD10:A1", "One thing"),
]


class Tools:
    """Calls tools of a server that a client is connected to."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def answer(self, name: str, **arguments: Any) -> Any:
        """Return the answer, which is as its schema says and the same as text."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        schemas = {tool.name: tool.output_schema for tool in (await self._tools())}
        Draft202012Validator(schemas[name]).validate(result.structured_content)
        return result.structured_content

    async def problem(self, name: str, **arguments: Any) -> str:
        """Return what is wrong with a call."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error
        assert result.structured_content is None
        return str(result.content[0].text)

    async def _tools(self) -> Any:
        return (await self.client.list_tools()).tools


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index that tells how sure its links are."""
    folder = tmp_path_factory.mktemp("agents") / "judged"
    Linker.build(Terminology.build(RECORDS), folder=folder)
    return folder


@pytest.fixture(scope="module")
def codes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index of a second terminology."""
    folder = tmp_path_factory.mktemp("agents") / "codes"
    build(folder, CODES)
    return folder


Scene = Callable[[Tools], Coroutine[Any, Any, None]]


def play(client: Client, scene: Scene) -> None:
    """Let tools be called by a client."""

    async def called() -> None:
        async with client:
            await scene(Tools(client))

    asyncio.run(asyncio.wait_for(called(), 120))


def talk(scene: Scene, *indexes: Path) -> None:
    """Let the tools of indexes be called in this process."""
    served = {folder.name: Served(folder.name, folder, "") for folder in indexes}
    for each in served.values():
        each.open()
    with contextlib.closing(Work(2, 32, lambda _: None)) as work:
        play(Client(make_server(served, work)), scene)


def test_tools_answer_over_streams(judged: Path) -> None:
    async def scene(tools: Tools) -> None:
        listed = (await tools.client.list_tools()).tools
        assert [tool.name for tool in listed] == TOOLS
        for tool in listed:
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
            assert tool.annotations.read_only_hint

        names = ["heart attack", "qwertz asdf", "no heart attack"]
        links = (await tools.answer("link", names=names))["links"]
        assert [link["id"] for link in links] == ["X:1", None, None]
        assert (links[0]["label"], links[0]["relation"]) == ("Myocardial infarction", "equal")
        assert [link["nil"] for link in links] == [False, True, True]
        assert links[0]["confidence"] > 0.9
        assert not links[0]["reason"]
        assert all(link["reason"] and link["relation"] is None for link in links[1:])
        assert links[2]["status"] == ["negated"]
        (list_,) = (await tools.answer("link", names=["heart attack, green"]))["links"]
        assert list_["left_over"] == ["green"]

        text = "Broken hip, but no heart attack."
        marks = (await tools.answer("annotate", text=text))["links"]
        assert [text[mark["start"] : mark["end"]] for mark in marks] == [
            *("Broken hip", "heart attack"),
        ]
        assert [(mark["id"], mark["status"], mark["relation"]) for mark in marks] == [
            ("X:6", [], "equal"),
            ("X:1", ["negated"], "related"),
        ]
        assert (await tools.answer("annotate", text="Nothing to see."))["links"] == []

        concept = (await tools.answer("concept", id="x:1"))["concept"]
        assert concept["label"] == "Myocardial infarction"
        assert {name["text"] for name in concept["names"]} >= {"heart attack", "Herzinfarkt"}
        assert concept["parents"] == [{"id": "X:0", "label": "Disease"}]
        none = await tools.answer("concept", id="X:99")
        assert none["concept"] is None
        assert "no concept with this id" in none["reason"]

        mapped = await tools.answer("map_code", id="X:1", to="icd10")
        assert [(one["id"], one["label"], one["how"]) for one in mapped["mapped"]] == [
            ("ICD10:I21", None, "cross-reference")
        ]

    words = command("mcp", "--index", str(judged))
    server = StdioServerParameters(command=words[0], args=words[1:], env=clean_environment())
    with Path(os.devnull).open("w") as log:
        play(Client(stdio_client(server, errlog=log)), scene)


def test_words_are_searched_in_any_order(index: Path) -> None:
    async def scene(tools: Tools) -> None:
        async def ids(words: str, **arguments: Any) -> list[str]:
            answer = await tools.answer("search", words=words, **arguments)
            return [concept["id"] for concept in answer["concepts"]]

        assert await ids("diabetes type II") == ["X:3"]
        assert await ids("mellitus diabet") == ["X:2", "X:3"]
        assert await ids("cold") == ["X:4", "X:5"]
        assert await ids("cold", types=["phenomenon"]) == ["X:5"]
        assert await ids("cold", limit=1) == ["X:4"]
        assert await ids("cracked hips") == []
        assert await ids('"heart" + -') == ["X:1"]
        assert await ids("- ''") == []
        assert "'Nothing' does not occur" in await tools.problem(
            "search", words="cold", types=["Nothing"]
        )

    talk(scene, index)


def test_added_names_are_searched(tmp_path: Path) -> None:
    build(tmp_path / "mine").synonyms.add("widow maker", "X:1")

    async def scene(tools: Tools) -> None:
        (concept,) = (await tools.answer("search", words="makers widow"))["concepts"]
        assert (concept["id"], concept["name"]) == ("X:1", "widow maker")
        answer = await tools.answer("search", words="maker widow", types=["Finding"])
        assert answer["concepts"] == []

    talk(scene, tmp_path / "mine")


def test_what_cannot_be_used_is_said(index: Path) -> None:
    async def scene(tools: Tools) -> None:
        assert "at most 100 items" in await tools.problem("link", names=["x"] * 101)
        assert "at most 1000 characters" in await tools.problem("link", names=["x" * 1001])
        assert "at most 20000 characters" in await tools.problem("annotate", text="x" * 20_001)
        assert "names: Field required" in await tools.problem("link")
        problem = await tools.problem("link", names=["x"], index="hpo")
        assert "index: Extra inputs are not permitted" in problem
        assert "names, context, types" in problem
        assert "there is no terminology 'hpo'; there are small" in await tools.problem(
            "concept", id="X:1", terminology="hpo"
        )
        assert "there is no tool 'cure'; there are link" in await tools.problem("cure")
        assert "lists all" not in await tools.problem("link", names=["x"], types=["Nothing"])
        # The server goes on.
        assert (await tools.answer("link", names=["cold"], types=["Phenomenon"]))["links"][0][
            "id"
        ] == "X:5"

    talk(scene, index)


def test_codes_are_mapped_as_terminologies_state(index: Path, codes: Path) -> None:
    async def scene(tools: Tools) -> None:
        async def mapped(id: str, to: str | None = None) -> list[tuple[str, ...]]:
            answer = await tools.answer("map_code", id=id, **({"to": to} if to else {}))
            assert bool(answer["reason"]) == (not answer["mapped"])
            members = ("id", "label", "stated_by", "of", "how")
            return [tuple(one[member] for member in members) for one in answer["mapped"]]

        infarct = ("X:1", "Myocardial infarction", "small", "X:1", "cross-reference")
        assert await mapped("ICD10:I21") == [infarct]
        assert await mapped("ICD10:I21", "small") == [infarct]
        assert await mapped("X:1", "codes") == [
            ("ICD10:I21", "Acute myocardial infarction", "small", "X:1", "cross-reference")
        ]
        # The alternative id of a concept has the cross-references of the concept.
        assert await mapped("D434") == [
            ("X:3", "Type 2 diabetes mellitus", "small", "X:3", "alternative id"),
            ("ICD10:E11", "Type 2 diabetes mellitus", "small", "X:3", "cross-reference"),
        ]
        assert await mapped("i21", "X") == [infarct]
        assert await mapped("e10") == [
            ("SNO:46635009", None, "codes", "ICD10:E10", "cross-reference")
        ]
        assert await mapped("ICD10:E10", "x") == []
        for id_, reason in (
            ("ICD10:A1", "states no other"),
            ("ICD10:Z99", "no concept or cross-reference of small, codes has this id"),
        ):
            assert reason in (await tools.answer("map_code", id=id_))["reason"]
        answer = await tools.answer("map_code", id="ICD10:E10", to="X")
        assert answer["reason"] == "no id of X is stated for it, only of SNO"
        assert [concept["id"] for concept in answer["concepts"]] == ["ICD10:E10"]

        assert "none is named; there are small, codes" in await tools.problem("concept", id="X:1")
        answer = await tools.answer("concept", id="X:1", terminology="small")
        assert answer["concept"]["id"] == "X:1"
        tool = (await tools.client.list_tools()).tools[0]
        assert "terminology" in tool.input_schema["required"]
        assert tool.input_schema["properties"]["terminology"]["enum"] == ["small", "codes"]

    talk(scene, index, codes)


def test_an_id_of_several_concepts_is_mapped_to_nothing(tmp_path: Path) -> None:
    for name in ("AA", "BB"):
        records = [Concept(f"{name}:1234567", f"Thing of {name}"), Xref(f"{name}:1234567", "CC:1")]
        build(tmp_path / name, records)

    async def scene(tools: Tools) -> None:
        answer = await tools.answer("map_code", id="1234567")
        assert answer["mapped"] == []
        assert answer["reason"] == "it may be AA:1234567 or BB:1234567; write it with its prefix"
        (mapped,) = (await tools.answer("map_code", id="AA:1234567", to="CC"))["mapped"]
        assert mapped["id"] == "CC:1"

    talk(scene, tmp_path / "AA", tmp_path / "BB")


def test_names_of_several_concepts_have_parts(tmp_path: Path) -> None:
    records = [Concept("X:1", "Breast cancer"), Concept("X:2", "Ovarian cancer")]
    Linker.build(Terminology.build(records), folder=tmp_path / "parts")

    async def scene(tools: Tools) -> None:
        (link,) = (await tools.answer("link", names=["breast and ovarian cancer"]))["links"]
        assert (link["nil"], link["id"], link["relation"]) == (False, None, None)
        assert [part["id"] for part in link["parts"]] == ["X:1", "X:2"]

    talk(scene, tmp_path / "parts")


HALF = "holds half a character"
UNREAD: list[tuple[str, Any, str]] = [
    ('{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "\\ud800"}}', 3, HALF),
    ('{"jsonrpc": "2.0", "id": "a", "method": "tools/list", "\\udfff": {}}', "a", HALF),
    ('{"jsonrpc": "2.0", "id": "\\udc00", "method": "tools/list"}', None, HALF),
    ('{"jsonrpc": "2.0", "id": 4, "method"', None, "is not JSON"),
    ("[" * 100_000, None, "is not JSON"),
    ('{"id": 5, "method": "tools/list"}', 5, "is no request"),
    ("[]", None, "is no request"),
]


def test_what_cannot_be_read_is_answered(index: Path) -> None:
    process = subprocess.Popen(
        command("mcp", "--index", str(index)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    messages = [message for message, _, _ in UNREAD]
    notification = '{"jsonrpc": "2.0", "method": "notifications/\\ud800"}'
    output, errors = process.communicate("\n".join([notification, "", *messages, ""]), 300)
    answers = [json.loads(line) for line in output.splitlines()]
    assert [answer["id"] for answer in answers] == [id_ for _, id_, _ in UNREAD]
    for answer, (_, _, problem) in zip(answers, UNREAD, strict=True):
        assert problem in answer["error"]["message"]
    assert "Traceback" not in errors


@pytest.fixture(scope="module")
def address(index: Path) -> Iterator[str]:
    """The address of tools over HTTP."""
    process = subprocess.Popen(
        command("mcp", "--index", str(index), "--http", "0"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    try:
        assert process.stderr is not None
        (url,) = announced(process.stderr, r"Serving tools on (http://127\.0\.0\.1:\d+/mcp);")
        yield url
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        assert (process.returncode, output) == (0, "")
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.wait()


def test_tools_answer_over_http(address: str) -> None:
    async def scene(tools: Tools) -> None:
        assert [tool.name for tool in (await tools.client.list_tools()).tools] == TOOLS
        several = [tools.answer("link", names=["heart attack"]) for _ in range(8)]
        for answer in await asyncio.gather(*several):
            assert answer["links"][0]["id"] == "X:1"
        assert "names: Field required" in await tools.problem("link")
        assert (await tools.answer("map_code", id="X:0"))["mapped"] == []

    play(Client(address), scene)


def test_pages_of_other_hosts_are_refused(address: str) -> None:
    import httpx2

    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {"Accept": "application/json, text/event-stream"}
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        answer = httpx2.post(address, json=body, headers={**accepted, **headers})
        assert answer.status_code in (403, 421)


def test_what_cannot_be_served_is_refused_before_anything_is(tmp_path: Path) -> None:
    assert "no such index" in run("mcp", "--index", "nothing-like-it", code=2).output
    assert (
        "two indexes are called"
        in run("mcp", "--index", f"a={tmp_path}", "--index", f"a={tmp_path}", code=2).output
    )
