create function textrawl.list_imports(space integer default null, credential bytea default null) returns table (
    run uuid, space_name text, system text, author_name text, started_at timestamptz, finished_at timestamptz,
    items bigint,    -- items that this run stored last
    undone boolean   -- an undo that was not reverted took it back
)
language sql stable security definer rows 100
set search_path from current
begin atomic
    with undone as materialized (
        select distinct e.space_id, e.request
        from textrawl.undo u
        cross join unnest(u.events) as undone_event (id)
        join textrawl.event e on e.space_id = u.space_id and e.id = undone_event.id
        where u.reverted_at is null and e.request like 'import %'
          and u.space_id = any(textrawl.administered_spaces(credential, list_imports.space)))
    select r.id, s.name, r.system, a.name, r.started_at, r.finished_at,
        (select count(*) from textrawl.imported_item i where i.space_id = r.space_id and i.run_id = r.id),
        exists (select from undone where undone.space_id = r.space_id and undone.request = 'import ' || r.id)
    from textrawl.import_run r
    join textrawl.space s on s.id = r.space_id
    join textrawl.actor a on a.id = r.author_id
    where r.space_id = any(textrawl.administered_spaces(credential, list_imports.space))
    order by r.started_at desc, r.id;
end;

comment on function textrawl.list_imports is
    'The imports of other systems, newest first. undo_author() can take one of them back. Errors: TR010, TR011 (access). '
    'Example: select run, system, items from textrawl.list_imports();';
