create function textrawl.local_relations() returns setof textrawl.relation
language sql stable
begin atomic
    -- The function sets no options, so that the planner can inline it.
    select r.* from textrawl.relation r
    where (select textrawl.session_repositories()) is null
       or textrawl.is_local(r.space_id, r.from_entity) or textrawl.is_local(r.space_id, r.to_entity);
end;

comment on function textrawl.local_relations is
    'The relations with at least one entity that is local, see is_local(). What shows relations to a session reads them here. '
    'Example: select relation_type from textrawl.local_relations();';
