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
    reason text := case when archive then 'archived' else 'removed' end;
    taken  uuid[];
    ended  uuid[];
begin
    -- Somebody can have used a memory since fading_memories() named it, so compute its score again. Skip memories that
    -- another session is using or changing. They are not abandoned, and nobody waits.
    taken := array(
        select r.observation_id from retention r
        where r.space_id = origin.space_id and r.observation_id = any(memories) and r.status = 'active' and r.saved
          and decay_score(r.use_count, r.last_used, r.strength, policy, moment) < (policy).forget_threshold
        order by r.observation_id for update skip locked);
    taken := array(
        select o.id from observation o
        where o.space_id = origin.space_id and o.id = any(taken) and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
        order by o.id for no key update skip locked);
    update retention r set status = reason, ended_at = moment
    where r.space_id = origin.space_id and r.observation_id = any(taken);
    insert into event (space_id, actor_id, client, tool, request, action, entity_id, observation_id, detail)
    select origin.space_id, origin.author_id, origin.client, origin.tool, origin.request, 'faded', o.entity_id, o.id,
        jsonb_build_object('status', reason, 'until', o.valid_until)
    from observation o where o.space_id = origin.space_id and o.id = any(taken)
    order by o.id;
    ended := taken || array(
        select p.id from observation o
        join observation p on p.space_id = o.space_id and p.whole = o.whole and p.entity_id = o.entity_id and p.part > 1
            and p.valid_until is not distinct from o.valid_until
        where o.space_id = origin.space_id and o.id = any(taken) and o.whole is not null);
    update observation o set valid_until = moment, closed_at = moment where o.space_id = origin.space_id and o.id = any(ended);
    return query select unnest(taken);
end
$$;

comment on function textrawl.forget_faded is
    'Remove or archive those of the given memories that have faded. Undo revives them. Return the ids of the memories '
    'that ended. Errors: TR010 to TR012 (access). '
    'Example: select count(*) from textrawl.forget_faded(array(select memory_id from textrawl.fading_memories()));';
