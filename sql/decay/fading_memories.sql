create function textrawl.fading_memories(
    max_rows integer default null, credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (memory_id uuid, score double precision)
language plpgsql stable security definer
set search_path from current
set jit = off
as $$
#variable_conflict use_column
declare
    home   integer := graph_space(credential, space);
    policy decay_policy := space_policy(home);
begin
    return query
    select r.observation_id, faded.score
    from retention r
    cross join lateral (select decay_score(r.use_count, r.last_used, r.strength, policy, moment) as score offset 0) faded
    where r.space_id = home and r.status = 'active' and r.saved and faded.score < (policy).forget_threshold
      and exists (select from observation o where o.space_id = home and o.id = r.observation_id
                  and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment))
    order by faded.score, r.observation_id limit max_rows;
end
$$;

comment on function textrawl.fading_memories is
    'The memories that gc would remove, lowest score first: saved memories whose score is below the threshold of the '
    'policy. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.fading_memories(moment => now() + interval ''30 days'');';
