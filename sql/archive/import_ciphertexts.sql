create function textrawl.import_ciphertexts(lines jsonb) returns table (
    place integer,  -- number of the line in the file
    stored uuid,
    outcome text    -- added, known (a document of this path is here), misplaced (the space is not a sensitive graph),
                    -- another key (the graph here has another key) or shared key (another graph here has the key)
)
language plpgsql volatile security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    insert into graph_key (space_id, id)
    select distinct on (g.space) g.space, g.key from jsonb_to_recordset(lines) g(space integer, place integer, key uuid)
    join space s on s.id = g.space and s.tier = 'sensitive'
    where not exists (select from graph_key o where o.id = g.key and o.space_id <> g.space)
    order by g.space, g.place
    on conflict (space_id) do nothing;
    -- Until the transaction ends, nobody destroys these keys.
    perform from graph_key k where k.space_id in (select g.space from jsonb_to_recordset(lines) g(space integer)) for key share;
    return query
        with line as materialized (
            select g.*, case when s.id is null then 'misplaced'
                when exists (select from graph_key o where o.id = g.key and o.space_id <> g.space) then 'shared key'
                when k.id is distinct from g.key then 'another key' end as refused
            from jsonb_to_recordset(lines) g(
                place integer, space integer, id uuid, key uuid, version integer, digest text, head text, content text,
                created_at timestamptz, stored_at timestamptz)
            left join space s on s.id = g.space and s.tier = 'sensitive'
            left join graph_key k on k.space_id = g.space
        ), added as (
            insert into encrypted_document (space_id, id, version, digest, head, content, created_at, stored_at)
            select l.space, l.id, l.version, decode(l.digest, 'hex'), decode(l.head, 'base64'), decode(l.content, 'base64'),
                l.created_at, l.stored_at
            from line l where l.refused is null order by l.space, l.id
            on conflict do nothing
            returning space_id, id
        )
        select l.place, l.id, coalesce(l.refused, case when a.id is null then 'known' else 'added' end)
        from line l left join added a on a.space_id = l.space and a.id = l.id;
end
$$;

comment on function textrawl.import_ciphertexts is
    'Import the encrypted documents of an export, still encrypted. A graph without a key gets the key of the file, whose secret must '
    'be copied with `textrawl space key`. Error TR013: not the owner.';
