"""Erasures of a person: the plan, the deed with its receipts, and the check of a receipt."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, TypeVar

from textrawl.postgres.database import Database

Row = TypeVar("Row")
Keep = Literal["others", "own"]
_STAYS = {
    "event": "events that the person caused, without content",
    "archived_space": "rows, because this space is archived (open it with `textrawl space archive "
    "--restore`, then erase again)",
    "space_grant": "grants (`textrawl grant revoke` takes them back)",
    "space": "the name of the space (`textrawl space rename` changes it)",
    "encrypted_document": "encrypted documents, which nobody reads without their key (search for "
    "the person with `textrawl search --documents --space GRAPH`, and delete what names them with "
    "`textrawl document forget`)",
    "actor": "the name of the actor, which only the owner of the memory erases",
}
_THINGS = {
    "observation": "facts",
    "entity": "entities",
    "entity_alias": "aliases",
    "chunk": "parts of sources",
    "document_version": "versions of documents",
    "document_tombstone": "paths of deleted documents",
    "summary_clause": "clauses of summaries",
    "own_entity": "links of actors to entities",
    "undone": "rows that an undo keeps",
    "recall": "questions to the memory",
    "event": "events of the trail",
}
_WHOSE = {True: " by the person", False: " by others", None: ""}


@dataclass(frozen=True)
class ErasurePlanRow:
    """A row of `erasure_plan`: rows of one kind that are deleted, redacted, or stay.

    `by_person` is None if the rows have no author. `fingerprint` is that of the plan of the space.
    """

    space_id: int
    space_name: str
    action: Literal["delete", "redact", "stay"]
    kind: str
    by_person: bool | None
    rows: int
    sample: list[str] | None
    fingerprint: str

    @property
    def sentence(self) -> str:
        """The row in words, such as "delete facts by others: 5"."""
        if self.action == "stay":
            return f"keep {_STAYS[self.kind]}: {self.rows:,}"
        deed = "delete" if self.action == "delete" else "take the name out of"
        things = _THINGS.get(self.kind, f"{self.kind.replace('_', ' ')}s")
        return f"{deed} {things}{_WHOSE[self.by_person]}: {self.rows:,}"


@dataclass(frozen=True)
class ErasedRow:
    """A row of `erase_person`: the number of rows of a space, and the signed receipt."""

    space_name: str
    rows: int
    receipt: dict[str, Any]


@dataclass(frozen=True)
class Person:
    """A person by a name and further names, and what stays in spite of the erasure."""

    name: str
    also: Sequence[str] = ()
    keep: Keep | None = None


class Erasure:
    """Erasures in one space, or in all spaces in which the credential has the scope `admin`.

    Each method raises NotAuthenticated, ScopeMissing, ArgumentInvalid, DatabaseUnavailable.
    """

    def __init__(
        self, database: Database, credential: bytes | None, space: int | None, client: str | None
    ) -> None:
        self._database = database
        self._credential = credential
        self._space = space
        self._client = client

    async def plan(self, person: Person) -> list[ErasurePlanRow]:
        """Return what an erasure would delete and redact, and what stays."""
        return await self._call("erasure_plan", ErasurePlanRow, **_name(person))

    async def erase(
        self, person: Person, planned: Mapping[int, str] | None = None
    ) -> list[ErasedRow]:
        """Erase a person in one transaction, and return the receipt of each space.

        `planned` has the fingerprints of a plan by space. If a space has another plan by now,
        nothing is erased.
        """
        rows = await self._call(
            "erase_person",
            ErasedRow,
            **_name(person),
            planned=None if planned is None else json.dumps(planned),
            client=self._client,
            tool="textrawl erase",
        )
        if self._space is None:  # in a distributed memory, the coordinator has the names
            await self._database.value("rename_erased_actors", int, credential=self._credential)
        return rows

    async def verify(self, receipt: Mapping[str, Any]) -> str:
        """Return valid, pending, altered or unknown, as `verify_erasure` says."""
        [state] = await self._call("verify_erasure", str, receipt=json.dumps(receipt))
        return state

    async def _call(
        self, function: LiteralString, row: type[Row], /, **arguments: object
    ) -> list[Row]:
        return await self._database.call_explained(
            function, row, **arguments, space=self._space, credential=self._credential
        )


def _name(person: Person) -> dict[str, object]:
    return {"person": person.name, "also": list(person.also), "keep": person.keep}
