create function textrawl.similar_names(
    name text, max_rows integer default 50,
    spaces integer[] default null, credential bytea default null
) returns table (entity_name text)
language sql stable security definer
set search_path from current
begin atomic
    -- Collect candidates in cheap ways: names and aliases with the same beginning, names with a common word, and
    -- recently updated names. The last way also finds a name that was given with a wrong first letter. The caller decides which
    -- names are close enough.
    with scope as materialized (
        select textrawl.readable_spaces(credential, similar_names.spaces) as ids
    )
    (select e.name from textrawl.local_entities() e
     where e.space_id = any((select ids from scope)::integer[])
       and e.name_key like replace(replace(replace(left(textrawl.name_key(similar_names.name), 3), '\', '\\'), '%', '\%'), '_', '\_') || '%'
     order by e.updated_at desc limit max_rows)
    union
    (select e.name from textrawl.local_entities() e
     where e.space_id = any((select ids from scope)::integer[])
       and e.fts @@ (select string_agg(quote_literal(word), ' | ')::tsquery
                     from unnest(tsvector_to_array(to_tsvector('simple', textrawl.search_text(similar_names.name)))) word)
     order by e.updated_at desc limit max_rows)
    union
    (select a.name from textrawl.entity_alias a
     join textrawl.local_entities() e on e.space_id = a.space_id and e.id = a.entity_id
     where a.space_id = any((select ids from scope)::integer[]) and a.removed_at is null
       and a.name_key like replace(replace(replace(left(textrawl.name_key(similar_names.name), 3), '\', '\\'), '%', '\%'), '_', '\_') || '%'
     order by a.created_at desc limit max_rows)
    union
    (select e.name from textrawl.local_entities() e
     where e.space_id = any((select ids from scope)::integer[])
     order by e.updated_at desc limit 10 * max_rows);
end;

comment on function textrawl.similar_names is
    'Names and aliases of entities that a misspelt name can stand for: entities with the same beginning of the name, with a common '
    'word, or updated recently. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.similar_names(''Jef Green'');';
