create or replace function textrawl_content.enter_cell(shard bigint) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Citus takes this lock exclusively when it moves a shard. So no call changes a shard that has been moved.
    perform lock_shard_metadata(5, array[shard]);
    if not exists (
        select from pg_dist_placement p join pg_dist_local_group g on g.groupid = p.groupid where p.shardid = shard) then
        raise exception using errcode = 'TR094', message = 'the cell was moved to another node';
    end if;
end
$$;

comment on function textrawl_content.enter_cell is
    'Let the calls of this transaction use a cell of this node. Until the transaction ends, the cell is not moved. '
    'Errors: TR094 (the cell is on another node).';
