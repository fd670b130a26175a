create function textrawl.export_facts(space integer)
returns table (
    kind text, space text, id uuid, entity uuid, text text, source text, confidence real,
    valid_from timestamptz, valid_until timestamptz, replaced_by uuid,
    author text, client text, tool text, request text, created_at timestamptz,
    whole uuid, part smallint
)
language sql stable
begin atomic
    select 'fact'::text, s.name, o.id, o.entity_id, o.content, o.source, o.confidence,
        o.valid_from, o.valid_until, o.replaced_by, a.name, o.client, o.tool, o.request, o.created_at,
        o.whole, o.part
    from textrawl.observation o
    join textrawl.space s on s.id = o.space_id
    join textrawl.actor a on a.id = o.author_id
    where o.space_id = export_facts.space
    order by o.ordinal, o.id;
end;

comment on function textrawl.export_facts is
    'Facts of a space as lines of an export, including those that are no longer valid. '
    'Example: select row_to_json(f) from textrawl.export_facts(1) f;';
