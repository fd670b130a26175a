create function textrawl.settle_events(spaces integer[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- A statement sees only events older than its own snapshot, unless they come from another cluster. The snapshot of an
    -- earlier statement would not do. The check comes first, so that this also runs where nothing can be written.
    if exists (select from event v where v.space_id = any(spaces) and v.transaction >= pg_snapshot_xmax(pg_current_snapshot())) then
        -- Lock in one order: every reader of the trail does this.
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
    'Renumber events restored from another cluster, whose transaction numbers lie ahead of this cluster''s: they come '
    'first, in the order of their ids.';
