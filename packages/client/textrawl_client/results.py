"""Results that are more than the structured content of an answer: facts in order, and a digest."""

from collections.abc import Iterator
from dataclasses import dataclass

from textrawl_client.schemas import Fact
from textrawl_client.wire import Answer


@dataclass(frozen=True)
class Facts:
    """The facts that answer a question, the best first.

    `omitted` is the number of facts that `max_tokens` left out. `note` says why only words were
    compared, if the embedding provider is down. Without facts, `missing` has the words of the
    question that no fact has, and `closest` is the fact that came closest, which is no answer.
    """

    facts: tuple[Fact, ...]
    omitted: int = 0
    note: str | None = None
    missing: tuple[str, ...] = ()
    closest: str | None = None

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


@dataclass(frozen=True)
class Digest:
    """The facts that matter at the start of a conversation, as text in lines.

    A line names an entity and its type. The lines after it begin with `- ` and have its facts. The
    text is empty if the memory has no facts. `ids` has the ids of the facts.
    """

    text: str
    ids: tuple[str, ...] = ()


def read_facts(answer: Answer) -> Facts:
    """Return the facts or chunks of a search, in the order of the ids."""
    content = answer.content
    found: dict[str, Fact] = {}
    for entity in content.get("entities") or ():
        for one in entity["memories"]:
            identity = one.get("id") or one["chunkId"]
            given = {"saidAt": one.get("createdAt"), **entity, **one, "id": identity}
            found[identity] = Fact.model_validate(given)
    return Facts(
        tuple(found[one] for one in answer.ids),
        content.get("dropped") or 0,
        content.get("note"),
        tuple(content.get("missing") or ()),
        content.get("closest"),
    )
