"""Facts, relations and questions of the demonstration."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any

_MOST = 50  # facts, or relations, that one call of build_knowledge accepts

Item = dict[str, Any]


@dataclass(frozen=True)
class Material:
    """Facts and relations for build_knowledge, questions, and an entity to look up."""

    facts: list[Item]
    relations: list[Item]
    questions: list[str]
    entity: str

    def batches(self) -> Iterator[dict[str, list[Item]]]:
        """Yield the arguments of each call of build_knowledge, facts before relations."""
        for start in range(0, len(self.facts), _MOST):
            yield {"facts": self.facts[start : start + _MOST]}
        for start in range(0, len(self.relations), _MOST):
            yield {"relations": self.relations[start : start + _MOST]}

    def entity_names(self) -> set[str]:
        """Return the case-folded names of all entities that these facts and relations create."""
        ends = [edge[key] for edge in self.relations for key in ("fromEntity", "toEntity")]
        return {str(name).casefold() for name in [*ends, *(f["entityName"] for f in self.facts)]}


def read_material() -> Material:
    """Return the material that ships with the package."""
    file = resources.files("textrawl.demonstration") / "postgresql.json"
    return Material(**json.loads(file.read_text(encoding="utf-8")))
