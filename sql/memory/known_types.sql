create function textrawl.known_types(
    words text[], spaces integer[] default null, credential bytea default null
) returns table (word text)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, known_types.spaces) as ids
    )
    select w.word from unnest(words) as w (word)
    where exists (
        select from textrawl.entity e
        where e.space_id = any((select ids from scope)::integer[]) and lower(textrawl.free_type(e.entity_type, e.metadata)) = w.word);
end;

comment on function textrawl.known_types is
    'Those of the given words, in lower case, that callers gave as the type of an entity that you can read. A filter for types '
    'takes these words and the seven types. Errors: TR010, TR011 (access). '
    'Example: select word from textrawl.known_types(array[''team''], array[1]);';
