create function textrawl.removable_relations(space integer, edges uuid[]) returns setof uuid
language sql stable
begin atomic
    select r.id from textrawl.relation r
    where r.space_id = removable_relations.space and r.id = any(edges) and not exists (
        select from textrawl.reflection f where f.space_id = r.space_id and f.relation_id = r.id);
end;

comment on function textrawl.removable_relations is
    'The relations that a move takes away. A relation with a reflection stays, because reflections do not move.';
