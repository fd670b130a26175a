create function textrawl.active_model() returns integer
language sql stable security definer
set search_path from current
begin atomic
    select m.id from textrawl.embedding_model m where m.status = 'active';
end;

comment on function textrawl.active_model is
    'The id of the model whose vectors searches use; null if there are no vectors yet. '
    'Example: select textrawl.active_model();';
