create function textrawl.create_edges(
    relations jsonb,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    place bigint,   -- position in relations, from 1
    outcome text,   -- created, known (it exists already) or missing
    missing text[]  -- names of ends that do not exist
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin    origin := open_write(credential, space, 'write', client, tool, request);
    edge      record;
    stored_id uuid;
begin
    for edge in select * from claim_edges(relations, origin) loop
        place := edge.place; missing := edge.missing; stored_id := null;
        if edge.missing <> '{}' then
            outcome := 'missing';
        else
            insert into relation as r (
                space_id, from_entity, relation_type, label, to_entity, valid_from, author_id, client, tool, request, created_at)
            values (origin.space_id, edge.source, edge.key, nullif(edge.label, edge.key), edge.target, clock_timestamp(),
                    origin.author_id, origin.client, origin.tool, origin.request, clock_timestamp())
            on conflict (space_id, from_entity, relation_type, to_entity) where valid_until is null do nothing
            returning r.id into stored_id;
            outcome := case when stored_id is null then 'known' else 'created' end;
            if stored_id is null then
                select r.id into stored_id from relation r
                where r.space_id = origin.space_id and r.from_entity = edge.source and r.relation_type = edge.key
                  and r.to_entity = edge.target and r.valid_until is null;
            else
                update entity e set updated_at = clock_timestamp()
                where e.space_id = origin.space_id and e.id in (edge.source, edge.target);
            end if;
            perform record_event(case outcome when 'created' then 'related' else 'repeated' end,
                                 edge.source, null, stored_id, origin, jsonb_build_object('to', edge.target));
        end if;
        return next;
    end loop;
end
$$;

comment on function textrawl.create_edges is
    'Connect existing entities [{from, relation, to}]. Errors: TR010 to TR012 (access).';
