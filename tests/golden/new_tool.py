"""A new tool in the toolset `stats`: the number of authors of the facts that a caller can read."""

from tests.golden.patch import Patch

_FUNCTION = """\
create function textrawl.count_authors(spaces integer[] default null, credential bytea default null)
returns table (authors bigint)
language sql stable security definer
set search_path from current
begin atomic
    select count(distinct o.author_id)
    from textrawl.fact o
    where o.space_id = any(textrawl.readable_spaces(credential, count_authors.spaces));
end;

comment on function textrawl.count_authors is
    'The number of the authors of facts. Example: select authors from textrawl.count_authors();';
"""
_REPLY = '''class AuthorsReply(Reply):
    """The number of authors."""

    authors: Annotated[int, Key("authors")]


'''
_TOOL = '''@stats.tool(READS, AuthorsReply)
async def count_authors(call: Call) -> CallToolResult:
    """Count the people and agents who wrote what I remember. Example: {}."""
    reply = await call.store.call_one("count_authors", AuthorsReply, **call.caller.reading)
    return call.reply(reply)


'''
_TEST = """async def test_the_authors_of_facts_are_counted(client: Client) -> None:
    assert await ask(client, "count_authors") == {"authors": 1}


"""

PATCH = Patch(
    files={"sql/analytics/count_authors.sql": _FUNCTION},
    edits=(
        ("sql/analytics/grants.sql", " to textrawl_app;", ", textrawl.count_authors"),
        ("textrawl/tools/stats/tools.py", "class MemoryPart(", _REPLY),
        ("textrawl/tools/stats/tools.py", "@stats.tool(READS, StatsReply)", _TOOL),
        ("tests/toolsets/stats/test_stats.py", "async def test_get_stats_wraps", _TEST),
        (
            "docs/toolsets/stats.md",
            "- The counts are",
            "- `count_authors` counts authors of facts.\n",
        ),
    ),
    updates=(
        "tests/toolsets/test_toolsets.py::test_definitions_of_a_toolset_are_those_of_its_snapshots",
        "tests/sql/test_schema.py",
        "tests/docs/test_toolsets_page.py",
    ),
    tests=(
        "tests/toolsets/stats",
        "tests/toolsets/test_toolsets.py",
        "tests/sql/test_catalogue.py",
        "tests/sql/test_schema.py",
        "tests/cluster/test_routes.py",
        "tests/docs/test_toolsets_page.py",
    ),
)
