"""The lines of a file, read one by one without loading the whole file."""

from collections.abc import AsyncGenerator, Callable
from typing import BinaryIO

from anyio import to_thread

LONGEST = 16 << 20  # bytes of a line
_CHUNK = 1 << 18


async def read_lines(
    file: BinaryIO, report: Callable[[int], object]
) -> AsyncGenerator[tuple[int, bytes | None]]:
    """Yield each line with its number from 1, or None for a line longer than LONGEST.

    `report` gets the number of bytes read so far.
    """
    number, rest, skipping, size = 0, b"", False, 0
    while chunk := await to_thread.run_sync(file.read, _CHUNK, abandon_on_cancel=True):
        size += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield number, None if skipping else line
            skipping = False
        if len(rest) > LONGEST:
            rest, skipping = b"", True
        report(size)
    if rest or skipping:
        yield number + 1, None if skipping else rest
