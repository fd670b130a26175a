"""The seven types of entities, and the synonyms that name them."""

from typing import Literal, get_args

EntityKind = Literal[
    "person", "concept", "project", "preference", "fact", "location", "organization"
]
ENTITY_TYPES: tuple[str, ...] = get_args(EntityKind)
_SYNONYMS: dict[str, str] = {
    "people": "person", "human": "person", "individual": "person", "user": "person",
    "company": "organization", "companies": "organization", "organisation": "organization",
    "org": "organization", "corporation": "organization", "business": "organization",
    "institution": "organization", "university": "organization",
    "place": "location", "city": "location", "country": "location", "region": "location",
    "idea": "concept", "topic": "concept",
    "repository": "project", "repo": "project", "codebase": "project",
}  # fmt: skip
"""What models call entities of a type, where there is no doubt about which is meant."""


def name_type(value: object) -> object:
    """Return the type that `value` names, in any case or as a synonym; else `value` itself."""
    word = str(value).strip().lower()
    for name in (word, word.removesuffix("s")):
        if (name := _SYNONYMS.get(name, name)) in ENTITY_TYPES:
            return name
    return value
