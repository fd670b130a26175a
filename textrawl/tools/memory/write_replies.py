"""Replies of remember_fact, relate_entities and forget_entity. They do not load the MCP SDK."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from textrawl.memory.fact_rows import FactRow, ForgottenRow, RelationRow
from textrawl.wire.replies import OMIT_EMPTY, Key, Part, SuccessReply, write_id

Why = Literal["other value", "opposite", "over", "same name"]


class SimilarPart(Part):
    """The stored fact that disagrees with a new fact, or else the closest one.

    `why` is set if the two disagree; over: the new fact says that something ended or changed,
    perhaps the stored fact. `on` is then the day on which the stored fact was said. same name: it
    is an entity whose name may be another spelling of the name of the new entity.
    """

    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]
    why: Annotated[Why | None, Key("why")] = None
    on: Annotated[str | None, Key("on")] = None


class ClosedPart(Part):
    """A stored fact that a new fact ended by its words. `why` has the words, or how they differ.

    In a batch, `fact` is the position of the new fact, counted from 0.
    """

    fact: Annotated[int | None, Key("at")] = None
    id: Annotated[str, Key("id", short_id=True)]
    content: Annotated[str, Key("c")]
    why: Annotated[str, Key("why")]


class RememberReply(SuccessReply):
    """The stored fact. `entity_type` is the stored type of the entity.

    `ended` is true if the fact has ended already. `placed_before` is the id of the fact that
    `replaces` names, if the new fact begins before it: the new fact then ends when that one begins.
    `period` is the period that was read from the text, such as 2016/2021-03.

    If the caller can only propose, `proposal_id` is set instead of the other ids.

    Compact text shows the stored type only if it differs from the type in the call. If the call
    means another thing of this name, `same_name` is a name for it, such as Jordan (person).
    """

    spared = (
        ("closest",),
        ("message",),
        ("closed",),
        ("entity_name",),
        ("entity_type", "kept_type"),
        ("entity_id",),
        ("observation_id",),
    )

    duplicate: Annotated[bool | None, OMIT_EMPTY, Key("dup")] = None
    updated: Annotated[bool | None, OMIT_EMPTY, Key("updated")] = None
    ended: Annotated[bool | None, OMIT_EMPTY, Key("ended")] = None
    placed_before: Annotated[UUID | None, OMIT_EMPTY, Key("before", short_id=True)] = None
    period: Annotated[str | None, OMIT_EMPTY, Key("p")] = None
    proposal_id: Annotated[UUID | None, Key("proposal", short_id=True)] = None
    message: str | None = None
    entity_id: Annotated[UUID | None, Key("entity", short_id=True)]
    entity_name: str | None
    entity_type: str | None
    kept_type: Annotated[str | None, Key("t"), Field(exclude=True)] = None
    observation_id: Annotated[UUID | None, Key("obs", short_id=True)]
    closest: Annotated[SimilarPart | None, Key("like"), Field(alias="similar")] = None
    same_name: Annotated[SkipJsonSchema[str | None], Key("sameName")] = None
    hint: Annotated[SkipJsonSchema[str | None], Key("hint")] = None
    closed: Annotated[SkipJsonSchema[list[ClosedPart] | None], OMIT_EMPTY, Key("closed")] = None
    copies: Annotated[
        SkipJsonSchema[list[UUID] | None], OMIT_EMPTY, Key("still", short_id=True)
    ] = None

    @classmethod
    def build(cls, row: FactRow, requested_type: str | None, hint: str | None = None) -> Self:
        """Return the reply for `row`. `requested_type` is the entity type in the call."""
        reply = cls.model_validate(row)
        reply.hint = hint
        if row.proposal_id:
            verb = "Proposed before about" if row.duplicate else "Proposed to a reviewer about"
        elif row.duplicate:
            verb = "Updated what is known about" if row.updated else "Already known about"
        else:
            verb = "Remembered about"
        place = "; it ends when the fact of replaces begins" if row.placed_before else ""
        former = "; it has ended" if row.ended else ""
        reply.message = f"{verb} {row.entity_name} ({row.entity_type}){place}{former}"
        reply.kept_type = row.entity_type if row.entity_type != requested_type else None
        return reply


class EndPart(Part):
    """One of the two entities of a relation. It has no id if the relation is only proposed."""

    id: Annotated[str | None, Key("id", short_id=True)]
    name: Annotated[str, Key("n")]
    type: Annotated[str, Key("t")]


class RelateReply(SuccessReply):
    """The stored or ended relation and its two entities.

    `ended` has the targets of the relations that the call ended. `former` is true if the stored
    relation has ended already. With `replaces`, `placed_before` is the target of the next relation,
    if the new one begins before it. `others` has the targets of valid relations that disagree with
    a new one. If the caller can only propose, `proposal_id` is set instead of `relation_id`.
    """

    spared = (
        ("others",),
        ("message",),
        ("ended", "former"),
        ("from_entity", "to_entity"),
        ("relation_id",),
    )

    proposal_id: Annotated[str | None, Key("proposal", short_id=True)] = None
    message: str | None
    relation_id: Annotated[str | None, Key("rel", short_id=True)]
    from_entity: Annotated[EndPart | None, Key("from")]
    to_entity: Annotated[EndPart | None, Key("to")]
    ended: Annotated[list[str] | None, Key("ended")] = None
    former: Annotated[Literal[True] | None, Key("ended")] = None
    placed_before: Annotated[str | None, Key("before")] = None
    others: Annotated[list[str] | None, Key("like"), Field(alias="similar")] = None

    @classmethod
    def build(cls, row: RelationRow, relation: str, *, ended: bool, former: bool = False) -> Self:
        """Return the reply for `row`. `former`: the relation was stored with a past end."""
        if ended:
            verb = "Ended" if row.ended else "Had ended already"
        elif row.proposal_id:
            verb = "Proposed to a reviewer" if row.created else "Proposed before"
        else:
            verb = "Related" if row.created else "Already related"
        others = f"; ended: {', '.join(row.ended)}" if row.ended and not ended else ""
        place = f"; it ends when {row.placed_before} begins" if row.placed_before else ""
        past = "; it has ended" if former and not ended else ""
        return cls(
            message=f"{verb}: {row.from_name} {relation} {row.to_name}{others}{place}{past}",
            proposal_id=write_id(row.proposal_id),
            relation_id=write_id(row.relation_id),
            from_entity=EndPart(
                id=write_id(row.from_id), name=row.from_name, type=row.from_stored_type
            ),
            to_entity=EndPart(id=write_id(row.to_id), name=row.to_name, type=row.to_stored_type),
            ended=row.ended or None,
            former=True if former and not ended else None,
            placed_before=row.placed_before,
            others=row.others,
        )


class ForgetReply(SuccessReply):
    """The deleted entity, fact or relation, or the preview of a dry run."""

    items = ("sample",)
    spared = (
        ("message",),
        ("deleted_entity_id", "deleted_observation_id", "deleted_relation_id"),
        ("facts", "relations"),
    )

    message: str | None
    dry_run: Annotated[bool | None, Key("dry")] = None
    deleted_entity_id: Annotated[str | None, Key("id", short_id=True)] = None
    deleted_observation_id: Annotated[str | None, Key("obs", short_id=True)] = None
    deleted_relation_id: Annotated[str | None, Key("relation", short_id=True)] = None
    facts: Annotated[int | None, Key("facts")] = None
    relations: Annotated[int | None, Key("rel")] = None
    sample: Annotated[list[str] | None, Key("sample")] = None
    documents: Annotated[list[str] | None, Key("docs")] = None

    @classmethod
    def build(cls, row: ForgottenRow) -> Self:
        """Return the reply to a deletion."""
        if row.observation_id:
            message = f"Forgot a fact about {row.entity_name}"
            return cls(message=message, deleted_observation_id=str(row.observation_id))
        if row.relation_id:
            message = f"Forgot a relation of {row.entity_name}"
            return cls(message=message, deleted_relation_id=str(row.relation_id))
        message = f"Forgot {row.entity_name}: facts {row.facts}, relations {row.relations}"
        message += f", reflections {row.reflections}" if row.reflections else ""
        return cls(
            message=message + name_documents(row),
            deleted_entity_id=str(row.entity_id),
            documents=row.documents or None,
        )

    @classmethod
    def preview(cls, row: ForgottenRow) -> Self:
        """Return the reply to a dry run with the counts and the newest facts."""
        return cls(
            message=f"Would forget {name_target(row)}; nothing was deleted",
            dry_run=True,
            facts=row.facts,
            relations=row.relations,
            sample=row.sample,
            documents=row.documents or None,
        )


def name_target(row: ForgottenRow) -> str:
    """Return the words for what a deletion deletes."""
    if row.observation_id:
        return f"one fact about {row.entity_name}"
    if row.relation_id:
        return f"one relation of {row.entity_name}"
    reflections = f", reflections {row.reflections}" if row.reflections else ""
    counts = f"facts {row.facts}, relations {row.relations}{reflections}"
    return f"{row.entity_name} ({counts}){name_documents(row)}"


def name_documents(row: ForgottenRow) -> str:
    """Return the words for documents of the same name, which a deletion leaves."""
    return f"; documents of this name stay: {', '.join(row.documents)}" if row.documents else ""
