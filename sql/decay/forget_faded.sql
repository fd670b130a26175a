create function textrawl.forget_faded(
    memories uuid[], archive boolean default false,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp()
) returns table (memory_id uuid)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'forget', client, tool, request);
    policy decay_policy := space_policy(origin.space_id);
begin
    -- Somebody can have used a memory since fading_memories() named it, so compute its score again.
    return query
    select e from end_memories(
        array(select r.observation_id from retention r
              where r.space_id = origin.space_id and r.observation_id = any(memories) and r.status = 'active' and r.saved
                and decay_score(r.use_count, r.last_used, r.strength, policy, moment) < (policy).forget_threshold),
        case when archive then 'archived' else 'removed' end, origin, moment) e;
end
$$;

comment on function textrawl.forget_faded is
    'Remove or archive those of the given memories that have faded. Undo revives them. Return the ids of the memories '
    'that ended. Errors: TR010 to TR012 (access). '
    'Example: select count(*) from textrawl.forget_faded(array(select memory_id from textrawl.fading_memories()));';
