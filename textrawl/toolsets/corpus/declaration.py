"""The toolset `corpus`, and the types that the parameters of its tools share."""

import re
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field

from textrawl.toolsets.cleaning import CLEAN_NAME
from textrawl.toolsets.toolset import Toolset
from textrawl.values.limits import NAME_LENGTH
from textrawl.values.text import clean_fact

corpus = Toolset(
    "corpus",
    "Documents in graphs, found in chunks, with limits of tokens and graphs that stay private.",
    ("recall", "remember", "correct", "apply", "forget", "stats"),
)

TEXT_LENGTH = 200_000
_PROPOSAL_LENGTH = 10_000

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SOURCE, _CHUNK = re.compile(_UUID), re.compile(rf"{_UUID}:[1-9][0-9]{{0,4}}")


def _clean_text(value: object) -> object:
    return clean_fact(value) if isinstance(value, str) and len(value) <= TEXT_LENGTH else value


def _check_source(value: str) -> str:
    if not _SOURCE.fullmatch(value.lower()):
        raise ValueError("must be a sourceId, which is the part of a chunkId before the colon")
    return value.lower()


def _check_chunk(value: str) -> str:
    if not _CHUNK.fullmatch(value.lower()):
        raise ValueError("must be a chunkId of recall")
    return value.lower()


def _check_correction(value: str) -> str:
    if not _SOURCE.fullmatch(value.lower()):
        raise ValueError("must be the correctionId of correct")
    return value.lower()


Text = Annotated[str, BeforeValidator(_clean_text), Field(min_length=1, max_length=TEXT_LENGTH)]
Label = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
GraphName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
Query = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=2048)]
SourceId = Annotated[str, CLEAN_NAME, AfterValidator(_check_source)]
ChunkId = Annotated[str, CLEAN_NAME, AfterValidator(_check_chunk)]
CorrectionId = Annotated[str, CLEAN_NAME, AfterValidator(_check_correction)]
ProposalText = Annotated[
    str, BeforeValidator(_clean_text), Field(min_length=1, max_length=_PROPOSAL_LENGTH)
]


def write_chunk_id(document: UUID, part: int) -> str:
    """Return the id of a chunk."""
    return f"{document}:{part}"


def read_chunk_id(chunk: str) -> tuple[UUID, int]:
    """Return the source and the number of a chunk."""
    document, _, part = chunk.partition(":")
    return UUID(document), int(part)
