create function textrawl.store_item(
    graph text, system text, run uuid,
    source_id text,                        -- id of the item in its system
    path text, label text, content text,
    chunks jsonb,                          -- as for store_source()
    sha256 text,                           -- digest of the item
    source_kind text,                      -- ai-conversation or file
    modified_at timestamptz default null,  -- time of the item; null: now
    credential bytea default null, client text default null, tool text default 'sql',
    out document_id uuid, out created boolean, out changed boolean, out chunk_count integer
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    stored record;
begin
    select * into stored from store_source(graph, path, label, content, chunks, sha256, source_kind, modified_at,
                                           credential, client, tool, 'import ' || run);
    document_id := stored.document_id;
    created := stored.created;
    changed := stored.changed;
    chunk_count := stored.chunk_count;
    insert into imported_item as i (space_id, system, source_id, run_id, digest, document_id)
    values (stored.space_id, system, source_id, run, sha256, document_id)
    on conflict on constraint imported_item_pkey do update
    set run_id = excluded.run_id, digest = excluded.digest, document_id = excluded.document_id, entity_id = null,
        observation_id = null, relation_id = null, stored_at = clock_timestamp();
end
$$;

comment on function textrawl.store_item is
    'Store a document of another system in a graph, or a new version of it, and its item, in one transaction. Errors: as '
    'store_source().';
