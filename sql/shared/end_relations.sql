create function textrawl.end_relations(relations uuid[], moment timestamptz, origin textrawl.origin) returns text[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former  relation;
    targets text[] := '{}';
begin
    for former in
        select r.* from relation r
        where r.space_id = origin.space_id and r.id = any(relations) and is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
        order by r.id for no key update
    loop
        update relation r set valid_until = moment, closed_at = moment where r.space_id = origin.space_id and r.id = former.id;
        update entity e set updated_at = moment
        where e.space_id = origin.space_id and e.id in (former.from_entity, former.to_entity);
        perform record_event('ended', former.from_entity, null, former.id, origin,
            jsonb_strip_nulls(jsonb_build_object('to', former.to_entity, 'until', former.valid_until)));
        targets := targets || (select e.name from entity e where e.space_id = origin.space_id and e.id = former.to_entity);
    end loop;
    return targets;
end
$$;

comment on function textrawl.end_relations is
    'End the given relations that are valid at the moment, and return the names of the targets of these relations. '
    'Lock the entities at both ends of the relations first.';
