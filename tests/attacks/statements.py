"""What somebody with a login for analysts could try."""

import psycopg

from tests.attacks.site import SECRETS, SPACES

FOREIGN = [SECRETS[space] for space in SPACES if space != "red"] + ["canary green", "canary blue"]

READS = (
    "select * from memory_entities", "select * from memory_observations",
    "select * from memory_relations", "select * from memory_timeline",
    "select * from memory_stale", "select * from memory_duplicates",
    "select * from memory_conflicts", "select * from memory_growth",
    "select * from memory_recalls", "select * from memory_unanswered",
    "select * from memory_items", "select * from item", "select * from item_namespace",
    "select * from item_vector", "select * from present_items(3)",
    "select * from search_items('canary hides')", "select * from search_items(space => 3)",
    "select * from get_item(array['vault', 'green'], 'secret', space => 3)",
    "select * from item_history(array['vault', 'green'], 'secret')",
    "select * from read_log(array['vault', 'green'], space => 3)",
    "select * from list_namespaces(space => 3)", "select * from pop_log(array['vault', 'green'])",
    "select * from memory_journal", "select * from journal_entries(3)",
    "select * from search_journal('canary day hides', min_score => 0)",
    "select * from list_entries()", "select * from list_entries(space => 3)",
    "select * from read_entry('daily', '2026-05-12', space => 3)",
    "select * from document", "select * from document_version", "select * from journal_entry",
    "select * from memory_health", "select * from memory_graph_degree",
    "select * from entity", "select * from observation", "select * from relation",
    "select * from event", "select * from recall", "select * from recalled", "select * from space",
    "select * from embedding_pending", "select * from embedding_1", "select * from undone",
    "select * from erasure",
    "select * from token", "select role_name from actor", "select * from lexeme",
    "select * from webhook", "select * from list_webhooks()", "select * from read_webhook(3, null)",
    "select * from claim_webhooks(gen_random_uuid(), array['hooks.example.com:443'], 8)",
    "select * from next_webhook_events(3, null, null)",
    "select * from search_memory('canary vault hides')",
    "select * from search_memory('canary', spaces => array[1, 2, 3, 4])",
    "select * from search_memory('canary', credential => sha256('x'))",
    "select * from describe_entity('Ada')", "select * from describe_entity('Canary green')",
    "select * from list_entities(max_rows => 100)", "select * from similar_names('Canary')",
    "select * from explain_search('canary vault hides')",
    "select * from explain_search('canary', spaces => array[1, 2, 3, 4])",
    "select * from digest_memory('Canary')", "select * from digest_memory(spaces => array[3])",
    "select * from known_names(array['canary green', 'canary'])",
    "select * from own_entities()", "select * from own_entity",
    "select * from list_pins()", "select * from pin",
    "select * from list_dismissals()", "select * from dismissal", "select * from stale_facts()",
    "select * from browse_entities()",
    "select dismiss_candidates('stale', array[id]) from fact",
    "select * from own_entities(spaces => array[3])",
    "select * from complete_name('')", "select * from complete_name('c', spaces => array[3])",
    "select * from similar_to('{green}')", "select * from similar_to('hides')",
    "select * from similar_to('canary green', spaces => array[3])",
    "select * from entity_context('Canary green')", "select * from entity_context('Ada')",
    "select * from neighbours('Canary green', 6)", "select * from neighbours('Ada', 6)",
    "select * from path_between('Ada', 'Canary green')",
    "select * from as_of(now())", "select * from memory_diff('2000-01-01')",
    "select * from near_facts(-1)", "select * from memory_report(3660)",
    "select * from memory_report(spaces => array[3, 4])",
    "select * from recall_costs(spaces => array[3])",
    "select * from live_edges(3, '00000000-0000-0000-0000-000000000000')",
    "select most_common_vals::text, histogram_bounds::text from pg_stats",
    "select * from read_vector(3, gen_random_uuid(), 1)",
    "select * from find_undone(3, 'Ada', null)",
    "select * from list_events()", "select * from export_facts()", "select * from access_rights()",
    "select query_to_xml('select * from textrawl.observation', true, false, '')",
    "select table_to_xml('textrawl.observation', true, false, '')",
    "copy (select * from memory_observations) to program 'cat'",
    "set row_security = off; select * from observation",
    "set role textrawl_owner; select * from observation",
    "set session authorization textrawl_owner; select * from observation",
    "set role textrawl_app; select * from search_memory('canary')",
    # A condition that tells what it sees must see no row before the policy has.
    "set transaction read write; create function pg_temp.tell(t text) returns boolean"
    " language plpgsql cost 0.0001 as $$begin raise exception '%', t; end$$;"
    " select count(*) from observation where content not like '%red%' and content <> 'hides'"
    " and content not like '{red}' and pg_temp.tell(content)",
    "select pg_read_file('postgresql.conf')", "select * from pg_authid",
    "select * from pg_ls_dir('.')", "select lo_import('/etc/passwd')",
)  # fmt: skip

