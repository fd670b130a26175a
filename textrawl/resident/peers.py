"""The OS user at the other end of a Unix socket, as the kernel knows it."""

import os
import socket
import struct

_UCRED = struct.Struct("3i")  # Linux: process, user, group
_XUCRED = struct.Struct("2I")  # macOS: version and user, the first members of a longer structure
_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_SIZE = 0, 1, 76  # sys/un.h and sys/ucred.h of macOS


def find_peer(connection: socket.socket) -> int | None:
    """Return the user id of the process at the other end, or None if the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        return _UCRED.unpack(found)[1]
    try:
        found = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_SIZE)
    except OSError:
        return None
    return _XUCRED.unpack_from(found)[1]


def is_trusted(connection: socket.socket) -> bool:
    """Return whether the other end runs as the current OS user."""
    return find_peer(connection) == os.geteuid()


def may_ask(connection: socket.socket) -> bool:
    """Return whether the other end runs as the current OS user or as root."""
    return find_peer(connection) in (os.geteuid(), 0)
