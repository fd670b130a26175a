create function textrawl.reinforce_memories(
    memories uuid[],
    context_tags text[] default '{}',
    review boolean default false,  -- the memories were used in an answer: count reviews, and detect other domains
    boost double precision default 0,
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null,
    moment timestamptz default clock_timestamp()
) returns table (
    memory_id uuid,
    found boolean,  -- false: no active or promoted memory has this id, and the other columns are null
    cross_domain boolean, old_score double precision, new_score double precision,
    use_count integer, review_count integer, strength double precision
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
    policy decay_policy := space_policy(origin.space_id);
begin
    if review and not (policy).auto_reinforce then
        return;
    end if;
    insert into retention (space_id, observation_id, last_used)
    select m.space_id, m.observation_id, m.last_used from memory_states(origin.space_id) m
    where m.observation_id = any(memories) and is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment)
    order by m.observation_id
    on conflict do nothing;
    return query
    with given as (
        select id, min(place) as place from unnest(memories) with ordinality g(id, place) group by id
    ), former as materialized (
        -- Lock the rows in the order of their ids, so that two such calls cannot deadlock.
        select r.observation_id, r.strength, decay_score(r.use_count, r.last_used, r.strength, policy, moment) as score, o.entity_id,
            review and is_cross_domain(r.tags, context_tags) as crosses
        from retention r join observation o on o.space_id = r.space_id and o.id = r.observation_id
        where r.space_id = origin.space_id and r.observation_id = any(memories) and r.status in ('active', 'promoted')
          and is_valid(o.valid_from, o.valid_until, o.closed_at, present => moment)
        order by r.observation_id for update of r
    ), used as (
        update retention r
        set use_count = r.use_count + 1, last_used = greatest(r.last_used, moment),
            strength = case when f.crosses then greatest(r.strength, least(2, r.strength + (policy).cross_domain_boost))
                            else greatest(r.strength, least(2, r.strength + boost)) end,
            review_count = r.review_count + review::integer, cross_domain_count = r.cross_domain_count + f.crosses::integer,
            last_review_at = case when review then moment else r.last_review_at end
        from former f
        where r.space_id = origin.space_id and r.observation_id = f.observation_id
        returning r.observation_id, r.use_count, r.review_count, r.strength, r.last_used, f.score as old_score, f.crosses, f.entity_id
    ), recorded as materialized (
        select record_event('used', u.entity_id, u.observation_id, null, origin, jsonb_build_object('uses', u.use_count)) from used u
    )
    select g.id, u.observation_id is not null, u.crosses, u.old_score,
        decay_score(u.use_count, u.last_used, u.strength, policy, moment), u.use_count, u.review_count, u.strength
    from given g left join used u on u.observation_id = g.id
    where (select count(*) from recorded) >= 0  -- Postgres runs `recorded` only because this condition reads it
    order by g.place;
end
$$;

comment on function textrawl.reinforce_memories is
    'Record that memories were used: each becomes fresh, and counts a use. With review, a memory whose tags differ from '
    'context_tags gains strength, and nothing happens in a space whose policy has auto_reinforce off. Errors: TR010 to '
    'TR012 (access). '
    'Example: select memory_id, new_score from textrawl.reinforce_memories(array[''00000000-0000-0000-0000-000000000000'']::uuid[]);';
