create function textrawl.known_items(
    graph text, system text,
    credential bytea default null
) returns table (source_id text, digest text)
language plpgsql stable security definer rows 1000
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
        select i.source_id, k.content_hash
        from known_sources(known_items.graph, known_items.credential) k
        join space s on s.name = known_items.graph
        join imported_item i on i.space_id = s.id and i.document_id = k.document_id
        where i.system = known_items.system;
end
$$;

comment on function textrawl.known_items is
    'The imported documents of a system in a graph, with the digest of their present text. A document whose text was taken '
    'back by an undo is not among them, so that a later import stores it again. Error TR063: no such graph.';
