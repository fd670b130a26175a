create function textrawl.settle_events(spaces integer[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- An event comes from another cluster if its transaction number is ahead of the snapshot of this statement. Take
    -- the snapshot in the statement itself, because an earlier snapshot would be too old. Check before writing, so that
    -- this function also works on a read-only server.
    if exists (select from event v where v.space_id = any(spaces) and v.transaction >= pg_snapshot_xmax(pg_current_snapshot())) then
        -- Move each webhook to just before its first event that was not delivered. The former numbers decide which
        -- event this is.
        update webhook w set transaction = '0', event_id = last_delivered.id
        from (select h.space_id, h.id as hook, coalesce(
                  (select min(v.id) - 1 from event v
                   where v.space_id = h.space_id and (v.transaction, v.id) > (h.transaction, h.event_id)),
                  (select max(v.id) from event v
                   where v.space_id = h.space_id and v.transaction >= pg_snapshot_xmax(pg_current_snapshot())), 0) as id
              from webhook h where h.space_id = any(spaces) order by h.space_id, h.id for update) last_delivered
        where w.space_id = last_delivered.space_id and w.id = last_delivered.hook;
        -- Every reader of the trail calls this function. Lock in one order, so that two readers cannot deadlock.
        update event v set transaction = '0'
        from (select early.space_id, early.id from event early
              where early.space_id = any(spaces) and early.transaction <> '0'
                and early.id <= (
                    select max(f.id) from event f
                    where f.space_id = early.space_id and f.transaction >= pg_snapshot_xmax(pg_current_snapshot()))
              order by early.space_id, early.id for update) early
        where v.space_id = early.space_id and v.id = early.id;
    end if;
end
$$;

comment on function textrawl.settle_events is
    'Set the transaction to 0 for events that were restored from another cluster, if their transaction numbers are '
    'ahead of this cluster. These events then come first, in the order of their ids.';
