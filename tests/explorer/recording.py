"""A recording of a terminal for the README: commands, and what they print, as an animated SVG."""

import re
import shlex
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME
from rich.text import Text

from tests.support.folders import open_folder
from textrawl.settings import read_foreign_environment

COMMANDS = (
    ["remember", "Harbour", "runs on Python 3.11 behind nginx"],
    ["remember", "Harbour", "estimates arrivals with weather and berths"],
    ["remember", "Ben Okafor", "answers for Harbour in odd weeks"],
    ["search", "who answers for Harbour?", "--limit", "2"],
    ["show", "Harbour"],
)
WIDTH = 80
PAUSE = 1.2  # seconds before a command
_BEAT = 0.12  # seconds between two lines that a command prints
_FONTS = re.compile(r"@font-face\s*\{[^}]*\}")  # files of another host
_FADE = "@keyframes appear { from { opacity: 0 } }"


def record_terminal(folder: Path) -> Path:
    """Run the commands on a new memory, and write what a terminal shows."""
    console = Console(record=True, width=WIDTH, file=StringIO(), highlight=False)
    times: list[float] = []
    with open_folder() as data:
        for command in COMMANDS:
            printed = _run(command, data)
            times.append((times[-1] if times else -PAUSE) + PAUSE)
            console.print(Text(f"$ textrawl {shlex.join(command)}", "bold"))
            for line in printed.splitlines():
                times.append(times[-1] + _BEAT)
                console.print(Text.from_ansi(line))
    picture = folder / "terminal.svg"
    picture.write_text(_animate(_export(console), times), "utf-8")
    return picture


def _run(command: list[str], data: Path) -> str:
    terminal = {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm", "LOGNAME": "ada"}
    environment = read_foreign_environment() | terminal | {"TEXTRAWL_DATA_DIR": str(data)}
    call = [sys.executable, "-m", "textrawl", *command]
    ended = subprocess.run(call, check=True, capture_output=True, text=True, env=environment)
    return ended.stdout


def _export(console: Console) -> str:
    picture = console.export_svg(
        title="textrawl", theme=DEFAULT_TERMINAL_THEME, unique_id="terminal"
    )
    return _FONTS.sub("", picture).replace("Fira Code", "ui-monospace")


def _animate(picture: str, times: list[float]) -> str:
    """Let each line appear at its time, in seconds, unless a reader wants no movement."""
    rules = [
        f'[clip-path="url(#terminal-line-{line})"] '
        f"{{ animation: appear .1s {time:.2f}s backwards }}"
        for line, time in enumerate(times)
    ]
    style = "\n".join((_FADE, "@media (prefers-reduced-motion: no-preference) {", *rules, "}"))
    return picture.replace("</style>", f"{style}\n</style>", 1)
