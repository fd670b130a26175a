"""The tries of attackers of the explorer: the same at every page and action that there is.

A new page is attacked by itself. A new action needs an entry in VALID, or a test fails, because an
attack proves nothing where nobody could succeed.
"""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import LiteralString
from urllib.parse import quote, quote_plus

import httpx2
import psycopg
from psycopg import sql

from tests.attacks.site import issue
from tests.explorer.material import write_texts
from tests.explorer.visiting import Browser, Place
from textrawl.access.access_token import hash_token
from textrawl.explorer import application

PAGES, ACTIONS = application._PAGES, application._ACTIONS  # pyright: ignore[reportPrivateUsage]
UNCONFIRMED = application._UNCONFIRMED  # pyright: ignore[reportPrivateUsage]
UPKEEP = {"lexeme", "search_statistics", "space_statistics"}
"""Tables that a server counts anew by itself."""
OWNER_ONLY = {"token", "revoke", "health", "encrypted"}  # refused to everybody with a token
FOR_ALL = {"sign-out", "preferences"}
"""Actions that everybody may do, and that change no row."""
HIDDEN = ("Vault", "hides gold", "hider")
"""An entity, its fact and its author, which only the space `hidden` has."""

PEOPLE = {
    "boss": ("read", "propose", "write", "forget", "review", "admin"),
    "looker": ("read",),
    "suggester": ("read", "propose"),
    "scribe": ("write",),
    "meter": ("metrics",),
}
PERMITTED = {
    "suggester": {"remember", "relate", "correct"},
    "scribe": {"remember", "relate", "end", "keep"},
}
"""Actions that people without all rights can do: with propose they make proposals."""
Form = dict[str, str]


@dataclass(frozen=True)
class Material:
    """The ids of what one space holds."""

    fact: str
    spare: str
    undo: str
    proposal: str
    token: str
    event: str
    pair: str
    proposed: str

    @property
    def valid(self) -> dict[str, Form]:
        """For each action, a form with which somebody with all rights changes the space."""
        name = {"name": "Ada", "confirmed": "1"}
        return {
            "pin": {
                **name,
                "fact": self.fact,
                "pinned": "yes",
            },  # before a correction ends the fact
            "keep": {"fact": self.fact, "confirmed": "1"},
            "correct": {**name, "fact": self.fact, "text": "likes milk", "kind": "ended"},
            "forget": {**name, "fact": self.spare},
            "alias": {**name, "alias": "Countess"},
            "edit": {**name, "text": "a countess", "type": "concept"},
            "remember": {**name, "text": "sings"},
            "relate": {**name, "relation": "knows", "other": "Cora"},
            "end": {**name, "relation": "likes", "other": "Tea"},
            "unname": {**name, "alias": "Ada L"},
            "merge": {**name, "other": "Ben"},
            "merge-pairs": {"pairs": self.pair, "confirmed": "1"},
            "dismiss": {"kind": "stale", "one": self.fact, "confirmed": "1"},
            "split": {"name": "Ada King", "confirmed": "1"},
            "grant": {"actor": "dora", "scope-read": "1", "confirmed": "1"},
            "take-back": {"actor": "looker", "confirmed": "1"},
            "decide": {"ids": self.proposal, "decision": "accept", "confirmed": "1"},
            "amend": {"id": self.proposed, "text": "rows well", "confirmed": "1"},
            **self._copies,
            "revert": {"undo": self.undo, "confirmed": "1"},
            "undo-change": {"event": self.event, "confirmed": "1"},
            "undo": {"author": "eve", "since": "2020-01-01", "confirmed": "1"},
            "token": {"actor": "dora", "scope-read": "1", "days": "1", "confirmed": "1"},
            "revoke": {"token": self.token, "confirmed": "1"},
            "health": {},
            "sign-out": {},
            "preferences": {"theme": "dark"},
        }

    @property
    def _copies(self) -> dict[str, Form]:
        """The forms for another space, and one that erases what was shared."""
        common = {"source": "team", "target": "common", "space": "", "confirmed": "1"}
        return {
            "upload": {"space": "library", "confirmed": "1"},
            "encrypted": {"space": "library", "q": "tea"},
            "share": {"name": "Cora", **common},
            "erase": {"name": "Cora", "typed": "Cora", "confirmed": "1"},
            "selection": {"name": "Ada", "ids": self.fact, "change": "share", **common},
        }

    @property
    def parameters(self) -> Form:
        """Every parameter of every page, with a value that exists."""
        return {
            "name": "Ada", "fact": self.fact, "alias": "Ada L", "other": "Ben", "actor": "looker",
            "token": self.token, "author": "eve", "since": "2020-01-01", "undo": self.undo,
            "id": self.proposal, "ids": self.proposal, "decision": "accept", "text": "likes milk",
            "kind": "ended", "reason": "she said so", "q": "tea", "type": "person", "entity": "Ada",
            "as_of": "2026-01-01", "known_at": "2026-01-01",
            "depth": "2", "days": "7", "limit": "10", "skip": "0",
            "state": "pending", "part": "facts", "most": "10", "why": "1", "others": "1",
            "all": "1", "action": "remembered", "space": "team", "ticket": "x", "next": "search",
            "code": "x", "confirmed": "1", "scope-read": "1", "source": "team", "target": "common",
            "before": "2030-01-01", "until": "2030-01-01", "last": "x", "move": "1", "ended": "1",
            "relation": "likes", "former": "Tea", "former_relation": "likes", "new_name": "Ada",
            "valid_from": "2026-01-01", "valid_until": "2030-01-01", "event": self.event,
            "call": "x", "one": self.fact,
            "pair": self.pair, "pairs": self.pair, "names": "Ada", "back": "/explore/search",
            "score": "50", "words": "tea", "sort": "text", "change": "end", "day": "2026-01-01",
            "entities": "10", "planned": "x", "entry": "daily/2026-05-01/laptop",
            "file": "self/my_identity.md", "snapshot": "x", "download": "1", "also": "Countess",
            "keep": "own", "replaces": "", "draft": "x", "pinned": "yes",
            "repository": "github.com/acme/api", "asked": "Ada", "meant": "Ada", "new": "name",
            "as": "page", "statement": "table memory_entities", "typed": "Ada", "role": "",
        }  # fmt: skip


