create function textrawl.is_local_relation(space integer, relation uuid) returns boolean
language sql stable parallel safe
begin atomic
    select exists (select from textrawl.local_relations() r where r.space_id = space and r.id = relation);
end;

comment on function textrawl.is_local_relation is
    'True if a relation is one of local_relations(). '
    'Example: select textrawl.is_local_relation(r.space_id, r.id) from textrawl.relation r;';
