create function textrawl.export_reference_relations(space integer)
returns table (type text, "from" text, "to" text, "relationType" text)
language sql stable
begin atomic
    select 'relation'::text, f.name, t.name, coalesce(r.label, r.relation_type)
    from textrawl.relation r
    join textrawl.entity f on f.space_id = r.space_id and f.id = r.from_entity
    join textrawl.entity t on t.space_id = r.space_id and t.id = r.to_entity
    where r.space_id = export_reference_relations.space and textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at)
    order by r.created_at, r.id;
end;

comment on function textrawl.export_reference_relations is
    'Valid relations of a space as lines in the file format of the reference memory server. '
    'Example: select row_to_json(e) from textrawl.export_reference_relations(1) e;';
