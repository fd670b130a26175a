"""The toolset `graph`, and the types that the parameters of its tools share."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from textrawl.memory.graph import EntityObservations, Relation
from textrawl.tools.toolset import CLEAN_FACT, CLEAN_NAME, Toolset
from textrawl.values.text import LONG_LENGTH, NAME_LENGTH, RELATION_LENGTH

graph = Toolset(
    "graph",
    "The nine tools of the reference memory server, and twelve that search and tidy its graph.",
    (
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
        "search_semantic",
        "end_relation",
        "add_reflection",
        "search_reflections",
        "delete_reflections",
        "analyze_entity_split",
        "propose_entity_split",
        "execute_entity_split",
        "find_split_candidates",
        "find_duplicate_observations",
        "consolidation_report",
        "migrate",
    ),
)

MOST_ITEMS = 1000


Name = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=NAME_LENGTH)]
OptionalName = Annotated[str, CLEAN_NAME, Field(max_length=NAME_LENGTH)]
RelationName = Annotated[str, CLEAN_NAME, Field(min_length=1, max_length=RELATION_LENGTH)]
Text = Annotated[str, CLEAN_FACT, Field(min_length=1, max_length=LONG_LENGTH)]
Query = Annotated[str, CLEAN_NAME, Field(max_length=2048)]
Cursor = Annotated[
    str, Field(max_length=40, description="nextCursor of the answer before, to go on reading")
]


class EntityItem(BaseModel):
    """An entity. The reference server ignores unknown fields, and so does this class."""

    name: Name
    entityType: OptionalName = ""  # noqa: N815 - the wire's names, as for parameters
    observations: list[Text] = []


class RelationItem(BaseModel):
    """A relation, in active voice."""

    model_config = ConfigDict(populate_by_name=True)

    source: Annotated[Name, Field(alias="from")]
    to: Name
    relationType: RelationName  # noqa: N815

    def read(self) -> Relation:
        """Return the relation to store."""
        return Relation(self.source, self.relationType, self.to)


def _wrap(key: str) -> BeforeValidator:
    """Return a validator that turns a bare text into an item without an entity.

    The text is then an observation of the entity that the call names in the parameter `name`.
    """

    def wrap(value: Any) -> Any:
        return {key: [value]} if isinstance(value, str) else value

    return BeforeValidator(wrap)


class AdditionItem(BaseModel):
    """New observations of an entity."""

    entityName: OptionalName = ""  # noqa: N815
    contents: list[Text]


class DeletionItem(BaseModel):
    """Observations of an entity to delete."""

    entityName: OptionalName = ""  # noqa: N815
    observations: list[Text]


Addition = Annotated[AdditionItem, _wrap("contents")]
Deletion = Annotated[DeletionItem, _wrap("observations")]
Relations = Annotated[list[RelationItem], Field(max_length=MOST_ITEMS)]


def group_by_entity(
    name: str, items: list[EntityObservations]
) -> tuple[list[EntityObservations], bool]:
    """Return the items unchanged, or as one item if the call names an entity.

    The second value is True if the call names an entity.
    """
    if not name:
        return items, False
    observations = [text for item in items for text in item.observations]
    return [EntityObservations(name, observations)], True
