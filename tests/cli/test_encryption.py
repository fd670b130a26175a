"""Sensitive graphs: what commands encrypt, decrypt and refuse, and what Postgres gets of it."""

import base64
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import anyio
import keyring
import psycopg
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from keyring.backend import KeyringBackend
from keyring.backends.null import Keyring as NullKeyring

from tests.archive.conftest import as_superuser
from tests.cli.test_ingest import make_graph
from tests.conftest import TOKEN
from tests.sql.test_undo_kept import find_tables_that_hold
from tests.support.commands import Outcome, Run, read_terminal
from textrawl.archive.backups import find_program
from textrawl.cluster.opening import open_connection
from textrawl.errors import DecryptionFailed, EncryptionKeyUnusable
from textrawl.memory.encrypted_documents import EncryptedGraph
from textrawl.memory.key_files import GraphKey, KeyFiles
from textrawl.postgres.database import Database
from textrawl.settings import read_foreign_environment

PLANTED = ("quixotabel", "zanzibarum", "vermiculon")  # in a text, in a path and in a folder


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """The file of the owner's key, which no test has made yet."""
    return tmp_path / "own" / "encryption.key"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with two documents, with planted words in a path and a text."""
    folder = tmp_path / PLANTED[2]
    folder.mkdir()
    text = f"# Tea\n\nTea is served at four by {PLANTED[0]}.\n"
    (folder / f"{PLANTED[1]}.md").write_text(text, encoding="utf-8")
    # With a narrow space, which a terminal is shown as an escape sequence, and no end of line.
    (folder / "coffee.md").write_text("Coffee in the gardens of 東京都\u202f!", encoding="utf-8")
    return folder


@pytest.fixture
def diary(run: Run, database_url: str, owner: psycopg.Connection, key: Path) -> Run:
    """Runs a command on a memory with the sensitive graph `diary`."""
    make_graph(owner, "diary", "sensitive", "read", "write", "forget", "admin")

    def go(*words: str, **environment: object) -> Outcome:
        given = {"DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN, "EMBEDDING_PROVIDER": "none"}
        return run(*words, **given | {"ENCRYPTION_KEY": f"file:{key}"} | environment)

    return go


def ingest(diary: Run, folder: Path) -> dict[str, int]:
    done = diary("ingest", str(folder), "--graph", "diary", "--json")
    assert done.code == 0, done.err
    counted = json.loads(done.out)
    return {name: counted[name] for name in ("added", "changed", "unchanged", "repeated")}


def find(diary: Run, query: str) -> list[str]:
    """The texts that a search finds, best first."""
    found = diary("search", "--documents", "--space", "diary", query, "--json")
    assert found.code == 0, found.err
    return [row["content"] for row in json.loads(found.out)]


def list_paths(diary: Run) -> list[str]:
    return sorted(
        row["path"] for row in json.loads(diary("document", "list", "diary", "--json").out)
    )


def find_in_dump(url: str) -> list[str]:
    """The planted words that a dump has, in the clear or in the text of a bytea."""
    command = [find_program("pg_dump"), as_superuser(url)]
    dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout.lower()
    assert "copy textrawl.encrypted_document " in dump
    return [word for word in PLANTED if word in dump or word.encode().hex() in dump]


def test_no_word_of_an_encrypted_document_is_in_any_dump_or_export(
    diary: Run, notes: Path, owner: psycopg.Connection, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    ingest(diary, notes)
    (notes / f"{PLANTED[1]}.md").write_text(f"Now {PLANTED[0]} drinks coffee.", encoding="utf-8")
    ingest(diary, notes)
    exported = diary("export", DATABASE_URL=url).out
    trail = diary("log", "--json", DATABASE_URL=url).out

    assert find_in_dump(url) == []
    for word in PLANTED:
        for written in (exported, trail, caplog.text):
            assert word not in written
            assert base64.b64encode(word.encode()).decode()[:-4] not in written
    assert exported.count('"kind":"ciphertext"') == 2
    assert find(diary, PLANTED[0]) == [f"Now {PLANTED[0]} drinks coffee."]
    assert owner.execute("select count(*) from source").fetchall() == [(0,)]


def test_a_document_is_listed_shown_searched_changed_and_forgotten(
    diary: Run, notes: Path, owner: psycopg.Connection
) -> None:
    label = f"{PLANTED[2]}/{PLANTED[1]}.md"
    assert ingest(diary, notes) == {"added": 2, "changed": 0, "unchanged": 0, "repeated": 0}
    (notes / "copy.md").write_bytes((notes / "coffee.md").read_bytes())
    with (notes / f"{PLANTED[1]}.md").open("a", encoding="utf-8") as file:
        file.write("And a cake.\n")
    assert ingest(diary, notes) == {"added": 0, "changed": 1, "unchanged": 2, "repeated": 0}

    assert list_paths(diary) == [f"file/{PLANTED[2]}/coffee.md", f"file/{label}"]
    assert diary("document", "show", "diary", label).out.endswith("And a cake.\n")
    shown = diary("document", "show", "diary", f"{PLANTED[2]}/coffee.md").out
    assert shown == (notes / "coffee.md").read_text(encoding="utf-8")
    assert [text[:5] for text in find(diary, "is TEA served")] == ["# Tea"]
    assert [text[:6] for text in find(diary, "garde 京都")] == ["Coffee"]
    assert find(diary, 'nothing "near (that*') == find(diary, "?!") == []
    everywhere = diary("search", "--documents", "tea")
    assert "only if --space names one: diary.\n" in everywhere.err
    former = diary("search", "--documents", "--space", "diary", "tea", "--as-of", "ever")
    assert "does not keep former versions" in former.complaint

    [stays] = json.loads(diary("erase", PLANTED[0], "--dry-run", "--json").out)
    assert (stays["action"], stays["kind"], stays["rows"]) == ("stay", "encrypted_document", 2)
    assert diary("document", "forget", "diary", label, "--yes").code == 0
    assert len(list_paths(diary)) == 1
    assert find(diary, "tea") == []
    assert f"No document {label}" in diary("document", "show", "diary", label).complaint
    actions = owner.execute("select action, count(*) from event group by 1 order by 1").fetchall()
    assert actions == [("discarded", 1), ("encrypted", 3), ("keyed", 1)]


def test_postgres_takes_no_source_in_the_clear_in_a_sensitive_graph(
    diary: Run, notes: Path, owner: psycopg.Connection
) -> None:
    store = "select store_source(%s, 'file/a', 'a', 'Tea.', '[[1, 0, 4, 1]]', repeat('a', 64))"
    ingest(diary, notes)
    make_graph(owner, "papers", "personal")
    make_graph(owner, "other", "sensitive")
    owner.execute(store, ("papers",))

    for statement, graph, code in (
        (store, "diary", "TR063"),
        ("insert into source (space_id, document_id, source_kind, label)"
         " select id, gen_random_uuid(), 'file', 'a' from space where name = %s", "diary", "TR131"),
        ("select claim_graph_key(%s, (select id from graph_key))", "other", "TR135"),
        ("select change_tier(%s, 'sensitive')", "papers", "TR133"),
        ("select change_tier(%s, 'personal')", "diary", "TR134"),
        ("select find_graph_key(%s)", "papers", "TR130"),
        ("select store_encrypted_document(%s, gen_random_uuid(), gen_random_uuid(), sha256(''),"
         " sha256(''), sha256(''))", "diary", "TR132"),
    ):  # fmt: skip
        with pytest.raises(psycopg.DatabaseError) as refused:
            owner.execute(statement.encode(), (graph,))
        assert refused.value.sqlstate == code, statement

    owner.execute("select forget_source(document_id) from source")
    owner.execute("select change_tier('papers', 'sensitive')")
    assert owner.execute("select 1 from event where detail::text ~ 'file/a'").fetchall() == []


def test_a_graph_keeps_its_tier_and_its_key_if_no_key_can_be_made_or_nothing_may_change(
    diary: Run, owner: psycopg.Connection, url: str, key: Path
) -> None:
    make_graph(owner, "papers", "personal")
    kept = KeyFiles(f"file:{key}").create()
    owner.execute("select claim_graph_key('diary', %s)", (kept.id,))
    become, destroy = ("tier", "papers", "sensitive"), ("destroy-key", "diary", "--yes")

    for words, environment, reason in (
        (become, {"ENCRYPTION_KEY": "command:false"}, "does not print the key"),
        (become, {"READ_ONLY": "true"}, "TEXTRAWL_READ_ONLY is on"),
        (destroy, {"READ_ONLY": "true"}, "TEXTRAWL_READ_ONLY is on"),
    ):
        assert reason in diary("space", *words, **{"DATABASE_URL": url} | environment).complaint

    tiers = owner.execute("select name, tier from space where tier is not null order by 1")
    assert tiers.fetchall() == [("diary", "sensitive"), ("papers", "personal")]
    assert KeyFiles(f"file:{key}").load(kept.id).secret == kept.secret


def test_a_name_that_two_documents_have_is_refused_with_their_paths(
    diary: Run, notes: Path, owner: psycopg.Connection, url: str
) -> None:
    make_graph(owner, "papers", "personal")
    for path in ("clip/a", "clip/b"):
        owner.execute(
            "select store_source('papers', %s, 'Tea', %s, '[[1, 0, 6, 1]]', encode(sha256(%s),"
            " 'hex'), 'clip')",
            (path, path, path.encode()),
        )
    assert diary("space", "tier", "papers", "sensitive", DATABASE_URL=url).code == 0

    refused = diary("document", "forget", "papers", "Tea", "--yes")

    assert "2 documents are called Tea: name clip/a or clip/b" in refused.complaint
    assert diary("document", "forget", "papers", "clip/b", "--yes").code == 0
    assert diary("document", "show", "papers", "Tea").out == "clip/a"


def fill_in_the_clear(diary: Run, notes: Path, owner: psycopg.Connection) -> None:
    """A sensitive graph as a former version left it, with a file that was ingested since."""
    make_graph(owner, "papers", "personal")
    for text in ("first", "second"):
        (notes / "changed.md").write_text(f"The {text} text of {PLANTED[0]}.", encoding="utf-8")
        assert diary("ingest", str(notes), "--graph", "papers").code == 0
    owner.execute(
        "select store_source('papers', 'file/x', %s, 'Gone.', '[[1, 0, 5, 1]]', repeat('a', 64))",
        (PLANTED[0],),
    )
    owner.execute("select undo_author(session_user, now() - interval '1 second')")
    owner.execute("select forget_source(document_id) from source where label like '%%coffee.md'")
    owner.execute("select refresh_search_statistics(true)")
    assert len({*find_tables_that_hold(owner, PLANTED[0])}) > 3
    owner.execute("select change_tier('papers', 'sensitive', encrypting => true)")
    late = "select distinct encrypt_source('papers', id, coalesce(version, 0) + 1) from document"
    assert owner.execute(late).fetchall() == [(False,)]
    (notes / "changed.md").write_text("The third text.", encoding="utf-8")
    (notes / f"{PLANTED[1]}.md").unlink()
    assert diary("ingest", str(notes), "--graph", "papers").code == 0


@pytest.mark.slow
def test_a_graph_that_becomes_sensitive_is_encrypted_with_all_that_repeats_it(
    diary: Run, notes: Path, owner: psycopg.Connection, url: str
) -> None:
    fill_in_the_clear(diary, notes, owner)
    noted = " ".join(diary("doctor").out.split())

    done = diary("space", "tier", "papers", "sensitive", DATABASE_URL=url)
    again = diary("space", "tier", "papers", "sensitive", DATABASE_URL=url)

    assert "papers has documents in the clear: run `textrawl space tier papers" in noted
    assert "documents encrypted. Postgres has traces" in done.err
    assert again.err == "papers is sensitive: at most 0 tokens in an answer.\n"
    assert find_in_dump(url) == []
    shown = diary("document", "show", "papers", f"{PLANTED[2]}/{PLANTED[1]}.md")
    assert shown.out.startswith("# Tea")
    found = diary("search", "--documents", "--space", "papers", "text third second", "--json")
    assert [row["content"] for row in json.loads(found.out)] == ["The third text."]
    owner.execute("select undo_author('ada', now() - interval '1 hour')")  # takes nothing back
    assert len(json.loads(diary("document", "list", "papers", "--json").out)) == 3


Change = Callable[[psycopg.Connection, Path], object]


def _swap(column: str) -> Change:
    change = (
        f"update encrypted_document d set {column} = o.{column} from encrypted_document o"  # noqa: S608
        " where o.id <> d.id"
    )
    return lambda owner, _: owner.execute(change.encode())


def _flip(column: str) -> Change:
    change = f"update encrypted_document set {column} = set_byte({column}, 20, 7 # get_byte({column}, 20))"  # noqa: S608, E501
    return lambda owner, _: owner.execute(change.encode())


def _rewrite(key: Path) -> None:
    key.write_bytes(base64.b64encode(bytes(32)))


CHANGES: dict[str, tuple[Change, str]] = {
    "swapped contents": (_swap("content"), "A document cannot be decrypted"),
    "swapped heads": (_swap("head"), "A document cannot be decrypted"),
    "a flipped byte": (_flip("content"), "A document cannot be decrypted"),
    "a flipped byte of a head": (_flip("head"), "A document cannot be decrypted"),
    "a flipped byte of a digest": (_flip("digest"), "A document cannot be decrypted"),
    "another owner": (lambda _, key: _rewrite(key), "wrapped by another key"),
    "no owner": (lambda _, key: key.unlink(), "has no key, but"),
    "an owner for all": (lambda _, key: key.chmod(0o640), "others can read"),
    "an owner that is no key": (lambda _, key: key.write_bytes(b"x"), "32 bytes in base64"),
    "another key": (
        lambda owner, _: owner.execute("update graph_key set id = gen_random_uuid()"),
        "is missing. If the graph was made on another machine",
    ),
}


def test_changed_rows_and_keys_are_refused_and_the_error_says_what_to_do(
    diary: Run, notes: Path, owner: psycopg.Connection, key: Path
) -> None:
    ingest(diary, notes)
    owner.execute("create table kept as table encrypted_document")
    owner.execute("create table kept_key as table graph_key")
    secret = key.read_bytes()

    for name, (change, reason) in CHANGES.items():
        change(owner, key)
        refused = diary("search", "--documents", "--space", "diary", "tea")
        assert (refused.code, reason in refused.complaint) == (1, True), (name, refused)
        owner.execute("delete from encrypted_document")
        owner.execute("insert into encrypted_document table kept")
        owner.execute("update graph_key set id = k.id from kept_key k")
        key.write_bytes(secret)
        key.chmod(0o600)

    assert len(find(diary, "tea")) == 1


@pytest.mark.slow
def test_a_key_is_copied_to_a_second_machine_and_destroyed(
    diary: Run, notes: Path, owner: psycopg.Connection, tmp_path: Path
) -> None:
    ingest(diary, notes)
    other = {"ENCRYPTION_KEY": f"file:{tmp_path}/other/encryption.key"}
    copied, words = str(tmp_path / "copied"), ("search", "--documents", "--space", "diary", "tea")

    assert "is missing" in diary(*words, **other).complaint
    assert diary("space", "key", "diary", "--export", copied).code == 0
    assert "exists already" in diary("space", "key", "diary", "--export", copied).complaint
    assert diary("space", "key", "diary", "--import", copied, **other).code == 0
    assert diary(*words, **other).code == 0
    shown = json.loads(diary("space", "key", "diary", "--json", **other).out)
    assert (shown["documents"], "/other/graph-keys/" in shown["file"]) == (2, True)

    owner.execute("select grant_access('ada', 'diary', array['read', 'write', 'admin'])")
    refused = diary("space", "destroy-key", "diary", "--yes")
    assert (refused.code, diary(*words).code) == (1, 0), refused  # nothing was deleted
    owner.execute("select grant_access('ada', 'diary', array['read', 'write', 'forget', 'admin'])")
    destroyed = diary("space", "destroy-key", "diary", "--yes")
    assert destroyed.err == "The key of diary is destroyed, and 2 documents with it.\n"
    assert owner.execute("select 1 from encrypted_document").fetchall() == []
    assert [*(tmp_path / "own" / "graph-keys").glob("*.key")] == []
    assert diary("space", "destroy-key", "diary", "--yes").err == "diary has no key.\n"
    assert ingest(diary, notes)["added"] == 2  # with a new key
    assert (
        "the key of another graph" in diary("space", "key", "diary", "--import", copied).complaint
    )
    details = owner.execute("select detail from event where action = 'destroyed'").fetchall()
    assert details == [({"key": shown["key"], "documents": 2},)]


def test_the_command_says_that_the_key_was_elsewhere(diary: Run, notes: Path, key: Path) -> None:
    ingest(diary, notes)

    other = f"file:{key.parent.parent}/other/encryption.key"
    destroyed = diary("space", "destroy-key", "diary", "--yes", ENCRYPTION_KEY=other)

    assert "was not on this machine: delete it where it is" in destroyed.err
    assert len([*(key.parent / "graph-keys").glob("*.key")]) == 1


def test_processes_that_start_at_once_make_one_owners_key(tmp_path: Path) -> None:
    setting = f"file:{tmp_path}/deep/encryption.key"

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(KeyFiles.create, [KeyFiles(setting) for _ in range(16)]))

    assert len({key.id for key in made}) == 16
    assert all(KeyFiles(setting).load(key.id).secret == key.secret for key in made)
    files = [path for path in (tmp_path / "deep").rglob("*") if path.is_file()]
    assert len(files) == 18  # with the owner's key and the lock, and no draft
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.anyio
async def test_two_ingests_at_once_into_a_new_graph_have_one_key(
    owner: psycopg.Connection, url: str, key: Path
) -> None:
    owner.execute("select create_space('new', tier => 'sensitive')")
    signing = {"credential": None, "client": None, "tool": "test", "request": None}
    claimed = list[GraphKey]()

    async def claim(database: Database) -> None:
        graph = EncryptedGraph(database, signing, "new", KeyFiles(f"file:{key}"))
        claimed.append(await graph.claim_key())

    async with open_connection(url, timeout=30) as database, anyio.create_task_group() as both:
        both.start_soon(claim, database)
        both.start_soon(claim, database)

    [(stored,)] = owner.execute("select id from graph_key").fetchall()
    assert [one.id for one in claimed] == [stored, stored]
    assert [path.stem for path in (key.parent / "graph-keys").glob("*.key")] == [str(stored)]


class Ring(KeyringBackend):
    """A keyring in the memory of the test."""

    priority = 1  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


def test_the_owners_key_comes_from_a_command_or_the_keyring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "key").write_bytes(base64.b64encode(b"k" * 32))
    command = KeyFiles(f"command:cat {tmp_path}/key")
    made = command.create()

    assert command.load(made.id).secret == made.secret
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "ring"))
    before = keyring.get_keyring()
    keyring.set_keyring(ring := Ring())
    try:
        kept = KeyFiles("keyring").create()
        assert KeyFiles("keyring").load(kept.id).secret == kept.secret
        assert [len(base64.b64decode(text)) for text in ring.kept.values()] == [32]
    finally:
        keyring.set_keyring(before)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for wrong, reason in (
        ("command:false", "exit code 1"),
        ("command:no-such-program", "FileNotFoundError"),
        ("command:'", "ValueError"),
        ("command:echo secret", "32 bytes in base64"),
        ("keyring", "keyring"),  # none is open here
    ):
        with pytest.raises(EncryptionKeyUnusable, match=reason) as refused:
            KeyFiles(wrong).load(made.id)
        assert base64.b64encode(b"k" * 32).decode() not in str(refused.value)


@pytest.mark.slow
def test_a_command_that_asks_for_the_key_has_the_terminal_to_itself(
    diary: Run, notes: Path, database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(base64.b64encode(b"k" * 32))
    given = {
        "ENCRYPTION_KEY": f"command:sh -c 'printf ASKED >&2; cat {tmp_path}/key'",
        "XDG_CONFIG_HOME": str(tmp_path), "DATABASE_URL": database_url, "ACCESS_TOKEN": TOKEN,
        "TERM": "xterm",
    }  # fmt: skip
    assert diary("ingest", str(notes), "--graph", "diary", **given).code == 0
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "textrawl", "document", "list", "diary"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=read_foreign_environment() | given,
    ) as process:
        os.close(theirs)
        shown = read_terminal(ours)

    assert process.returncode == 0
    before, _ = shown.split(b"ASKED")
    assert b"Reading" in before
    # The spinner hides the cursor as long as it is drawn.
    assert before.rfind(b"\x1b[?25h") > before.rfind(b"\x1b[?25l")


def test_a_command_that_prints_another_key_each_time_makes_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    printing = "import os, base64; print(base64.b64encode(os.urandom(32)).decode())"
    changing = KeyFiles(f"command:{sys.executable} -c '{printing}'")

    with pytest.raises(EncryptionKeyUnusable, match="another key each time"):
        changing.create()
    assert [*changing.folder.glob("*.key")] == []


def test_a_place_that_keeps_no_key_or_moves_with_the_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    before = keyring.get_keyring()
    keyring.set_keyring(NullKeyring())
    try:
        for setting, reason in (
            ("keyring", "does not keep a key"),
            ("file:encryption.key", "absolute path"),
            ("file:~nobody-here/encryption.key", "absolute path"),
        ):
            with pytest.raises(EncryptionKeyUnusable, match=reason):
                KeyFiles(setting).create()
    finally:
        keyring.set_keyring(before)
    assert [*tmp_path.rglob("*.key")] == []


_KEYS = GraphKey(b"0" * 32), GraphKey(b"1" * 32)


@for_all(st.binary(), st.uuids(), st.binary(min_size=32, max_size=32), st.integers(0, 10_000))
def test_every_text_comes_back_and_only_in_its_place(
    text: bytes, document: UUID, digest: bytes, place: int
) -> None:
    key = _KEYS[0]
    sealed = key.encrypt("content", document, digest, text)
    flipped = bytearray(sealed)
    flipped[place % len(sealed)] ^= 1 + place % 255

    assert key.decrypt("content", document, digest, sealed) == text
    for other, part, at, tag, given in (
        (_KEYS[1], "content", document, digest, sealed),
        (key, "head", document, digest, sealed),
        (key, "content", UUID(int=document.int ^ 1), digest, sealed),
        (key, "content", document, digest, sealed[:-1]),
        (key, "content", document, digest, bytes(flipped)),
    ):
        with pytest.raises(DecryptionFailed):
            other.decrypt(part, at, tag, given)  # pyright: ignore[reportArgumentType]
