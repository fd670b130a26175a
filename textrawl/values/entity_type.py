"""The seven entity types, and their synonyms."""

from typing import Literal, get_args

EntityKind = Literal[
    "person", "concept", "project", "preference", "fact", "location", "organization"
]
ENTITY_TYPES: tuple[str, ...] = get_args(EntityKind)
SYNONYMS: dict[str, str] = {
    "people": "person", "human": "person", "individual": "person", "user": "person",
    "company": "organization", "companies": "organization", "organisation": "organization",
    "org": "organization", "corporation": "organization", "business": "organization",
    "institution": "organization", "university": "organization",
    "place": "location", "city": "location", "country": "location", "region": "location",
    "idea": "concept", "topic": "concept",
    "repository": "project", "repo": "project", "codebase": "project",
}  # fmt: skip
"""Words with exactly one entity type. An argument with another word is refused.

The graph toolset accepts every word as a type, and `sql/shared/nearest_type.sql` guesses the entity
type. It contains these synonyms and further words. A test compares both lists.
"""


def name_type(value: object) -> object:
    """Return the entity type for a name or synonym in any case, or else `value` unchanged."""
    word = str(value).strip().lower()
    for name in (word, word.removesuffix("s")):
        if (name := SYNONYMS.get(name, name)) in ENTITY_TYPES:
            return name
    return value
