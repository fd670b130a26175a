create function textrawl.export_relations(space integer)
returns table (
    kind text, space text, id uuid, from_entity uuid, relation text, label text, to_entity uuid, strength real,
    valid_from timestamptz, valid_until timestamptz, closed_at timestamptz,
    author text, client text, tool text, request text, created_at timestamptz,
    origin text
)
language sql stable
begin atomic
    select 'relation'::text, s.name, r.id, r.from_entity, r.relation_type, r.label, r.to_entity, r.strength,
        r.valid_from, r.valid_until, r.closed_at, a.name, r.client, r.tool, r.request, r.created_at,
        textrawl.find_origin(o.origin, o.tool, o.client, o.source)
    from textrawl.relation r
    join textrawl.observation o on o.space_id = r.space_id and o.id = r.id
    join textrawl.space s on s.id = r.space_id
    join textrawl.actor a on a.id = r.author_id
    where r.space_id = export_relations.space
    order by r.space_id, r.id;
end;

comment on function textrawl.export_relations is
    'Relations of a space as lines of an export. Example: select row_to_json(r) from textrawl.export_relations(1) r;';
