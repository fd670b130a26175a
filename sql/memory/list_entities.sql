create function textrawl.list_entities(
    entity_types text[] default null, max_rows integer default 10, skip integer default 0,
    as_of timestamptz default null,
    spaces integer[] default null, credential bytea default null,
    since timestamptz default null, until timestamptz default null,
    prefix text default null  -- of the name, without regard to case
) returns table (
    total bigint,   -- number of entities that match, on all pages
    entities jsonb  -- the entities of this page, [{id, space, name, entity_type, description, updated_at, given_type}]
)
language sql stable security definer
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, list_entities.spaces) as ids
    ), said as materialized (
        -- Compare said_at with a range, because the index can find a range. Postgres does not run this query if `since`
        -- and `until` are null.
        select distinct o.space_id, o.entity_id from textrawl.fact o
        where o.space_id = any((select ids from scope)::integer[])
          and o.said_at >= coalesce(since, '-infinity') and o.said_at <= coalesce(until, 'infinity')
          and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)
    ), matching as (
        select from textrawl.entity e
        where e.space_id = any((select ids from scope)::integer[])
          and textrawl.has_type(e.entity_type, e.metadata, list_entities.entity_types)
          and (prefix is null or starts_with(e.name_key, textrawl.name_key(prefix)))
          and (as_of is null or e.created_at <= as_of or exists (
              select from textrawl.observation o
              where o.space_id = e.space_id and o.entity_id = e.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)))
          and (num_nonnulls(since, until) = 0 or (e.space_id, e.id) in (select said.space_id, said.entity_id from said))
    ), page as (
        -- Read the newest entities of each space from the index. It would take longer to sort all entities of all
        -- spaces.
        select newest.id, s.id as space_id, s.name as space, newest.name, newest.entity_type, newest.description, newest.updated_at,
            nullif(nullif(textrawl.free_type(newest.entity_type, newest.metadata), newest.entity_type), 'Generic') as given_type
        from unnest((select ids from scope)) as place (id)
        join textrawl.space s on s.id = place.id
        cross join lateral (
            select e.id, e.name, e.entity_type, e.description, e.updated_at, e.metadata
            from textrawl.entity e
            where e.space_id = place.id
              and textrawl.has_type(e.entity_type, e.metadata, list_entities.entity_types)
              and (prefix is null or starts_with(e.name_key, textrawl.name_key(prefix)))
              and (as_of is null or e.created_at <= as_of or exists (
              select from textrawl.observation o
              where o.space_id = e.space_id and o.entity_id = e.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)))
              and (num_nonnulls(since, until) = 0 or (e.space_id, e.id) in (select said.space_id, said.entity_id from said))
            order by e.updated_at desc, e.id limit max_rows::bigint + skip) newest
        order by newest.updated_at desc, newest.id limit max_rows offset skip
    )
    select (select count(*) from matching),
           (select coalesce(jsonb_agg(to_jsonb(page) - 'space_id' || jsonb_build_object(
                'description', textrawl.entity_description(page.space_id, page.id, page.description))
                order by page.updated_at desc, page.id), '[]') from page);
end;

comment on function textrawl.list_entities is
    'A page of entities, last updated first. If as_of is given, only entities that were stored by then or have a fact that '
    'was valid then. If "since" or "until" is given, only entities with a valid fact that was '
    'said in this period. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.list_entities(array[''person''], 20);';
