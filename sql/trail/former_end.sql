create function textrawl.former_end(
    space integer, fact uuid, withdrawn bigint[],
    out until timestamptz, out by uuid  -- what valid_until and replaced_by were before
)
language sql stable
begin atomic
    with change as materialized (
        -- Each of these events ended the fact and has its former end. A repeated revision has none.
        select e.id, (e.detail ->> 'until')::timestamptz as until, (e.detail ->> 'by')::uuid as by, e.at
        from textrawl.event e
        where e.space_id = space and (
            e.detail ? 'replaced' and e.detail ->> 'replaced' = fact::text and e.detail ? 'until'
                and e.action in ('replaced', 'revised')
            or e.observation_id = fact and e.action in ('ended', 'faded'))
    ), first as (
        select change.* from change
        where change.id > coalesce((select max(c.id) from change c where c.id <> all(withdrawn)), 0)
        order by change.id limit 1
    )
    select
        -- A withdrawn update can have set an end that was still to come.
        case when first.by is null and first.until is distinct from least(first.until, first.at) and updated.value ? 'valid_until'
             then (updated.value ->> 'valid_until')::timestamptz else first.until end,
        (select o.id from textrawl.fact o where o.space_id = space and o.id = first.by)
    from first cross join lateral (select textrawl.fact_values(space, fact, withdrawn) as value) updated;
end;

comment on function textrawl.former_end is
    'The end and the successor of a fact before the withdrawn events that ended, replaced or revised it last.';
