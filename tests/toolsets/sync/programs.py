"""Programs that keep copies of the documents of a space, as an editor would."""

from dataclasses import dataclass, field
from typing import Any

from mcp import Client

from tests.support.tool_calls import structured

Copy = dict[str, str]
"""Paths with their texts."""


@dataclass
class Program:
    """An instance with its own copy, and what it has changed since its last push."""

    client: Client
    id: str
    kind: str = "other"
    known: int = 0
    copy: Copy = field(default_factory=dict[str, str])
    changed: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def edit(self, path: str, text: str | None) -> None:
        """Change the copy. None deletes."""
        if text is None:
            self.copy.pop(path, None)
        else:
            self.copy[path] = text
        self.changed[path] = text

    async def pull(self) -> None:
        """Take over what changed, page by page, except what this program changed itself."""
        while True:
            answer = await structured(
                self.client, "sync_pull", instanceId=self.id, lastSyncVersion=self.known
            )
            for path, text in read_documents(answer).items():
                if path in self.changed:
                    continue
                if text is None:
                    self.copy.pop(path, None)
                else:
                    self.copy[path] = text
            self.known = answer["newSyncToken"]["serverVersion"]
            if "more" not in answer:
                return

    async def push(self, at: str | None = None) -> dict[str, Any]:
        """Push what was changed."""
        answer = await structured(
            self.client,
            "sync_push",
            instance={"id": self.id, "type": self.kind},
            identityChanges=[write_change(path, text, at) for path, text in self.changed.items()],
            lastSyncVersion=self.known,
        )
        self.changed = {}
        self.known = answer["newSyncToken"]["serverVersion"]
        return answer


def write_change(path: str, text: str | None, at: str | None = None) -> dict[str, Any]:
    """Return an item of identityChanges."""
    category, filename = path.split("/")
    change: dict[str, Any] = {"category": category, "filename": filename}
    change |= {"deleted": True} if text is None else {"content": text}
    return change | ({"lastModified": at} if at else {})


def read_documents(answer: dict[str, Any]) -> dict[str, str | None]:
    """Return the identity files of an answer of sync_pull."""
    return {f"{f['category']}/{f['filename']}": f.get("content") for f in answer["identityFiles"]}
