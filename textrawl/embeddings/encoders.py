"""Sentence encoders, which fastembed opens from its cache or from a folder.

A folder has an ONNX file and the files tokenizer.json and tokenizer_config.json. The folder can
also have the files in which sentence-transformers describes pooling and prompts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from textrawl.embeddings.faults import ProviderFailed, TextRefused
from textrawl.embeddings.weights import Weights, find_cache
from textrawl.errors import StartRefused

_TOKENIZER = ("tokenizer.json", "tokenizer_config.json")
_MODEL_FILES = ("model.onnx", "onnx/model.onnx")

# With more threads, a batch was slower and took twice the CPU time, because the threads wait for
# each other in busy loops.
_THREADS = 1

_POOLED_AXES = 2  # of an output with one vector per text; an output per token has 3

_numbers = count()


class Encoder(Protocol):
    """The part of fastembed's interface that makes vectors of texts."""

    def query_embed(self, query: list[str], *, batch_size: int) -> Iterable[NDArray[Any]]:
        """Yield the vector of each query."""
        ...

    def passage_embed(self, texts: list[str], *, batch_size: int) -> Iterable[NDArray[Any]]:
        """Yield the vector of each document."""
        ...


class _Pooling(BaseModel):
    """The file 1_Pooling/config.json of sentence-transformers."""

    pooling_mode_cls_token: bool = False
    pooling_mode_lasttoken: bool = False

    @property
    def name(self) -> str:
        """The name of the pooling for fastembed."""
        if self.pooling_mode_cls_token:
            return "CLS"
        return "LAST_TOKEN" if self.pooling_mode_lasttoken else "MEAN"


class _Prompts(BaseModel):
    """The file config_sentence_transformers.json."""

    prompts: dict[str, str] = Field(default_factory=dict)


Description = TypeVar("Description", _Pooling, _Prompts)


@dataclass(frozen=True)
class Folder:
    """The files of a model. `pooling` is MEAN, CLS or LAST_TOKEN; the prompts are prefixes."""

    path: Path
    model_file: str
    pooling: str
    query_prompt: str
    document_prompt: str


def is_folder(model: str) -> bool:
    """Return whether a model is named by its folder, such as /models/e5, ~/e5 or ./e5.

    A folder of the working directory that has the name of a model is not meant, because a
    repository can bring such a folder.
    """
    return model.startswith(("~", ".")) or Path(model).is_absolute()


def read_folder(path: Path) -> Folder:
    """Return the description of the model in a folder. Raises StartRefused if there is no model."""
    missing = [name for name in _TOKENIZER if not (path / name).is_file()]
    if missing:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: the folder {path} has no {' and no '.join(missing)}: name "
            "a folder with an ONNX model and its tokenizer"
        )
    prompts = _read_description(path / "config_sentence_transformers.json", _Prompts).prompts
    return Folder(
        path,
        _find_model_file(path),
        _read_description(path / "1_Pooling/config.json", _Pooling).name,
        prompts.get("query", ""),
        prompts.get("document", prompts.get("passage", "")),
    )


def open_folder(folder: Folder) -> Encoder:
    """Load the model of a folder. Raises errors of several libraries."""
    from fastembed.common.model_description import PoolingType  # noqa: PLC0415 - takes a second

    _silence()
    encoder = _open_custom(folder, PoolingType(folder.pooling))
    axes = len(encoder.model.get_outputs()[0].shape)
    if axes == _POOLED_AXES:  # the ONNX file contains the pooling
        return _open_custom(folder, PoolingType.DISABLED)
    return encoder


def open_named(weights: Weights) -> Encoder:
    """Load a model whose files are on this machine.

    Raises ProviderFailed if its files cannot be used, and errors of several libraries.
    """
    from fastembed import TextEmbedding  # noqa: PLC0415 - takes a second

    _silence()
    cache = str(find_cache())
    try:
        return TextEmbedding(
            weights.model, cache_dir=cache, threads=_THREADS, local_files_only=True
        )
    except ValueError as error:
        raise ProviderFailed(
            f"The files of the model {weights.model} cannot be used: delete the model in {cache}"
        ) from error


def encode(method: Callable[..., Iterable[NDArray[Any]]], texts: list[str]) -> NDArray[np.float32]:
    """Return a row for each text. Raises TextRefused if the model cannot take one of them."""
    runtime: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")  # has no types
    try:
        # Encode one text at a time. A batch is padded to its longest text and takes two to four
        # times as long.
        return np.stack([np.asarray(row, np.float32) for row in method(texts, batch_size=1)])
    except (runtime.Fail, runtime.InvalidArgument, runtime.RuntimeException) as error:
        raise TextRefused(
            f"The encoder cannot embed a text ({type(error).__name__}): shorten the text, or "
            "set model_max_length in the model's tokenizer_config.json"
        ) from error


def _open_custom(folder: Folder, pooling: Any) -> Any:
    from fastembed import TextEmbedding  # noqa: PLC0415 - as above
    from fastembed.common.model_description import ModelSource  # noqa: PLC0415 - as above
    from fastembed.text.custom_text_embedding import CustomTextEmbedding  # noqa: PLC0415 - as above

    # fastembed keeps a list of models, and each needs a different name. For a model in a folder,
    # fastembed does not read `sources` and `dim`.
    name = f"textrawl-{next(_numbers)}"
    TextEmbedding.add_custom_model(
        name,
        pooling=pooling,
        normalization=True,
        sources=ModelSource(url=folder.path.as_uri()),
        dim=0,
        model_file=folder.model_file,
    )
    return CustomTextEmbedding(name, specific_model_path=str(folder.path), threads=_THREADS)


def _silence() -> None:
    """Drop fastembed's own log lines, because it also raises every important error."""
    from loguru import logger  # noqa: PLC0415 - as above

    logger.disable("fastembed")


def _find_model_file(path: Path) -> str:
    for name in _MODEL_FILES:
        if (path / name).is_file():
            return name
    found = [*path.glob("*.onnx"), *path.glob("onnx/*.onnx")]
    if len(found) != 1:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: the folder {path} has {len(found)} ONNX files: keep one, "
            "or call it model.onnx"
        )
    return found[0].relative_to(path).as_posix()


def _read_description(path: Path, kind: type[Description]) -> Description:
    """Return the description in a file, or the default without the file. Raises StartRefused."""
    if not path.is_file():
        return kind()
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError:
        raise StartRefused(
            f"TEXTRAWL_EMBEDDING_MODEL: {path} is not a valid file of sentence-transformers"
        ) from None
