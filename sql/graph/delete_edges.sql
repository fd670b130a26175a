create function textrawl.delete_edges(
    relations jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (place bigint, deleted boolean, missing text[])
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    edge   record;
    gone   uuid;
begin
    -- Before the entities are claimed: what undos keep of the relations goes as well.
    perform claim_removal();
    for edge in select * from claim_edges(relations, origin) loop
        place := edge.place; missing := edge.missing; deleted := false;
        -- Those that ended too: who deletes wants it gone, and end_relation is there for the rest.
        for gone in
            delete from relation r
            where r.space_id = origin.space_id and r.from_entity = edge.source and r.relation_type = edge.key and r.to_entity = edge.target
            returning r.id
        loop
            deleted := true;
            delete from undone u where u.space_id = origin.space_id and u.id = gone;
            update entity e set updated_at = clock_timestamp()
            where e.space_id = origin.space_id and e.id in (edge.source, edge.target);
            perform record_event('forgotten', edge.source, null, gone, origin,
                                 jsonb_build_object('facts', 0, 'relations', 1, 'to', edge.target));
        end loop;
        return next;
    end loop;
end
$$;

comment on function textrawl.delete_edges is
    'Forgets relations [{from, relation, to}]; for each its place, whether there was one, and the ends that are not there. Errors: TR010 to TR012 (access).';
