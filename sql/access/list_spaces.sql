create function textrawl.list_spaces()
returns table (
    name text, created_at timestamptz, archived_at timestamptz,
    facts bigint,    -- number of valid facts; 0 for a graph
    members bigint,  -- number of actors with a grant
    own_index text,  -- the space's own vector index: ready, unfinished, or null if there is none
    language text,
    rebuilding bigint,  -- number of facts whose search document still has a former language; null if there is no rebuild
    tier text,       -- of a graph; null for a space of facts
    recall_tokens integer,  -- most tokens of a graph in one answer
    sources bigint, chunks bigint  -- of a graph; the chunks of encrypted documents are not known
)
language plpgsql stable security definer
set search_path from current
as $$
#variable_conflict use_column
begin
    perform require_owner();
    return query
        select s.name, s.created_at, s.archived_at,
            (select count(*) from fact o where o.space_id = s.id and s.tier is null and is_valid(o.valid_from, o.valid_until, o.closed_at)),
            (select count(*) from space_grant g where g.space_id = s.id),
            (select case when bool_and(i.valid) then 'ready' else 'unfinished' end
             from own_indexes() i where i.space_id = s.id having count(*) > 0),
            s.language,
            (select count(o.id) from document_rebuild r left join observation o
                on o.space_id = r.space_id and not r.reflections and (r.reached is null or o.id > r.reached)
             where r.space_id = s.id having count(*) > 0),
            s.tier, case when s.tier is not null then recall_cap(s.tier, s.recall_tokens) end,
            g.sources + (select count(*) from encrypted_document e where e.space_id = s.id), g.chunks
        from space s
        left join lateral (
            select count(*) as sources, coalesce(sum(c.chunks), 0) as chunks from source c
            where c.space_id = s.id and c.content_hash is not null) g on s.tier is not null
        order by s.archived_at is not null, s.name;
end
$$;

comment on function textrawl.list_spaces is
    'All spaces with their numbers of valid facts and members, and graphs with their tiers and sources. Archived spaces '
    'come last. Error TR013: not the owner. '
    'Example: select * from textrawl.list_spaces();';
