create function textrawl.delete_edges(
    relations jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,     -- position in relations, from 1
    deleted boolean,  -- false if there was no such relation
    missing text[]    -- names of entities that do not exist
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin     origin := open_write(credential, space, 'forget', client, tool, request);
    edges      jsonb;
    edge       record;
    doomed     uuid[];
    deleted_id uuid;
begin
    -- This function also deletes the copies that undos keep of these relations. So announce the removal, before the
    -- entities are locked.
    perform claim_removal();
    select coalesce(jsonb_agg(e), '[]') into edges from claim_edges(relations, origin) e;
    doomed := array(
        select r.id from jsonb_to_recordset(edges) e(key text, source uuid, target uuid)
        join relation r on r.space_id = origin.space_id
            and r.from_entity = e.source and r.relation_type = e.key and r.to_entity = e.target);
    perform withdraw_words(origin.space_id, doomed);
    perform claim_rows(origin.space_id, '{}', doomed);
    perform withdraw_queries(origin.space_id, doomed);
    for edge in
        select * from jsonb_to_recordset(edges) e(place bigint, key text, source uuid, target uuid, missing text[]) order by e.place
    loop
        place := edge.place; missing := edge.missing; deleted := false;
        -- Delete ended relations too. A caller who wants to keep a relation as history uses the tool end_relation.
        for deleted_id in
            delete from relation r
            where r.space_id = origin.space_id
              and r.from_entity = edge.source and r.relation_type = edge.key and r.to_entity = edge.target
            returning r.id
        loop
            deleted := true;
            delete from undone u where u.space_id = origin.space_id and u.id = deleted_id;
            update entity e set updated_at = clock_timestamp()
            where e.space_id = origin.space_id and e.id in (edge.source, edge.target);
            perform record_event('forgotten', edge.source, null, deleted_id, origin,
                                 jsonb_build_object('facts', 0, 'relations', 1, 'to', edge.target));
        end loop;
        return next;
    end loop;
end
$$;

comment on function textrawl.delete_edges is
    'Forget relations [{from, relation, to}], including ended relations. Errors: TR010 to TR012 (access).';
