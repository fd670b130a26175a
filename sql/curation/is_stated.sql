create function textrawl.is_stated(space integer, relation uuid) returns boolean
language sql stable
begin atomic
    select not exists (select from textrawl.event e
                       where e.space_id = space and e.relation_id = relation and e.action in ('related', 'shared'))
        or exists (select from textrawl.event e
                   where e.space_id = space and e.relation_id = relation and e.action in ('related', 'shared', 'repeated')
                     and e.id not in (
                         select unnest(u.events) from textrawl.undo u where u.space_id = space and u.reverted_at is null));
end;

comment on function textrawl.is_stated is
    'True if an event that is not undone stated a relation, or if the trail does not say who stored the relation.';
