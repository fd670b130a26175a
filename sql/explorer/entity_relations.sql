create function textrawl.entity_relations(
    entity text, as_of timestamptz default null, known_at timestamptz default null, max_rows integer default 100,
    spaces integer[] default null, credential bytea default null
) returns table (
    space text,
    leaves boolean,           -- true if the relation begins at this entity
    own_name text,            -- of the entity in the space
    relation text, other text, other_type text,
    author text, client text, tool text,  -- who wrote it
    created_at timestamptz, valid_from timestamptz, valid_until timestamptz,
    total bigint              -- number of relations, also of those beyond max_rows
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, entity_relations.spaces) as ids
    ), named as (
        select e.space_id, e.id, e.name, s.name as space
        from textrawl.find_entities((select ids from scope)::integer[], entity_relations.entity) f
        join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
        join textrawl.space s on s.id = e.space_id
    ), edge as (
        -- Use two branches. If one condition covered both ends, Postgres would read every relation of the space.
        select named.space, named.name, true as leaves, r.to_entity as other_id, r.*
        from named join textrawl.relation r on r.space_id = named.space_id and r.from_entity = named.id
        union all
        select named.space, named.name, false, r.from_entity, r.*
        from named join textrawl.relation r on r.space_id = named.space_id and r.to_entity = named.id
    )
    select edge.space, edge.leaves, edge.name, textrawl.relation_label(coalesce(edge.label, edge.relation_type)), o.name, o.entity_type,
        a.name, edge.client, edge.tool, edge.created_at, edge.valid_from, edge.valid_until, count(*) over ()
    from edge
    join textrawl.entity o on o.space_id = edge.space_id and o.id = edge.other_id
    join textrawl.actor a on a.id = edge.author_id
    where case when entity_relations.known_at is null then textrawl.is_valid(edge.valid_from, edge.valid_until, edge.closed_at, entity_relations.as_of)
               else textrawl.was_valid(edge.valid_from, textrawl.known_end(edge.space_id, null, edge.id, edge.valid_until, entity_relations.known_at),
                                       edge.created_at, entity_relations.as_of, entity_relations.known_at) end
    order by edge.leaves desc, edge.valid_from desc, edge.created_at desc, edge.id limit max_rows;
end;

comment on function textrawl.entity_relations is
    'The valid relations of an entity in both directions, from every space that you can read, with who wrote each of '
    'them. Those that begin at the entity come first, then the newest. An unknown name gives no row. '
    'Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select relation, other, author, valid_from from textrawl.entity_relations(''Jeff'');';
