create function textrawl.graph_parts(
    space integer, entities uuid[], skip bigint, max_rows integer, max_text integer, outgoing boolean
) returns table (
    number bigint,  -- number of the entity
    part bigint,    -- position within the entity; 0 is the entity itself
    kind text,      -- entity, observation or relation
    name text, entity_type text, content text,
    from_entity text, relation text, to_entity text, relation_number bigint
)
language sql stable rows 200
begin atomic
    with node as materialized (
        select e.id, e.name, textrawl.free_type(e.entity_type, e.metadata) as entity_type, input.place
        from unnest(entities) with ordinality input(id, place)
        join textrawl.entity e on e.space_id = space and e.id = input.id
    ), end_of as (
        select r.id, n.place from node n join textrawl.local_relations() r on r.space_id = space and r.from_entity = n.id
        union all
        select r.id, n.place from node n join textrawl.local_relations() r on r.space_id = space and r.to_entity = n.id
        where not outgoing
    ), edge as (
        -- List a relation once, with the first of its ends.
        select end_of.id, min(end_of.place) as place from end_of group by end_of.id
    ), part as (
        select n.place, 0 as rank, null::timestamptz as at, null::uuid as id, null::text as content,
            null::text as from_entity, null::text as relation, null::text as to_entity
        from node n
        union all
        select n.place, 1, min(o.created_at), coalesce(o.whole, o.id), string_agg(o.content, '' order by o.part), null, null, null
        from node n join textrawl.local_facts() o on o.space_id = space and o.entity_id = n.id
        where textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
        group by n.place, coalesce(o.whole, o.id)
        union all
        select edge.place, 2, r.created_at, r.id, null, f.name, coalesce(r.label, r.relation_type), t.name
        from edge join textrawl.relation r on r.space_id = space and r.id = edge.id
        join textrawl.entity f on f.space_id = space and f.id = r.from_entity
        join textrawl.entity t on t.space_id = space and t.id = r.to_entity
        where textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at)
    ), numbered as (
        select part.*, row_number() over (partition by part.place order by part.rank, part.at, part.id) - 1 as turn from part
    ), page as (
        select numbered.* from numbered order by numbered.place, numbered.turn offset skip limit max_rows
    ), measured as (
        select page.*, sum(char_length(concat(page.content, page.from_entity, page.relation, page.to_entity))) over (
            order by page.place, page.turn rows between unbounded preceding and 1 preceding) as before
        from page
    )
    select textrawl.node_number(n.id), c.turn, (array['entity', 'observation', 'relation'])[c.rank + 1], n.name, n.entity_type,
        c.content, c.from_entity, c.relation, c.to_entity, case when c.rank = 2 then textrawl.node_number(c.id) end
    from measured c join node n on n.place = c.place
    -- Also return the part that exceeds max_text. This part shows the caller that there is more.
    where coalesce(c.before, 0) <= max_text
    order by c.place, c.turn;
end;

comment on function textrawl.graph_parts is
    'Entities in the given order, each followed by its valid observations and its relations, oldest first. A relation '
    'is listed once: with the first of its two entities or, if outgoing is true, with its source.';
