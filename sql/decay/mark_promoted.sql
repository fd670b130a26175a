create function textrawl.mark_promoted(
    memory uuid, path text,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp(),
    out marked boolean  -- false: the memory is gone, or somebody promoted it meanwhile
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    fact   record;
begin
    select m.entity_id, m.last_used into fact from memory_states(origin.space_id) m
    where m.observation_id = memory and is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment);
    marked := found;
    if marked then
        insert into retention as r (space_id, observation_id, last_used, status, promoted_at, promoted_to)
        values (origin.space_id, memory, fact.last_used, 'promoted', moment, path)
        on conflict (space_id, observation_id) do update
        set status = 'promoted', promoted_at = excluded.promoted_at, promoted_to = excluded.promoted_to
        where r.status = 'active';
        marked := found;
    end if;
    if marked then
        perform record_event('promoted', fact.entity_id, memory, null, origin);
    end if;
end
$$;

comment on function textrawl.mark_promoted is
    'Record that a memory was promoted to a note. gc leaves promoted memories. Errors: TR010 to TR012 (access).';
