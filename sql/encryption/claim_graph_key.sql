create function textrawl.claim_graph_key(
    graph text,
    key uuid,  -- id of a new key, whose file is written already
    credential bytea default null, client text default null, tool text default 'sql', request text default null
) returns uuid
language plpgsql volatile security definer
set search_path from current
as $$
declare
    origin origin := open_encrypted_graph(credential, graph, 'write', client, tool, request);
begin
    -- Who destroys the key of one graph must not lose another one.
    if exists (select from graph_key k where k.id = key and k.space_id <> origin.space_id) then
        raise exception using errcode = 'TR135', message = 'another graph has this key';
    end if;
    insert into graph_key (space_id, id) values (origin.space_id, key) on conflict (space_id) do nothing;
    if found then
        perform record_event('keyed', null, null, null, origin, jsonb_build_object('key', key));
    end if;
    return (select k.id from graph_key k where k.space_id = origin.space_id);
end
$$;

comment on function textrawl.claim_graph_key is
    'Give a sensitive graph a key, unless it has one, and return the id of the key that it has. Errors: TR010, TR011 '
    '(access), TR063 (no such graph), TR130 (the graph is not sensitive), TR135 (another graph has this key).';
