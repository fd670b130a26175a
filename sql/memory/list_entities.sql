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
language plpgsql stable security definer rows 1
set search_path from current
-- Planning this statement takes longer than running it, and without times its plan does not depend on the values.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
    scope integer[] := readable_spaces(credential, spaces);
    key   text := name_key(prefix);
    -- If no filter is given, skip the checks of each entity: one plan for all values does not remove them.
    every boolean := num_nonnulls(entity_types, prefix, as_of, since, until) = 0;
begin
    if num_nonnulls(as_of, since, until) > 0 then
        perform set_config('plan_cache_mode', 'force_custom_plan', true);  -- the best index of facts depends on the times
    end if;
    return query
    with said as materialized (
        -- Compare said_at with a range, because the index can find a range. Postgres does not run this query if `since`
        -- and `until` are null.
        select distinct o.space_id, o.entity_id from fact o
        where o.space_id = any(scope)
          and o.said_at >= coalesce(since, '-infinity') and o.said_at <= coalesce(until, 'infinity')
          and is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)
    ), matching as (
        select from local_entities() e
        where e.space_id = any(scope) and has_type(e.entity_type, e.metadata, entity_types)
          and (key is null or starts_with(e.name_key, key))
          and (as_of is null or e.created_at <= as_of or exists (
              select from observation o
              where o.space_id = e.space_id and o.entity_id = e.id and is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)))
          and (num_nonnulls(since, until) = 0 or (e.space_id, e.id) in (select said.space_id, said.entity_id from said))
    ), page as (
        -- Read the newest entities of each space from the index. It would take longer to sort all entities of all
        -- spaces.
        select newest.*, s.name as space
        from unnest(scope) as searched (id)
        join space s on s.id = searched.id
        cross join lateral (
            select e.space_id, e.id, e.name, e.entity_type, e.description, e.updated_at, e.metadata
            from local_entities() e
            where e.space_id = searched.id and (every or has_type(e.entity_type, e.metadata, entity_types)
              and (key is null or starts_with(e.name_key, key))
              and (as_of is null or e.created_at <= as_of or exists (
                  select from observation o
                  where o.space_id = e.space_id and o.entity_id = e.id and is_valid(o.valid_from, o.valid_until, o.closed_at, as_of)))
              and (num_nonnulls(since, until) = 0 or (e.space_id, e.id) in (select said.space_id, said.entity_id from said)))
            order by e.updated_at desc, e.id limit max_rows::bigint + skip) newest
        order by newest.updated_at desc, newest.id limit max_rows offset skip
    )
    select case when every then (select count(*) from local_entities() e where e.space_id = any(scope)) else (select count(*) from matching) end,
           (select coalesce(jsonb_agg(jsonb_build_object(
                'id', page.id, 'space', page.space, 'name', page.name, 'entity_type', page.entity_type,
                'description', entity_description(page.space_id, page.id, page.description), 'updated_at', page.updated_at,
                'given_type', nullif(nullif(free_type(page.entity_type, page.metadata), page.entity_type), 'Generic'))
                order by page.updated_at desc, page.id), '[]') from page);
end
$$;

comment on function textrawl.list_entities is
    'A page of entities, last updated first. If as_of is given, only entities that were stored by then or have a fact that '
    'was valid then. If "since" or "until" is given, only entities with a valid fact that was '
    'said in this period. Errors: TR010, TR011 (access). '
    'Example: select * from textrawl.list_entities(array[''person''], 20);';
