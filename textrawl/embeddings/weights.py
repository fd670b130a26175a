"""The files of a sentence encoder on this machine, and their download from the model hub.

The cache has the layout of the library huggingface_hub, which fastembed uses. A file appears in the
folder of a snapshot when it is complete. `files_metadata.json` of fastembed has the sizes.
"""

import functools
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from textrawl.embeddings.faults import ProviderFailed
from textrawl.environment import read_foreign

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_SIZES = "files_metadata.json"
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_LONGEST_REASON = 200  # characters
_HUB_TIMEOUT = 5.0  # seconds for one question to the hub


@dataclass(frozen=True)
class Weights:
    """Where the files of a model come from. `files` are needed besides the tokenizer's."""

    model: str
    repository: str
    files: tuple[str, ...]
    size: int
    """Approximate size of the download in bytes."""

    def is_whole(self) -> bool:
        """Return whether every file of the model is on this machine, and has its size."""
        try:
            revision = (self._folder / "refs" / "main").read_text("utf-8").strip()
            snapshot = self._folder / "snapshots" / revision
            return all((snapshot / name).is_file() for name in (*self.files, *_TOKENIZER)) and all(
                (self._folder / name).stat().st_size == size for name, size in self._read_sizes()
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return False

    def count_bytes(self) -> int:
        """Return the number of bytes that were downloaded so far."""
        total = 0
        with suppress(OSError):
            for blob in (self._folder / "blobs").iterdir():
                with suppress(OSError):  # a file was renamed meanwhile
                    total += blob.stat().st_size
        return min(total, self.size)

    def download(self) -> None:
        """Download the files that are missing. Raises ProviderFailed with the reason."""
        from fastembed import TextEmbedding  # noqa: PLC0415 - takes a second
        from huggingface_hub.utils import (  # noqa: PLC0415 - as before
            disable_progress_bars,
            logging,
        )

        disable_progress_bars()  # a server must not draw them, and commands draw their own
        logging.set_verbosity_error()  # the last failure of a download is raised
        try:
            TextEmbedding.download_files_from_huggingface(
                self.repository,
                cache_dir=str(find_cache()),
                extra_patterns=list(self.files),
                **({"force_download": True} if (self._folder / _SIZES).is_file() else {}),
            )
        except list_hub_errors() as error:
            raise self._explain(error) from error
        if not self.is_whole():
            raise self._explain(ValueError("the hub does not have all files of the model"))

    def ask_hub(self) -> None:
        """Ask the hub for the model, and download nothing. Raises ProviderFailed."""
        from huggingface_hub import model_info  # noqa: PLC0415 - slow to import

        try:
            model_info(self.repository, timeout=_HUB_TIMEOUT)
        except list_hub_errors() as error:
            raise self._explain(error) from error

    @property
    def _folder(self) -> Path:
        return find_cache() / f"models--{self.repository.replace('/', '--')}"

    def _read_sizes(self) -> list[tuple[str, int]]:
        """Return the recorded sizes, or nothing if another program made the download."""
        recorded = self._folder / _SIZES
        if not recorded.is_file():
            return []
        return [(name, file["size"]) for name, file in json.loads(recorded.read_bytes()).items()]

    def _explain(self, error: Exception) -> ProviderFailed:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        reason = lines[0][:_LONGEST_REASON].rstrip(".: ")
        if read_foreign("HF_HUB_OFFLINE") not in (None, "0"):
            reason = "HF_HUB_OFFLINE is set"
        return ProviderFailed(
            f"The model {self.model} could not be downloaded ({reason}): check the network, or "
            "name a folder with its files"
        )


_DEFAULT = Weights(DEFAULT_MODEL, "Qdrant/all-MiniLM-L6-v2-onnx", ("model.onnx",), 90_000_000)


def find_cache() -> Path:
    """Return the folder of downloaded models. fastembed's own default is a temporary folder."""
    chosen = read_foreign("FASTEMBED_CACHE_PATH")
    return Path(chosen) if chosen else platformdirs.user_cache_path("textrawl") / "models"


def find_known_weights(name: str) -> Weights | None:
    """Return the weights of the default model without loading fastembed, or None for another."""
    return _DEFAULT if name.lower() == DEFAULT_MODEL.lower() else None


@functools.cache
def find_weights(name: str) -> Weights:
    """Return the weights of a model that fastembed knows. Raises ProviderFailed for another."""
    from fastembed import TextEmbedding  # noqa: PLC0415 - takes a second

    known: dict[str, dict[str, Any]] = {
        model["model"].lower(): model for model in TextEmbedding.list_supported_models()
    }
    model = known.get(name.lower())
    if model is None:
        from difflib import get_close_matches  # noqa: PLC0415 - only for this message

        alike = [known[key]["model"] for key in get_close_matches(name.lower(), known, cutoff=0.3)]
        raise ProviderFailed(
            f"fastembed has no model {name}: choose a model that fastembed has"
            f"{', such as ' * bool(alike)}{' or '.join(alike)}, or a folder with a model"
        )
    files = (model["model_file"], *model["additional_files"])
    size = round(model["size_in_GB"] * 1_000_000_000)
    return Weights(model["model"], model["sources"]["hf"], files, size)


def list_hub_errors() -> tuple[type[Exception], ...]:
    """Return the errors of a hub that cannot be reached or used."""
    from huggingface_hub.utils import httpx  # noqa: PLC0415 - slow to import

    return (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL)
