create function textrawl.explain_search(
    query text,
    spaces integer[] default null,
    entity_types text[] default null,
    as_of timestamptz default null,
    max_rows integer default 10,
    model integer default null,
    vector halfvec default null,
    credential bytea default null,
    since timestamptz default null,
    until timestamptz default null,
    around tstzrange default null,
    least_score double precision default null,
    more integer default 10,   -- facts to show after those that search_memory() returns
    tense text default null,
    during tstzrange default null,
    clause text default null
)
returns table (
    place integer,       -- rank of the fact among all candidates; null if the fact is not valid
    outcome text,        -- returned, over the limit, below the least score or ended
    observation_id uuid, space text, entity_name text, entity_type text, content text,
    score real,          -- as search_memory() returns it
    own_score real,      -- the score without the facts stored just before and after
    cosine real,         -- of the vectors of the query and of the fact; null if one of them is missing
    likeness real,       -- the cosine in the range of the model, from 0 to 1
    coverage real,       -- the weighted share of the query's words that the fact has, with a part for its neighbours
    words jsonb,         -- the words of the query, rarest first: [{word, weight, found}]; the weights add up to 1
    found_by text[],     -- how the fact became a candidate: words, vector; empty if a neighbour or a relation led to it
    valid_until timestamptz, created_at timestamptz, valid_from timestamptz,
    timeless_score real, -- the score if the question were not about a time; null if it is not
    log_odds double precision[], -- as of search_memory(): base, meaning, words, about, beside, period, unheard, better, order
    evidence text, evidence_start integer  -- the sentence from which an LLM took the fact, and its position in the text
)
language plpgsql stable security definer rows 20
set search_path from current
as $$
#variable_conflict use_column
declare
    scoped     integer[] := readable_spaces(credential, spaces);
    candidates integer := greatest(24, 2 * (max_rows + more));
    types      text[] := wanted_types(entity_types, scoped);
    plan       record;
    caller     record;  -- as of search_memory()
    terms      tsquery[];
    names      text[];
    weights    double precision[];
    choosing   double precision[];
    selecting  tsquery;
    ended      uuid[];
    bar        double precision := least_score;
    moment     timestamptz := case when as_of is null and (tense <> 'now' or during is not null) then 'infinity' else as_of end;
    languages  text[] := search_languages(scoped);
begin
    if bar is null then
        select b.score into bar from answer_bar() b;
    end if;
    select a.* into plan from assess_spaces(scoped, types, model, since, until) a;
    select * into caller from name_caller(query, languages, scoped, credential);
    select t.terms, t.weights, t.selecting, t.words into terms, weights, selecting, names
    from search_terms(caller.question, scoped, plan.stale, languages, plan.facts) t;
    choosing := subset_sums(weights);
    if caller.names is not null and not caller.alone then
        -- The names of the caller are no evidence.
        select array_agg(case when own then 0 else weight / nullif(sum_of_others, 0) end order by place) into weights
        from (select place, weight, own, sum(weight) filter (where not own) over () as sum_of_others
              from unnest(weights, terms) with ordinality w (weight, term, place)
              cross join lateral (
                  select to_tsvector(languages[1]::regconfig, search_text(array_to_string(caller.names, ' '))) @@ term as own) o) shares;
    end if;
    -- Facts that are not valid, newest first. They match the words that select facts alone.
    ended := array(
        select o.id from observation o
        where selecting is not null and o.fts @@ selecting and (o.space_id = any(scoped)) is true
            and not is_valid(o.valid_from, o.valid_until, o.closed_at, moment)
            and (types is null or o.entity_type = any(types))
            and is_of_repository(o.repository, session_repositories(scoped, query))
            and (o.relation_id is null or is_local_relation(o.space_id, o.relation_id))
        order by o.created_at desc, o.id limit more);
    return query
        with wide as materialized (
            select s.*, row_number() over () as rank
            from search_memory(query, spaces, entity_types, as_of, max_rows + more, model, vector,
                credential => credential, since => since, until => until, around => around, least_score => 0,
                tense => tense, during => during, clause => clause) s
        ), answered as materialized (
            select s.observation_id from search_memory(query, spaces, entity_types, as_of, max_rows, model, vector,
                credential => credential, since => since, until => until, around => around, least_score => least_score,
                tense => tense, during => during, clause => clause) s
        ), lexical as materialized (
            select m.id from matching_facts(
                terms, choosing, selecting, null, false, scoped, types, moment, candidates, since, until) m
        ), nearest as materialized (
            select n.id from nearest_facts(
                model, vector, scoped, types, moment, candidates, plan.large, plan.rare, plan.breadth, plan.own,
                since, until) n
        ), shown as (
            select w.rank, w.observation_id, w.space_id, w.score, w.cosine, w.coverage, w.log_odds,
                case when a.observation_id is not null then 'returned'
                    when w.rank > max_rows and w.score >= bar and exists (select from answered) then 'over the limit'
                    else 'below the least score' end as outcome
            from wide w left join answered a using (observation_id)
            union all
            select null, o.id, o.space_id, null, null, null, null, 'ended'
            from observation o where o.id = any(ended) and o.space_id = any(scoped)
        )
        select s.rank::integer, s.outcome, o.id, p.name, e.name, o.entity_type, o.content, s.score,
            (1 / (1 + exp(-(select sum(part) from unnest(s.log_odds[:7]) part))))::real, s.cosine,
            (select search_likeness(s.cosine, m.cosine_floor, m.cosine_ceiling)::real from embedding_model m where m.id = model),
            s.coverage,
            (select coalesce(jsonb_agg(jsonb_build_object(
                    'word', name, 'weight', round(weight::numeric, 3), 'found', o.fts @@ term) order by at), '[]')
             from unnest(names, weights, terms) with ordinality t (name, weight, term, at)),
            array_remove(array[
                case when o.id in (select id from lexical) then 'words' end,
                case when o.id in (select id from nearest) then 'vector' end], null),
            o.valid_until, o.created_at, o.valid_from,
            case when num_nonnulls(tense, during, around) > 0 then
                (1 / (1 + exp(-(select sum(part) from unnest(s.log_odds[:5] || s.log_odds[7:8]) part))))::real end,
            s.log_odds, o.evidence, o.evidence_start
        from shown s
        join observation o on o.space_id = s.space_id and o.id = s.observation_id
        join entity e on e.space_id = o.space_id and e.id = o.entity_id
        join space p on p.id = o.space_id
        order by s.rank nulls last, o.created_at desc, o.id;
end
$$;

comment on function textrawl.explain_search is
    'Why search_memory() returned a fact or left it out: its words, vector and neighbours, and what each adds to the '
    'score. The parameters are those of search_memory(). Facts over the limit, below the least score, and ended facts that '
    'match the words follow the facts that were returned. Errors: TR010, TR011 (access), TR049 (the model was dropped). '
    'Example: select place, outcome, content, score, words from textrawl.explain_search(''favourite editor'');';
