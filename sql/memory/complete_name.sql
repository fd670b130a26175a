create function textrawl.complete_name(
    beginning text, entity_types text[] default null, max_rows integer default 100,
    spaces integer[] default null, credential bytea default null
) returns table (
    entity_name text,
    name_key text,           -- of the name of the entity, also if the alias is returned
    rank integer,            -- 1: the name or the alias has this beginning; 2: a later word has it
    updated_at timestamptz   -- of the entity
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, complete_name.spaces) as ids
    ), typed as (
        -- Escape the characters of the beginning that LIKE would interpret, then add % for the rest of the name.
        select replace(replace(replace(textrawl.name_key(beginning), '\', '\\'), '%', '\%'), '_', '\_') || '%' as pattern
    ), prefixed as (
        select e.name_key, e.name, e.updated_at, 1 as rank, false as alias from textrawl.local_entities() e
        where e.space_id = any((select ids from scope)::integer[]) and e.name_key like (select pattern from typed)
          and textrawl.has_type(e.entity_type, e.metadata, complete_name.entity_types)
        order by e.updated_at desc limit max_rows
    ), other as (
        select e.name_key, a.name, e.updated_at, 1 as rank, true as alias from textrawl.entity_alias a
        join textrawl.local_entities() e on e.space_id = a.space_id and e.id = a.entity_id
        where a.space_id = any((select ids from scope)::integer[]) and a.removed_at is null
          and a.name_key like (select pattern from typed) and beginning <> ''
          and textrawl.has_type(e.entity_type, e.metadata, complete_name.entity_types)
        order by e.updated_at desc limit max_rows
    ), worded as (
        -- Names with a later word that has this beginning, such as a family name.
        select e.name_key, e.name, e.updated_at, 2, false from textrawl.local_entities() e
        where e.space_id = any((select ids from scope)::integer[])
          and e.fts @@ (select string_agg(quote_literal(word) || ':*', ' & ')::tsquery
                        from unnest(tsvector_to_array(to_tsvector('simple', textrawl.search_text(beginning)))) word)
          and textrawl.has_type(e.entity_type, e.metadata, complete_name.entity_types)
        order by e.updated_at desc limit max_rows
    ), found as (
        -- Several spaces can have an entity of one name.
        select distinct on (name_key) name_key, name, updated_at, rank
        from (select * from prefixed union all select * from other union all select * from worded) every
        order by name_key, rank, updated_at desc, alias
    )
    select name, name_key, rank, updated_at from found order by rank, updated_at desc, name limit max_rows;
end;

comment on function textrawl.complete_name is
    'Names of entities with this beginning, or with a word that has this beginning, last updated first. If only an '
    'alias has the beginning, the alias. An empty beginning fits every name. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.complete_name(''Je'');';
