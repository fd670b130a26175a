"""The answers to requests that come through the socket, from an open memory.

The operations are the same as those of the tools, with the same checks. The caller is the server's
own principal, because only its OS user can use the socket.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any

from textrawl import __version__
from textrawl.access.principal import (
    WRITES_OR_PROPOSES,
    Caller,
    Directory,
    Principal,
    Scope,
    keep_caller,
)
from textrawl.client.local import read_found, read_stored
from textrawl.errors import ArgumentInvalid, ReadOnly, TextrawlError
from textrawl.memory.facts import Fact, MemoryOperations, Question
from textrawl.memory.journal import EntryKey, JournalOperations
from textrawl.memory.recalls import describe_recall
from textrawl.memory.store import Store
from textrawl.resident.requests import (
    Answer,
    CaptureRequest,
    DigestRequest,
    RecallRequest,
    RememberRequest,
    Request,
    build_answer,
    build_empty,
    check,
    count_wanted,
    describe_fact,
    describe_stored,
    is_foreign,
    leave_out_known,
    read_members,
)
from textrawl.tools.memory.search_replies import (
    DigestReply,
    FactLayout,
    SearchReply,
    find_space_labels,
)
from textrawl.values.text import DIGEST_TOKENS, MOST_FACTS
from textrawl.values.word_lists import EVERYBODY, includes_everybody
from textrawl.wire.replies import RecallLog, Renderer, Reply, Written, write_id

Operations = Mapping[str, tuple[type[Request], Callable[[Any], Awaitable[Answer]]]]
"""The model of the request and the function of each operation."""

_ID = attrgetter("observation_id")


@dataclass(frozen=True)
class OpenMemory:
    """An open memory, with all that an answer needs.

    `space` restricts all requests that do not name a space themselves. `recalls` is None if recalls
    are not recorded. `digest_tokens` is the budget of a digest, and `digest_authors` says whose
    facts digests and hooks get, if the request names none.
    """

    store: Store
    directory: Directory
    renderer: Renderer
    recalls: RecallLog | None = None
    space: str | None = None
    read_only: bool = False
    digest_tokens: int = DIGEST_TOKENS
    digest_authors: Sequence[str] = EVERYBODY

    def write(self, reply: Reply, max_tokens: int | None) -> Written:
        """Return the reply in lines, within a budget."""
        renderer = replace(self.renderer, format="lines", structured=False)
        return renderer.write(reply, max_tokens)

    async def identify(self, request: Request, scope: Scope, *also: Scope) -> Caller:
        """Return the caller, who has `scope` or one of the scopes in `also`.

        Raises ReadOnly, NotAuthenticated, SpaceNotFound, ScopeMissing, ArgumentInvalid.
        """
        if scope != "read" and (self.read_only or request.read_only):
            raise ReadOnly("TEXTRAWL_READ_ONLY is on: unset it to change the memory")
        space = request.space or self.space
        principal = await self.directory.find_own(self.store.credential, space)
        if scope != "read" and principal.home is None:
            raise _ask_for_space(principal)
        principal.require(scope, *also)
        client = request.client or f"textrawl {__version__}"
        return Caller(principal, client, f"textrawl {request.op}", secrets.token_hex(8))


async def answer(memory: OpenMemory, line: bytes) -> Answer:
    """Return the answer to a request from an open memory, or its error with what to do next."""
    return await dispatch(list_operations(memory), line)


def list_operations(memory: OpenMemory) -> Operations:
    """Return the operations on an open memory."""
    return {name: (model, partial(run, memory)) for name, (model, run) in _OPERATIONS.items()}


async def dispatch(operations: Operations, line: bytes) -> Answer:
    """Return the answer of the operation that a request names, or its error."""
    try:
        members = read_members(line)
        if is_foreign(members):
            return _refuse_version(members)
        if members.get("op") not in operations:
            raise ArgumentInvalid(f"Use one of: {', '.join(operations)}", title="Unknown op")
        model, run = operations[members["op"]]
        return await run(check(model, members))
    except TextrawlError as error:
        return {"error": error.title, "fix": error.fix}


async def _ping(memory: OpenMemory, request: Request) -> Answer:
    await memory.identify(request, "read")
    return build_empty()


async def _recall(memory: OpenMemory, request: RecallRequest) -> Answer:
    """Return facts that answer a question, without the known ones."""
    caller = await memory.identify(request, "read")
    authors = (request.authors or memory.digest_authors) if request.is_from_hook else EVERYBODY
    # Of a search for some authors, the database does not know how many facts others have written.
    limit = count_wanted(request) if includes_everybody(authors) else MOST_FACTS
    question = Question(request.query, limit=limit, least_score=request.least_score)
    operations = MemoryOperations(memory.store)
    with keep_caller(caller):
        rows, reason = await operations.search(question, caller)
        rows = await operations.choose_by_authors(rows, authors, caller)
    new = leave_out_known(rows, request.known, _ID)[: request.limit]
    layout = FactLayout(find_space_labels(caller.principal))
    reply = SearchReply.build(new, reason, request.query, layout)
    if request.is_from_hook:
        reply.note = None
    written = memory.write(reply, request.max_tokens)
    silent = not written.items and request.is_from_hook
    if memory.recalls is not None and request.record and not silent:
        finding = reply.read_finding(request.query)
        memory.recalls.add(describe_recall(caller, "search", written, finding), reply)
    return build_answer(written, [describe_fact(read_found(row)) for row in new], request.format)


async def _digest(memory: OpenMemory, request: DigestRequest) -> Answer:
    """Return the facts that matter at the start of a conversation, without the known ones."""
    caller = await memory.identify(request, "read")
    authors = request.authors or memory.digest_authors
    with keep_caller(caller):
        rows = await MemoryOperations(memory.store).digest(
            request.project or None, caller, authors=authors
        )
    new = leave_out_known(rows, request.known, _ID)
    reply = DigestReply.build(new, find_space_labels(caller.principal))
    facts = [describe_fact(read_found(row)) | {"section": row.section} for row in new]
    written = memory.write(reply, request.max_tokens or memory.digest_tokens)
    return build_answer(written, facts, request.format)


async def _remember(memory: OpenMemory, request: RememberRequest) -> Answer:
    """Store a fact, or update the valid fact of the entity with the same text."""
    caller = await memory.identify(request, *WRITES_OR_PROPOSES)
    fact = Fact(
        request.entity,
        request.type,
        request.fact,
        "manual",
        valid_until=request.until,
        replaces=request.replaces,
    )
    with keep_caller(caller):
        row = await MemoryOperations(memory.store).remember(fact, caller)
    return describe_stored(read_stored(row), write_id(row.entity_id))


async def _capture(memory: OpenMemory, request: CaptureRequest) -> Answer:
    """Add texts of a session to today's journal entry of the program, without known texts."""
    caller = await memory.identify(request, "write")
    today = datetime.now().astimezone().date().isoformat()
    key = EntryKey("daily", today, request.program)
    with keep_caller(caller):
        journal = JournalOperations(memory.store)
        row = await journal.write(key, request.text, caller, chat_ids=[request.session])
    return build_empty() | {"items": int(row.changed)}


def _refuse_version(members: Mapping[str, Any]) -> Answer:
    return {
        "version": __version__,
        "error": "Another version of textrawl",
        "fix": f"The process is textrawl {__version__}, but {str(members.get('version'))[:40]} "
        "asks: restart the older one",
    }


def _ask_for_space(principal: Principal) -> ArgumentInvalid:
    names = ", ".join(sorted(space.name for space in principal.spaces)) or "none"
    return ArgumentInvalid(
        f"choose one with --space or TEXTRAWL_SPACE: {names}",
        title="The space to write to is not clear",
    )


_OPERATIONS: dict[str, tuple[type[Request], Callable[[OpenMemory, Any], Awaitable[Answer]]]] = {
    "ping": (Request, _ping),
    "recall": (RecallRequest, _recall),
    "digest": (DigestRequest, _digest),
    "remember": (RememberRequest, _remember),
    "capture": (CaptureRequest, _capture),
}
