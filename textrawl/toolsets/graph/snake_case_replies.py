"""Replies that keep their snake_case keys in answers."""

from typing import Self, cast

from textrawl.toolsets.graph.replies import PlainReply
from textrawl.wire.replies import SNAKE_CASE


class SnakeReply(PlainReply):
    """A reply with snake_case keys."""

    model_config = SNAKE_CASE


class ListedReply(SnakeReply):
    """A reply with several lists, which are shortened together.

    `dropped` is the number of items left out of all lists.
    """

    dropped: int | None = None

    def size(self) -> int:
        """Return the number of items in all lists."""
        return sum(len(items) for items in self._lists().values())

    def choose(self, count: int) -> Self:
        """Return a copy with the first items of each list, `count` items in all.

        The lists get equal shares. If a list is shorter than its share, longer lists get the rest.
        """
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
