create function textrawl.find_graph_key(
    graph text, credential bytea default null,
    out key uuid,          -- id of the key; null: the graph has no key yet
    out documents bigint,  -- encrypted documents
    out clear bigint,      -- sources that a former version stored in the clear
    out may_destroy boolean  -- destroy_graph_key() would not refuse the caller
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_variable
declare
    home integer := find_encrypted_graph(graph, credential);
begin
    key := (select k.id from graph_key k where k.space_id = home);
    documents := (select count(*) from encrypted_document d where d.space_id = home);
    may_destroy := exists (
        select from access_rights(credential) r where r.space_id = home and r.scopes @> array['admin', 'forget']);
    clear := (select count(*) from source s where s.space_id = home);
end
$$;

comment on function textrawl.find_graph_key is
    'The id of the key of a sensitive graph, with the number of its documents. Errors: TR010, TR011 (access), TR063 '
    '(no such graph), TR130 (the graph is not sensitive). '
    'Example: select key, documents from textrawl.find_graph_key(''diary'');';
