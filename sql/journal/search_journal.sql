create function textrawl.search_journal(
    query text,
    instance text default null,   -- entries of this instance get a higher score; null: no instance
    min_score double precision default 0.3,
    max_rows integer default 10,
    model integer default null, vector halfvec default null,
    credential bytea default null, space integer default null,
    moment timestamptz default statement_timestamp()
) returns table (
    score double precision, path text, granularity text, date text, slug text, source_instance text, age_days integer,
    vector_score double precision,  -- cosine, at least 0; null: no vectors were compared
    method text,                    -- vector or text
    observation_id uuid,            -- the best part
    excerpt text, short_excerpt text
)
language plpgsql stable security definer rows 10
set search_path from current
set jit = off
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    home       integer := graph_space(credential, space);
    candidates integer := greatest(100, 4 * max_rows);
    model_row  embedding_model;
    plan       record;
    near       record;
    terms      tsquery[];
    sums       double precision[];
    selecting  tsquery;
    fallback   tsquery;
    names      text[];
    words      text[] := array(select lower(w.word) from query_words(query) w);
begin
    if vector is not null then
        select * into model_row from embedding_model m where m.id = model;
        if model_row.id is null then
            raise exception using errcode = 'TR049', message = 'the model was dropped';
        end if;
    end if;
    select a.* into plan from assess_spaces(array[home], model => model, parts => true) a;
    select t.terms, subset_sums(t.weights), t.selecting, t.fallback into terms, sums, selecting, fallback
    from search_terms(query, array[home], plan.stale) t;
    if plan.rare then
        -- Each part has the word journal, because the name of its entity begins with it.
        selecting := selecting && 'journal'::tsquery;
        fallback := fallback && 'journal'::tsquery;
    end if;
    -- Up to 20 entities that share a word with the query, without those that exist only for journal entries.
    names := array(
        select e.name from entity e
        where e.space_id = home and e.name_key not like 'journal %'
          and e.fts @@ (
              select string_agg(quote_literal(w), '|')::tsquery
              from unnest(tsvector_to_array(to_tsvector('simple', search_text(query)))) w
              where char_length(w) > 2 and w !~ '^[0-9]+$' and w <> 'journal' and ts_lexize('english_stem', w) <> '{}')
        order by char_length(e.name), e.name limit 20);
    -- Read more candidates if the best parts belong to a few long entries.
    loop
        select array_agg(n.id) as ids, array_agg(n.cosine) as cosines, count(*) as parts, count(distinct o.whole) as entries into near
        from nearest_facts(model, vector, array[home], null, null, candidates, plan.large, plan.rare, plan.breadth, plan.own,
                           parts => true) n
        join observation o on o.space_id = n.space_id and o.id = n.id;
        exit when near.parts < candidates or near.entries >= 2 * max_rows or candidates >= 2000;
        candidates := 4 * candidates;
    end loop;
    return query
    with nearest as materialized (
        select n.id, n.cosine from unnest(near.ids, near.cosines) n (id, cosine)
    ), lexical as materialized (
        select m.id from matching_facts(terms, sums, selecting, fallback, false, array[home], null, null, candidates, parts => true) m
        except all select id from nearest
    ), found as materialized (
        select id, cosine from nearest
        union all
        select l.id, nullif(1 - (v.vector <=> search_journal.vector), 'nan')
        from lexical l
        left join embedding v on v.model_id = search_journal.model and v.space_id = home and v.observation_id = l.id
    ), part as materialized (
        select o.id, o.whole, o.content, f.cosine, matched, j.path, j.granularity, j.date, j.slug,
            j.instance as source, greatest(0, (moment at time zone 'UTC')::date - (upper(j.period) - 1)) as age,
            j.instance = search_journal.instance or j.attributes -> 'participants' ? search_journal.instance as own,
            coalesce(terms_weight(matched, sums), 0) as coverage
        from found f
        -- `limit 1` makes the planner look up each part and its entry by their keys. It would read the whole journal.
        cross join lateral (select * from observation where space_id = home and id = f.id limit 1) o
        cross join lateral (select matched_terms(o.fts, terms) as matched offset 0) of_terms
        cross join lateral (select * from journal_entries(home) e where e.document_id = o.whole limit 1) j
    ), scored as materialized (
        select p.*, case when p.cosine is null
            -- Without a vector, use another formula, because words alone say less.
            then case when strpos(lower(p.content), lower(query)) > 0 then 0.7
                      else 0.5 * coalesce(bit_count(p.matched::bit(12))::float8 / cardinality(terms), 0) end
                 + case when p.own then 0.1 else 0 end
            else 0.6 * greatest(search_likeness(p.cosine, model_row.cosine_floor, model_row.cosine_ceiling), 0.7 * p.coverage)
                 + 0.2 * p.coverage
                 + 0.05 / (1 + 0.007 * p.age)
                 -- The function takes 0.1 milliseconds for each part, so call it only if there are names to look for.
                 + case when names = '{}' then 0 else 0.05 * graph_signal(p.content, names) end
                 + case when p.own then 0.1 else 0 end end as total
        from part p
    ), best as (
        select distinct on (s.whole) s.* from scored s where s.total >= min_score order by s.whole, s.total desc, s.id
    ), chosen as materialized (
        select * from best b order by b.total desc, b.age, b.path limit max_rows
    )
    select c.total, c.path, c.granularity, c.date, c.slug, c.source, c.age, case when c.cosine < 0 then 0 else c.cosine end,
        case when c.cosine is null then 'text' else 'vector' end, c.id, e.excerpt, e.short_excerpt
    from chosen c
    join document d on d.space_id = home and d.id = c.whole
    join document_version v on v.space_id = home and v.document_id = d.id and v.version = d.version
    cross join lateral entry_excerpt(v.content, c.content, c.granularity, words) e
    order by c.total desc, c.age, c.path;
end
$$;

comment on function textrawl.search_journal is
    'Search the journal. The score of an entry is the score of its best part. It is a sum: 0.6 for the likeness of the '
    'vectors (at least 0.7 of the coverage), 0.2 for the coverage of the words, 0.1 for an entry of the instance, 0.05 for '
    'recency (1 / (1 + 0.007 * days)), and 0.05 for entities that share a word with the query and that the part names. '
    'Without a vector, the score is 0.7 if the part contains the whole query, otherwise 0.5 for its share of the words, '
    'and 0.1 for an entry of the instance. Errors: TR010, TR011 (access), TR049 (the model was dropped). '
    'Example: select score, path, excerpt from textrawl.search_journal(''tea with Ben'', min_score => 0.2);';
