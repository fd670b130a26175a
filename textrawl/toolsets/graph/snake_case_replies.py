"""Parts of replies whose keys are snake_case on the wire as well."""

from typing import Self, cast

from pydantic import ConfigDict

from textrawl.toolsets.graph.replies import PlainReply
from textrawl.wire.replies import Part


def _keep(name: str) -> str:
    return name


class SnakePart(Part):
    """A piece of such a reply."""

    model_config = ConfigDict(alias_generator=_keep)


class SnakeReply(PlainReply):
    """Such a reply."""

    model_config = ConfigDict(alias_generator=_keep)


class ListedReply(SnakeReply):
    """A reply with lists, all of which get shorter together; `dropped` items are gone."""

    dropped: int | None = None

    def size(self) -> int:
        """How many items all lists have."""
        return sum(len(items) for items in self._lists().values())

    def choose(self, count: int) -> Self:
        """The first items of each list, as many of each as fit."""
        kept, left, lists = dict[str, list[object]](), count, self._lists()
        for place, (name, items) in enumerate(lists.items()):
            share = -(-left // (len(lists) - place))
            kept[name] = items[:share]
            left -= len(kept[name])
        dropped = self.size() - sum(map(len, kept.values()))
        return self.model_copy(update={**kept, "dropped": dropped or None})

    def _lists(self) -> dict[str, list[object]]:
        found: dict[str, object] = {name: getattr(self, name) for name in type(self).model_fields}
        lists = {
            name: cast("list[object]", value)
            for name, value in found.items()
            if isinstance(value, list)
        }
        return dict(sorted(lists.items(), key=lambda item: len(item[1])))
