create function textrawl.stale_facts(
    max_rows integer default 50, skip integer default 0, spaces integer[] default null, credential bytea default null
) returns table (
    space text, id uuid, entity_name text, entity_type text, content text, reasons text,
    author text, created_at timestamptz, recalls bigint
)
language plpgsql stable security definer rows 50
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Not in SQL: an update drops the views first, and such a function would hold them.
    return query
    select p.name, f.id, e.name, e.entity_type, f.content, f.reasons, a.name, f.created_at, coalesce(f.recalls, 0)
    from (
        select s.space_id, s.id, s.created_at from textrawl.stale_fact s
        where s.space_id = any((select textrawl.readable_spaces(credential, stale_facts.spaces))::integer[])
        order by s.created_at, s.id limit max_rows offset skip) o
    join textrawl.stale_fact f on f.space_id = o.space_id and f.id = o.id
    join textrawl.entity e on e.space_id = f.space_id and e.id = f.entity_id
    join textrawl.space p on p.id = f.space_id
    join textrawl.actor a on a.id = f.author_id
    order by f.created_at, f.id;
end
$$;

comment on function textrawl.stale_facts is
    'Facts to review as in memory_stale, the oldest first. Errors: TR010, TR011 (access). '
    'Example: select entity_name, content, reasons from textrawl.stale_facts();';
