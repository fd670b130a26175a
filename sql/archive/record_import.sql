create function textrawl.record_import(counts jsonb) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    recorded bigint;
begin
    perform require_owner();
    -- Record one event for each space. The imported facts belong to their authors and not to the importer. So an undo
    -- of the importer's writes does not remove these facts.
    perform record_event('imported', null, null, null,
        row((c.value ->> 'space')::integer, register_actor(session_user), null, 'import', null, false)::origin,
        c.value - 'space')
    from jsonb_array_elements(counts) c;
    get diagnostics recorded = row_count;
    return recorded;
end
$$;

comment on function textrawl.record_import is
    'Add one event to the trail for each space with imported rows. The parameter counts has the numbers of these rows: '
    '[{space, entities, facts, relations}]. Error TR013: not the owner.';
