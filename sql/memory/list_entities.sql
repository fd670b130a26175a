create function textrawl.list_entities(
    entity_types text[] default null, max_rows integer default 10, skip integer default 0,
    as_of timestamptz default null,
    spaces integer[] default null, credential bytea default null
) returns table (
    total bigint,   -- entities that match, on all pages
    entities jsonb  -- this page, [{id, space, name, entity_type, description, updated_at}]
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, list_entities.spaces) as ids
    ), matching as (
        select from textrawl.entity e
        where e.space_id = any((select ids from scope)::integer[])
          and (list_entities.entity_types is null or e.entity_type = any(list_entities.entity_types))
          and (as_of is null or e.created_at <= as_of)
    ), page as (
        -- Read each space from its index: sorting the entities of all spaces takes longer the more there are.
        select newest.id, s.name as space, newest.name, newest.entity_type, newest.description, newest.updated_at
        from unnest((select ids from scope)) as place (id)
        join textrawl.space s on s.id = place.id
        cross join lateral (
            select e.id, e.name, e.entity_type, e.description, e.updated_at
            from textrawl.entity e
            where e.space_id = place.id
              and (list_entities.entity_types is null or e.entity_type = any(list_entities.entity_types))
              and (as_of is null or e.created_at <= as_of)
            order by e.updated_at desc, e.id limit max_rows::bigint + skip) newest
        order by newest.updated_at desc, newest.id limit max_rows offset skip
    )
    select (select count(*) from matching),
           (select coalesce(jsonb_agg(to_jsonb(page) order by page.updated_at desc, page.id), '[]') from page);
end;

comment on function textrawl.list_entities is
    'A page of entities, last updated first. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.list_entities(array[''person''], 20);';
