create function textrawl.pairs_of(spaces integer[], chosen uuid)
returns table (space_id integer, one uuid, other uuid, shared_facts bigint)
language sql stable
begin atomic
    with self as materialized (
        select e.space_id, e.id, e.fts, f.*
        from textrawl.entity e cross join lateral textrawl.name_form(e.name) f
        where e.space_id = any(spaces) and e.id = chosen
    ), beginning as (
        -- The first four letters. The operators ~>=~ and ~<~ use an index also for a text that is not in the query.
        select s.space_id, s.id, case when char_length(s.words[1]) >= 4 then left(s.words[1], 4)
            else s.words[1] || coalesce(' ' || left(s.words[2], 4 - char_length(s.words[1])), '') end as text
        from self s where s.squeezed <> ''
    ), keyed as (
        select s.space_id, 'w' || word as key, found.id from self s
        cross join lateral unnest(tsvector_to_array(s.fts)) word
        cross join lateral (
            select e.id from textrawl.entity e
            where e.space_id = s.space_id and e.fts @@ quote_literal(word)::tsquery and e.id <> s.id limit 201) found
        union all
        select b.space_id, 'p', found.id from beginning b
        cross join lateral (
            select e.id from textrawl.entity e
            where e.space_id = b.space_id and e.name_key ~>=~ b.text and e.name_key ~<~ (b.text || chr(1114111))
              and e.id <> b.id limit 201) found
        union all
        -- Jeff Miller finds jmiller, and jmiller finds Jeff Miller.
        select s.space_id, 'i', e.id from self s
        join textrawl.entity e on e.space_id = s.space_id and e.name_key in (s.short, s.squeezed) and e.id <> s.id
        union all
        select s.space_id, 'i', found.id from self s
        cross join lateral (
            select e.id from textrawl.entity e
            where e.space_id = s.space_id and e.fts @@ quote_literal(substr(s.squeezed, 2))::tsquery
              and starts_with(e.name_key, left(s.squeezed, 1)) limit 201) found
        where cardinality(s.words) = 1 and char_length(s.squeezed) > 2
    ), mine as materialized (
        select distinct o.space_id, o.content_hash
        from textrawl.observation o
        where o.space_id = any(spaces) and o.entity_id = chosen and o.relation_id is null
          and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
    ), alike as materialized (
        -- This reads only the index, not the facts, and it reads it once: "is true" keeps the planner from making a join
        -- of the condition, which could read the index for each fact of the chosen entity.
        select distinct o.space_id, o.entity_id, o.content_hash from textrawl.observation o
        where o.space_id = any(spaces) and o.entity_id <> chosen
          and ((o.space_id, o.content_hash) in (select m.space_id, m.content_hash from mine m)) is true
    ), shared as (
        select a.space_id, a.entity_id as id, count(*) as facts
        from alike a
        cross join lateral (
            -- "limit" keeps the planner from reading all facts.
            select from textrawl.observation o
            where o.space_id = a.space_id and o.entity_id = a.entity_id and o.content_hash = a.content_hash
              and o.relation_id is null and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at) limit 1) twin
        group by a.space_id, a.entity_id
    ), candidate as (
        -- A key of many entities says nothing about one of them.
        select k.space_id, k.id, 0 as facts
        from (select k.*, count(*) over (partition by k.key) as number from keyed k) k where k.number <= 200
        union all
        select s.space_id, s.id, s.facts from shared s
    )
    select c.space_id, least(c.id, chosen), greatest(c.id, chosen), max(c.facts)
    from candidate c group by c.space_id, c.id;
end;

comment on function textrawl.pairs_of is
    'The pairs of name_pairs() with one entity, found by indexes.';
