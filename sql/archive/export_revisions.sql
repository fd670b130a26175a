create function textrawl.export_revisions(space integer)
returns table (
    kind text, space text, id uuid, reason text,
    author text, client text, tool text, request text, revised_at timestamptz
)
language sql stable
begin atomic
    select 'revision'::text, s.name, r.observation_id, r.reason, a.name, r.client, r.tool, r.request, r.revised_at
    from textrawl.revision r
    join textrawl.space s on s.id = r.space_id
    join textrawl.actor a on a.id = r.actor_id
    where r.space_id = export_revisions.space
    order by r.space_id, r.observation_id;
end;

comment on function textrawl.export_revisions is
    'Reasons of the wrong facts of a space as lines of an export. '
    'Example: select row_to_json(r) from textrawl.export_revisions(1) r;';
