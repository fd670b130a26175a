"""Erasures of a person: the plan, the deed with its receipts, and the check of a receipt."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar

from textrawl.memory.command_results import ErasedFact, ErasedRow, ErasurePlanRow, Keep
from textrawl.postgres.database import Database

Row = TypeVar("Row")


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

    async def list_rows(self, person: Person, most: int, skip: int) -> list[ErasedFact]:
        """Return a page of the rows that an erasure would delete and redact."""
        page = {"max_rows": most, "skip": skip}
        return await self._call("list_erasure", ErasedFact, **_name(person), **page)

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
