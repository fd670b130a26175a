create function textrawl.browse_entities(
    chosen text default null,          -- only entities of this type
    sort text default 'changed',       -- or name, type, facts
    max_rows integer default 50, skip integer default 0, spaces integer[] default null, credential bytea default null
) returns table (
    space text, id uuid, name text, entity_type text, facts bigint,
    changed_at timestamptz,
    author text,   -- of the newest valid fact
    total bigint,  -- number of entities of the chosen type
    types jsonb    -- number of entities of each type
)
language sql stable security definer rows 50
set search_path from current
begin atomic
    with scope as materialized (
        select textrawl.readable_spaces(credential, browse_entities.spaces) as ids
    ), listed as materialized (
        select e.space_id, e.id, e.name, e.name_key, e.entity_type, e.updated_at from textrawl.local_entities() e
        where e.space_id = any((select ids from scope)::integer[])
    ), counted as materialized (
        -- Only this order needs the facts of all entities.
        select o.space_id, o.entity_id, count(*) as facts from textrawl.fact o
        where sort = 'facts' and o.space_id = any((select ids from scope)::integer[])
          and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
        group by o.space_id, o.entity_id
    ), page as materialized (
        select l.*, row_number() over (order by c.facts desc nulls last, case sort when 'name' then l.name_key when 'type' then l.entity_type end,
            l.updated_at desc, l.id) as place
        from listed l left join counted c on c.space_id = l.space_id and c.entity_id = l.id
        where chosen is null or l.entity_type = chosen
        order by place limit max_rows offset skip
    )
    select s.name, p.id, p.name, p.entity_type, known.facts, p.updated_at, newest.author,
        (select count(*) from listed l where chosen is null or l.entity_type = chosen),
        (select jsonb_object_agg(t.entity_type, t.number) from (
            select l.entity_type, count(*) as number from listed l group by l.entity_type) t)
    from page p
    join textrawl.space s on s.id = p.space_id
    cross join lateral (
        select count(*) as facts from textrawl.fact o
        where o.space_id = p.space_id and o.entity_id = p.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)) known
    left join lateral (
        select a.name as author from textrawl.fact o join textrawl.actor a on a.id = o.author_id
        where o.space_id = p.space_id and o.entity_id = p.id and textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at)
        order by o.ordinal desc limit 1) newest on true
    order by p.place;
end;

comment on function textrawl.browse_entities is
    'A page of the entities of all types or of one, with the numbers of all types. '
    'Errors: TR010, TR011 (access), TR060 (a given space is a graph). '
    'Example: select name, facts, author from textrawl.browse_entities(''person'', ''facts'');';
