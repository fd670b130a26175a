create function textrawl.name_pairs(spaces integer[], max_pairs integer default 10000)
returns table (space_id integer, one uuid, other uuid, shared_facts bigint)
language sql stable rows 10000
begin atomic
    with person as materialized (
        select e.space_id, e.id, e.fts, btrim(regexp_replace(e.name_key, '[^[:alnum:]]+', ' ', 'g')) as words
        from textrawl.entity e where e.space_id = any(spaces)
    ), keyed as materialized (
        -- Two entities are compared only if they have a key in common. So the cost grows with the number of entities, and
        -- not with its square.
        select p.space_id, p.id, 'w' || word as key from person p, unnest(tsvector_to_array(p.fts)) word
        union
        -- The letters of a name are the same if two of them have changed places.
        select p.space_id, p.id, 'l' || (select string_agg(distinct letter, '') from regexp_split_to_table(p.words, '') letter)
        from person p
        union
        select p.space_id, p.id, 'p' || left(replace(p.words, ' ', ''), 4) from person p
        union
        select p.space_id, p.id, 'i' || case when strpos(p.words, ' ') > 0
            then left(p.words, 1) || regexp_replace(p.words, '^.* ', '') else p.words end
        from person p
        union
        select o.space_id, o.entity_id, 'f' || o.content_hash
        from unnest(spaces) each_space
        cross join lateral (
            select * from textrawl.observation n where n.space_id = each_space order by n.ordinal desc limit 100000) o
        where o.relation_id is null and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
    ), grouped as (
        -- A key of many entities says nothing about two of them.
        select k.space_id, k.key, array_agg(k.id) as ids from keyed k
        group by k.space_id, k.key
        having count(*) between 2 and 20
    )
    select g.space_id, a.id, b.id, count(*) filter (where g.key like 'f%') as shared_facts
    from grouped g cross join lateral unnest(g.ids) a (id) cross join lateral unnest(g.ids) b (id)
    where a.id < b.id
    group by g.space_id, a.id, b.id
    order by 4 desc, count(*) desc, a.id, b.id limit max_pairs;
end;

comment on function textrawl.name_pairs is
    'Pairs of entities that can be the same: they share a word of their names, the beginning of their names, an initial '
    'with a last name, their letters, or a fact.';
