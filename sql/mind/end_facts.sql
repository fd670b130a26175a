create function textrawl.end_facts(entity uuid, moment timestamptz, origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ended uuid[] := array(
        select f.id from fact f
        where f.space_id = origin.space_id and f.entity_id = end_facts.entity
          and is_valid(f.valid_from, f.valid_until, f.closed_at, present => moment)
        order by f.id);
begin
    perform claim_rows(origin.space_id, ended, '{}');
    perform record_event('ended', f.entity_id, f.id, null, origin,
                         jsonb_strip_nulls(jsonb_build_object('until', f.valid_until)))
    from fact f where f.space_id = origin.space_id and f.id = any(ended);
    update observation o set valid_until = moment, closed_at = moment where o.space_id = origin.space_id and o.id = any(ended);
    return cardinality(ended);
end
$$;

comment on function textrawl.end_facts is
    'End all valid facts of an entity, and return the number of these facts. Undo revives them. The caller has locked the '
    'entity.';