@dataclass
class Tally:
    """The number of attempts, and the faults."""

    attempts: int = 0
    faults: list[str] = field(default_factory=list[str])

    def check(self, what: str, *, holds: bool) -> None:
        self.attempts += 1
        if not holds:
            self.faults.append(what)

    def report(self, attack: str) -> None:
        print(f"{attack}: {self.attempts:,} attempts, {len(self.faults)} faults")  # noqa: T201
        assert not self.faults, "\n".join([attack, *self.faults])
        assert self.attempts > 0


@dataclass(frozen=True)
class Siege:
    """A place with the spaces `team` and `hidden`, what they hold, and tokens of all people."""

    place: Place
    team: Material
    hidden: Material
    tokens: dict[str, str]

    @asynccontextmanager
    async def browse(self, person: str) -> AsyncGenerator[Browser]:
        """A new browser of a person who has signed in and looked at a page."""
        async with self.place.browse() as browser:
            answer = await browser.sign_in(self.tokens[person])
            assert answer.status_code == 303, answer.text
            await browser.get("search")
            yield browser

    def find_changes(self, before: dict[str, list[str]]) -> list[str]:
        """Return the names of the tables that have changed."""
        return [table for table, rows in self.look().items() if rows != before[table]]

    def look(self) -> dict[str, list[str]]:
        """Return every row of every table, without the times at which tokens were used."""
        owner = self.place.owner
        tables = owner.execute(
            "select relname::text from pg_class where relkind = 'r'"
            " and relnamespace = 'textrawl'::regnamespace order by 1"
        ).fetchall()
        query: LiteralString = "select (to_jsonb(t) - 'last_used_at')::text from textrawl.{} t"
        return {
            table: sorted(
                row
                for (row,) in owner.execute(sql.SQL(query).format(sql.Identifier(table))).fetchall()
            )
            for (table,) in tables
            if table not in UPKEEP
        }


