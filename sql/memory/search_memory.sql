create function textrawl.search_memory(
    query text,
    spaces integer[] default null,
    entity_types text[] default null,
    as_of timestamptz default null,
    max_rows integer default 10,
    model integer default null,
    vector halfvec default null,
    semantic boolean default false,
    credential bytea default null
)
returns table (
    observation_id uuid, entity_id uuid, space_id integer, space text, entity_name text, entity_type text,
    content text, source text, confidence real, valid_until timestamptz, created_at timestamptz,
    author text, score real, cosine real, coverage real
)
language plpgsql stable security definer rows 10
set search_path from current
set jit = off
-- Plan each statement once per session: these settings leave the planner only the index scan anyway.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    scoped     integer[] := readable_spaces(credential, spaces);
    candidates integer := greatest(50, 2 * max_rows);
    terms      tsquery[];
    weights    double precision[];
    selecting  tsquery;
    fallback   tsquery;
    common     boolean := false;
    plan       record;
    model_row  embedding_model;
begin
    if vector is not null then
        select * into model_row from embedding_model m where m.id = model;
    end if;
    if model_row.id is null and model is not null and vector is not null then
        raise exception using errcode = 'TR049', message = 'the model was dropped';
    elsif vector is null and semantic or vector is not null and model is null then
        raise exception using errcode = 'invalid_parameter_value',
            message = 'search by meaning needs a vector and the id of the model that made it';
    end if;

    select a.* into plan from assess_spaces(scoped, entity_types, model) a;
    if not semantic then
        select array_agg(t.term), array_agg(t.weight / t.total), string_agg('(' || t.selecting::text || ')', '|')::tsquery,
            -- If even the rarest word is too common to select alone, use it alone when too few facts match it with another.
            case when bool_or(t.selecting = t.term) filter (where t.share is not null) then null
                else (array_agg(t.term order by t.share) filter (where t.share is not null))[1] end,
            -- If every tenth fact has the word, the index would list all of them before the first is checked.
            -- Check the newest facts instead.
            coalesce(plan.most and entity_types is null and min(t.share) > 0.1, false)
        into terms, weights, selecting, fallback, common
        from (select *, sum(weight) over () as total from search_terms(query, scoped, plan.stale)) t;
        fallback := coalesce(fallback && !!selecting, fallback);
    end if;
    if not plan.most then
        -- If these spaces hold most facts, looking up each space name in the index costs more than it saves.
        select selecting && s.scope, fallback && s.scope into selecting, fallback
        from (select string_agg(quote_literal('~s' || space), ' | ')::tsquery as scope from unnest(scoped) space) s;
    end if;

    return query
        with matching as materialized (
            -- The text index holds the space as a word. `is true` keeps other indexes from serving the column's condition:
            -- the planner would read the whole space.
            select space_id, id, created_at, fts from observation o
            where selecting is not null and o.fts @@ selecting and (o.space_id = any(scoped)) is true
                and is_valid(o.valid_from, o.valid_until, as_of)
                and (entity_types is null or o.entity_type = any(entity_types))
            limit 2000
        ),
        lexical as materialized (
            select space_id, id from (
                select * from matching
                union all
                -- Facts that match two words outrank facts that match one: skip the one-word fallback if there are enough.
                (select o.space_id, o.id, o.created_at, o.fts
                 from (
                    select space_id, id, created_at, fts, valid_from, valid_until, entity_type
                    from observation where not common and (space_id = any(scoped)) is true
                    union all
                    select newest.* from unnest(scoped) place cross join lateral (
                        select space_id, id, created_at, fts, valid_from, valid_until, entity_type
                        from observation where common and space_id = place
                        order by ordinal desc limit 50000 / cardinality(scoped)) newest
                 ) o
                 where fallback is not null and (select count(*) from matching) < candidates and o.fts @@ fallback
                    and is_valid(o.valid_from, o.valid_until, as_of)
                    and (entity_types is null or o.entity_type = any(entity_types))
                 limit 2000)
            ) o
            order by word_coverage(o.fts, terms, weights) desc, created_at desc, id limit candidates
        ),
        nearest as materialized (
            select n.space_id, n.id, n.cosine from nearest_facts(
                model, vector, scoped, entity_types, as_of, candidates, plan.large, plan.rare, plan.breadth, plan.own) n
        ),
        lexical_only as materialized (
            select space_id, id from lexical except all select space_id, id from nearest
        ),
        scored as materialized (
            select o.space_id, o.id, o.entity_id, o.entity_type, o.content, o.source, o.confidence,
                o.valid_until, o.created_at, o.author_id, o.ordinal, c.cosine,
                search_likeness(c.cosine, model_row.cosine_floor, model_row.cosine_ceiling) as likeness,
                case when terms is not null then word_coverage(o.fts, terms, weights) end as coverage
            from (
                select * from nearest
                union all
                select * from fact_cosines(
                    model, vector, array(select space_id from lexical_only), array(select id from lexical_only))
            ) c
            join observation o using (space_id, id)
        ),
        best as materialized (
            -- Facts stored just before and after a good match often concern the same subject, so part of its score counts
            -- for them. Only a better neighbour counts: the best fact keeps its score.
            select *, power(own, 0.7) * power(max(own) over (
                partition by space_id order by ordinal range between 2 preceding and 2 following), 0.3) as score
            from (select *, search_score(likeness, coverage, coalesce(model_row.trust, 0.5)) as own
                  from scored offset 0) with_own_score
            order by score desc, created_at desc, id limit max_rows
        )
        select b.id, b.entity_id, b.space_id, s.name, e.name, b.entity_type, b.content, b.source, b.confidence,
            b.valid_until, b.created_at, a.name, b.score::real, b.cosine::real, b.coverage::real
        from best b
        join entity e on e.space_id = b.space_id and e.id = b.entity_id
        join actor a on a.id = b.author_id
        join space s on s.id = b.space_id
        order by b.score desc, b.created_at desc, b.id;
end
$$;

comment on function textrawl.search_memory is
    'Search facts by words and, given a vector of the query, by meaning; the score is from 0 to 1, best first. It searches '
    'the given spaces, or all that you can read. Errors: TR010, TR011 (access), TR049 (the model was dropped). '
    'Example: select entity_name, content, score from textrawl.search_memory(''favourite editor'');';
