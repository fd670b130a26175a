create function textrawl.record_import(counts jsonb) returns bigint
language plpgsql volatile security definer
set search_path from current
as $$
declare
    recorded bigint;
begin
    perform require_owner();
    -- An older file can contain what was erased meanwhile.
    perform apply_erasure(e.receipt, 'import')
    from erasure e where e.space_id in (select (c.value ->> 'space')::integer from jsonb_array_elements(counts) c)
    order by e.space_id, e.id;
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
    'Add one event to the trail for each space with imported rows, and erase again what receipts of these spaces name. The parameter counts has the numbers of these rows: '
    '[{space, entities, facts, relations}]. Error TR013: not the owner.';
