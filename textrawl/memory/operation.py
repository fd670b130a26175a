"""Operations: functions of a call and of plain arguments, which a server checks.

A command runs an operation by its name. Tools and pages call it as a function, and then they have
checked the arguments. `OPERATIONS` has all of them after `memory.commands` was imported.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from textrawl.access.principal import Principal, Scope
from textrawl.errors import ArgumentInvalid
from textrawl.memory.store import StoreCall
from textrawl.values.names import read_wanted_type
from textrawl.values.text import (
    FACT_LENGTH,
    MOST_FACTS,
    MOST_PROPOSALS,
    NAME_LENGTH,
    PROMPT_LENGTH,
    REASON_LENGTH,
    clean_fact,
    clean_name,
    clean_query,
)
from textrawl.values.times import read_instant
from textrawl.wire.arguments import apply

Given = ParamSpec("Given")
Result = TypeVar("Result")

_MOST_FAULTS = 5  # that an error names


@dataclass(frozen=True)
class Operation(Generic[Given, Result]):
    """A function that a command runs.

    `command` stands in the trail in place of a tool. The caller needs one of `scopes`, in the home
    space or `anywhere`. `writes` is false if it changes nothing. The setting SPACE restricts it if
    `placed` is true. A call to Postgres may take `least_timeout` seconds in a terminal. If that is
    above 0, the operation needs no embedding model.
    """

    run: Callable[Concatenate[Any, Given], Awaitable[Result]]
    command: str
    scopes: tuple[Scope, ...]
    writes: bool
    anywhere: bool
    placed: bool
    least_timeout: float

    @property
    def name(self) -> str:
        """The name by which a server knows the operation."""
        return self.run.__name__

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model that checks the arguments of a request."""
        hints = get_type_hints(self.run, include_extras=True)
        given = list(inspect.signature(self.run).parameters.values())[1:]
        fields: dict[str, Any] = {
            one.name: (hints[one.name], ... if one.default is one.empty else one.default)
            for one in given
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def result(self) -> TypeAdapter[Result]:
        """The adapter that writes the result as JSON and reads it again."""
        return TypeAdapter(get_type_hints(self.run)["return"])

    def __call__(
        self, call: StoreCall, *args: Given.args, **kwargs: Given.kwargs
    ) -> Awaitable[Result]:
        """Run the operation for the caller of `call`."""
        return self.run(call, *args, **kwargs)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked arguments of a request. Raises ArgumentInvalid."""
        try:
            return dict(self.arguments.model_validate(given))
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)[:_MOST_FAULTS]
        raise ArgumentInvalid(
            "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        )

    def require(self, principal: Principal) -> None:
        """Raise ScopeMissing or ArgumentInvalid unless the caller may run the operation.

        The database checks the same again.
        """
        if self.scopes:
            principal.require(*self.scopes, anywhere=self.anywhere)
        if self.writes and not self.anywhere:
            principal.require_home()


OPERATIONS: dict[str, Operation[..., Any]] = {}
"""The operations by name."""


def find_operation(name: str) -> Operation[..., Any]:
    """Return an operation. Raises ArgumentInvalid for a name that none has."""
    if name not in OPERATIONS:
        raise ArgumentInvalid("Use tools/call, ping or an operation", title="Unknown method")
    return OPERATIONS[name]


LONGEST = 600.0  # seconds that a large undo or a large share can take


def operation(
    command: str,
    *scopes: Scope,
    writes: bool = False,
    anywhere: bool = False,
    placed: bool = True,
    least_timeout: float = 0,
) -> Callable[[Callable[Concatenate[Any, Given], Awaitable[Result]]], Operation[Given, Result]]:
    """Make a function an operation, and add it to OPERATIONS."""

    def add(
        run: Callable[Concatenate[Any, Given], Awaitable[Result]],
    ) -> Operation[Given, Result]:
        made = Operation(
            run, f"textrawl {command}", scopes, writes, anywhere, placed, least_timeout
        )
        OPERATIONS[made.name] = made
        return made

    return add


Name = Annotated[str, apply(clean_name), Field(min_length=1, max_length=NAME_LENGTH)]
Space = Annotated[str, apply(clean_name), Field(min_length=1, max_length=63)]
Query = Annotated[str, apply(clean_query), Field(min_length=1, max_length=PROMPT_LENGTH)]
FactText = Annotated[str, apply(clean_fact), Field(min_length=1, max_length=FACT_LENGTH)]
Reference = Annotated[str, apply(clean_name), Field(min_length=1, max_length=FACT_LENGTH)]
References = Annotated[list[Reference], Field(min_length=1, max_length=1000)]
Reason = Annotated[str, apply(clean_name), Field(min_length=1, max_length=REASON_LENGTH)]
WantedType = Annotated[
    str,
    apply(lambda word: read_wanted_type(clean_name(word))),
    Field(min_length=1, max_length=NAME_LENGTH),
]
Types = Annotated[list[WantedType], Field(max_length=100)]
Moment = Annotated[datetime, apply(read_instant)]
ValidAt = Literal["ever"] | Moment
Limit = Annotated[int, Field(ge=1, le=MOST_FACTS)]
Score = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Proposals = Annotated[
    list[Annotated[str, apply(clean_name), Field(min_length=1, max_length=36)]],
    Field(min_length=1, max_length=MOST_PROPOSALS),
]
UndoNumber = Annotated[int, Field(ge=0, lt=1 << 63)]
