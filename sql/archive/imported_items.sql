create function textrawl.imported_items(lines jsonb) returns table (
    source_id text, digest text,
    stored uuid,  -- the entity, fact or relation that the item became
    gone boolean  -- the fact or relation is not valid any more
)
language sql stable
begin atomic
    select i.source_id, i.digest, coalesce(i.entity_id, i.observation_id, i.relation_id),
        not coalesce(textrawl.is_valid(o.valid_from, o.valid_until, o.closed_at), textrawl.is_valid(r.valid_from, r.valid_until, r.closed_at), true)
    from jsonb_to_recordset(lines) g(space integer, system text)
    join textrawl.imported_item i on i.space_id = g.space and i.system = g.system and i.document_id is null
    left join textrawl.observation o on o.space_id = i.space_id and o.id = i.observation_id
    left join textrawl.relation r on r.space_id = i.space_id and r.id = i.relation_id;
end;

comment on function textrawl.imported_items is
    'What earlier imports of a system stored in a space with facts: [{space, system}].';
