create function textrawl.memory_record(space integer, memory uuid) returns jsonb
language sql stable
begin atomic
    select jsonb_strip_nulls(jsonb_build_object(
        'retention', (select to_jsonb(r) from textrawl.retention r where r.space_id = space and r.observation_id = memory),
        'links', (select jsonb_agg(to_jsonb(l)) from textrawl.memory_link l where l.space_id = space and l.from_id = memory),
        'revision', (select to_jsonb(v) from textrawl.revision v where v.space_id = space and v.observation_id = memory)));
end;

comment on function textrawl.memory_record is
    'The rows of other tables about a fact, for the revert of an undo: its retention, its links and its revision.';
