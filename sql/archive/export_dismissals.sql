create function textrawl.export_dismissals(space integer)
returns table (
    kind text, space text, id uuid, candidate text, one uuid, other uuid,
    author text, client text, tool text, request text, created_at timestamptz
)
language sql stable
begin atomic
    select 'dismissal'::text, s.name, d.id, d.kind, d.one, d.other, a.name, d.client, d.tool, d.request, d.created_at
    from textrawl.dismissal d
    join textrawl.space s on s.id = d.space_id
    join textrawl.actor a on a.id = d.author_id
    where d.space_id = export_dismissals.space
    order by d.space_id, d.id;
end;

comment on function textrawl.export_dismissals is
    'Dismissed candidates of a space as lines of an export. '
    'Example: select row_to_json(r) from textrawl.export_dismissals(1) r;';
