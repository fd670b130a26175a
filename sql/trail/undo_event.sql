create function textrawl.undo_event(
    event bigint default null,  -- number of an event
    call text default null,     -- or the request of a call of yours in the last day: all that it wrote in the space
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    undo_id bigint, space_name text,
    -- Number of rows for each action of plan_undo():
    removed bigint, revived bigint, reset bigint, moved bigint, retyped bigint, dropped bigint, lost bigint, kept bigint
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    administers boolean := exists (
        select from access_rights(credential) r
        where 'admin' = any(r.scopes) and (undo_event.space is null and r.home or r.space_id = undo_event.space));
    origin origin := open_write(
        credential, space, case when administers then 'admin' else 'write' end, client, tool, request, graphs => true, proposing => true);
    taken  bigint[];
    first  event;  -- the first of the events to undo
    later  event;  -- an event that builds on the events to undo
    done   record;
begin
    perform claim_removal(alone => true);
    taken := events_of_call(origin.space_id, origin.author_id, undo_event.event, undo_event.call);
    perform claim_events(origin.space_id, taken);
    -- Read the events again, because another session can have undone them before this session got the lock.
    taken := events_of_call(origin.space_id, origin.author_id, undo_event.event, undo_event.call);
    select e.* into first from event e where e.space_id = origin.space_id and e.id = any(taken)
    order by e.action <> 'accepted', e.id limit 1;
    if first.id is null then
        raise exception using errcode = 'TR110', message = 'no event to undo';
    elsif not administers and (first.actor_id <> origin.author_id or origin.proposed and first.action <> 'proposed') then
        perform refuse_access(credential, 'admin');
    end if;
    select e.* into later from event e
    where e.space_id = origin.space_id and e.id = any(taken)
      and (e.action in ('forgotten', 'transferred', 'merged', 'split') or e.detail ? 'move') limit 1;
    if later.id is not null then
        raise exception using errcode = 'TR112', message = 'the event cannot be undone alone', detail = later.action;
    end if;
    -- The creation of an entity can stay alone.
    select e.* into later from event e where e.space_id = origin.space_id and e.id = (
        select max(k.later_id) from find_kept(origin.space_id, taken) k
        join event own on own.space_id = origin.space_id and own.id = k.event_id and own.action <> 'created');
    if later.id is not null then
        raise exception using errcode = 'TR111', message = 'a later event builds on this event',
            detail = case when may_read(credential, origin.space_id) then format(
                '%s (event %s) by %s', later.action, later.id, (select a.name from actor a where a.id = later.actor_id)) else 'another change' end;
    end if;
    select s.name as space_name, d.* into done
    from undo_events(first.actor_id, first.at, taken, origin) d, space s where s.id = origin.space_id;
    if not exists (select from undone d where d.space_id = origin.space_id and d.undo_id = done.undo_id) and exists (
        -- A repeat, of a revision too, changes no row.
        select from event e where e.space_id = origin.space_id and e.id = any(taken)
          and e.action <> 'repeated' and (e.action <> 'revised' or e.detail ? 'until')) then
        raise exception using errcode = 'TR111', message = 'nothing of this event is left', detail = 'another change';
    end if;
    return query select done.undo_id, done.space_name, done.removed, done.revived, done.reset,
        done.moved, done.retyped, done.dropped, done.lost, done.kept;
end
$$;

comment on function textrawl.undo_event is
    'Undo one event, or all that one call of yours wrote in a space. Its author needs the scope write (or propose, for a '
    'proposal), and anybody else admin. Errors: TR010 to TR012 (access), TR110 (no such event, or it is undone already), TR111 (a later event builds '
    'on it; the detail says which), TR112 (a deletion, a merge, a split or a move between spaces). '
    'Example: select * from textrawl.undo_event(1234);';
