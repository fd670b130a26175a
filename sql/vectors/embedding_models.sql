create function textrawl.embedding_models()
returns table (
    model_id integer, name text, dimensions integer, status text,
    stands_in_for text,  -- the model that the settings ask for and whose files are not there yet
    obstacle text        -- why that model is not used yet
)
language sql stable security definer
set search_path from current
begin atomic
    select id, m.name, m.dimensions, m.status, m.stands_in_for, m.obstacle from textrawl.embedding_model m order by id;
end;

comment on function textrawl.embedding_models is
    'All models that have vectors in this memory. Searches use the active model. '
    'Example: select * from textrawl.embedding_models();';
