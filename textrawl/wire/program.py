"""A program of textrawl as the caller of a tool, such as a hook or a command.

It asks for structured content in addition to lines, whatever the settings of the server are. It
says so, and more about itself, in `_meta` of the request. Models do not see its answer as it is, so
only the lines count toward the budget.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from textrawl import __version__
from textrawl.errors import ArgumentInvalid
from textrawl.values.anchors import LONGEST_ANCHOR, MOST_ANCHORS
from textrawl.values.leaks import mask_secrets
from textrawl.values.remotes import clean_keys
from textrawl.values.text import MOST_FACTS, NAME_LENGTH, clean_name, clean_text
from textrawl.values.word_lists import PROGRAM
from textrawl.wire.arguments import apply
from textrawl.wire.replies import SHORT_ID, Reply, Written

Item = TypeVar("Item")

_HOOK = "textrawl hook"  # beginning of the name of a hook
_CAPTURE = "memory_create"  # the tool that stores captured texts
_MOST_KNOWN = 10_000
_MORE = 20  # facts that a search finds in addition, because known facts are left out

_CLEAN = apply(clean_name)
_Author = Annotated[str, Field(max_length=NAME_LENGTH)]


Repository = Annotated[str | None, AfterValidator(clean_keys)]


def _clean_anchor(anchor: str) -> str:
    clean = clean_text(anchor)
    return mask_secrets(clean).text if "://" in clean else clean


Anchor = Annotated[
    str,
    apply(_clean_anchor),
    Field(min_length=1, max_length=LONGEST_ANCHOR, pattern=r"^[^\x00-\x1f]*$"),
]


class Program(BaseModel):
    """A program of textrawl, and its wishes for an answer.

    `client` is its name for the recall log and the trail, and `space` the only space to use. It has
    the rights of `token`, or of the login of the process, and `settings` are those that a session
    can have for itself, or None for those of the process. A server over HTTP knows all these from
    the request itself. If it is a `person` in a terminal, the person says what is stored, and can
    reach sensitive graphs, but not over HTTP. Facts whose short ids are in `known` are left out.
    `authors` is the value of DIGEST_AUTHORS for a hook, or None for the setting of the process that
    answers. If `record` is false, the recall log does not get the request. `read_only` refuses to
    change anything. If `about` is the name of an entity, only its facts are searched.
    `repository` has the keys of the one in which it runs, and `checkout` its folder: only a process
    of the same person reads it. `anchors` are those of a new fact.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, strict=True)

    version: str = __version__
    client: Annotated[str, _CLEAN, AfterValidator(lambda name: name[:NAME_LENGTH])] = ""
    space: Annotated[str, _CLEAN] | None = None
    settings: dict[str, str] | None = None
    token: str | None = Field(default=None, repr=False)
    person: bool = False
    known: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=_MOST_KNOWN)] = []
    authors: Annotated[list[_Author], Field(min_length=1, max_length=1000)] | None = None
    record: bool = True
    about: Annotated[str, _CLEAN, Field(max_length=NAME_LENGTH)] | None = None
    read_only: bool = False
    repository: Repository = None
    checkout: Annotated[str | None, Field(max_length=4096, pattern="^/")] = None
    anchors: Annotated[list[Anchor], Field(max_length=MOST_ANCHORS)] = []

    def name_tool(self, tool: str) -> str:
        """Return the name of a tool in the trail, which decides the origin of facts.

        A command of a person has its own name, so that an agent that calls the tool has another.
        """
        if tool == _CAPTURE and (self.person or self.is_hook):
            return "textrawl capture"
        return "textrawl remember" if self.person and tool == "remember_fact" else tool

    @property
    def is_hook(self) -> bool:
        """Whether it is a hook. Its text goes to a model without being asked for."""
        return self.client.startswith(_HOOK)

    def count_wanted(self, limit: int) -> int:
        """Return how many facts a search must find so that `limit` are left without known ones."""
        return min(limit + min(len(self.known), _MORE), MOST_FACTS)

    def leave_out_known(self, items: Sequence[Item], name: Callable[[Item], object]) -> list[Item]:
        """Return the items that the program does not know. `name` returns the id of an item."""
        names = set(self.known)
        return [item for item in items if str(name(item))[:SHORT_ID] not in names]

    def write_meta(self) -> dict[str, Any]:
        """Return the `_meta` of a request to a server over HTTP, which knows the rights."""
        own = {"settings", "token", "checkout"}
        return {PROGRAM: self.model_dump(by_alias=True, exclude_defaults=True, exclude=own)}


def read_program(meta: Mapping[str, Any] | None) -> Program | None:
    """Return the program that sent a request with this `_meta`, or None for another client.

    Raises ArgumentInvalid.
    """
    if meta is None or PROGRAM not in meta:
        return None
    try:
        return Program.model_validate(meta[PROGRAM])
    except ValidationError as error:
        faults = error.errors(include_input=False, include_url=False)
    names = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:5])
    raise ArgumentInvalid(names)


def write_answer_meta(reply: Reply, written: Written) -> dict[str, Any]:
    """Return the `_meta` of an answer to a program: the ids of its facts, and its tokens."""
    return {PROGRAM: {"ids": reply.list_ids(written.items), "tokens": written.tokens}}
