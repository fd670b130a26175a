"""Replies whose keys are snake_case on the wire too."""

from typing import Self, cast

from pydantic import ConfigDict

from textrawl.toolsets.graph.replies import PlainReply
from textrawl.wire.replies import Part


def _keep(name: str) -> str:
    return name


class SnakePart(Part):
    """A part of a reply with snake_case keys."""

    model_config = ConfigDict(alias_generator=_keep)


class SnakeReply(PlainReply):
    """A reply with snake_case keys."""

    model_config = ConfigDict(alias_generator=_keep)


class ListedReply(SnakeReply):
    """A reply with lists that are shortened together. `dropped` counts the omitted items."""

    dropped: int | None = None

    def size(self) -> int:
        """Return the number of items in all lists."""
        return sum(len(items) for items in self._lists().values())

    def choose(self, count: int) -> Self:
        """Return a copy with the first items of each list, with equal shares for the lists."""
        kept, left, lists = dict[str, list[object]](), count, self._lists()
        for place, (name, items) in enumerate(lists.items()):
            share = -(-left // (len(lists) - place))
            kept[name] = items[:share]
            left -= len(kept[name])
        dropped = self.size() - sum(map(len, kept.values()))
        return self.model_copy(update={**kept, "dropped": dropped or None})

    def _lists(self) -> dict[str, list[object]]:
        fields: dict[str, object] = {name: getattr(self, name) for name in type(self).model_fields}
        lists = {
            name: cast("list[object]", value)
            for name, value in fields.items()
            if isinstance(value, list)
        }
        return dict(sorted(lists.items(), key=lambda item: len(item[1])))
