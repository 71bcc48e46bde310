"""Requests that a generator with a seed makes from the description of the service."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

from hostile_files import bombs
from hostile_requests import (
    BYTES,
    JSON,
    NUMBERS,
    ODD,
    PARAMETERS,
    STRINGS,
    Case,
    Target,
    dumped,
    request,
)


def drawn(target: Target, rng: random.Random) -> Iterator[Case]:
    """Yield requests without end: routes of the description with values that fit, or do not."""
    routes = [
        (method.upper(), path, operation)
        for path, operations in target.description["paths"].items()
        for method, operation in operations.items()
    ]
    parts = target.description["components"]["schemas"]
    while True:
        method, path, operation = rng.choice(routes)
        query = {}
        for parameter in operation.get("parameters", []):
            value = _parameter(parameter["name"], rng)
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", quote(_bytes(value), safe=""))
            elif rng.random() < 0.7:
                query[parameter["name"]] = _bytes(value)
        path = path.replace("{id}", "X:1")
        where = f"{path}?{urlencode(query)}" if query else path
        headers, body = dict(target.who if rng.random() < 0.95 else {}), b""
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            schema = content["application/json"]["schema"]
            value = _value(schema, parts, rng, 0) if rng.random() < 0.9 else _anything(rng, 0)
            body, headers = _damaged(dumped(value), rng), headers | JSON
        elif method == "POST":
            name = rng.choice([*bombs()])
            content_of_file = (
                bombs()[name][0] if rng.random() < 0.3 else _bytes(rng.choice(STRINGS))
            )
            if len(content_of_file) < 100_000:
                body, headers = _damaged(content_of_file, rng), headers | BYTES
        yield Case("drawn", request(method, where, body, headers), "any", cut=True)


def _parameter(name: str, rng: random.Random) -> Any:
    if name in PARAMETERS and rng.random() < 0.7:
        return rng.choice(PARAMETERS[name])
    return rng.choice(STRINGS) if rng.random() < 0.6 else rng.choice(NUMBERS)


def _bytes(value: Any) -> bytes:
    return str(value)[:6000].encode("utf-8", "surrogatepass")


def _value(schema: dict[str, Any], parts: dict[str, Any], rng: random.Random, depth: int) -> Any:
    """Return a value that a schema describes, but for some places where it is anything."""
    if rng.random() < 0.04:
        return _anything(rng, depth)
    if "$ref" in schema:
        return _value(parts[schema["$ref"].rpartition("/")[2]], parts, rng, depth)
    if "anyOf" in schema:
        return _value(rng.choice(schema["anyOf"]), parts, rng, depth)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        known = schema.get("properties", {})
        needed = {*schema.get("required", [])}
        found = {
            name: rng.choice(PARAMETERS[name])
            if name in PARAMETERS and rng.random() < 0.6
            else _value(inner, parts, rng, depth + 1)
            for name, inner in known.items()
            if (name in needed and rng.random() < 0.97) or rng.random() < 0.3
        }
        if not known or rng.random() < 0.03:
            found[rng.choice(STRINGS)] = _anything(rng, depth + 1)
        return found
    if kind == "array":
        n = rng.choice((0, 1, 1, 2, 3, 30))
        return [_value(schema.get("items", {}), parts, rng, depth + 1) for _ in range(n)]
    simple: dict[str | None, Callable[[], Any]] = {
        "string": lambda: rng.choice(STRINGS),
        "integer": lambda: rng.choice((1, 1, 2, 5, *NUMBERS)),
        "number": lambda: rng.choice((0.5, 0.9, *NUMBERS)),
        "boolean": lambda: rng.random() < 0.5,
        "null": lambda: None,
    }
    return simple.get(kind, lambda: _anything(rng, depth))()


def _anything(rng: random.Random, depth: int) -> Any:
    draw = rng.random()
    if depth < 4 and draw < 0.15:
        return [_anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    if depth < 4 and draw < 0.3:
        return {rng.choice(STRINGS): _anything(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(rng.choice((STRINGS, NUMBERS, ODD)))


def _damaged(body: bytes, rng: random.Random) -> bytes:
    """Return a body, at times with a few bytes changed or its end cut off."""
    draw = rng.random()
    if not body or draw > 0.15:
        return body
    if draw < 0.05:
        return body[: rng.randrange(len(body))]
    changed = bytearray(body)
    for _ in range(rng.randrange(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)
