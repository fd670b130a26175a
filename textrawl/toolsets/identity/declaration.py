"""The toolset `identity`, and the types that the parameters of its tools share."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from textrawl.toolsets.toolset import Toolset
from textrawl.values.instance import check_instance
from textrawl.values.section import SECTION_LENGTH
from textrawl.values.text import check_document

identity = Toolset(
    "identity",
    "Files that say who the agent is and whom it talks to, with snapshots of every former text.",
    (
        "identity_get_all",
        "identity_write",
        "identity_append",
        "identity_prepend",
        "identity_update_section",
        "identity_rewrite_section",
        "identity_delete_custom",
        "identity_get_meta",
        "identity_set_meta",
        "snapshot_create",
        "snapshot_list",
        "snapshot_get",
        "snapshot_restore",
    ),
)

CONTENT_LENGTH = 1_000_000
CATEGORIES = ("self", "user", "relationship", "custom")

_FILENAME = re.compile(r"[A-Za-z0-9_-]+\.md")
_FILENAME_LENGTH = 100
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_SNAPSHOT = re.compile(r"[a-z]{1,20}/[A-Za-z0-9_-]{1,200}")


def check_filename(name: str) -> str:
    """Return the name of an identity file. Raises ValueError for another name."""
    if len(name) > _FILENAME_LENGTH or not _FILENAME.fullmatch(name):
        raise ValueError(
            "must be letters, digits, _ and - with .md at the end, such as my_wants.md, at most "
            f"{_FILENAME_LENGTH} characters"
        )
    return name


def _check_label(label: str) -> str:
    if not _LABEL.fullmatch(label):
        raise ValueError(
            "must be the name of an XML tag: letters, digits and _.-, beginning with a letter or "
            "_, at most 100 characters"
        )
    return label


def _check_section(section: str) -> str:
    name = check_document(section).strip()
    if not name.strip("# "):
        raise ValueError("must not be empty")
    if len(name.splitlines()) > 1:
        raise ValueError("must be one line: the text of the heading")
    return name


def _check_addition(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return check_document(text)


def _check_snapshot(name: str) -> str:
    if not _SNAPSHOT.fullmatch(name):
        raise ValueError("must be an id of snapshot_list")
    return name


Category = Literal["self", "user", "relationship", "custom"]
Filename = Annotated[str, AfterValidator(check_filename)]
Content = Annotated[str, Field(max_length=CONTENT_LENGTH), AfterValidator(check_document)]
Addition = Annotated[str, Field(max_length=CONTENT_LENGTH), AfterValidator(_check_addition)]
InstanceId = Annotated[str, AfterValidator(check_instance)]
Section = Annotated[str, Field(max_length=SECTION_LENGTH), AfterValidator(_check_section)]
PromptLabel = Annotated[str, AfterValidator(_check_label)]
SnapshotId = Annotated[str, AfterValidator(_check_snapshot)]
