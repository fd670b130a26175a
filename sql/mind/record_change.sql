create function textrawl.record_change(
    entity uuid, relation uuid, before jsonb, after jsonb, origin textrawl.origin
) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    if coalesce(after, '{}') = '{}' then
        return;
    end if;
    perform record_event('described', record_change.entity, null, record_change.relation, origin);
    insert into graph_change (space_id, event_id, entity_id, relation_id, before, after)
    values (origin.space_id, currval(pg_get_serial_sequence('textrawl.event', 'id')),
            case when record_change.relation is null then record_change.entity end, record_change.relation,
            record_change.before, record_change.after);
end
$$;

comment on function textrawl.record_change is
    'Record in the trail that values of a node or an edge changed. For an edge, `entity` is the entity where '
    'the relation starts.';
