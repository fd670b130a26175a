create function textrawl.queue_summaries(
    since timestamptz default null,  -- only entities that have changed since then; null: all
    credential bytea default null, space integer default null
) returns bigint  -- number of summaries that wait
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', null, 'summarize', null);
begin
    with candidate as materialized (
        select e.id, now_valid.facts, now_valid.hash
        from entity e cross join lateral summarized_facts(e.space_id, e.id) now_valid
        where e.space_id = origin.space_id and (since is null or e.updated_at >= since)
    ), removed as (
        delete from summary s using candidate c where s.space_id = origin.space_id and s.entity_id = c.id and c.facts < 10
    )
    insert into summary as s (space_id, entity_id, due_at)
    select origin.space_id, c.id, now() from candidate c
    where c.facts >= 10 and c.hash is distinct from (
        select known.facts_hash from summary known where known.space_id = origin.space_id and known.entity_id = c.id)
    on conflict (space_id, entity_id) do update
    -- An entity that changes all the time is summarized once an hour.
    set due_at = greatest(now(), s.made_at + interval '1 hour'), attempts = 0 where s.due_at is null;
    return (select count(*) from summary s where s.space_id = origin.space_id and s.due_at is not null);
end
$$;

comment on function textrawl.queue_summaries is
    'Queue the entities of a space for a summary that have at least ten valid facts, and whose facts have changed since '
    'their last summary. Delete the summaries of entities with fewer facts. Needs the scope write. Errors: TR010 to TR012 '
    '(access). Example: select textrawl.queue_summaries();';
