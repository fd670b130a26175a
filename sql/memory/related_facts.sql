create function textrawl.related_facts(
    query_words text[],         -- of the query, not stemmed
    terms tsquery[], sums double precision[],
    names integer,              -- bit mask of the terms that are names
    spaces integer[], entities uuid[],  -- the entities that the query names
    entity_types text[] default null, as_of timestamptz default null,
    since timestamptz default null, until timestamptz default null, here text[] default null  -- see is_of_repository()
)
returns table (
    space_id integer, id uuid, entity_id uuid, content text, created_at timestamptz, said_at timestamptz,
    valid_from timestamptz, valid_until timestamptz, ordinal bigint, relation_id uuid,
    matched integer,  -- bit mask of the terms that the fact has
    words integer,    -- number of distinct words of the fact
    via integer       -- bit mask of the terms that the statement of the relation has
)
language plpgsql stable rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    known constant jsonb := type_words();
    kinds text[];  -- types of entities for which the query has a word, such as company
begin
    if not exists (
            select from unnest(spaces, entities) named (space_id, id) join relation r on r.space_id = named.space_id
            where r.from_entity = named.id)
        and not exists (
            select from unnest(spaces, entities) named (space_id, id) join relation r on r.space_id = named.space_id
            where r.to_entity = named.id) then
        return;
    end if;
    kinds := array(select distinct known ->> word from unnest(query_words) word where known ? word);
    return query
        with related as (
            select r.space_id, r.other, e.entity_type, matched_terms(s.fts, terms) as via
            from unnest(spaces, entities) named (space_id, id)
            cross join lateral (
                (select r.space_id, r.id, r.to_entity as other from relation r
                 where r.space_id = named.space_id and r.from_entity = named.id
                   and is_valid(r.valid_from, r.valid_until, r.closed_at, as_of) limit 100)
                union all
                (select r.space_id, r.id, r.from_entity from relation r
                 where r.space_id = named.space_id and r.to_entity = named.id
                   and is_valid(r.valid_from, r.valid_until, r.closed_at, as_of) limit 100)
            ) r
            join observation s on s.space_id = r.space_id and s.relation_id = r.id
            join entity e on e.space_id = r.space_id and e.id = r.other
            where (r.other = any(entities)) is not true
        ), asked as (
            -- A query asks for a relation by its words (the company that Ada works for), or else by the type of the
            -- entity at its other end (the city of Ada).
            select *, terms_weight(via & ~names, sums) as weight,
                case when via & ~names <> 0 then 2 when entity_type = any(kinds) then 1 else 0 end as level
            from related
        ), chosen as (
            select * from (
                select *, max(level) over () as most, max(weight) over () as heaviest from asked) a
            where level > 0 and level = most and weight > 0.99 * heaviest - 0.001
            limit 5
        )
        select o.space_id, o.id, o.entity_id, o.content, o.created_at, o.said_at, o.valid_from, o.valid_until, o.ordinal, o.relation_id,
            matched_terms(o.fts, terms), length(o.fts), f.via
        from (
            select f.space_id, f.id, bit_or(c.via) as via
            from chosen c
            cross join lateral (
                select o.space_id, o.id
                from (
                    (select * from observation o
                     where o.space_id = c.space_id and o.entity_id = c.other
                         and (o.relation_id is null or terms_weight(matched_terms(o.fts, terms) & ~names & ~c.via, sums) > 0)
                         and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_within(o.said_at, since, until) and is_of_repository(o.repository, here)
                         and (entity_types is null or o.entity_type = any(entity_types))
                     limit 200)
                    union all
                    -- For "who leads the company": the statement belongs to the leader, not to the company.
                    (select o.*
                     from (select * from relation r where r.space_id = c.space_id and r.to_entity = c.other limit 200) r
                     join observation o on o.space_id = r.space_id and o.relation_id = r.id
                     where (r.from_entity = any(entities)) is not true
                         and is_searchable(o.valid_from, o.valid_until, o.closed_at, o.created_at, o.period, o.replaced_by, as_of) and is_within(o.said_at, since, until) and is_of_repository(o.repository, here)
                         and (entity_types is null or o.entity_type = any(entity_types))
                         and terms_weight(matched_terms(o.fts, terms) & ~names & ~c.via, sums) > 0)) o
                order by terms_weight(matched_terms(o.fts, terms), sums) desc, o.created_at desc, o.id
                limit 30) f
            group by f.space_id, f.id) f
        join observation o on o.space_id = f.space_id and o.id = f.id;
end
$$;

comment on function textrawl.related_facts is
    'The facts one relation away from entities that a query names, if the query asks for this relation: for the company '
    'that Ada works for, the facts about the company, and who leads it. The parameters are values of search_memory().';
