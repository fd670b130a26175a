-- Loads the library, without which only a superuser may attach its settings to a function.
do $$ begin perform '[1]'::halfvec; end $$;

create function textrawl.search_memory(
    query text,
    spaces integer[] default null,
    entity_types text[] default null,
    as_of timestamptz default clock_timestamp(),
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
set hnsw.iterative_scan = relaxed_order
set hnsw.ef_search = 80
as $$
declare
    scoped     integer[] := readable_spaces(credential, spaces);
    wanted     text := 'o.valid_from <= $2 and (o.valid_until is null or o.valid_until > $2)';
    scope      text;
    selecting  text;
    covered    text;
    lexical    text := 'select null::integer as space_id, null::uuid as id where false';
    nearest    text := lexical;
    vectors    text := '(select null::integer as space_id, null::uuid as observation_id, null::halfvec as vector where false)';
    candidates integer := greatest(50, 2 * max_rows);
    large      boolean;
    stale      boolean;
    most       boolean;
    rare       boolean;
    breadth    integer;
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
    select string_agg(quote_literal('~s' || s), ' | ') into scope from unnest(scoped) s;
    if scope is null then
        return;
    end if;
    if entity_types is not null then
        wanted := wanted || ' and o.entity_type = any($3)';
    end if;

    select a.large, a.stale, a.most, a.rare, a.breadth into large, stale, most, rare, breadth
    from assess_spaces(scoped, entity_types) a;
    if not semantic then
        select string_agg(t.term::text, ' | ') filter (where t.selects),
            string_agg(format('case when o.fts @@ %L::tsquery then %s::float8 else 0 end', t.term, t.weight / t.total), ' + ')
        into selecting, covered
        from (select *, sum(weight) over () as total from search_terms(query, scoped, stale)) t;
    end if;
    if selecting is not null then
        -- The space is a word of the text index; as a condition on its column that an index can serve
        -- (is true: none can) it would make the planner read everything the space has. Where most facts
        -- are of the spaces, asking the index for each of their names costs more than it spares.
        lexical := format($sql$
            select space_id, id from (
                select o.space_id, o.id, o.created_at, %s as coverage from observation o
                where o.fts @@ %L::tsquery and (o.space_id = any($1)) is true and %s
                limit 5000) o
            order by coverage desc, created_at desc, id limit %s$sql$,
            covered, case when most then selecting else format('(%s) & (%s)', selecting, scope) end, wanted, candidates);
    end if;

    if vector is not null then
        vectors := format('textrawl.%I', 'embedding_' || model);
        if rare then
            nearest := format($sql$
                select o.space_id, o.id
                from observation o join %s v on v.space_id = o.space_id and v.observation_id = o.id
                where o.space_id = any($1) and %s
                order by (v.vector <=> $4) + 0 limit %s$sql$, vectors, wanted, candidates);
        elsif large then
            perform set_config('hnsw.ef_search', breadth::text, true);
            nearest := format($sql$
                select o.space_id, o.id
                from %s v join observation o on o.space_id = v.space_id and o.id = v.observation_id
                where (v.space_id = any($1)) is true and %s
                order by v.vector <=> $4 limit %s$sql$, vectors, wanted, candidates);
        else
            -- The index (+ 0: not asked) would pass over most of a large store to find little of a small
            -- space, which the planner does not know.
            nearest := format($sql$
                select o.space_id, o.id
                from (select space_id, observation_id, (vector <=> $4) + 0 as distance
                      from %s where space_id = any($1) order by distance) v
                join observation o on o.space_id = v.space_id and o.id = v.observation_id
                where %s
                order by v.distance limit %s$sql$, vectors, wanted, candidates);
        end if;
    end if;

    return query execute format($sql$
        with lexical as materialized (%s),
        nearest as materialized (%s),
        scored as materialized (
            select o.space_id, o.id, o.entity_id, o.entity_type, o.content, o.source, o.confidence,
                o.valid_until, o.created_at, o.author_id, o.ordinal, %s as coverage,
                -- The cosine of a vector of zeros, of a text without any known word, is not a number.
                nullif(1 - (v.vector <=> $4), 'nan') as cosine
            from (select * from lexical union select * from nearest) candidate
            join observation o using (space_id, id)
            left join %s v on v.space_id = o.space_id and v.observation_id = o.id
        ),
        best as (
            -- What was told just before and after a fact is mostly about the same: some of what speaks
            -- for the best of them speaks for it. Only what is better counts, so the best keeps its score.
            select *, power(own, 0.7) * power(max(own) over (
                partition by space_id order by ordinal range between 2 preceding and 2 following), 0.3) as score
            from (select *, search_score(search_likeness(cosine, $5, $6), coverage, $7) as own
                  from scored offset 0) judged
            order by score desc, created_at desc, id limit $8
        )
        select b.id, b.entity_id, b.space_id, s.name, e.name, b.entity_type, b.content, b.source, b.confidence,
            b.valid_until, b.created_at, a.name, b.score::real, b.cosine::real, b.coverage::real
        from best b
        join entity e on e.space_id = b.space_id and e.id = b.entity_id
        join actor a on a.id = b.author_id
        join space s on s.id = b.space_id
        order by b.score desc, b.created_at desc, b.id$sql$,
        lexical, nearest, coalesce(covered, 'null::double precision'), vectors)
    using scoped, coalesce(as_of, clock_timestamp()), entity_types, vector,
        model_row.cosine_floor, model_row.cosine_ceiling, coalesce(model_row.trust, 0.5), max_rows;
end
$$;

comment on function textrawl.search_memory is
    'Facts valid at a moment, best first, by words and, given a vector of the query, by meaning; score from 0 to 1; in the given spaces, else in all that may be read. Errors: TR010, TR011 (access), TR049 (there is no such model any more). Example: select entity_name, content, score from textrawl.search_memory(''favourite editor'');';
