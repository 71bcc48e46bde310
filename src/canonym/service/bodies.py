"""Bodies of requests: read whole and in time, and parsed without using up memory or the server."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import json
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote_to_bytes

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from canonym.errors import InvalidInput
from canonym.service.problems import Problem, busy, too_large

LARGE = 1_000_000
"""Bytes; what is parsed from larger bodies takes many times their memory."""

_PATIENCE = 30.0  # seconds for a body, and one more for each of so many bytes that have come:
_BYTES_A_SECOND = 20_000
_MOST_HELD = 256_000_000  # bytes of all bodies that are still on their way
_MOST_MEMBERS = 1_000_000  # of all lists and objects: Python answers nobody while it reads them
_MOST_FIELDS = 100
_PART = 65_536
_SMALL = 100_000  # bytes that are parsed in no time


class Arriving:
    """The bytes of all bodies that are on their way."""

    held = 0


class Body:
    """The body of a request, handed on when it is whole; neither too long nor too slow."""

    def __init__(self, scope: Scope, receive: Receive, most: int, arriving: Arriving) -> None:
        length = Headers(scope=scope).get("content-length", "")
        self._announced = int(length) if length.isascii() and length.isdigit() else 0
        self._receive = receive
        self._most = most
        self._arriving = arriving
        self._whole = False

    async def receive(self) -> Message:
        """Return the whole body, or refuse it."""
        if self._whole:  # what comes now is that the client goes away
            return await self._receive()
        if self._announced > self._most:
            raise too_large("bytes", self._most, self._announced)
        content = bytearray()
        try:
            async with asyncio.timeout(_PATIENCE) as limit:
                while not self._whole:
                    message = await self._receive()
                    if message["type"] != "http.request":
                        return message
                    self._add(content, message.get("body", b""))
                    limit.reschedule((limit.when() or 0) + len(message["body"]) / _BYTES_A_SECOND)
                    self._whole = not message.get("more_body", False)
        except TimeoutError as error:
            detail = "the rest of the body did not come in time"
            raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail) from error
        finally:
            self._arriving.held -= len(content)
        return {"type": "http.request", "body": bytes(content), "more_body": False}

    def _add(self, content: bytearray, part: bytes) -> None:
        content += part
        self._arriving.held += len(part)
        if len(content) > self._most:
            raise too_large("bytes", self._most)
        if self._arriving.held > _MOST_HELD:
            raise busy("too many large bodies are on their way")


def give_memory_back() -> None:
    """Let the C library return the memory that large bodies took, which glibc would keep."""
    gc.collect()  # an error and its frames refer to each other, and to the body
    with contextlib.suppress(AttributeError, OSError, TypeError):  # of another C library
        ctypes.CDLL(None).malloc_trim(0)


class ParsedRequest(Request):
    """A request whose JSON is parsed in a thread where it is large."""

    async def json(self) -> Any:
        """Return what the body says."""
        if not hasattr(self, "_json"):
            self._json = await parsed(await self.body())
        return self._json


async def parsed(content: bytes) -> Any:
    """Return what JSON says."""
    return _parsed(content) if len(content) < _SMALL else await run_in_threadpool(_parsed, content)


def _parsed(content: bytes) -> Any:
    if len(content) > _SMALL and sum(map(content.count, (b",", b"[", b"{"))) > _MOST_MEMBERS:
        raise too_large("members of lists and objects", _MOST_MEMBERS)
    return json.loads(content)


async def read_form(content: bytes) -> dict[str, str]:
    """Return the fields of a form; one that is not UTF-8, or has too many, is an `InvalidInput`."""
    return _form(content) if len(content) < _SMALL else await run_in_threadpool(_form, content)


def _form(content: bytes) -> dict[str, str]:
    pairs = [pair.partition(b"=") for pair in content.split(b"&", _MOST_FIELDS)]
    if len(pairs) > _MOST_FIELDS:
        raise InvalidInput(f"the body is no form of at most {_MOST_FIELDS} fields")
    try:
        return {_unquoted(name): _unquoted(value) for name, _, value in pairs if name}
    except UnicodeDecodeError as error:
        raise InvalidInput("the body is no form in UTF-8") from error


def _unquoted(text: bytes) -> str:
    """Return text without its escapes.

    It is done in parts: all escapes at once take a hundred times the memory of the text.
    """
    plain = bytearray()
    start = 0
    while start < len(text):
        end = text.find(b"%", start + _PART)
        end = len(text) if end < 0 else end
        plain += unquote_to_bytes(text[start:end].replace(b"+", b" "))
        start = end
    return plain.decode()
