create function textrawl.end_memories(
    memories uuid[], status text, origin textrawl.origin, moment timestamptz default clock_timestamp(), detail jsonb default '{}'
) returns setof uuid
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    taken uuid[];
    ended uuid[];
begin
    -- Skip memories that another session is using or changing. They are not abandoned, and nobody waits.
    taken := array(
        select r.observation_id from retention r
        where r.space_id = origin.space_id and r.observation_id = any(memories) and r.status in ('active', 'promoted')
        order by r.observation_id for update skip locked);
    taken := array(
        select o.id from observation o
        where o.space_id = origin.space_id and o.id = any(taken) and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
        order by o.id for no key update skip locked);
    update retention r set status = end_memories.status, ended_at = moment
    where r.space_id = origin.space_id and r.observation_id = any(taken);
    insert into event (space_id, actor_id, client, tool, request, action, entity_id, observation_id, detail)
    select origin.space_id, origin.author_id, origin.client, origin.tool, origin.request, 'faded', o.entity_id, o.id,
        detail || jsonb_build_object('status', end_memories.status, 'until', o.valid_until)
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

comment on function textrawl.end_memories is
    'End memories, so that searches do not find them, and record it in the trail. The status says why: archived or '
    'removed. Memories that another session has locked stay as they are. Return the ids of the ended memories.';
