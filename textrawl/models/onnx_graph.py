"""ONNX graphs in the format of protobuf: the few messages that encoders need, written and read.

The package `onnx` would do the same with 20 MB.
"""

import struct
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MICROSOFT = "com.microsoft"
"""The domain of operators that are not in the standard."""

_OPSETS = ((b"", 20), (MICROSOFT.encode(), 1))
_FORMAT = 9  # version of ONNX
_TYPES = {1: "<f4", 2: "u1", 3: "i1", 7: "<i8"}  # types of a tensor in ONNX
_NUMBERS = {np.dtype(kind): number for number, kind in _TYPES.items()}
_MORE = 128  # marks a byte of a number in protobuf that is not its last one
_WHOLE, _BYTES = 0, 2  # kinds of fields in protobuf
_GRAPH, _TENSOR = 7, 5  # numbers of fields: the graph of a model, and a tensor of a graph


def write_model(parts: Iterable[bytes], ends: Sequence[tuple[str, int]]) -> bytes:
    """Return a model of the nodes and tensors in `parts`.

    `ends` are the names of the input and of the output, which have a vector for each token, and the
    sizes of these vectors.
    """
    fields = [_write_field(11 + number, _write_end(*end)) for number, end in enumerate(ends)]
    graph = b"".join([_write_field(2, b"encoder"), *parts, *fields])
    sets = [_write_field(1, name) + _write_field(2, number) for name, number in _OPSETS]
    model = [_write_field(1, _FORMAT), _write_field(_GRAPH, graph)]
    return b"".join(model + [_write_field(8, one) for one in sets])


def write_node(
    kind: str,
    given: Sequence[str],
    made: Sequence[str],
    attributes: Mapping[str, int | float] | None = None,
    domain: str = "",
) -> bytes:
    """Return a node that makes the tensors `made` from the tensors `given`."""
    node = b"".join(_write_field(1, name.encode()) for name in given)
    node += b"".join(_write_field(2, name.encode()) for name in made)
    node += _write_field(4, kind.encode())
    for name, value in (attributes or {}).items():
        whole = isinstance(value, int)
        written = _write_field(3, value) if whole else b"\x15" + struct.pack("<f", value)
        attribute = _write_field(1, name.encode()) + written + _write_field(20, 2 if whole else 1)
        node += _write_field(5, attribute)
    return _write_field(1, node + _write_field(7, domain.encode()))


def write_tensor(name: str, values: Array) -> bytes:
    """Return a tensor of the graph that has these values."""
    sizes = b"".join(_write_field(1, size) for size in values.shape)
    named = _write_field(2, _NUMBERS[values.dtype]) + _write_field(8, name.encode())
    return _write_field(_TENSOR, sizes + named + _write_field(9, values.tobytes()))


def read_tensors(model: bytes) -> dict[str, Array]:
    """Return the weights of a model by name, in the order of the file, without copying them."""
    graph = dict(_read_fields(memoryview(model)))[_GRAPH]
    parts = (_read_tensor(part) for number, part in _read_fields(graph) if number == _TENSOR)
    return dict(part for part in parts if part is not None)


def _read_tensor(message: memoryview) -> tuple[str, Array] | None:
    fields = [*_read_fields(message)]
    sizes = [int.from_bytes(value, "little") for number, value in fields if number == 1]
    found = dict(fields)
    kind = _TYPES.get(int.from_bytes(found[2], "little"))
    if kind is None:
        return None  # a tensor of truth values, which is no weight
    return str(found[8], "utf-8"), np.frombuffer(found[9], kind).reshape(sizes)


def _read_fields(message: memoryview) -> Generator[tuple[int, memoryview]]:
    """Yield the number and the value of each field, of which a whole number is 8 bytes."""
    offset = 0
    while offset < len(message):
        key, offset = _read_number(message, offset)
        length, offset = _read_number(message, offset)
        if key & 7 == _WHOLE:
            yield key >> 3, memoryview(length.to_bytes(8, "little"))
        elif key & 7 == _BYTES:
            yield key >> 3, message[offset : offset + length]
            offset += length
        else:
            raise ValueError("a message has a field of a kind that ONNX does not use")


def _read_number(message: memoryview, offset: int) -> tuple[int, int]:
    """Return the whole number at this offset, and the offset after it."""
    value = shift = 0
    while True:
        value |= (message[offset] & (_MORE - 1)) << shift
        shift += 7
        offset += 1
        if message[offset - 1] < _MORE:
            return value, offset


def _write_end(name: str, width: int) -> bytes:
    """Return an input or output of the graph: a text, its tokens, and their vectors."""
    sizes = [_write_field(1, 1), _write_field(2, b"tokens"), _write_field(1, width)]
    shape = b"".join(_write_field(1, size) for size in sizes)
    tensor = _write_field(1, 1) + _write_field(2, shape)
    return _write_field(1, name.encode()) + _write_field(2, _write_field(1, tensor))


def _write_field(number: int, value: int | bytes) -> bytes:
    """Return a field of protobuf: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _write_number(number << 3) + _write_number(value)
    return _write_number(number << 3 | _BYTES) + _write_number(len(value)) + value


def _write_number(value: int) -> bytes:
    written = bytearray()
    while value >= _MORE:
        written.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    return bytes([*written, value])