def fill(owner: psycopg.Connection, space: str, author: str, names: tuple[str, str]) -> Material:
    """Store the same in each space, as `author`; `names` are an entity and its fact."""
    token = issue(owner, author, space, *PEOPLE["boss"])
    credential = hash_token(token)

    def call(statement: LiteralString, *given: object) -> str:
        row = owner.execute(
            sql.SQL("select {}").format(sql.SQL(statement)), (*given, credential)
        ).fetchone()
        assert row is not None
        return str(row[0])

    remember: LiteralString = (
        "(remember_fact(%s, 'person', %s, credential => %s, client => 'editor')).observation_id"
    )
    call(remember, "Gone", "was here")
    call("(select max(undo_id) from undo_author(%s, '2020-01-01', credential => %s))", author)
    fact, spare = call(remember, "Ada", "likes tea"), call(remember, "Ada", "likes cake")
    for entity, text in (("Ben", "likes tea"), ("Ada King", "writes"), names):
        call(remember, entity, text)
    for name, text in (("Dan", "sails"), ("Fay", "rows")):
        call(remember, name, text)
    call("(relate_entities('Ada', 'likes', 'Tea', credential => %s)).relation_id")
    write_texts(owner, names[1], credential)
    call("(name_entity('Ada', 'Ada L', credential => %s)).stored_alias")
    call("(merge_entities('Ada', 'Ada King', credential => %s)).kept_name")
    suggester = hash_token(issue(owner, f"suggester of {space}", space, "read", "propose"))
    return Material(fact, spare, *_find_ids(owner, space, suggester, credential))


def _find_ids(
    owner: psycopg.Connection, space: str, suggester: bytes, credential: bytes
) -> tuple[str, str, str, str, str, str]:
    """Return the ids of an undo, a new proposal, the token, an event, a pair, and a proposal."""
    [ids] = owner.execute(
        "with chosen as (select id from space where name = %s)"
        " select (select max(u.id)::text from undo u where u.space_id = chosen.id),"
        " proposal_id::text, (select id::text from token where hash = %s),"
        " (select max(e.id)::text from event e join observation o on o.id = e.observation_id"
        "  where e.space_id = chosen.id and o.content = 'sails'),"
        " (select string_agg(e.id::text, '/' order by e.name) from entity e"
        "  where e.space_id = chosen.id and e.name in ('Dan', 'Fay')),"
        " (remember_fact('Fay', 'person', 'dances', credential => %s)).proposal_id::text"
        " from chosen, remember_fact('Ada', 'person', 'swims', credential => %s)",
        (space, credential, suggester, suggester),
    ).fetchall()
    return ids


def besiege(place: Place) -> Siege:
    """Fill both spaces, and make the tokens."""
    place.owner.execute("select create_space('hidden')")
    team = fill(place.owner, "team", "eve", ("Cora", "likes tea"))
    hidden = fill(place.owner, "hidden", HIDDEN[2], HIDDEN[:2])
    tokens = {name: issue(place.owner, name, "team", *scopes) for name, scopes in PEOPLE.items()}
    place.owner.execute(
        "select create_space('common'), grant_access('boss', 'common', %s)", (list(PEOPLE["boss"]),)
    )
    place.owner.execute(
        "select create_space('library', tier => 'personal'),"
        " grant_access('boss', 'library', '{read,write}')"
    )
    tokens["stranger"] = issue(place.owner, "stranger", "hidden", *PEOPLE["boss"])
    return Siege(place, team, hidden, tokens)


_NEW = re.compile(
    r'name="(?:form_token|ticket)" value="[^"]*"|answers in [\d.]+ ms|(?<=UTC">)[^<]+(?=</time>)'
    r'|<tr><th scope="row">\w+</th><td>\d+</td><td>\d+</td></tr>'
)


def compare(answer: httpx2.Response, *typed: str) -> tuple[int, str, str]:
    """Return what an answer says, without what was typed and what is new in each answer."""
    target, page = answer.headers.get("location", ""), _NEW.sub("", answer.text)
    parts = {part for text in typed for part in (text, *text.split("/"))}  # of a pair
    written = {write(text) for text in parts for write in (str, str.lower, quote, quote_plus)}
    written |= {quote_plus(text) for text in written}  # an address in an address
    for text in sorted(written, key=len, reverse=True):
        target, page = target.replace(text, "~"), page.replace(text, "~")
    return answer.status_code, target, page
