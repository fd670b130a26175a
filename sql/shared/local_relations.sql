create function textrawl.local_relations() returns setof textrawl.relation
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it. The conditions are those of local_entities(),
    -- whose call would slow each search.
    select r.* from textrawl.relation r
    where (select textrawl.session_repositories()) is null
       or exists (select from textrawl.local_facts() o where o.space_id = r.space_id and o.entity_id = r.from_entity)
       or exists (select from textrawl.local_facts() o where o.space_id = r.space_id and o.entity_id = r.to_entity)
       or not exists (select from textrawl.fact o where o.space_id = r.space_id and o.entity_id = r.from_entity)
       or not exists (select from textrawl.fact o where o.space_id = r.space_id and o.entity_id = r.to_entity);
end;

comment on function textrawl.local_relations is
    'The relations with at least one of local_entities(). What shows relations to a session reads them here. '
    'Example: select relation_type from textrawl.local_relations();';
