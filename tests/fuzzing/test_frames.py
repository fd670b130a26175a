"""Lines that no client would write: each gets what JSON-RPC owes it, and the next its answer."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.fuzzing.exploring import generate
from tests.fuzzing.frames import Frame, build_frames, judge_frame
from tests.fuzzing.wires import LEGACY, LOG, MODERN, Pipe
from textrawl.settings import read_foreign_environment

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("era", [MODERN, LEGACY])
def test_every_line_gets_what_it_is_owed_and_so_does_the_next(tmp_path: Path, era: str) -> None:
    pipe = Pipe(read_foreign_environment() | {"ENABLE_MEMORY": "off"}, tmp_path, era)
    fates: Counter[str] = Counter()
    faults: list[tuple[list[str], Frame]] = []
    try:
        for frame in generate(build_frames(st.integers(10_000, 2**40)), 300, seed=7):
            fates[frame.fate] += 1
            if found := pipe.find_faults(frame):
                faults.append((found, frame))
    finally:
        code = pipe.close()

    assert faults == []
    assert code == 0
    assert "Traceback" not in (tmp_path / LOG).read_text()
    assert min(fates["answered"], fates["refused"]) > 50


@pytest.mark.parametrize(
    ("line", "fate"),
    [(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', "answered"),
     (b'{"jsonrpc": "2.0", "method": "ping"}', "ignored"), (b"[]", "refused"), (b"{", "refused"),
     (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', "refused"),
     (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', "refused"),
     (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', "open")],
)  # fmt: skip
def test_what_is_owed_is_told_from_the_line_alone(line: bytes, fate: str) -> None:
    assert judge_frame(line).fate == fate
