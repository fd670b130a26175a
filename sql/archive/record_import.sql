create function textrawl.record_import(counts jsonb) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    recorded bigint;
begin
    perform require_owner();
    -- One line a space: facts that come from elsewhere were said by their authors, not by who imports
    -- them, so no undo takes them back.
    perform record_event('imported', null, null, null,
        row((c.value ->> 'space')::integer, register_actor(session_user), null, 'import', null)::origin,
        c.value - 'space')
    from jsonb_array_elements(counts) c;
    get diagnostics recorded = row_count;
    return recorded;
end
$$;

comment on function textrawl.record_import is
    'Adds a line to the trail of each space that something was imported to: [{space, entities, facts, relations}]. Error TR013: not the owner.';
