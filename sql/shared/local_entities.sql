create function textrawl.local_entities() returns setof textrawl.entity
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it. is_local() cannot be inlined: a session without a
    -- repository would open its queries in vain, which cost 7 % of a search of 3,000 facts.
    select e.* from textrawl.entity e
    where (select textrawl.session_repositories()) is null or textrawl.is_local(e.space_id, e.id);
end;

comment on function textrawl.local_entities is
    'The entities that are local, see is_local(). What lists names to a session reads them here. '
    'Example: select name from textrawl.local_entities();';
