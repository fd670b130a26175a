"""The seven types of entities, and the synonyms that name them."""

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
"""Words for a type that leave no doubt. Arguments with other words are refused.

The graph's free types are never refused: sql/shared/nearest_type.sql knows these words and guesses
from more of them. A test compares the two.
"""


def name_type(value: object) -> object:
    """Return the type that `value` names, in any case or as a synonym; else `value` itself."""
    word = str(value).strip().lower()
    for name in (word, word.removesuffix("s")):
        if (name := SYNONYMS.get(name, name)) in ENTITY_TYPES:
            return name
    return value
