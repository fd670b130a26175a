create function textrawl.restore_memory(space integer, memory uuid, kept jsonb) returns void
language plpgsql volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    -- Uses that were recorded meanwhile stay. Only the status is as it was before the undo.
    insert into retention as r
    select (jsonb_populate_record(null::retention, kept -> 'retention')).* where kept ? 'retention'
    on conflict (space_id, observation_id) do update set status = excluded.status, ended_at = excluded.ended_at;
    insert into memory_link (space_id, id, from_id, to_id, relation_type, strength, metadata, created_at)
    select l.space_id, l.id, l.from_id, l.to_id, l.relation_type, l.strength, l.metadata, l.created_at
    from jsonb_array_elements(kept -> 'links') saved, jsonb_populate_record(null::memory_link, saved) l
    on conflict do nothing;
    insert into revision
    select (jsonb_populate_record(null::revision, kept -> 'revision')).* where kept ? 'revision'
    on conflict do nothing;
end
$$;

comment on function textrawl.restore_memory is
    'Restore what other tables held about a fact before an undo, from the result of memory_record().';
