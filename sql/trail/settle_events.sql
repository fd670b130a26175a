create function textrawl.settle_events(spaces integer[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- What a statement sees is never ahead of its own snapshot; it may be of one that was taken before.
    -- Looking first lets it run where nothing may be written.
    if exists (select from event v where v.space_id = any(spaces) and v.transaction >= pg_snapshot_xmax(pg_current_snapshot())) then
        -- In one order: every follower does so.
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
    'Numbers events anew that were restored from another cluster, whose transactions lie ahead of all of this one: they come first, in the order of their ids.';
