create function textrawl.store_graph(
    nodes jsonb, edges jsonb,       -- as for write_graph()
    instance text, confirm boolean, model integer, embeddings halfvec[], origin textrawl.origin
) returns table (kind text, place bigint, id uuid, created boolean)
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    known_model integer := (select m.id from embedding_model m where m.id = store_graph.model);
    by_label jsonb := '{}';
    claimed  record;
    input    jsonb;
    source   uuid;
    target   uuid;
begin
    kind := 'node';
    for claimed in
        select c.* from claim_labels(nodes, array(
            select unnest(array[value ->> 'from', value ->> 'to']) from jsonb_array_elements(edges)), origin) c
        order by c.place
    loop
        input := nodes -> (claimed.place - 1)::integer;
        place := claimed.place; id := claimed.entity_id; created := claimed.created;
        by_label := jsonb_build_object(name_key(input ->> 'label'), id) || by_label;
        perform describe_claimed(
            claimed.entity_id, created,
            input || jsonb_build_object('instance', coalesce(input ->> 'instance', store_graph.instance))
                || case when claimed.label is null then '{}'
                   else jsonb_build_object('stored_label', claimed.label) end,
            store_graph.confirm, known_model, case when known_model is not null then embeddings[claimed.place] end, origin);
        return next;
    end loop;
    kind := 'edge';
    for input, place in select value, ordinality from jsonb_array_elements(edges) with ordinality order by ordinality loop
        source := coalesce((by_label ->> name_key(input ->> 'from'))::uuid, find_label(origin.space_id, input ->> 'from'));
        target := coalesce((by_label ->> name_key(input ->> 'to'))::uuid, find_label(origin.space_id, input ->> 'to'));
        id := null; created := false;
        if source is not null and target is not null then
            select s.relation_id, s.created into id, created
            from store_edge(source, target, input ->> 'type',
                            input - 'type' || jsonb_build_object('instance', store_graph.instance), origin) s;
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.store_graph is
    'Create nodes and edges for write_graph(), or for an extraction, which has no credential.';
