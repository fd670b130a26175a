create function textrawl.end_facts(
    facts uuid[], moment timestamptz,  -- not later than now
    origin textrawl.origin
) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ended uuid[] := array(
        select f.id from fact f
        where f.space_id = origin.space_id and f.id = any(facts)
          and is_valid(f.valid_from, f.valid_until, f.closed_at, present => clock_timestamp())
        order by f.id);
begin
    perform claim_rows(origin.space_id, ended, '{}');
    perform record_event('ended', f.entity_id, f.id, null, end_facts.origin,
                         jsonb_strip_nulls(jsonb_build_object('until', f.valid_until)))
    from fact f where f.space_id = origin.space_id and f.id = any(ended);
    update observation o set valid_until = moment, closed_at = moment where o.space_id = origin.space_id and o.id = any(ended);
    return cardinality(ended);
end
$$;

comment on function textrawl.end_facts is
    'End those of the facts that are valid, and return their number. Undo revives them. The caller has locked their '
    'entities.';
