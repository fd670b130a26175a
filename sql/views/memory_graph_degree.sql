create view textrawl.memory_graph_degree with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, coalesce(o.relations, 0) as outgoing, coalesce(i.relations, 0) as incoming,
       coalesce(o.relations, 0) + coalesce(i.relations, 0) as degree, e.id as entity_id
from textrawl.entity e
join textrawl.space s on s.id = e.space_id and s.tier is null
left join (
    select r.space_id, r.from_entity as id, count(*) as relations
    from textrawl.relation r where textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at) group by r.space_id, r.from_entity
) o on o.space_id = e.space_id and o.id = e.id
left join (
    select r.space_id, r.to_entity as id, count(*) as relations
    from textrawl.relation r where textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at) group by r.space_id, r.to_entity
) i on i.space_id = e.space_id and i.id = e.id;

comment on view textrawl.memory_graph_degree is 'Number of valid relations of each entity, including entities without relations.';
comment on column textrawl.memory_graph_degree.space is 'Name of the space.';
comment on column textrawl.memory_graph_degree.entity_name is 'Name of the entity.';
comment on column textrawl.memory_graph_degree.entity_type is 'Type of the entity.';
comment on column textrawl.memory_graph_degree.outgoing is 'Number of relations that begin at the entity.';
comment on column textrawl.memory_graph_degree.incoming is 'Number of relations that end at the entity.';
comment on column textrawl.memory_graph_degree.degree is 'Sum of outgoing and incoming.';
comment on column textrawl.memory_graph_degree.entity_id is 'Id of the entity.';
