"""Replies that several tools of the `identity` toolset share."""

from typing import Annotated

from textrawl.wire.replies import Key, Reply


class DoneReply(Reply):
    """A change that was made, and the id of the snapshot of the replaced text."""

    success: Annotated[bool, Key("ok")] = True
    message: str
    snapshot_id: Annotated[str | None, Key("snap")] = None
