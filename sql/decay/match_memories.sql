create function textrawl.match_memories(
    words text[],                                -- each in the form of fold_case()
    tags text[] default null,                    -- memories with one of these tags; null: all
    window_days integer default null,            -- memories that were used in these last days; null: all
    least_score double precision default null,   -- memories with at least this decay_score(); null: all
    max_rows integer default 100,
    space integer default null, credential bytea default null,
    moment timestamptz default statement_timestamp()
) returns table (
    memory_id uuid, content text, tags text[],
    score double precision,  -- decay_score()
    created_at timestamptz, last_used timestamptz
)
language sql stable security definer rows 100
set search_path from current
begin atomic
    with chosen as materialized (
        select home.id, textrawl.space_policy(home.id) as policy,
            array(select '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%' from unnest(words) word) as patterns
        from (select textrawl.graph_space(credential, space) as id) home
    ), matched as materialized (
        select m.observation_id, m.tags, m.use_count, m.last_used, m.strength, m.created_at, whole.text
        from chosen cross join lateral textrawl.memory_states(chosen.id) m
        cross join lateral (
            select case when m.whole is null then m.content else textrawl.memory_text(m.space_id, m.observation_id) end as text) whole
        where m.local and m.status in ('active', 'promoted') and textrawl.is_valid(m.valid_from, m.valid_until, m.closed_at, present => moment)
          and (match_memories.tags is null or m.tags && match_memories.tags)
          and (window_days is null or m.last_used >= moment - make_interval(days => window_days))
          -- Most texts are ASCII, and lower() takes a tenth of the time of fold_case().
          and case when octet_length(whole.text) = char_length(whole.text) then lower(whole.text collate "C")
              else textrawl.fold_case(whole.text) end like all (chosen.patterns)
    )
    select m.observation_id, m.text, m.tags, s.score, m.created_at, m.last_used
    from matched m cross join lateral (
        select textrawl.decay_score(m.use_count, m.last_used, m.strength, (select chosen.policy from chosen), moment) as score offset 0) s
    where least_score is null or s.score >= least_score
    order by s.score desc, m.observation_id limit max_rows;
end;

comment on function textrawl.match_memories is
    'Memories whose text contains all given words, also inside longer words; the best retained first. search_unified '
    'lists them beside notes. Errors: TR010, TR011 (access). '
    'Example: select content, score from textrawl.match_memories(''{typescript}'');';
