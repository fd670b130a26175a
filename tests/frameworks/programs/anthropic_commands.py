"""500 random sequences of commands: the SDK's local tool and ours give the same answers."""

import asyncio
import random
import re
import tempfile
from pathlib import Path

from anthropic.tools import ToolError
from anthropic.tools.memory import BetaAsyncLocalFilesystemMemoryTool, BetaLocalFilesystemMemoryTool

from textrawl_client import Client, SyncClient
from textrawl_client.adapters.anthropic import TextrawlAsyncMemoryTool, TextrawlMemoryTool

SEQUENCES, MOST_COMMANDS, EVERY = 500, 18, 10  # each tenth with the tools for asyncio
NAMES = ("a", "A", "b.txt", "c", "ü 日.md", ".hidden", "it's 100%", "n" * 200)
ODD_PATHS = (
    "/memories", "/memories/", "/memories/..", "/memories/../../memories/a", "/other/a", "a", "",
    "/memories//a/./b.txt", "/memories/c/../b.txt", "/memories/a/../../..", "/memoriesa",
)  # fmt: skip
PIECES = (
    "", "x", "aa", "tea", "a\nb\n", "\n", "\n\n", "\r\n", "one\r\ntwo", "  spaces  ", "\t",
    "\u200b", "ein Wörtchen", "日本", "🙂", "long " * 300, "\\n", "$1 .* [", "l\u2028s\x0b\x85",
    "nul \0",
)  # fmt: skip


def choose_path(chance, known):
    """Return a path: one that was used before, an odd one, or one of at most four names."""
    if known and chance.random() < 0.7:
        return chance.choice([*known])
    if chance.random() < 0.08:
        return chance.choice(ODD_PATHS)
    depth = chance.choice((1, 1, 1, 2, 2, 2, 3, 4))
    names = [chance.choice(NAMES[:3] if chance.random() < 0.7 else NAMES) for _ in range(depth)]
    return "/".join(["/memories", *names])


def choose_command(chance, known):
    """Return a command with arguments, and remember the path of a new file."""
    path, pieces = choose_path(chance, known), chance.choices(PIECES, k=chance.randint(0, 4))
    text, old = "".join(pieces), chance.choice(known.get(path) or PIECES)
    kind = chance.choice(
        ("create",) * 4
        + ("view",) * 3
        + ("str_replace",) * 3
        + ("insert",) * 2
        + ("rename",) * 2
        + ("delete",)
    )
    more = {
        "create": lambda: {"path": path, "file_text": text},
        "view": lambda: {
            "path": path,
            **chance.choice(({}, {}, {"view_range": choose_range(chance)})),
        },
        "str_replace": lambda: {"path": path, "old_str": old, "new_str": text},
        "insert": lambda: {"path": path, "insert_line": chance.randint(-1, 4), "insert_text": text},
        "delete": lambda: {"path": path},
        "rename": lambda: {"old_path": path, "new_path": choose_path(chance, known)},
    }
    if kind == "create":
        known.setdefault(path, pieces)
    return {"command": kind, **more[kind]()}


def choose_range(chance):
    """Return lines to view, some of them out of order."""
    return [chance.randint(-1, 5), chance.choice((-1, 0, 1, 2, 5, 99))]


async def answer(call, command):
    """Return what a tool answers. A fault of the file system is no text that others can repeat."""
    try:
        found = call(command)
        return hide_sizes(await found if asyncio.iscoroutine(found) else found)
    except ToolError as error:
        return f"refused: {error}"
    except OSError:
        return "refused"


def hide_sizes(text):
    """Return a view without the sizes of directories, which are those of the file system."""
    if not text.startswith("Here're the files"):
        return text
    header, top, *lines = text.split("\n")
    shown = [re.sub(r"^\S+", "-", line) if line.endswith("/") else line for line in lines]
    return "\n".join([header, re.sub(r"^\S+", "-", top), *shown])


def list_all(folder):
    """Return a view of each file and directory that a sequence left."""
    root = Path(folder) / "memories"
    paths = [f"/memories/{path.relative_to(root)}" for path in sorted(root.rglob("*"))]
    return [{"command": "view", "path": path} for path in ["/memories", *paths]]


async def play(seed, memory, waiting):
    """Play one sequence on both tools, and return the kinds of answers."""
    chance, place = random.Random(seed), ("anthropic", f"agent {seed}")
    with tempfile.TemporaryDirectory() as folder:
        if seed % EVERY:
            tools = (
                BetaLocalFilesystemMemoryTool(folder),
                TextrawlMemoryTool(memory, namespace=place),
            )
        else:
            tools = (
                BetaAsyncLocalFilesystemMemoryTool(folder),
                TextrawlAsyncMemoryTool(waiting, namespace=place),
            )
        played, refused, known = [], 0, {}
        commands = [choose_command(chance, known) for _ in range(chance.randint(1, MOST_COMMANDS))]
        for command in [*commands, None]:
            for one in [command] if command else list_all(folder):
                local, ours = [await answer(tool.call, one) for tool in tools]
                played.append(one)
                if local == "refused":
                    ours = ours[: len(local)]
                assert ours == local, f"{seed}: {played}\n--- local\n{local}\n--- ours\n{ours}"
                refused += local.startswith("refused")
        return len(played), refused


# As in a program that calls asyncio.run for each request: the memory is one object.
played = refused = 0
waiting = Client()
with SyncClient() as memory:
    for seed in range(SEQUENCES):
        more = asyncio.run(play(seed, memory, waiting))
        played, refused = played + more[0], refused + more[1]
asyncio.run(waiting.close())
print(f"{SEQUENCES} sequences of commands as the local tool: {played} equal, {refused} refused")
