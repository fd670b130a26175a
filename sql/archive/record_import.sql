create function textrawl.record_import(counts jsonb) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    recorded bigint;
begin
    perform require_owner();
    -- One event for each space. The imported facts belong to their authors, not to the importer, so no undo of the
    -- importer removes them.
    perform record_event('imported', null, null, null,
        row((c.value ->> 'space')::integer, register_actor(session_user), null, 'import', null)::origin,
        c.value - 'space')
    from jsonb_array_elements(counts) c;
    get diagnostics recorded = row_count;
    return recorded;
end
$$;

comment on function textrawl.record_import is
    'Add an event to the trail of each space with imported rows: [{space, entities, facts, relations}]. Error TR013: not '
    'the owner.';
