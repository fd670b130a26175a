"""Questions to the process that has a memory open."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from textrawl.errors import TextrawlError
from textrawl.host.entrance import find_address
from textrawl.host.question import ask, build_call
from textrawl.host.requests import PING, SocketAnswer
from textrawl_client.unix_socket import Unreachable

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two OS users")
_STRANGER = """
import os, socket, sys
os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode())
print(s.recv(99))
"""


def ask_as_another_user(address: Path, request: bytes) -> str:
    """What a process of another user prints, which can open the socket: the bytes of the answer."""
    for path in (*address.parents[:3], address):
        path.chmod(0o777)
    command = [sys.executable, "-c", _STRANGER, str(address), request.decode()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    return done.stdout


def is_answered() -> bool:
    """Whether a process answers now."""
    try:
        ask(PING, timeout=2)
    except (Unreachable, TextrawlError):
        return False
    return True


def search(query: str, client: str = "", **wishes: object) -> dict[str, object]:
    """The request of a program that searches."""
    return build_call("query_memory", {"query": query}, client=client, **wishes)


def recall(query: str, client: str = "", *, timeout: float = 60, **wishes: object) -> SocketAnswer:
    """The facts that a program finds."""
    return ask(search(query, client, **wishes), timeout=timeout)


def fact_of(entity: str, fact: str, kind: str = "concept") -> dict[str, object]:
    """The request of a program that stores a fact."""
    arguments = {"entityName": entity, "entityType": kind, "observation": fact}
    return build_call("remember_fact", arguments)


def remember(entity: str, fact: str, kind: str = "concept", *, timeout: float = 60) -> str:
    """The id of a fact that a program stores."""
    return str(ask(fact_of(entity, fact, kind), timeout=timeout).content["observationId"])


def connect() -> socket.socket:
    """A connection to the socket, for bytes that the client would not send."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(60)
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
