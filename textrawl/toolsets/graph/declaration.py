"""The toolset, and the types that its parameters share."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from textrawl.toolsets.graph.operations import EntityObservations, Relation
from textrawl.toolsets.toolset import Toolset
from textrawl.values.long_text import LONG_LENGTH
from textrawl.values.text import NAME_LENGTH, clean_fact, clean_name

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


def _clean(value: object) -> object:
    return clean_name(value) if isinstance(value, str) else value


def clean_text(value: object) -> object:
    """Return a text in the form in which texts are stored, and any other value as it is."""
    return clean_fact(value) if isinstance(value, str) else value


Name = Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=NAME_LENGTH)]
OptionalName = Annotated[str, BeforeValidator(_clean), Field(max_length=NAME_LENGTH)]
RelationName = Annotated[str, BeforeValidator(_clean), Field(min_length=1, max_length=100)]
Text = Annotated[str, BeforeValidator(clean_text), Field(min_length=1, max_length=LONG_LENGTH)]
Query = Annotated[str, BeforeValidator(_clean), Field(max_length=2048)]
Cursor = Annotated[
    str, Field(max_length=40, description="nextCursor of the answer before, to go on reading")
]


class EntityItem(BaseModel):
    """An entity. Unknown fields are ignored, as the reference server does."""

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
    """Return a validator that reads a bare text as an item without an entity.

    The text then belongs to the entity that the call names.
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
    """Return the items, or one item with all observations if the call names an entity.

    The second value is True if the call names one.
    """
    if not name:
        return items, False
    observations = [text for item in items for text in item.observations]
    return [EntityObservations(name, observations)], True
