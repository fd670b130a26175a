create function textrawl.close_import(lines jsonb) returns void
language plpgsql volatile security definer
set search_path from current
as $$
begin
    perform require_owner();
    update import_run r set finished_at = clock_timestamp()
    from jsonb_to_recordset(lines) g(space integer, run uuid) where r.space_id = g.space and r.id = g.run;
end
$$;

comment on function textrawl.close_import is
    'End imports of facts: [{space, run}]. Error TR013: not the owner.';
