# ruff: noqa: RUF001 (letters of other scripts are what these tests are about)
"""A table of what people write and how they ask for it, in one memory."""

from typing import Any

import psycopg
import pytest

from tests.sql.story import embed, tell_all

pytestmark = pytest.mark.anyio

FACTS = [
    ("Deploys", "upgraded to v1.2.3 on Monday"),
    ("Deploys", "upgraded to v1.3.0 on Friday"),
    ("Deploys", "release 2026-03-14 went fine"),
    ("Compiler", "raised E0277 in the build"),
    ("Windows", "hex code 0x80070005 means access denied"),
    ("Postgres", "SQLSTATE 23505 is a duplicate key"),
    ("Mailbox", "mail goes to ops@example.com"),
    ("Wiki", "is https://wiki.example.org/x/page?id=7"),
    ("Logs", r"lie in C:\Temp\app.log"),
    ("Configuration", "in ~/.config/app/settings.toml"),
    ("Pool", "set MAX_POOL_SIZE to 20"),
    ("Gateway", "runs on 192.168.0.17"),
    ("Tracker", "issue #4711 is open"),
    ("Languages", "C++ and C# and F# are used"),
    ("Runtime", "uses Node.js and .NET"),
    ("Browser", "class XMLHttpRequest is old"),
    ("Flag", "kebab-case-name goes with --dry-run"),
    ("Standup", "meets at 14:30"),
    ("Tokyo", "東京都に住んでいる"),
    ("Sushi", "寿司が好きです"),
    ("Seoul", "서울에서 커피를 마신다"),
    ("Beijing", "我喜欢喝绿茶"),
    ("Bangkok", "อยู่กรุงเทพ"),
    ("Nina", "résumé is in São Paulo"),
    ("Zoë", "naïve coöperation"),
    ("Łukasz", "z Krakowa"),
    ("Karl", "Große Straße in Köln"),
    ("Petra", "Müller mag Äpfel"),
    ("Ivan", "любит чёрный кофе"),
    ("Eleni", "μένει στην Αθήνα"),
    ("Omar", "يسكن في القاهرة"),
    ("Dana", "גרה בתל אביב"),
    ("Ravi", "दिल्ली में रहता है"),
    ("Hans", "fährt mit der Donaudampfschifffahrtsgesellschaft"),
    ("Uwe", "hat eine Krankenversicherungskarte"),
    ("Zoo", "keeps two mice and five geese"),
    ("Keeper", "analyses of wolves and leaves"),
    ("Pool of penguins", "holds twenty penguins"),
    ("Rabbit", "won 1st prize"),
    ("Party", "🎉 on Sunday"),
    ("The Who", "formed in 1964"),
    ("Robert Smith", "is also known as Bob"),
    ("Catherine", "plays chess"),
    ("Mikhail Gorbachev", "was born in Privolnoye"),
    ("getUserById", "checks the cache"),
    ("parseHTTPResponse", "handles chunks"),
    ("iOS", "version 18 is out"),
    ("O'Brien", "likes rugby"),
    ("Jean-Luc", "drinks Earl Grey"),
    ("R", "is used for statistics"),
]

# What is asked for, and a part of the fact that comes first: by its words alone.
WORDS = [
    ("v1.2.3", "v1.2.3"),
    ("1.2.3", "v1.2.3"),
    ("1.3.0", "v1.3.0"),
    ("2026-03-14", "release"),
    ("e0277", "E0277"),
    ("0x80070005", "hex code"),
    ("23505", "SQLSTATE"),
    ("OPS@EXAMPLE.COM", "mail goes"),
    ("https://wiki.example.org/x", "wiki"),
    ("wiki.example.org", "wiki"),
    (r"C:\Temp", "app.log"),
    ("settings.toml", "settings.toml"),
    ("max pool size", "MAX_POOL_SIZE"),
    ("maxPoolSize", "MAX_POOL_SIZE"),
    ("192.168.0.17", "192.168"),
    ("#4711", "issue"),
    ("C++", "C++"),
    ("C#", "C++"),
    ("Node.js", "Node.js"),
    (".NET", "Node.js"),
    ("XMLHttpRequest", "XMLHttpRequest"),
    ("xml http request", "XMLHttpRequest"),
    ("kebab_case_name", "kebab"),
    ("--dry-run", "kebab"),
    ("14:30", "meets"),
    ("東京", "東京都"),
    ("寿司", "寿司"),
    ("커피", "서울"),
    ("绿茶", "我喜欢"),
    ("resume", "résumé"),
    ("sao paulo", "São"),
    ("Zoe", "naïve"),
    ("cooperation", "naïve"),
    ("Lukasz", "Krakowa"),
    ("STRASSE", "Straße"),
    ("Muller", "Müller"),
    ("черный кофе", "любит"),
    ("ЧЁРНЫЙ", "любит"),
    ("ΑΘΉΝΑ", "μένει"),
    ("القاهرة", "يسكن"),
    ("תל אביב", "גרה"),
    ("दिल्ली", "दिल्ली"),
    ("mouse", "mice"),
    ("goose", "geese"),
    ("wolf", "wolves"),
    ("analysis", "analyses"),
    ("20 penguins", "penguins"),
    ("first prize", "prize"),
    ("The Who", "formed"),
    ("who are The Who", "formed"),
    ("Bob", "known as Bob"),
    ("Bob Smith", "known as Bob"),
    ("get user by id", "cache"),
    ("get_user_by_id", "cache"),
    ("parse http response", "chunks"),
    ("ios", "version 18"),
    ("O’Brien", "rugby"),
    ("Jean Luc", "Earl Grey"),
    ("R statistics", "statistics"),
]

# No word of these is in the fact: parts of compounds, other spellings, mistakes in names.
MEANING = [
    ("Schifffahrt", "Donaudampf"),
    ("Krankenversicherung", "Krankenversicherungskarte"),
    ("Versicherungskarte", "Krankenversicherungskarte"),
    ("綠茶", "我喜欢"),
    ("กรุงเทพ", "กรุงเทพ"),
    ("القاهره", "يسكن"),
    ("nodejs", "Node.js"),
    ("Katherine", "chess"),
    ("🎉", "Sunday"),
]


@pytest.fixture
async def store(sql: psycopg.Connection[Any]) -> int:
    """The facts with their vectors and statistics; the id of the model."""
    return await tell_all(sql, FACTS)


async def find(sql: psycopg.Connection[Any], store: int, query: str) -> str:
    """The first fact by words and meaning."""
    vector = await embed(query)
    row = sql.execute(
        "select content from search_memory(%s, model => %s, vector => %s)", (query, store, vector)
    ).fetchone()
    return row[0] if row else ""


async def test_what_is_asked_for_in_other_spelling_comes_first(
    sql: psycopg.Connection[Any], store: int
) -> None:
    wrong = list[tuple[str, str]]()
    for query, part in WORDS:
        row = sql.execute("select content from search_memory(%s)", (query,)).fetchone()
        found = {row[0] if row else "", await find(sql, store, query)}
        wrong += [(query, content) for content in found if part not in content]
    assert wrong == []


async def test_what_shares_no_word_with_the_question_is_found_by_its_pieces(
    sql: psycopg.Connection[Any], store: int
) -> None:
    found = {query: await find(sql, store, query) for query, _ in MEANING}
    assert [(q, found[q]) for q, part in MEANING if part not in found[q]] == []
    for query, part in MEANING:
        rows = sql.execute("select content from search_memory(%s)", (query,)).fetchall()
        assert not any(part in content for (content,) in rows), query
