create function textrawl.disagreeing_facts(space integer, facts textrawl.new_fact[], known uuid[], replaced uuid)
returns table (place bigint, id uuid, content text, why text, said_at timestamptz)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
    configuration regconfig := space_language(space);
    fallback      text := (select c.cfgname from pg_ts_config c where c.oid = configuration);
begin
    return query
    with fresh as materialized (
        select f.ordinality as place, f.id, f.entity_id, f.content, coalesce(f.said_at, clock_timestamp()) as said_at, document.words,
            (select string_agg(quote_literal(word), '|')::tsquery from unnest(tsvector_to_array(document.words)) word) as some_words,
            claim_patterns() ->> claim.predicate as pattern
        from unnest(facts) with ordinality f
        cross join lateral read_claim(f.content, fallback) claim
        cross join lateral (
            select ts_delete(search_document(space, configuration, '', f.content),
                tsvector_to_array(search_document(space, configuration, f.entity_name, ''))) as words) document
        where known[f.ordinality] is null and is_valid(null, f.valid_until, null, present => clock_timestamp())
    )
    select distinct on (n.place) n.place, near.id, near.content, compared.why, near.said_at
    from fresh n
    cross join lateral (
        -- Compare only the facts of the entity that share the most words, or that have a word of the same predicate.
        select * from (
            select o.id, o.content, o.said_at, o.ordinal, o.content ~* n.pattern as hit, ts_rank(o.fts, n.some_words) as rank
            from (select * from fact o
                  where o.space_id = disagreeing_facts.space and o.entity_id = n.entity_id and o.id is distinct from replaced and o.whole is null
                    and is_valid(o.valid_from, o.valid_until, o.closed_at, present => clock_timestamp())
                  order by o.ordinal desc limit 300) o
            union all
            select e.id, e.content, e.said_at, null, e.content ~* n.pattern, ts_rank(e.words, n.some_words)
            from fresh e where e.entity_id = n.entity_id and e.place < n.place) candidate
        where candidate.hit or candidate.rank > 0
        order by candidate.hit desc nulls last, candidate.rank desc, candidate.ordinal desc nulls first limit 12) near
    cross join lateral (select disagreement(n.content, near.content, fallback) as why) compared
    where compared.why is not null
    order by n.place, near.rank desc nulls last, near.ordinal desc nulls first;
end
$$;

comment on function textrawl.disagreeing_facts is
    'For each new fact that is not a duplicate, the valid fact of the same entity that disagrees with it, if there is one. '
    'why is other value or opposite, as in disagreement(). The newest 300 facts of the entity are read, and at most '
    'twelve of them are compared.';