WRITES = (
    "insert into observation (content) values ('x')", "update observation set content = 'x'",
    "delete from observation", "truncate observation", "drop view memory_stale",
    "alter table observation disable row level security", "drop policy readers on observation",
    "create policy mine on observation using (true)", "grant select on token to public",
    "update memory_observations set content = 'x'", "delete from memory_relations",
    "insert into recalled values (2, gen_random_uuid(), 1, now())", "delete from recall",
    "select remember_fact('Ada', 'person', 'x')", "select forget_entity('Ada')",
    "select set_own_entity('Ada')", "select put_item(array['vault', 'red'], 'secret', '1')",
    "select put_items('[]', '[{\"namespace\": [\"vault\", \"red\"], \"key\": \"secret\"}]')",
    "select append_log(array['vault', 'red'], '[1]')", "select clear_log(array['vault', 'red'])",
    "select delete_items(array['vault'])", "select prune_items(2, now(), now())",
    "select build_knowledge('[]')", "select relate_entities('Ada', 'is', 'Bo')",
    "select grant_access('ana', 'green', array['read'])", "select register_actor('x')",
    "select bind_login('ben', 'analyst_of_red')", "select open_local_access('ana')",
    "select create_token(sha256('x'), 'x', 'ana', 'green', null)",
    "select create_analyst('more', 'ana', array['green'])", "select create_space('mine')",
    "select record_recalls('[]')", "select prune_recalls()", "select purge_undone(1)",
    "select list_erasure('Ada')",
    "select erase_person('Ada')", "select erasure_plan('Ada')", "select apply_erasure('{}')",
    "select rename_erased_actors()", "select secret from receipt_secret", "select receipt_key(2)",
    "select redact_person(2, 'ada', '{}')", "select names_person('Ada', 'ada')",
    "select undo_author('ana', '2000-01-01')", "select undo_event(1)",
    "select merge_pairs('[]')", "select rename_entity('Ada', 'x')",
    "select correct_relation('Ada', 'is', 'Bo', 'is', 'Cy')", "select edit_entity('Ada', 'x')",
    "select retype_entity('Ada', 'x')", "select refresh_search_statistics(true)",
    "select refresh_planner_statistics()",
    "select claim_pending_embeddings(1)", "select withdraw_queries(2, '{}', 'a')",
    "create table textrawl.mine ()", "create function textrawl.f() returns int return 1",
    "create extension dblink", "lock table observation", "alter role analyst_of_red superuser",
    "alter role analyst_of_red connection limit -1", "create role more",
    "cluster observation using observation_pkey",
    "alter role textrawl_app password 'x'", "copy observation from stdin",
    "comment on table observation is 'x'", "create trigger t after insert on observation"
    " for each row execute function keep_events()", "reindex table observation",
    "grant textrawl_owner to analyst_of_red", "alter system set log_statement = 'all'",
)  # fmt: skip


def try_out(login: psycopg.Connection, statement: str) -> str:
    """Everything that the statement shows, also in its error."""
    statement = statement.format(**SECRETS)
    try:
        with login.transaction():
            cursor = login.execute(statement.encode())
            while cursor.nextset():
                pass
            return repr(cursor.fetchall()) if cursor.description else ""
    except psycopg.Error as error:
        return f"{error} {error.diag.message_detail} {error.diag.context}"
