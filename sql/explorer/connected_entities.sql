create function textrawl.connected_entities(
    spaces integer[], max_rows integer, as_of timestamptz default null, entity_types text[] default null,
    relation_types text[] default null
) returns table (space_id integer, id uuid)
language sql stable
begin atomic
    with edge as materialized (
        select r.space_id, r.from_entity, r.to_entity from textrawl.relation r
        where r.space_id = any(spaces) and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at, as_of)
          and (relation_types is null or r.relation_type = any(relation_types))
    )
    select e.space_id, e.id from (
        select side.space_id, side.id, count(*) as number from (
            select edge.space_id, edge.from_entity as id from edge
            union all
            select edge.space_id, edge.to_entity from edge where edge.to_entity <> edge.from_entity) side
        group by side.space_id, side.id) degree
    join textrawl.entity e on e.space_id = degree.space_id and e.id = degree.id
    where textrawl.has_type(e.entity_type, e.metadata, entity_types)
    order by degree.number desc, e.name_key, e.space_id limit max_rows;
end;

comment on function textrawl.connected_entities is
    'The entities of some spaces with the most valid relations, the best connected first. Entities without a relation are '
    'left out. '
    'Example: select e.name from textrawl.connected_entities(array[1], 10) c join textrawl.entity e on e.id = c.id;';
