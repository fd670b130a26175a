"""Clusters of similar memories, and the text of a consolidated memory.

The id of a cluster is made from its members, so it names the same cluster in a later call and on
another server. If a call had other limits than the default, the id contains them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Self
from uuid import UUID, uuid5

from textrawl.errors import ArgumentInvalid

THRESHOLD, MOST_MEMBERS = 0.83, 12
_MERGE, _REVIEW = 0.90, 0.75  # the least cohesion for an action
_NAMESPACE = UUID("2c1d8f0e-7d2b-4e55-9a3b-6f0f6a3b9f11")  # for ids that are made from members
_ID = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::(0(?:\.\d+)?|1(?:\.0+)?):(\d{1,3}))?"
)

Action = Literal["auto-merge", "llm-review", "keep-separate"]
Pair = tuple[UUID, UUID]


@dataclass(frozen=True)
class Limits:
    """The limits of a clustering: the least similarity of two members, and the most members."""

    threshold: float = THRESHOLD
    most_members: int = MOST_MEMBERS

    @classmethod
    def read(cls, cluster_id: str) -> Self:
        """Return the limits in the id of a cluster. Raises ArgumentInvalid."""
        found = _ID.fullmatch(cluster_id.strip().lower())
        if found is None:
            raise ArgumentInvalid(
                "cluster_id: give an id of cluster_memories", title="Invalid cluster id"
            )
        return cls(float(found[2]), int(found[3])) if found[2] else cls()

    def name(self, members: Iterable[UUID]) -> str:
        """Return the id of the cluster with these members."""
        number = uuid5(_NAMESPACE, "\n".join(sorted(map(str, members))))
        return str(number) if self == Limits() else f"{number}:{self.threshold}:{self.most_members}"


@dataclass(frozen=True)
class Cluster:
    """Memories that are similar. `cohesion` is the mean similarity of all pairs of members."""

    id: str
    members: tuple[UUID, ...]
    cohesion: float

    @property
    def action(self) -> Action:
        """The action that the cohesion suggests."""
        if self.cohesion >= _MERGE:
            return "auto-merge"
        return "llm-review" if self.cohesion >= _REVIEW else "keep-separate"


def find_clusters(
    memories: Sequence[UUID], similar: Mapping[Pair, float], limits: Limits
) -> list[tuple[UUID, ...]]:
    """Return the groups of two or more memories, in the order of their first members.

    A memory joins the first group that has a member similar to it. All other groups with such a
    member are merged into this group. A group that would get too large is skipped. `similar` has
    the pairs of similar memories in both orders.
    """
    neighbours: dict[UUID, list[UUID]] = {}
    for (one, other), value in similar.items():
        if value >= limits.threshold:
            neighbours.setdefault(one, []).append(other)
    groups, group_of = dict[int, list[UUID]](), dict[UUID, int]()
    for number, memory in enumerate(memories):
        own = [memory]
        near = {group_of[other] for other in neighbours.get(memory, ()) if other in group_of}
        for earlier in sorted(near):
            if len(groups[earlier]) + len(own) <= limits.most_members:
                own = [*groups.pop(earlier), *own]
        groups[number] = own
        group_of |= dict.fromkeys(own, number)
    places = {memory: place for place, memory in enumerate(memories)}
    found = [
        tuple(sorted(group, key=places.__getitem__)) for group in groups.values() if len(group) > 1
    ]
    return sorted(found, key=lambda group: places[group[0]])


def measure_cohesion(members: Sequence[UUID], similarities: Mapping[Pair, float]) -> float:
    """Return the mean similarity of all pairs. A missing pair counts as 0.

    `similarities` has each pair in both orders.
    """
    values = [similarities.get((one, other), 0.0) for one, other in combinations(members, 2)]
    return sum(values) / len(values)


def merge_texts(texts: Sequence[str]) -> str:
    """Return the longest text if it contains all texts, else the distinct texts as paragraphs."""
    longest = max(texts, key=len)
    if all(text in longest for text in texts):
        return longest
    distinct = dict.fromkeys(text.strip() for text in texts)
    return "\n\n".join(
        text for text in distinct if not any(text != other and text in other for other in distinct)
    )
