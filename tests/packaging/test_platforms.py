"""A platform without a wheel of splintr: embeddings work, and tiktoken counts tokens."""

import json
import subprocess
import sys
from pathlib import Path

from textrawl.settings import read_foreign_environment

WITHOUT = """
import sys
sys.modules["splintr"] = None
from textrawl.__main__ import main
main(sys.argv[1:])
"""
OFFLINE = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}


def test_doctor_finds_embeddings_and_a_counter_that_is_never_too_low(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "doctor", "--json"],
        env=read_foreign_environment() | OFFLINE | {"TEXTRAWL_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    findings = {item["name"]: item for item in json.loads(done.stdout)["findings"]}
    assert findings["embeddings"]["verdict"] == "ok"
    assert findings["tokens"]["verdict"] == "note"
    assert findings["tokens"]["told"].startswith("counted by o200k_base (tiktoken;")
