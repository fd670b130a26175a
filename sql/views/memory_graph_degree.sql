create view textrawl.memory_graph_degree with (security_invoker) as
select s.name as space, e.name as entity_name, e.entity_type, coalesce(d.outgoing, 0) as outgoing, coalesce(d.incoming, 0) as incoming,
       coalesce(d.outgoing + d.incoming, 0) as degree, coalesce(d.neighbours, 0) as neighbours, e.id as entity_id
from textrawl.entity e
join textrawl.space s on s.id = e.space_id
left join (
    select space_id, entity_id, count(*) filter (where leaves) as outgoing, count(*) filter (where not leaves) as incoming,
           count(distinct other) as neighbours
    from (
        select r.space_id, r.from_entity as entity_id, r.to_entity as other, true as leaves
        from textrawl.relation r where r.valid_until is null or r.valid_until > now()
        union all
        select r.space_id, r.to_entity, r.from_entity, false
        from textrawl.relation r where r.valid_until is null or r.valid_until > now()
    ) edge
    group by space_id, entity_id
) d on d.space_id = e.space_id and d.entity_id = e.id;

comment on view textrawl.memory_graph_degree is 'How well entities are connected, by valid relations; those without any included.';
comment on column textrawl.memory_graph_degree.space is 'Name of its space.';
comment on column textrawl.memory_graph_degree.entity_name is 'Name of the entity.';
comment on column textrawl.memory_graph_degree.entity_type is 'Type of the entity.';
comment on column textrawl.memory_graph_degree.outgoing is 'Relations that begin at it.';
comment on column textrawl.memory_graph_degree.incoming is 'Relations that lead to it.';
comment on column textrawl.memory_graph_degree.degree is 'Both together.';
comment on column textrawl.memory_graph_degree.neighbours is 'Entities at their other ends, each counted once.';
comment on column textrawl.memory_graph_degree.entity_id is 'Id of the entity.';
