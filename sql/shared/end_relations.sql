create function textrawl.end_relations(
    relations uuid[], moment timestamptz, origin textrawl.origin,
    given_end timestamptz default null  -- the end to set; null: the moment
) returns text[]
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    former  relation;
    targets text[] := '{}';
    ending  timestamptz;
begin
    for former in
        select r.* from relation r
        where r.space_id = origin.space_id and r.id = any(relations) and is_valid(r.valid_from, r.valid_until, r.closed_at, present => moment)
        order by r.id for no key update
    loop
        -- A relation does not end before it begins. It ends when it was planned to end, if that is earlier.
        ending := least(greatest(coalesce(given_end, moment), former.valid_from), former.valid_until);
        update relation r
        set valid_until = ending, closed_at = case when ending <= greatest(moment, clock_timestamp()) then ending else r.closed_at end
        where r.space_id = origin.space_id and r.id = former.id;
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
    'End the given relations that are valid at the moment, now or at the given end, and return the names of their targets. '
    'Lock the entities at both ends of the relations first.';
