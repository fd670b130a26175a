create function textrawl.find_embedding_model(name text) returns table (model_id integer, dimensions integer)
language sql stable security definer
set search_path from current
begin atomic
    select id, dimensions from textrawl.embedding_model m where m.name = find_embedding_model.name;
end;

comment on function textrawl.find_embedding_model is
    'The id and dimensions of a model that was registered before. Example: select * from textrawl.find_embedding_model(''openai:text-embedding-3-small'');';
