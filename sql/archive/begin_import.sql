create function textrawl.begin_import(lines jsonb) returns table (run uuid)
language plpgsql volatile security definer
set search_path from current
as $$
begin
    perform require_owner();
    return query
        select claim_import(g.system, row(g.space, register_actor(session_user), null, 'import', null, false)::origin, g.command,
                            g.folder)
        from jsonb_to_recordset(lines) g(space integer, system text, command text, folder jsonb);
end
$$;

comment on function textrawl.begin_import is
    'Begin an import of facts into a space, or continue the one that was interrupted: [{space, system, command, folder}]. Return its id. '
    'Error TR013: not the owner.';
