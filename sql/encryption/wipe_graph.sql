create function textrawl.wipe_graph(space integer) returns void
language plpgsql volatile
set search_path from current
as $$
begin
    delete from document_tombstone t where t.space_id = wipe_graph.space;
    delete from undone u where u.space_id = wipe_graph.space;
    delete from recall r where r.space_id = wipe_graph.space;
    delete from lexeme l where l.space_id = wipe_graph.space;
    delete from imported_item i where i.space_id = wipe_graph.space;
    delete from entity e where e.space_id = wipe_graph.space;
    update event e
    set detail = (select coalesce(jsonb_object_agg(d.key, d.value), '{}') from jsonb_each(e.detail) d
                  where d.key in ('document', 'kind', 'encrypted', 'key', 'documents', 'chunks')),
        client = null, request = null
    where e.space_id = wipe_graph.space and e.action in (
        'created', 'written', 'deleted', 'erased', 'imported', 'outvoted', 'forgotten', 'undone', 'restored', 'named', 'unnamed');
end
$$;

comment on function textrawl.wipe_graph is
    'Delete what repeats paths, labels and words of the former sources of a sensitive graph. Events keep ids and counts.';
