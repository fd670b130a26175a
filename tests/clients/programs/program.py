"""A program that speaks MCP: how it is installed, configured and started."""

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tests.clients.installing import Registry, find_node
from tests.clients.script import Json

Half = Literal["text", "structured", "both", "program"]
"""What of an answer reaches the model; `program`: there is no model, a program gets both."""

Transport = Literal["stdio", "HTTP"]

User = Literal["cannot be asked", "says no by itself", "asks a person"]
"""What becomes of the question whether something is to be deleted."""

PROMPT = "Play the script: use the tools of textrawl."
DRIVERS = Path(__file__).parents[1] / "drivers"


@dataclass(frozen=True)
class Server:
    """How a program reaches textrawl: by a command, or at an address if there is one."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    url: str = ""


@dataclass(frozen=True)
class Place:
    """Where a program runs: what is installed, an empty home, an empty folder to work in."""

    installed: Path
    home: Path
    work: Path
    server: Server
    model: str

    def write(self, path: str, content: object) -> Path:
        """Write a file of the program's home: text as it is, anything else as JSON."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        file.write_text(text, encoding="utf-8")
        return file


@dataclass(frozen=True)
class Program:
    """A program, and what it shows its model by default; most are a subclass.

    `instructions` is whether the model reads the server's, `deferred` whether it has to look for
    the tools first.
    """

    name: str
    version: str
    packages: tuple[str, ...]
    shows: Half
    instructions: bool
    user: User
    registry: Registry = "npm"
    deferred: bool = False
    transports: tuple[Transport, ...] = ("stdio", "HTTP")

    def configure(self, place: Place) -> None:
        """Write what the program reads at its start."""

    def locate(self, installed: Path) -> list[str]:
        """Return the command that is its name in a shell."""
        raise NotImplementedError

    def write_command(self, place: Place) -> list[str]:
        """Return the command for one prompt; it ends when the script is played."""
        return [*self.locate(place.installed), "-p", PROMPT]

    def write_environment(self, place: Place) -> dict[str, str]:
        """Return its environment: a home of its own, and no way out but to loopback."""
        programs = [str(find_node().program.parent)] if self.registry == "npm" else []
        away = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), "http://127.0.0.1:9")
        near = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
        home = {"HOME": str(place.home), "TMPDIR": str(place.home), "LANG": "C.UTF-8"}
        return {
            "PATH": os.pathsep.join([*programs, "/usr/bin", "/bin"]),
            **home,
            **away,
            **near,
            "CI": "1",
        }


def locate_script(installed: Path, script: str) -> list[str]:
    """Return the command for a script of an npm package."""
    return [str(find_node().program), str(installed / "node_modules" / script)]


def locate_binary(installed: Path, package: str, name: str) -> list[str]:
    """Return the command for the program that a package has for this machine."""
    machine = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x64"
    return [str(installed / "node_modules" / f"{package}-{sys.platform}-{machine}" / name)]


def write_server(server: Server) -> Json:
    """A server as most configurations name it."""
    if server.url:
        return {"type": "http", "url": server.url}
    entry: dict[str, Any] = {"command": server.command, "args": [*server.arguments]}
    return {**entry, "env": {**server.environment}}


@dataclass(frozen=True)
class Driver(Program):
    """A library that a few lines of ours use; they read the work from stdin."""

    script: str = ""

    def write_command(self, place: Place) -> list[str]:
        """Return the command for the lines, which stand in drivers/."""
        lines = DRIVERS / self.script
        if self.registry == "PyPI":
            return [str(place.installed / "bin/python"), str(lines)]
        copied = place.work / self.script  # Node looks for packages beside the script
        copied.write_bytes(lines.read_bytes())
        (place.work / "node_modules").symlink_to(place.installed / "node_modules")
        return [str(find_node().program), str(copied)]
