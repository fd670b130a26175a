create function textrawl.embedding_models()
returns table (
    model_id integer, name text, dimensions integer, status text
)
language sql stable security definer
set search_path from current
begin atomic
    select id, m.name, m.dimensions, m.status from textrawl.embedding_model m order by id;
end;

comment on function textrawl.embedding_models is
    'All models that have vectors in this memory. Searches use the active model. '
    'Example: select * from textrawl.embedding_models();';
