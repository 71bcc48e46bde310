"""Constants and operations of an ONNX file, read without a library.

A file is a protocol buffer: a row of fields, each a number, a kind and a value. Few fields matter
here, so that a dozen lines read them. Constants stay in the file, mapped into memory.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from canonym.errors import ReadError

# Numbers of fields and of types, from onnx.proto.
_GRAPH, _NODE, _INITIALIZER = 7, 1, 5
_INPUT, _OUTPUT, _OPERATION = 1, 2, 4
_DIMENSION, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_DTYPES = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2", 11: "<f8"}
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


class Operation(NamedTuple):
    """One operation of a graph, with the names of what goes in and comes out."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class Graph(NamedTuple):
    """Operations in their order, and constants by name, read-only."""

    operations: list[Operation]
    constants: dict[str, npt.NDArray[Any]]


def read_graph(path: Path) -> Graph:
    """Read a model whose constants are in the file itself.

    Raises `ReadError` where the file is missing, damaged or no ONNX model.
    """
    operations, constants = [], {}
    try:
        with path.open("rb") as stream:
            model = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        (graph,) = (value for number, value in _fields(model) if number == _GRAPH)
        for number, value in _fields(graph):
            if number == _NODE:
                operations.append(_operation(value))
            elif number == _INITIALIZER:
                name, constant = _constant(value)
                constants[name] = constant
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        raise ReadError(path, f"not a whole ONNX model ({error}); save it again") from error
    return Graph(operations, constants)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: a whole number, or the bytes."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == _VARINT:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        if kind == _BYTES:
            length, place = _varint(message, place)
        else:
            length = {_FIXED_64: 8, _FIXED_32: 4}[kind]
        if place + length > len(message):
            raise ValueError(f"a field of {length} bytes goes beyond the end")
        yield key >> 3, message[place : place + length]
        place += length


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    """Return a whole number of seven bits a byte, lowest first, and the place after it."""
    value = shift = 0
    while message[place] & 0x80:
        value |= (message[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return value | message[place] << shift, place + 1


def _operation(message: memoryview) -> Operation:
    names: dict[int, list[str]] = {_INPUT: [], _OUTPUT: [], _OPERATION: []}
    for number, value in _fields(message):
        if number in names:
            names[number].append(str(value, "utf-8"))
    return Operation(names[_OPERATION][0], tuple(names[_INPUT]), tuple(names[_OUTPUT]))


def _constant(message: memoryview) -> tuple[str, npt.NDArray[Any]]:
    shape: list[int] = []
    name, kind, raw = "", 0, memoryview(b"")
    for number, value in _fields(message):
        if number == _DIMENSION:
            shape += [value] if isinstance(value, int) else _varints(value)
        elif number == _TYPE:
            kind = value
        elif number == _NAME:
            name = str(value, "utf-8")
        elif number == _RAW:
            raw = value
    return name, np.frombuffer(raw, _DTYPES[kind]).reshape(shape)


def _varints(message: memoryview) -> list[int]:
    values, place = [], 0
    while place < len(message):
        value, place = _varint(message, place)
        values.append(value)
    return values
