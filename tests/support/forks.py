"""Hosts that are forked from a process in which everything is loaded: a start takes a tenth of it.

A host is still a process with a socket, a lock, a log and an end of its own. `tests/host`,
`tests/hooks` and the tests of the embedded Postgres start theirs as users do.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from textrawl.__main__ import main
from textrawl.cli.hosting import import_lightly

_AT_START = ("PYTHON", "LC_", "LANG", "OTEL_", "SSL_")
"""Beginnings of the names of variables that an interpreter or a library reads once."""
_MOST_BYTES = 1 << 17


def _read_at_start() -> dict[str, str]:
    found = {name: text for name, text in os.environ.items() if name.startswith(_AT_START)}
    found.pop("PYTHONSAFEPATH", None)  # a command sets it for itself, and a host has -P
    return found


class Forked:
    """A process, with what is used of `subprocess.Popen`."""

    def __init__(self, forks: "Forks", pid: int) -> None:
        self._forks, self.pid = forks, pid

    def poll(self) -> int | None:
        return self._forks.ask({"ended": self.pid})

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def wait(self, timeout: float) -> int:
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            assert time.monotonic() < end
            time.sleep(0.002)
        return code


class Forks:
    """The process from which others are forked. It ends with this one."""

    def __init__(self) -> None:
        self._usual = _read_at_start()
        self._socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [sys.executable, "-P", __file__, str(other.fileno())]
        self._process = subprocess.Popen(words, pass_fds=[other.fileno()])
        other.close()

    def ask(self, request: dict[str, Any], *descriptors: int) -> Any:
        socket.send_fds(self._socket, [json.dumps(request).encode()], descriptors)
        return json.loads(self._socket.recv(_MOST_BYTES))

    def start(self, command: Sequence[str], *, stdout: int, **options: Any) -> Any:
        """Start a command of textrawl as `subprocess.Popen` does, in a session of its own."""
        if "DATABASE_URL" not in os.environ or _read_at_start() != self._usual:
            return _POPEN(command, stdout=stdout, **options)
        words = command[command.index("textrawl") :]
        request = {"words": words, "environment": {**os.environ}, "folder": str(Path.cwd())}
        return Forked(self, self.ask(request, stdout))

    @contextmanager
    def replace_popen(self) -> Generator[None]:
        """Fork the processes that the block starts."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subprocess, "Popen", self.start)
            yield

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


_POPEN = subprocess.Popen[bytes]


def _load() -> None:
    """Load what a host loads."""
    with import_lightly():
        for name in ("server.server", "server.sessions"):
            import_module(f"textrawl.{name}")
    for name in ("textrawl.memory.opening", "textrawl.models.local", "uvloop"):
        import_module(name)
    gc.freeze()


def _be(request: dict[str, Any], log: int) -> None:
    """Be the process that was asked for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv = request["words"]
    code = 1
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - the top of a process
        traceback.print_exc()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _serve(asking: socket.socket) -> None:
    """Fork, and tell who has ended, until nobody can ask any more."""
    codes = dict[int, int]()

    def note(*_: object) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])

    signal.signal(signal.SIGCHLD, note)
    while True:
        data, descriptors, _, _ = socket.recv_fds(asking, _MOST_BYTES, 1)
        if not data:
            return
        request = json.loads(data)
        answer = codes.get(request.get("ended"))
        if descriptors:
            answer = os.fork()
            if answer == 0:
                asking.close()
                _be(request, *descriptors)
            os.close(*descriptors)
        asking.send(json.dumps(answer).encode())


if __name__ == "__main__":
    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
