create function textrawl.record_dismissal(kind text, one uuid, other uuid, origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    made dismissal;
begin
    insert into dismissal (space_id, kind, one, other, author_id, client, tool, request)
    values (origin.space_id, kind, least(one, other), greatest(one, other), origin.author_id, origin.client, origin.tool, origin.request)
    on conflict do nothing returning * into made;
    if made.id is null then
        return null;
    end if;
    perform record_event('dismissed', coalesce((select o.entity_id from fact o where o.space_id = made.space_id and o.id = made.one), made.one),
        case when kind <> 'same' then made.one end, null, origin, jsonb_build_object('dismissal', made.id, 'kind', kind)
        || coalesce(case when kind = 'stale' then update_fact(
            made.space_id, made.one, jsonb_build_object('origin', find_origin(null, origin.tool, origin.client, null)), clock_timestamp()) end, '{}'));
    return currval(pg_get_serial_sequence('textrawl.event', 'id'));
end
$$;

comment on function textrawl.record_dismissal is
    'Dismiss a candidate whose entities or facts exist, and return the event. Of a stale fact, `one` and `other` are the '
    'fact, which is confirmed. Null: somebody had dismissed it.';
