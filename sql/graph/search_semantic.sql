create function textrawl.search_semantic(
    query text, model integer, vector halfvec, max_rows integer default 10,
    space integer default null, credential bytea default null
) returns table (
    number bigint, name text, entity_type text, observations text[],
    limbic_score double precision, importance double precision,  -- these four columns: see limbic_scores()
    temporal double precision, cooc double precision,
    distance double precision,  -- null if only words match
    rrf double precision        -- sum of the reciprocal ranks by meaning and by words (k = 60); null if no words match
)
language plpgsql stable security definer rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    home  integer := graph_space(credential, space);
    ids   uuid[]; distances double precision[]; ranks double precision[];
    texts bigint;
begin
    if home is null then
        return;
    end if;
    -- Take three times as many candidates as the caller wants. Frequent use can then raise an entity that the vectors
    -- alone would leave out.
    with by_meaning as materialized (
        select hit.entity_id as id, 1 - max(hit.cosine)::double precision as distance
        from search_memory(query, array[home], null, null, 12 * max_rows, model, vector, true, credential) hit
        where hit.cosine is not null and hit.relation_id is null
        group by hit.entity_id order by 2, 1 limit 3 * max_rows
    ), by_words as materialized (
        select hit.entity_id as id, max(hit.score) as score
        from search_memory(query, array[home], null, null, 12 * max_rows, null, null, false, credential, neighbours => false) hit
        where hit.relation_id is null
        group by hit.entity_id order by 2 desc, 1 limit 3 * max_rows
    ), ranked as (
        select coalesce(n.id, w.id) as id, n.distance,
            coalesce(1.0 / (60 + n.rank), 0) + coalesce(1.0 / (60 + w.rank), 0) as rrf
        from (select *, row_number() over (order by distance, id) as rank from by_meaning) n
        full join (select *, row_number() over (order by score desc, id) as rank from by_words) w on w.id = n.id
    )
    select array_agg(r.id order by r.id), array_agg(r.distance order by r.id), array_agg(r.rrf::double precision order by r.id),
        (select count(*) from by_words)
    into ids, distances, ranks, texts from ranked r;
    return query
        select node_number(e.id), e.name, free_type(e.entity_type, e.metadata), list_observations(home, e.id),
            s.score, s.importance, s.temporal, s.cooc, candidate.distance, case when texts > 0 then candidate.rrf end
        from limbic_scores(home, ids, distances, ranks) s
        join unnest(ids, distances, ranks) candidate(id, distance, rrf) on candidate.id = s.entity_id
        join entity e on e.space_id = home and e.id = s.entity_id
        order by s.score desc, e.id limit max_rows;
end
$$;

comment on function textrawl.search_semantic is
    'Entities with a fact whose vector is near the query''s vector, or with a fact that has words of the query. '
    'limbic_scores() ranks these entities. Errors: TR010, TR011 (access), TR049 (no such model).';
