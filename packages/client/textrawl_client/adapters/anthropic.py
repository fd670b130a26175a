"""Claude's memory tool: each file below /memories is an item, and its text is the value.

So `history` shows every earlier text of a file, `undo` takes back what an agent wrote, and `search`
finds files by words and meaning. Commands answer with the texts of the SDK's local tool.
"""

# A method that wait_for makes has a position-only `self`.
# pyright: reportAssignmentType=false

import re
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from textrawl_client.adapters.anthropic_files import Files, is_file, read_path, write_directory
from textrawl_client.client import Client, SyncClient, wait_for


class _Commands:
    """The commands of the memory tool."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def view(self, command: Any) -> str:
        """Return the lines of a file with their numbers, or the upper levels of a directory."""
        path, item = await self._files.find(command.path)
        if item is None or not is_file(item):
            return write_directory(command.path, await self._files.list(path))
        lines, first = item.value.split("\n"), 1
        if command.view_range and len(command.view_range) == 2:  # noqa: PLR2004 - first and last
            first, last = max(1, command.view_range[0]), command.view_range[1]
            lines = lines[first - 1 : len(lines) if last == -1 else last]
        return f"Here's the content of {command.path} with line numbers:\n{_number(lines, first)}"

    async def create(self, command: Any) -> str:
        """Store a new file, and the directories that hold it."""
        path = read_path(command.path)
        await self._files.make_directory(path[:-1])
        await self._files.add(path, command.file_text, f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    async def str_replace(self, command: Any) -> str:
        """Replace a text that the file has once."""
        item = await self._files.find_file(command.path)
        old, text = command.old_str, item.value
        found = [match.start() for match in re.finditer(f"(?={re.escape(old)})", text)]
        lines = [text.count("\n", 0, place) for place in found]
        if not lines:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in "
                f"{command.path}."
            )
        if text.count(old) > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(str(line + 1) for line in lines)}. Please ensure it is unique"
            )
        changed = text.replace(old, command.new_str)
        await self._files.replace(item, changed, command.path)
        first = max(0, lines[0] - 2)
        snippet = _number(changed.split("\n")[first : lines[0] + 3], first + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{snippet}"
        )

    async def insert(self, command: Any) -> str:
        """Add a text behind a line of a file. Line 0 is its beginning."""
        item = await self._files.find_file(command.path)
        text: str = item.value
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines).removesuffix("\n")
        await self._files.replace(item, f"{text}\n", command.path)
        return f"The file {command.path} has been edited."

    async def delete(self, command: Any) -> str:
        """Delete a file, or a directory with all that is in it."""
        path = read_path(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        item = await self._files.get(path)
        if item is None:
            raise ToolError(f"The path {command.path} does not exist")
        await self._files.remove(path, item)
        return f"Successfully deleted {command.path}"

    async def rename(self, command: Any) -> str:
        """Move a file or a directory."""
        old, new = read_path(command.old_path), read_path(command.new_path)
        taken = f"The destination {command.new_path} already exists"
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or await self._files.get(new):
            raise ToolError(taken)
        item = await self._files.get(old)
        with suppress(ToolError) if item is None else nullcontext():  # as the local tool does
            await self._files.make_directory(new[:-1])
        if item is None:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new[: len(old)] == old:
            raise ToolError(f"The path {command.new_path} is within {command.old_path}")
        await self._files.move(old, item, new, taken)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear_all_memory(self) -> str:
        """Delete all files and directories."""
        await self._files.clear()
        return "All memory cleared"


class TextrawlAsyncMemoryTool(_Commands, BetaAsyncAbstractMemoryTool):
    """Claude's memory for AsyncAnthropic. `options` are those of the SDK's class."""

    def __init__(
        self, memory: Client, *, namespace: Sequence[str] = ("anthropic",), **options: Any
    ) -> None:
        BetaAsyncAbstractMemoryTool.__init__(self, **options)
        self._files = Files(memory.items, namespace)


class TextrawlMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory for Anthropic, as TextrawlAsyncMemoryTool."""

    def __init__(
        self, memory: SyncClient, *, namespace: Sequence[str] = ("anthropic",), **options: Any
    ) -> None:
        super().__init__(**options)
        self.waiting = _Commands(Files(memory.items.waiting, namespace))

    view = wait_for(_Commands.view)
    create = wait_for(_Commands.create)
    str_replace = wait_for(_Commands.str_replace)
    insert = wait_for(_Commands.insert)
    delete = wait_for(_Commands.delete)
    rename = wait_for(_Commands.rename)
    clear_all_memory = wait_for(_Commands.clear_all_memory)


def _number(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{at:>6}\t{line}" for at, line in enumerate(lines, first))
