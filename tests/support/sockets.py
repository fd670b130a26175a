"""Questions to the process that has a memory open."""

import socket
import time
from pathlib import Path

from textrawl.resident.client import Unreachable, ask, find_address


def is_answered() -> bool:
    """Whether a process answers now."""
    try:
        return "error" not in ask({"op": "ping"}, timeout=2)
    except Unreachable:
        return False


def connect() -> socket.socket:
    """A connection to the socket, for bytes that the client would not send."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(10)
    connection.connect(str(find_address().socket))
    return connection


def read_all(connection: socket.socket) -> bytes:
    """What comes until the other end closes the connection."""
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    return received


def find_listener(path: Path) -> int:
    """The id of the process that listens at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(path))
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return int.from_bytes(credentials[:4], "little")


def measure() -> float:
    """The seconds until a request is answered or fails."""
    began = time.monotonic()
    is_answered()
    return time.monotonic() - began
