"""The demonstration's data keeps what the tools and the reader expect of it."""

import re
import unicodedata
from collections import Counter
from importlib import resources
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

EntityType = Literal[
    "person", "concept", "project", "preference", "fact", "location", "organization"
]


class Fact(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    entity_name: str = Field(alias="entityName", min_length=1, max_length=200)
    entity_type: EntityType = Field(alias="entityType")
    observation: str = Field(min_length=1, max_length=2000)
    source: Literal["conversation", "note", "document", "manual"] = "conversation"


class Relation(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    from_entity: str = Field(alias="fromEntity", min_length=1, max_length=200)
    relation: str = Field(pattern="^[a-z]+(_[a-z]+)*$", max_length=100)
    to_entity: str = Field(alias="toEntity", min_length=1, max_length=200)
    from_entity_type: EntityType | None = Field(default=None, alias="fromEntityType")
    to_entity_type: EntityType | None = Field(default=None, alias="toEntityType")

    @property
    def ends(self) -> list[tuple[str, EntityType | None]]:
        return [
            (self.from_entity, self.from_entity_type),
            (self.to_entity, self.to_entity_type),
        ]


class Demonstration(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    facts: list[Fact]
    relations: list[Relation]
    questions: list[str]
    entity: str

    @property
    def types(self) -> dict[str, EntityType]:
        return {fold(fact.entity_name): fact.entity_type for fact in self.facts}


def fold(text: str) -> str:
    """The text as the duplicate check compares it: case, white space, final punctuation."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".!?;:, ")


def name_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@pytest.fixture(scope="module")
def text() -> str:
    file = resources.files("textrawl.cli") / "postgresql.json"
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def data(text: str) -> Demonstration:
    return Demonstration.model_validate_json(text)


def test_there_is_enough_to_search(data: Demonstration) -> None:
    assert len(data.facts) >= 170
    assert len(data.relations) >= 50
    assert len(data.types) >= 60
    assert len(set(data.types.values())) >= 5


def test_every_fact_is_one_short_sentence(data: Demonstration) -> None:
    long_or_short = [
        fact.observation for fact in data.facts if not 6 <= len(fact.observation.split()) <= 22
    ]
    assert long_or_short == []


def test_no_fact_is_only_its_entitys_name(data: Demonstration) -> None:
    thin = [
        fact.observation
        for fact in data.facts
        if len(set(name_words(fact.observation)) - set(name_words(fact.entity_name))) < 4
    ]
    assert thin == []


def test_no_entity_says_the_same_thing_twice(data: Demonstration) -> None:
    said = Counter((fold(fact.entity_name), fold(fact.observation)) for fact in data.facts)
    assert [pair for pair, times in said.items() if times > 1] == []


def test_an_entity_has_one_name_and_one_type_throughout(data: Demonstration) -> None:
    seen: dict[str, set[tuple[str, EntityType]]] = {}
    for fact in data.facts:
        seen.setdefault(fold(fact.entity_name), set()).add((fact.entity_name, fact.entity_type))
    assert [names for names in seen.values() if len(names) > 1] == []


def test_every_relation_joins_two_entities_that_are_known_or_typed(data: Demonstration) -> None:
    ends = [end for relation in data.relations for end in relation.ends]
    assert [name for name, kind in ends if fold(name) not in data.types and kind is None] == []
    assert [r for r in data.relations if fold(r.from_entity) == fold(r.to_entity)] == []


def test_a_relation_never_gives_an_entity_another_type(data: Demonstration) -> None:
    types: dict[str, EntityType] = dict(data.types)
    for relation in data.relations:
        for name, kind in relation.ends:
            assert kind in {None, types.setdefault(fold(name), kind or "concept")}, name


def test_no_relation_is_given_twice(data: Demonstration) -> None:
    triples = Counter((fold(r.from_entity), r.relation, fold(r.to_entity)) for r in data.relations)
    assert [triple for triple, times in triples.items() if times > 1] == []


def test_the_text_is_stored_as_it_is_written(text: str) -> None:
    assert unicodedata.normalize("NFC", text) == text
    hidden = {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"}}
    assert hidden == {"\n"}


def test_every_item_has_a_line_of_its_own(text: str, data: Demonstration) -> None:
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    assert sum(line.startswith('{"') and line.endswith('"}') for line in lines) == len(
        data.facts
    ) + len(data.relations)


def test_the_questions_are_not_copied_from_the_facts(data: Demonstration) -> None:
    assert len(set(data.questions)) == 6
    facts = [" ".join(name_words(fact.observation)) for fact in data.facts]
    for question in data.questions:
        words = name_words(question)
        runs = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
        assert [(run, fact) for run in runs for fact in facts if f" {run} " in f" {fact} "] == []


def test_the_entity_to_look_up_has_facts_and_relations_both_ways(data: Demonstration) -> None:
    name = fold(data.entity)
    assert sum(fold(fact.entity_name) == name for fact in data.facts) >= 5
    assert any(fold(relation.from_entity) == name for relation in data.relations)
    assert any(fold(relation.to_entity) == name for relation in data.relations)
