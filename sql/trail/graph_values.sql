create function textrawl.graph_values(space integer, entity uuid, relation uuid, withdrawn bigint[]) returns jsonb
language sql stable
begin atomic
    -- Each value comes from the last change that is not in `withdrawn`. If all changes are in `withdrawn`, use the
    -- value before the first change.
    select coalesce(jsonb_object_agg(effective.key, effective.value), '{}')
    from (
        select distinct on (u.key) u.key, case when u.counts then u.after else u.before end as value
        from (select c.event_id as id, changed.key, changed.value as before, c.after -> changed.key as after,
                  c.event_id <> all(withdrawn) as counts
              from textrawl.graph_change c, jsonb_each(c.before) changed
              where c.space_id = space and (c.entity_id = graph_values.entity or c.relation_id = graph_values.relation)) u
        order by u.key, u.counts desc, case when u.counts then -u.id else u.id end) effective;
end;

comment on function textrawl.graph_values is
    'The values of a node or an edge, by column, as if the given events had never happened. Values that never changed '
    'are left out.';
