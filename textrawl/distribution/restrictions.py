"""What Citus lets every login call, and a distributed memory does not.

Citus grants most of its functions to everybody. With some of them, a login that may only read could
fill the disk of a node (create_intermediate_result), open connections to any address from there
(citus_check_connection_to_node), or use up the numbers of shards.
"""

from psycopg import AsyncConnection, sql

from textrawl.distribution.content import find_owner

# Views of cells find their spaces by the first function. Citus adds the second one to queries of
# the catalogue.
OPEN_TO_ALL = ("citus_table_is_visible", "worker_hash")
_GRANTED = """
    select p.oid::regprocedure::text from pg_proc p
    join pg_depend d on d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    join pg_extension e on e.oid = d.refobjid and e.extname = 'citus'
    where p.proname <> all(%s) and has_function_privilege('public', p.oid, 'execute')
"""


async def restrict_citus(node: AsyncConnection) -> None:
    """Let only the owner of the memory call the functions of Citus on a node.

    Citus itself calls some of them on other nodes with the login of a session that uses a
    distributed table. Only the owner may use one.
    """
    rows = await (await node.execute(_GRANTED, (list(OPEN_TO_ALL),))).fetchall()
    if not rows:
        return
    names = sql.SQL(", ").join(sql.SQL(name) for (name,) in rows)
    owner = sql.Identifier(await find_owner(node))
    await node.execute(sql.SQL("grant execute on routine {} to {}").format(names, owner))
    await node.execute(sql.SQL("revoke execute on routine {} from public").format(names))
