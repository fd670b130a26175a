create function textrawl.lost_repositories(space integer, entities uuid[], entity_type text) returns jsonb
language sql stable
begin atomic
    select jsonb_object_agg(o.id, o.repository) from textrawl.fact o
    where o.space_id = space and o.entity_id = any(entities) and o.repository is not null
      and textrawl.fact_repository(lost_repositories.entity_type, o.repository) is null;
end;

comment on function textrawl.lost_repositories is
    'The repositories that facts of entities lose if these become this type, by the ids of the facts: {id: repository}. Null: '
    'none. An undo or a split gives them back.';
