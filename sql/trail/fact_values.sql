create function textrawl.fact_values(space integer, fact uuid, withdrawn bigint[]) returns jsonb
language sql stable
set search_path from current
begin atomic
    -- Each value is that of the last update that counts; where none does, that from before the first.
    select coalesce(jsonb_object_agg(chosen.key, chosen.value), '{}')
    from (
        select distinct on (u.key) u.key, case when u.counts then u.after else u.before end as value
        from (select e.id, changed.key, changed.value as before, e.detail -> 'after' -> changed.key as after,
                  e.id <> all(withdrawn) as counts
              from textrawl.event e, jsonb_each(e.detail -> 'before') changed
              where e.space_id = space and e.observation_id = fact and e.detail ? 'before') u
        order by u.key, u.counts desc, case when u.counts then -u.id else u.id end) chosen;
end;

comment on function textrawl.fact_values is
    'The source, confidence and valid_until of a fact by those of its updates in the trail that are not withdrawn; only those that were ever updated.';
