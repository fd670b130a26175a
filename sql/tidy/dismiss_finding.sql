create function textrawl.dismiss_finding(rejected textrawl.proposal, origin textrawl.origin) returns bigint
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    candidate text := case when rejected.kind = 'merge' then 'same' when rejected.finding in ('disagreement', 'double') then 'close' else 'stale' end;
    partner   uuid := case when candidate = 'stale' then rejected.one else rejected.other end;
    made      dismissal;
begin
    if rejected.kind not in ('merge', 'end') or finding_fault(rejected.space_id, rejected.kind, rejected.one, rejected.other) is not null then
        return null;
    end if;
    insert into dismissal (space_id, kind, one, other, author_id, client, tool, request)
    values (origin.space_id, candidate, least(rejected.one, partner), greatest(rejected.one, partner),
        origin.author_id, origin.client, origin.tool, origin.request)
    on conflict do nothing returning * into made;
    if made.id is null then
        return null;
    end if;
    perform record_event('dismissed', coalesce((select o.entity_id from fact o where o.space_id = made.space_id and o.id = made.one), made.one),
        case when candidate <> 'same' then made.one end, null, origin, jsonb_build_object('dismissal', made.id, 'kind', candidate));
    return currval(pg_get_serial_sequence('textrawl.event', 'id'));
end
$$;

comment on function textrawl.dismiss_finding is
    'Dismiss what a rejected proposal would merge or end, as dismiss_candidates() does, and return the event. Null: '
    'somebody had dismissed it, or it is no such proposal.';
