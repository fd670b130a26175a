"""The identity files as MCP resources, and the whole identity as a prompt.

Clients can load both without a tool call.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp.types import Annotations, Resource

from textrawl.toolsets.call import Call
from textrawl.toolsets.identity.declaration import identity
from textrawl.toolsets.identity.operations import IdentityOperations
from textrawl.toolsets.identity.rows import FileRow
from textrawl.toolsets.toolset import Collection, PromptSpec
from textrawl.values.prompt_text import frame_files

_ADDRESS = "memory://identity/"
_MARKDOWN = "text/markdown"
# With the fullwidth and small twins of the signs.
_CLOSING = re.compile(r"[<\uff1c\ufe64](?=\s*[/\uff0f])")
_NOTHING = "I have no identity files yet. I write them with identity_write."


async def _list(call: Call) -> Sequence[Resource]:
    rows = await IdentityOperations(call.store).read(call.caller, texts=False)
    return [
        Resource(
            uri=f"{_ADDRESS}{row.path}",
            name=row.path,
            title=row.prompt_label,
            mime_type=_MARKDOWN,
            annotations=Annotations(last_modified=row.modified_at.isoformat()),
        )
        for row in rows
    ]


async def _read(call: Call, uri: str) -> str | None:
    category, _, filename = uri.removeprefix(_ADDRESS).partition("/")
    if not uri.startswith(_ADDRESS) or "\0" in uri:
        return None
    rows = await IdentityOperations(call.store).read(call.caller, category, filename)
    return rows[0].content if rows else None


async def _write_prompt(call: Call, _: Mapping[str, str]) -> str:
    rows = await IdentityOperations(call.store).read(call.caller)
    files = wrap_files(rows)
    return frame_files(files) if files else _NOTHING


def wrap_files(rows: Iterable[FileRow]) -> str:
    """Return the texts of files, each in the XML tag of its prompt label, without blank files.

    A text cannot close the tag of its file, because the sign < of closing tags is escaped.
    """
    return "\n\n".join(
        f"<{row.prompt_label}>\n{_CLOSING.sub('&lt;', row.content).strip()}\n</{row.prompt_label}>"
        for row in rows
        if row.content and not row.content.isspace()
    )


identity.collections.append(
    Collection(
        f"{_ADDRESS}{{category}}/{{filename}}",
        "identity",
        "Identity file",
        "A file that says who I am or whom I talk to",
        _MARKDOWN,
        _list,
        _read,
    )
)
identity.prompts.append(
    PromptSpec(
        "identity",
        "Identity",
        "All my identity files, each in the XML tag of its prompt label",
        _write_prompt,
    )
)
