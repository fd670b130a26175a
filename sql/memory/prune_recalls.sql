create function textrawl.prune_recalls() returns bigint
language sql volatile security definer
set search_path from current
begin atomic
    with bound as materialized (
        select s.id as space_id, (
            select old.id from textrawl.recall old where old.space_id = s.id order by old.id desc offset 100000 limit 1) as last
        from textrawl.space s
    ), old as materialized (
        select r.space_id, r.id from bound b join textrawl.recall r on r.space_id = b.space_id and r.id <= b.last
        union
        select r.space_id, r.id from bound b join textrawl.recall r on r.space_id = b.space_id and r.at < now() - interval '90 days'
    ), due as materialized (
        -- Skip rows that another session is changing. The next run, an hour later, deletes them.
        select r.space_id, r.id from old join textrawl.recall r on r.space_id = old.space_id and r.id = old.id
        order by r.space_id, r.id for update of r skip locked
    ), deleted as (
        delete from textrawl.recall r using due old where r.space_id = old.space_id and r.id = old.id returning r.id
    )
    select count(*) from deleted;
end;

comment on function textrawl.prune_recalls is
    'Delete recalls that are older than 90 days, and all but the newest 100,000 recalls of each space. Return the '
    'number of deleted recalls. Servers call this every hour.';
