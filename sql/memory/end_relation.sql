create function textrawl.end_relation(
    from_entity text, relation text, to_entity text,
    valid_until timestamptz default null,  -- when it ended or ends; null: now
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    out relation_id uuid, out created boolean,
    out from_id uuid, out from_name text, out from_stored_type text,
    out to_id uuid, out to_name text, out to_stored_type text,
    out ended text[]  -- name of the target; empty if the relation had already ended
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    moment timestamptz;
begin
    -- Lock the entities in the order of their names, so that two writers cannot deadlock.
    perform from entity e
    where e.space_id = origin.space_id and e.name_key in (entity_key(origin.space_id, from_entity), entity_key(origin.space_id, to_entity))
    order by e.name_key for no key update;
    moment := clock_timestamp();
    select r.id, false, s.id, s.name, s.entity_type, t.id, t.name, t.entity_type
    into relation_id, created, from_id, from_name, from_stored_type, to_id, to_name, to_stored_type
    from entity s
    join entity t on t.space_id = s.space_id and t.name_key = entity_key(origin.space_id, to_entity)
    join relation r on r.space_id = s.space_id and r.from_entity = s.id and r.to_entity = t.id
    where s.space_id = origin.space_id and s.name_key = entity_key(origin.space_id, from_entity) and r.relation_type = relation_key(relation)
    order by r.valid_until desc nulls first, r.id limit 1;
    if relation_id is null then
        raise exception using errcode = 'TR007', message = 'no such relation';
    end if;
    if (select r.valid_from from relation r where r.space_id = origin.space_id and r.id = relation_id) >= valid_until then
        raise exception using errcode = 'TR098', message = 'the period ends before it begins';
    end if;
    ended := end_relations(array[relation_id], moment, origin, valid_until);
    if not may_read(credential, origin.space_id) then
        from_name := from_entity; from_stored_type := 'concept';
        to_name := to_entity; to_stored_type := 'concept';
        ended := case when ended = '{}' then '{}' else array[to_entity] end;
    end if;
end
$$;

comment on function textrawl.end_relation is
    'End a relation, now or at the given time. The relation stays as history, and queries with as_of still find it. A relation that had '
    'already ended does not change. A caller that cannot read gets back only the names that it sent. Errors: TR007 (no '
    'such relation), TR010 to TR012 (access), TR098 (it would end before it begins). '
    'Example: select * from textrawl.end_relation(''Ada'', ''works at'', ''Acme Corp'');';
