create function textrawl.delete_edges(
    relations jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,     -- position in relations, from 1
    deleted boolean,  -- false if there was no such relation
    missing text[]    -- names of ends that do not exist
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin     origin := open_write(credential, space, 'forget', client, tool, request);
    edge       record;
    deleted_id uuid;
begin
    -- Before the entities are locked, because the copies that undos keep are removed as well.
    perform claim_removal();
    for edge in select * from claim_edges(relations, origin) loop
        place := edge.place; missing := edge.missing; deleted := false;
        -- Delete ended relations too. To keep a relation as history, end_relation ends it.
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
    'Forget relations [{from, relation, to}]. Errors: TR010 to TR012 (access).';
