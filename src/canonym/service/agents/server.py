"""The server: tools over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from canonym import __version__
from canonym.errors import CanonymError, require
from canonym.io.encodings import without_surrogates
from canonym.io.files import parse_json
from canonym.service.agents.tools import TOOLS, Indexes, Tool
from canonym.service.served import Served
from canonym.service.server import bind
from canonym.service.settings import Settings
from canonym.service.work import Work

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.shared.message import SessionMessage
    from mcp.types import CallToolRequestParams, CallToolResult
    from mcp.types import Tool as Described

HOST = "127.0.0.1"
"""The only address that is listened on: there are no keys."""

_MOST_ERRORS = 5
_INSTRUCTIONS = (
    "Concepts of biomedical names, looked up offline in these terminologies: {}. Every id that a "
    "tool returns exists there; give no id from memory. Where a name has no concept, say so and "
    "give the reason."
)


def run(settings: Settings, *, port: int | None, started: Callable[[str], None]) -> None:
    """Serve until the client goes away, or over HTTP until a signal; `started` gets the address.

    Raises `MissingExtra` without the extra ``mcp``, and `OSError` if the port is in use.
    """
    require("mcp.server", "canonym mcp", "mcp")
    indexes = {name: Served(name, folder, "") for name, folder in settings.folders().items()}
    for served in indexes.values():
        served.open()
    work = Work(settings.threads, settings.queue, lambda _: None)
    server = make_server(indexes, work)
    try:
        if port is None:
            # A thread waits for input, and would do so after Ctrl-C.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            asyncio.run(_over_streams(server))
        else:
            _over_http(server, port, started)
    finally:
        work.close()


async def _over_streams(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reader, writer):
        readable = _Readable(reader, writer)
        await server.run(readable, writer, server.create_initialization_options())


class _Readable:
    """The messages of a client that can be read; the others are answered at once."""

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader = reader
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        while isinstance(message := await anext(self._reader), Exception):
            if refusal := _refusal(message):
                await self._writer.send(refusal)
        return message

    receive = __anext__

    async def __aenter__(self) -> Self:
        await self._reader.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        ended: bool | None = await self._reader.__aexit__(*raised)
        return ended


def _refusal(error: Exception) -> SessionMessage | None:
    """Return the answer to a message that cannot be read; the SDK alone would not answer it."""
    from mcp.shared.message import SessionMessage
    from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

    content = error.errors()[0]["input"] if isinstance(error, ValidationError) else None
    if content in ("", "\n"):
        return None
    code, problem = INVALID_REQUEST, "the message is no request as JSON-RPC 2.0 has it"
    if isinstance(content, str):
        try:
            content = parse_json(content)
            problem = "the message holds half a character (a lone surrogate such as \\ud800)"
        except ValueError:
            code, problem = PARSE_ERROR, "the message is not JSON: send one object on one line"
    id_ = content.get("id") if isinstance(content, dict) else None
    if isinstance(content, dict) and "method" in content and id_ is None:
        return None  # a notification
    plain = type(id_) is int or (isinstance(id_, str) and without_surrogates(id_) == id_)
    told = ErrorData(code=code, message=problem)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id_ if plain else None, error=told))


def _over_http(server: Server[Any], port: int, started: Callable[[str], None]) -> None:
    import uvicorn

    app = server.streamable_http_app(json_response=True, stateless_http=True, host=HOST)
    with bind(HOST, port) as bound:
        started(f"http://{HOST}:{bound.getsockname()[1]}/mcp")
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, lifespan="on"
        )
        # uvicorn ends its work, then raises the signal again: a wanted end is no failure.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        uvicorn.Server(config).run(sockets=[bound])


def make_server(indexes: Indexes, work: Work) -> Server[Any]:
    """Make the server of all tools, of indexes that are open."""
    from mcp.server import Server
    from mcp.types import ListToolsResult

    described = [_described(name, tool, [*indexes]) for name, tool in TOOLS.items()]

    async def list_tools(_context: object, _params: object) -> ListToolsResult:
        return ListToolsResult(tools=described)

    async def call_tool(_context: object, params: CallToolRequestParams) -> CallToolResult:
        try:
            return await work.run(lambda: _called(indexes, params.name, params.arguments or {}))
        except HTTPException as error:  # too many calls are waiting
            return _failure(error.detail)

    return Server(
        "canonym",
        version=__version__,
        instructions=_INSTRUCTIONS.format("; ".join(map(_summary, indexes.values()))),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _summary(served: Served) -> str:
    terminology = served.opened.terminology
    sources = ", ".join(" ".join(pair).strip() for pair in terminology.sources() if any(pair))
    return f"{served.name} ({sources or 'no source'}; {terminology.n_concepts:,} concepts)"


def _described(name: str, tool: Tool, names: list[str]) -> Described:
    from mcp.types import Tool as Described
    from mcp.types import ToolAnnotations

    schema = tool.call.model_json_schema()
    if of := schema["properties"].get("terminology"):
        schema["properties"]["terminology"] = {
            "type": "string",
            "enum": names,
            "description": of["description"],
        }
        if len(names) > 1:
            schema["required"] = [*schema["required"], "terminology"]
    return Described(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=schema,
        output_schema=tool.answer.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _called(indexes: Indexes, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
    """Call a tool; what an agent can mend is an answer that says how."""
    if name not in TOOLS:
        return _failure(f"there is no tool {name!r:.80}; there are {', '.join(TOOLS)}")
    tool = TOOLS[name]
    try:
        call = tool.call.model_validate(arguments)
    except ValidationError as error:
        return _failure(_problems(tool, error))
    try:
        answer = tool.run(indexes, call).model_dump(mode="json")
    except HTTPException as error:
        return _failure(error.detail)
    except CanonymError as error:
        return _failure(str(error))
    return _result(json.dumps(answer, ensure_ascii=False), structured_content=answer)


def _problems(tool: Tool, error: ValidationError) -> str:
    problems = [
        f"{'/'.join(map(str, problem['loc']))}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)[:_MOST_ERRORS]
    ]
    return f"{'; '.join(problems)}. The arguments are {', '.join(tool.call.model_fields)}."


def _failure(problem: str) -> CallToolResult:
    return _result(problem, is_error=True)


def _result(text: str, **members: Any) -> CallToolResult:
    from mcp.types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=text)], **members)
