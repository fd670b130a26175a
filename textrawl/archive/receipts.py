"""Files with the receipts of erasures, which lie beside backups."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, TypeAdapter

from textrawl.archive.exports import write_whole
from textrawl.errors import StartRefused

SUFFIX = ".receipts.json"
_MOST_BYTES = 500_000_000

Receipt = Mapping[str, Any]
Receipts = Mapping[Path, Sequence[Receipt]]
"""Receipts by the file that holds them."""


_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BY_ID = ("entity", "entity redacted", "relation", "observation", "chunk")  # others have any key


def _check_ids(rows: dict[str, list[str]]) -> dict[str, list[str]]:
    if not all(re.fullmatch(_ID, key) for kind in _BY_ID for key in rows.get(kind, ())):
        raise ValueError
    return rows


def _check_time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


class _Receipt(BaseModel):
    """The members that an erasure needs before the signature is checked, and any others."""

    erasure: Annotated[str, Field(pattern=f"^{_ID}$")]
    space_id: Annotated[int, Field(strict=True, ge=0, lt=2**31)]
    at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT[\d:.]+Z$"), AfterValidator(_check_time)]
    keep: Literal["others", "own"] | None = None
    rows: Annotated[dict[str, list[str]], AfterValidator(_check_ids)]


_RECEIPTS = TypeAdapter(list[_Receipt])


def write_receipts(file: Path, receipts: Iterable[Receipt]) -> None:
    """Write receipts to a file."""
    content = {"textrawl": "receipts", "receipts": list(receipts)}
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def keep_receipts(backup: Path, receipts: Iterable[Receipt]) -> None:
    """Write receipts beside a backup, for older backups in its folder. Raises StartRefused."""
    with write_whole(backup.with_name(backup.name + SUFFIX), force=True) as draft:
        write_receipts(draft, receipts)


def read_receipts(file: Path) -> list[Receipt]:
    """Return the receipts of a file. Raises StartRefused if it is no file of receipts."""
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise StartRefused(f"{file} is too large for a file of receipts")
        content = json.loads(file.read_text(encoding="utf-8"))
        _RECEIPTS.validate_python(content["receipts"])
        _check_text(content["receipts"])
        return content["receipts"]
    except OSError as error:
        raise StartRefused(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StartRefused(
            f"{file} is not a file of receipts that `textrawl erase` wrote: use another copy"
        ) from None


def _check_text(content: object) -> None:
    """Raise ValueError for characters that JSON can hold but Postgres cannot."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    if "\\u0000" in text:
        raise ValueError
    text.encode()  # half of a surrogate pair is no character


def find_receipts(folders: Iterable[Path]) -> Receipts:
    """Return the receipts in the files of some folders. Raises StartRefused for a damaged file."""
    files = {path for folder in folders for path in folder.glob(f"*{SUFFIX}")}
    return {file: read_receipts(file) for file in sorted(files)}
