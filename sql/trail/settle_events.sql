create function textrawl.settle_events(spaces integer[]) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    ahead xid8 := pg_snapshot_xmax(pg_current_snapshot());
begin
    -- Looking first lets it run where nothing may be written.
    if exists (select from event v where v.space_id = any(spaces) and v.transaction >= ahead) then
        update event v set transaction = '0'
        where v.space_id = any(spaces) and v.transaction <> '0'
          and v.id <= (select max(f.id) from event f where f.space_id = v.space_id and f.transaction >= ahead);
    end if;
end
$$;

comment on function textrawl.settle_events is
    'Numbers events anew that were restored from another cluster, whose transactions lie ahead of all of this one: they come first, in the order of their ids.';
