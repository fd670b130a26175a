create function textrawl.active_model() returns integer
language sql stable security definer
set search_path from current
begin atomic
    select m.id from textrawl.embedding_model m where m.status = 'active';
end;

comment on function textrawl.active_model is
    'The id of the active model; null if there is no active model yet. '
    'Example: select textrawl.active_model();';
