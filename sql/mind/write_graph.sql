create function textrawl.write_graph(
    nodes jsonb default '[]',   -- [{label, type, description, confidence, properties, memory, first_learned_at}]
    -- "from" and "to" are labels.
    edges jsonb default '[]',   -- [{from, to, type, strength, evidence, properties, occurred_at, valid_until}]
    instance text default null, -- instance that learned this, according to the caller
    confirm boolean default false,  -- true: confirm existing nodes; the higher confidence counts
    model integer default null, embeddings halfvec[] default null,  -- a vector for each description
    credential bytea default null, space integer default null,
    client text default null, tool text default 'sql', request text default null
) returns table (
    kind text,        -- node or edge
    place bigint,     -- position in nodes or edges, from 1
    id uuid,          -- null: an end of the edge is missing, so the edge was not stored
    created boolean,  -- false: the node or edge existed already
    readable boolean  -- true: the caller can read the space
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
declare
    origin origin := open_write(credential, space, 'write', client, tool, request);
begin
    readable := may_read(credential, origin.space_id);
    for kind, place, id, created in
        select p.kind, p.place, p.id, p.created
        from store_graph(nodes, edges, write_graph.instance, write_graph.confirm, write_graph.model, embeddings, origin) p
    loop
        return next;
    end loop;
end
$$;

comment on function textrawl.write_graph is
    'Create nodes and edges in one transaction. A node with the same label and type, in upper or lower case, is not '
    'created again. The ends of an edge are labels of nodes in this call, or else of existing nodes. If an end does '
    'not exist, the edge is not stored. Errors: TR010 to TR012 (access). '
    'Example: select * from textrawl.write_graph(''[{"label": "Ada", "type": "person"}, {"label": "tea", "type": "topic"}]'', '
    '''[{"from": "Ada", "to": "tea", "type": "loves", "strength": 0.9}]'');';
