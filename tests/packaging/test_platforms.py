"""A platform without a wheel of splintr: embeddings work, and no network is needed to count."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from textrawl.settings import read_foreign_environment

WITHOUT = """
import sys
sys.modules["splintr"] = None
from textrawl.__main__ import main
main(sys.argv[1:])
"""
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("cache", "counter"),
    [
        ("", "bytes, because TIKTOKEN_CACHE_DIR is not set"),
        ("empty", "o200k_base (tiktoken;"),
    ],
)
def test_doctor_finds_embeddings_and_a_counter_that_is_never_too_low(
    tmp_path: Path, cache: str, counter: str
) -> None:
    own = {"TEXTRAWL_DATA_DIR": str(tmp_path / "data"), "TIKTOKEN_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "doctor", "--json"],
        env=read_foreign_environment() | OFFLINE | own,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    findings = {item["name"]: item for item in json.loads(done.stdout)["findings"]}
    assert findings["embeddings"]["verdict"] == "ok"
    assert findings["tokens"]["verdict"] == "note"
    assert findings["tokens"]["told"].startswith(f"counted by {counter}")
