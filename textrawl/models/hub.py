"""The packages that load and download sentence encoders. Importing this module takes a second."""

from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.text.custom_text_embedding import CustomTextEmbedding
from huggingface_hub import model_info
from huggingface_hub.utils import disable_progress_bars, httpx, logging
from loguru import logger

__all__ = [
    "ERRORS",
    "CustomTextEmbedding",
    "ModelSource",
    "PoolingType",
    "TextEmbedding",
    "model_info",
]

ERRORS = (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL)
"""The errors of a hub that cannot be reached or used."""

logger.disable("fastembed")  # it also raises every important error
disable_progress_bars()  # a server must not draw them, and commands draw their own
logging.set_verbosity_error()  # the last failure of a download is raised
