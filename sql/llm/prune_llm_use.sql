create function textrawl.prune_llm_use() returns bigint
language sql volatile security definer
set search_path from current
begin atomic
    with bound as materialized (
        select s.id as space_id, (
            select old.id from textrawl.llm_use old where old.space_id = s.id order by old.id desc offset 100000 limit 1) as last
        from textrawl.space s
    ), old as materialized (
        select u.space_id, u.id from bound b join textrawl.llm_use u on u.space_id = b.space_id and u.id <= b.last
        union
        select u.space_id, u.id from bound b
        join textrawl.llm_use u on u.space_id = b.space_id and u.at < now() - interval '90 days'
    ), due as materialized (
        select u.space_id, u.id from old join textrawl.llm_use u on u.space_id = old.space_id and u.id = old.id
        order by u.space_id, u.id for update of u skip locked
    ), deleted as (
        delete from textrawl.llm_use u using due where u.space_id = due.space_id and u.id = due.id returning u.id
    )
    select count(*) from deleted;
end;

comment on function textrawl.prune_llm_use is
    'Delete the rows of calls to the LLM that are older than 90 days, and all rows except the newest 100,000 of each '
    'space. Return the number of deleted rows. Servers call this function every hour.';
