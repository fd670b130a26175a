"""identity_get_all and identity_get_meta."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self

from mcp.types import CallToolResult
from pydantic import Field

from textrawl.toolsets.call import Call
from textrawl.toolsets.identity.declaration import CATEGORIES, Category, Filename, identity
from textrawl.toolsets.identity.operations import IdentityOperations
from textrawl.toolsets.identity.rows import FileRow
from textrawl.toolsets.toolset import READS
from textrawl.wire.replies import Key, Part, Reply


class FilePart(Part):
    """An identity file."""

    filename: Annotated[str, Key("f")]
    content: Annotated[str, Key("c")]
    prompt_label: Annotated[str, Key("l")]


Files = list[FilePart]


class IdentityReply(Reply):
    """The identity files by category, and the names of files that were too long for the answer."""

    large = True
    one_channel = True

    self_: Annotated[Files, Key("self"), Field(serialization_alias="self")]
    user: Annotated[Files, Key("user")]
    relationship: Annotated[Files, Key("relationship")]
    custom: Annotated[Files, Key("custom")]
    omitted: Annotated[list[str] | None, Key("cut")] = None
    hint: Annotated[str | None, Key("note")] = None

    @classmethod
    def build(cls, rows: Sequence[FileRow]) -> Self:
        """Return the reply with all files."""
        groups: dict[str, Files] = {category: [] for category in CATEGORIES}
        for row in rows:
            part = FilePart(
                filename=row.filename, content=row.content or "", prompt_label=row.prompt_label
            )
            groups[row.category].append(part)
        return cls(
            self_=groups["self"],
            user=groups["user"],
            relationship=groups["relationship"],
            custom=groups["custom"],
        )

    def size(self) -> int:
        """Return the number of files after the first. The first file is never left out."""
        return max(0, len(list(self._list_files())) - 1)

    def choose(self, count: int) -> Self:
        """Return a copy with the first files, and with the names of the others."""
        kept, omitted = dict[str, Any](), list[str]()
        left = count + 1
        for name, category in zip(_FIELDS, CATEGORIES, strict=True):
            files: Files = getattr(self, name)
            kept[name] = files[:left]
            omitted += [f"{category}/{file.filename}" for file in files[max(left, 0) :]]
            left = max(0, left - len(files))
        hint = "read one file with category and filename"
        return self.model_copy(update={**kept, "omitted": omitted, "hint": hint})

    def _list_files(self) -> Iterable[FilePart]:
        return (file for name in _FIELDS for file in getattr(self, name))


_FIELDS = ("self_", "user", "relationship", "custom")


class MetaReply(Reply):
    """Prompt labels by category and filename."""

    success: Annotated[bool, Key("ok")] = True
    meta: Annotated[dict[str, str], Key("meta")]


@identity.tool(READS, IdentityReply)
async def identity_get_all(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """Read all my files, each with its prompt label, or only one category or file."""
    rows = await IdentityOperations(call.store).read(call.caller, category, filename)
    return await call.reply_aside(IdentityReply.build(rows))


@identity.tool(READS, MetaReply)
async def identity_get_meta(
    call: Call, category: Category | None = None, filename: Filename | None = None
) -> CallToolResult:
    """List prompt labels: of a category all labels, otherwise only labels that were set."""
    operations = IdentityOperations(call.store)
    rows = await operations.read(call.caller, category, filename, texts=False)
    meta = {row.path: row.prompt_label for row in rows if category or row.labelled}
    return call.reply(MetaReply(meta=meta))
