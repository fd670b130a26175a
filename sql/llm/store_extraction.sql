create function textrawl.store_extraction(
    space integer, document uuid, version bigint,
    nodes jsonb, edges jsonb,                                   -- as for write_graph()
    model integer default null, embeddings halfvec[] default null  -- a vector for each node
) returns table (nodes_created bigint, edges_created bigint)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    written document_version;
    origin  origin;
    renamed jsonb;
begin
    -- Only a version that waits for extraction can be stored. Its author becomes the author of the nodes and edges.
    select v.* into written
    from extraction_pending p
    join document d on d.space_id = p.space_id and d.id = p.document_id
    join document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
    where p.space_id = store_extraction.space and p.document_id = store_extraction.document
      and p.version = store_extraction.version and v.content is not null;
    nodes_created := 0; edges_created := 0;
    if found then
        origin := row(store_extraction.space, written.author_id, written.client, 'extraction', written.request, false)::origin;
        perform claim_removal();
        select coalesce(jsonb_object_agg(k.key, k.label), '{}') into renamed
        from known_labels(store_extraction.space, nodes, store_extraction.model, embeddings) k;
        select count(*) filter (where p.kind = 'node' and p.created), count(*) filter (where p.kind = 'edge' and p.created)
        into nodes_created, edges_created
        from store_graph(
            (select coalesce(jsonb_agg(value || jsonb_build_object('label', coalesce(renamed ->> name_key(value ->> 'label'),
                                                                                     value ->> 'label')) order by ordinality), '[]')
             from jsonb_array_elements(nodes) with ordinality),
            (select coalesce(jsonb_agg(value || jsonb_build_object(
                 'from', coalesce(renamed ->> name_key(value ->> 'from'), value ->> 'from'),
                 'to', coalesce(renamed ->> name_key(value ->> 'to'), value ->> 'to')) order by ordinality), '[]')
             from jsonb_array_elements(edges) with ordinality),
            left(written.modified_by, 200), true, store_extraction.model, embeddings, origin) p;
    end if;
    delete from extraction_pending p
    where p.space_id = store_extraction.space and p.document_id = store_extraction.document
      and p.version = store_extraction.version;
    insert into extraction_total as t (space_id, attempts, successes, nodes_created, edges_created, last_attempt, last_success)
    values (store_extraction.space, 1, 1, nodes_created, edges_created, clock_timestamp(), clock_timestamp())
    on conflict (space_id) do update
    set attempts = t.attempts + 1, successes = t.successes + 1, nodes_created = t.nodes_created + excluded.nodes_created,
        edges_created = t.edges_created + excluded.edges_created, last_attempt = excluded.last_attempt,
        last_success = excluded.last_success, last_error = null;
    return next;
end
$$;

comment on function textrawl.store_extraction is
    'Store the nodes and edges of a claimed journal entry for its author, and take the entry out of the queue, in one '
    'transaction. Nodes that exist are confirmed. If the entry was changed meanwhile, it stays in the queue.';
