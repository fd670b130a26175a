create function textrawl.search_memories(
    query text default null,
    any_tags text[] default null,    -- memories with one of these tags
    max_rows integer default 10,
    window_days double precision default null,
    min_score double precision default null,
    statuses text[] default '{active,promoted}',
    semantic boolean default false,  -- rank by meaning alone
    review boolean default true,     -- add memories that are due for review
    model integer default null, vector halfvec default null,
    credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (
    memory_id uuid, entity_name text, content text, tags text[], status text,
    score double precision,
    similarity double precision,  -- null without a query
    strength double precision, use_count integer, last_used timestamptz, created_at timestamptz,
    review_priority double precision,
    for_review boolean            -- true: returned only because it is due for review; its rank would be too low
)
language plpgsql stable security definer rows 10
set search_path from current
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    home   integer := graph_space(credential, space);
    policy decay_policy := space_policy(home);
    since  timestamptz := moment - make_interval(secs => window_days * 86400);
    breadth integer := 3 * max_rows;
    words  text[] := text_words(query);
begin
    return query
    with used as materialized (
        select r.observation_id as id, r.last_used from retention r
        where r.space_id = home and r.status in ('active', 'promoted') and r.status = any(statuses)
          and (any_tags is null or r.tags && any_tags) and (since is null or r.last_used >= since)
        order by r.last_used desc limit breadth
    ), ended as materialized (
        select r.observation_id as id, r.last_used from retention r
        where r.space_id = home and r.status in ('archived', 'removed') and r.status = any(statuses)
          and (any_tags is null or r.tags && any_tags) and (since is null or r.last_used >= since)
        order by r.last_used desc limit breadth
    ), stored as materialized (
        -- A fact without a row of retention was last used when it was stored. So only the newest facts can be among the
        -- memories that were used last.
        select o.id, o.created_at as last_used from observation o
        where o.space_id = home and any_tags is null order by o.ordinal desc limit breadth
    ), recent as materialized (
        select id from (select * from used union all select * from ended union all select * from stored) listed
        group by id order by max(last_used) desc limit breadth
    ), hit as materialized (
        select coalesce(first.id, o.id) as id, max(h.score)::double precision as score, max(h.cosine)::double precision as cosine
        from search_memory(query, array[home], null, null, least(greatest(breadth, 20), 100), model, vector, semantic, credential,
                           least_score => 0) h
        join observation o on o.space_id = home and o.id = h.observation_id
        left join lateral (
            select f.id from observation f
            where o.part > 1 and f.space_id = home and f.whole = o.whole and f.part = 1 and f.entity_id = o.entity_id
              and f.valid_until is not distinct from o.valid_until limit 1) first on true
        where query is not null
        group by 1
    ), candidate as materialized (
        select m.*, hit.score as hit_score, hit.cosine,
            decay_score(m.use_count, m.last_used, m.strength, policy, moment) as score
        from (select id from recent union select id from hit) found
        cross join lateral (select * from memory_states(home) s where s.observation_id = found.id offset 0) m
        left join hit on hit.id = found.id
        where m.local and m.status = any(statuses) and (any_tags is null or m.tags && any_tags)
          and (since is null or m.last_used >= since)
          and (m.status not in ('active', 'promoted') or is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment))
    ), compared as materialized (
        select c.*, rated.priority, words_of.shared,
            case when query is null then null
                 when semantic then greatest(coalesce(c.cosine, other.cosine, 0), 0)
                 else coalesce(c.hit_score, words_of.shared) end as similarity
        from candidate c
        cross join lateral (select review_priority(c.score, policy) as priority offset 0) rated
        -- Compare words only where the result counts. For 60 texts it would take a third of the time of a search.
        cross join lateral (
            select case when query is not null and (
                       c.hit_score is null and not semantic or review and rated.priority >= 0.3 and coalesce(c.cosine, 0) <= 0.6)
                   then jaccard(text_words(c.content), words) end as shared offset 0) words_of
        cross join lateral (
            select case when semantic and c.cosine is null then (
                select nullif(1 - (v.vector <=> search_memories.vector), 'nan') from embedding v
                where v.model_id = search_memories.model and v.space_id = home and v.observation_id = c.observation_id) end as cosine) other
        where min_score is null or c.score >= min_score
    ), ranked as materialized (
        select c.*, row_number() over (
            order by c.score * case when query is null then 1 when semantic then c.similarity else 1 + c.similarity end desc,
                c.last_used desc, c.observation_id) as rank
        from compared c
    ), due as materialized (
        -- A memory that is among the results anyway needs no slot for review.
        select observation_id, row_number() over (order by priority desc, observation_id) as turn
        from (
            select * from ranked
            where review and query is not null and priority >= 0.3 and (cosine > 0.6 or shared > 0.3)
              and rank > max_rows - floor((policy).review_share * max_rows)
            order by priority desc, observation_id limit least(20, floor((policy).review_share * max_rows)::integer)) slot
    ), placed as (
        select r.*, d.turn, row_number() over (partition by d.turn is null order by r.rank) as place
        from ranked r left join due d on d.observation_id = r.observation_id
    )
    select p.observation_id, e.name, memory_text(home, p.observation_id), p.tags, p.status, p.score, p.similarity,
        p.strength, p.use_count, p.last_used, p.created_at, p.priority, p.turn is not null
    from placed p join entity e on e.space_id = home and e.id = p.entity_id
    where p.turn is not null or p.place <= max_rows - (select count(*) from due)
    -- Two results by rank, then one for review, as long as there are any.
    order by coalesce(3 * p.turn, p.place + (p.place - 1) / 2), p.turn nulls first, p.rank;
end
$$;

comment on function textrawl.search_memories is
    'Search memories. The memories that were used last, and the best matches of search_memory(), are ranked by '
    'decay_score * (1 + similarity), or with semantic by decay_score * cosine. A search makes no memory fresh. '
    'Errors: TR010, TR011 (access), TR049 (the model was dropped). '
    'Example: select content, score, similarity from textrawl.search_memories(''deadline'', max_rows => 5);';
