create function textrawl.close_import(lines jsonb) returns void
language plpgsql volatile security definer
set search_path from current
as $$
begin
    perform require_owner();
    update import_run r set finished_at = clock_timestamp()
    from jsonb_to_recordset(lines) g(space integer, run uuid) where r.space_id = g.space and r.id = g.run;
    -- Delete an import that stored nothing, so that it is not the last import, which the undo takes.
    delete from import_run r using jsonb_to_recordset(lines) g(space integer, run uuid)
    where r.space_id = g.space and r.id = g.run
      and not exists (select from imported_item i where i.space_id = r.space_id and i.run_id = r.id)
      and not exists (select from event e
                      where e.space_id = r.space_id and e.at >= r.started_at and e.request = 'import ' || r.id);
end
$$;

comment on function textrawl.close_import is
    'End imports of facts: [{space, run}]. Delete those that stored nothing. Error TR013: not the owner.';
