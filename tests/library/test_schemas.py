"""`textrawl_client.schemas` has the classes that the output schemas of the tools ask for."""

import os
import subprocess
import sys

from tests.library.generation import write_module
from tests.support.pages import ROOT

MODULE = ROOT / "packages/client/textrawl_client/schemas.py"


def test_the_results_of_the_client_have_the_fields_of_the_output_schemas() -> None:
    words = [sys.executable, "-m", "ruff", "format", "--stdin-filename", MODULE, "-"]
    made = subprocess.run(
        words, input=write_module(), capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    if os.environ.get("UPDATE_SNAPSHOTS"):
        MODULE.write_text(made, encoding="utf-8")

    assert MODULE.read_text(encoding="utf-8") == made
