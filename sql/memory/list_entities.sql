create function textrawl.list_entities(
    entity_types text[] default null, max_rows integer default 10, skip integer default 0,
    as_of timestamptz default null,
    spaces integer[] default array[textrawl.default_space()]
) returns table (total bigint, entities jsonb)
language sql stable security definer
set search_path from current
begin atomic
    with matching as (
        select e.id, e.name, e.entity_type, e.description, e.updated_at
        from textrawl.entity e
        where e.space_id = any(spaces)
          and (list_entities.entity_types is null or e.entity_type = any(list_entities.entity_types))
          and (as_of is null or e.created_at <= as_of)
    ), page as (
        select * from matching order by updated_at desc, id limit max_rows offset skip
    )
    select (select count(*) from matching),
           (select coalesce(jsonb_agg(to_jsonb(page) order by page.updated_at desc, page.id), '[]') from page);
end;

comment on function textrawl.list_entities is
    'A page of entities, last updated first, and how many there are in all. Example: select * from textrawl.list_entities(array[''person''], 20);';
