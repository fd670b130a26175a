create function textrawl.set_fact(space integer, fact uuid, former jsonb) returns void
language sql volatile
begin atomic
    update textrawl.observation o
    set source = n.source, confidence = n.confidence, valid_until = n.valid_until, closed_at = n.closed_at,
        replaced_by = (select f.id from textrawl.fact f where f.space_id = space and f.id = n.replaced_by),
        repository = n.repository, anchors = n.anchors,
        said_at = n.said_at, confirmed_at = n.confirmed_at,
        origin = n.origin,
        author_id = n.author_id, client = n.client, tool = n.tool, request = n.request,
        entity_id = e.id, entity_type = e.entity_type,
        fts = case when former ?| '{said_at,entity_id}' then textrawl.search_document(
            n.space_id, textrawl.space_language(n.space_id), textrawl.document_names(n.space_id, e.id), n.content,
            nullif(n.said_at, n.created_at)) else n.fts end
    from textrawl.observation present
    cross join lateral jsonb_populate_record(present, former) n
    join textrawl.entity e on e.space_id = n.space_id and e.id = n.entity_id
    where present.space_id = space and present.id = fact and o.space_id = space and o.id = fact;
end;

comment on function textrawl.set_fact is
    'Set columns of a fact to the values of a plan of plan_space_undo(), or to those that it had before an undo.';
