create function textrawl.fact_values(space integer, fact uuid, withdrawn bigint[]) returns jsonb
language sql stable
begin atomic
    -- Each value comes from the last update that is not in `withdrawn`. If all updates are in `withdrawn`, use the
    -- value before the first update.
    select coalesce(jsonb_object_agg(effective.key, effective.value), '{}')
    from (
        select distinct on (u.key) u.key, case when u.counts then u.after else u.before end as value
        from (select e.id, changed.key, changed.value as before, e.detail -> 'after' -> changed.key as after,
                  e.id <> all(withdrawn) as counts
              from textrawl.event e, jsonb_each(e.detail -> 'before') changed
              where e.space_id = space and e.observation_id = fact and e.detail ? 'before') u
        order by u.key, u.counts desc, case when u.counts then -u.id else u.id end) effective;
end;

comment on function textrawl.fact_values is
    'The source, confidence, valid_until, said_at and confirmed_at of a fact as if the given events had never happened. Values that '
    'were never updated are left out.';
