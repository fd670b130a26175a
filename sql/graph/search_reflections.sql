create function textrawl.search_reflections(
    query text, model integer default null, vector halfvec default null,
    voice text default null, mood text default null, target_type text default null, max_rows integer default 10,
    space integer default null, credential bytea default null
) returns table (
    number bigint, target_type text, target bigint,
    author text,  -- the actor who wrote the reflection
    voice text,   -- the speaker, as the writer named it; the parameter voice can match author or voice
    content text, mood text, created_at timestamptz,
    score double precision
)
language sql stable security definer rows 10
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.graph_space(credential, search_reflections.space) as home
    ), candidate as materialized (
        select r.*, a.name as author,
            case when r.model_id = search_reflections.model then 1 - (r.vector <=> search_reflections.vector) end as cosine,
            ts_rank(r.fts, query_terms.terms) as likeness, r.fts @@ query_terms.terms as worded
        from textrawl.reflection r join textrawl.actor a on a.id = r.author_id
        cross join (
            select case when languages = array['english'] then plainto_tsquery('english', textrawl.search_text(query))
                else (select string_agg('(' || w.term::text || ')', '&')::tsquery from textrawl.query_words(query, languages) w) end
            from scope, textrawl.search_languages(array[home]) languages) query_terms(terms)
        where r.space_id = (select home from scope)
          and (r.entity_id is null or exists (
              select from textrawl.local_entities() e where e.space_id = r.space_id and e.id = r.entity_id))
          and (r.relation_id is null or exists (
              select from textrawl.local_relations() l where l.space_id = r.space_id and l.id = r.relation_id))
          and (search_reflections.voice is null or search_reflections.voice in (r.voice, a.name))
          and (search_reflections.mood is null or r.mood = search_reflections.mood)
          and (search_reflections.target_type is null or r.target_type = search_reflections.target_type)
    ), by_meaning as (
        select w.id, row_number() over (order by w.cosine desc, w.id) as rank from candidate w
        where w.cosine is not null and w.cosine <> 'nan' order by w.cosine desc, w.id limit 3 * max_rows
    ), by_words as (
        select w.id, row_number() over (order by w.likeness desc, w.id) as rank from candidate w
        where w.worded order by w.likeness desc, w.id limit 3 * max_rows
    ), scored as (
        -- If no reflection matches by words, use the cosine instead of the reciprocal ranks.
        select w.*, textrawl.limbic_decay(w.created_at, clock_timestamp())
            * case when exists (select from by_words) then coalesce(1.0 / (60 + n.rank), 0) + coalesce(1.0 / (60 + t.rank), 0)
                   else greatest(0, w.cosine) end::double precision as score
        from candidate w left join by_meaning n on n.id = w.id left join by_words t on t.id = w.id
        where n.id is not null or t.id is not null
    )
    select textrawl.node_number(s.id), s.target_type, textrawl.node_number(coalesce(s.entity_id, s.relation_id)),
        s.author, s.voice, s.content, s.mood, s.created_at, s.score
    from scored s order by s.score desc, s.id limit max_rows;
end;

comment on function textrawl.search_reflections is
    'Search reflections by words and, if you give a vector, also by meaning. The score is the sum of 1 / (60 + rank) '
    'of both searches, times the freshness. Errors: TR010, TR011 (access). '
    'Example: select author, content from textrawl.search_reflections(''architecture'');';
