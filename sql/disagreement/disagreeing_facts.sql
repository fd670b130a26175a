create function textrawl.disagreeing_facts(space integer, facts textrawl.new_fact[], known uuid[], replaced uuid)
returns table (place bigint, id uuid, content text, why text, said_at timestamptz)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    configuration regconfig := space_language(space);
    fallback      text := (select c.cfgname from pg_ts_config c where c.oid = configuration);
    synonyms_of   jsonb;
    negation      text;
begin
    if not exists (select from unnest(facts) f join fact o on o.space_id = disagreeing_facts.space and o.entity_id = f.entity_id)
        and (select count(*) = count(distinct f.entity_id) from unnest(facts) f)
    then
        return;  -- nothing to compare, so save the 30 ms of the first read_claim() in a session
    end if;
    -- English documents have no accents. Without accents, the document of the synonyms takes an eighth of the time.
    if configuration = 'pg_catalog.english'::regconfig then
        synonyms_of := claim_synonyms(accents => false);
    else
        synonyms_of := claim_synonyms();
    end if;
    negation := 'n''t\M|\m(' || replace(synonyms_of ->> 'not', ' ', '|') || ')\M';
    return query
    with claim as materialized (
        select f.ordinality as place, f.id, f.entity_id, f.entity_name, f.content, coalesce(f.said_at, clock_timestamp()) as said_at, c.predicate, c.language, c as parts,
            -- Many facts say that somebody likes something. Such facts must share other words.
            case when c.predicate <> 'like' then synonyms_of ->> c.predicate end as synonyms,
            -- Only a negation can disagree with an ordinary verb without a number.
            not c.negative and c.predicate ~ '^(be|has|v:.*|)$' and not '#' = any(select left(item, 1) from unnest(c.items) item) as plain
        from unnest(facts) with ordinality f
        cross join lateral read_claim(f.content, fallback) c
        where known[f.ordinality] is null and is_valid(null, f.valid_until, null, present => clock_timestamp())
          -- Leave out long sentences, because two that differ in a single word are unlikely.
          and (cardinality(c.items) <= 12 or synonyms_of ? c.predicate)
    ), predicate as materialized (
        select synonyms, (select string_agg(quote_literal(lexeme), '|')::tsquery
                          from unnest(tsvector_to_array(search_document(0, configuration, '', synonyms))) lexeme) as verbs
        from (select distinct synonyms from claim where synonyms is not null) as known
    ), fresh as materialized (
        select c.*, own.words, predicate.verbs,
            (select string_agg(quote_literal(word), '|')::tsquery from unnest(tsvector_to_array(own.words)) word) as own_words
        from claim c
        left join predicate on predicate.synonyms = c.synonyms
        cross join lateral (
            select ts_delete(search_document(0, configuration, '', c.content),
                tsvector_to_array(search_document(0, configuration, c.entity_name, ''))) as words
            offset 0) own  -- compute the words once, although two columns read them
    )
    select n.place, near.id, near.content, near.why, near.said_at
    from fresh n
    cross join lateral (
        -- Comparing takes longer than reading. So compare only the facts that have a verb of the same predicate, or that
        -- share a third of the words of the new fact. For each such word, ts_rank() adds 0.0608 / (number of words).
        with candidate as materialized (
            select o.id, o.content, o.said_at, o.ordinal, ts_rank(o.fts, n.own_words) as rank, o.fts @@ n.verbs as same_verb
            from (select * from fact o
                  where o.space_id = disagreeing_facts.space and o.entity_id = n.entity_id and o.id is distinct from replaced and o.whole is null
                    and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                  order by o.ordinal desc limit 300) o
            where o.fts @@ n.verbs or coalesce(ts_rank(o.fts, n.own_words) >= 0.02, true)
            union all
            select e.id, e.content, e.said_at, null, ts_rank(e.words, n.own_words), e.words @@ n.verbs
            from fresh e
            where e.entity_id = n.entity_id and e.place < n.place and (e.words @@ n.verbs or coalesce(ts_rank(e.words, n.own_words) >= 0.02, true))
        )
        select likely.id, likely.content, likely.said_at, compared.why
        from (
            select * from candidate
            -- The regular expression is slow, and few facts have a negation. So try it on all facts in one text first.
            where case when candidate.same_verb or not n.plain then true
                       else (select string_agg(c.content, chr(10)) ~* negation from candidate c) and candidate.content ~* negation end
            order by candidate.same_verb desc nulls last, candidate.rank desc, candidate.ordinal desc nulls first limit 6) likely
        cross join lateral (
            select case when r.predicate <> n.predicate then null
                        when r.language = n.language then compare_claims(n.parts, r)
                        else disagreement(n.content, likely.content, fallback) end as why
            from read_claim(likely.content, fallback) r) compared
        where compared.why is not null
        order by likely.rank desc nulls last, likely.ordinal desc nulls first limit 1) near
    order by n.place;
end
$$;

comment on function textrawl.disagreeing_facts is
    'For each new fact that is not a duplicate, the valid fact of the same entity that disagrees with it, if there is one. '
    'why is other value or opposite, as in disagreement(). The newest 300 facts of the entity are read, and at most '
    'six of them are compared.';
