create function textrawl.imported_folders(lines jsonb) returns table (
    folder jsonb  -- null: of a run that is older than the column
)
language sql stable
begin atomic
    select distinct r.folder
    from jsonb_to_recordset(lines) g(space integer, system text)
    join textrawl.space s on s.id = g.space
    join textrawl.import_run r on r.space_id = g.space and r.system = g.system and (r.folder is not null or s.tier is null);
end;

comment on function textrawl.imported_folders is
    'The folders of the imports of a system: [{space, system}].';
