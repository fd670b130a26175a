create function textrawl.local_entities() returns setof textrawl.entity
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it. A function that is called for each entity would take ten times as long.
    select e.* from textrawl.entity e
    where (select textrawl.session_repositories()) is null
       or exists (select from textrawl.local_facts() o where o.space_id = e.space_id and o.entity_id = e.id)
       or not exists (select from textrawl.fact o where o.space_id = e.space_id and o.entity_id = e.id);
end;

comment on function textrawl.local_entities is
    'The entities with at least one of local_facts(), or without a fact. What lists names to a session reads them here. '
    'Example: select name from textrawl.local_entities();';
