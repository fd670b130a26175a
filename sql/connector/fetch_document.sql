create function textrawl.fetch_document(
    document uuid,
    first_part integer default null,  -- number of the chunk to begin with; null: the first
    ceiling integer default 8000,     -- most tokens of the chunks
    graphs text[] default null,       -- only these graphs; null: all
    credential bytea default null
) returns table (
    id uuid, graph text, label text, path text, updated_at timestamptz,
    part integer,
    line integer,      -- in which the chunk begins
    content text,      -- of the chunk, without what the row before has already
    next_part integer  -- the chunk after the last row; null: there is none
)
language sql stable security definer rows 20
set search_path from current
begin atomic
    with place as materialized (
        -- The id of a source is unique only in its graph, so take the first readable graph that has it.
        select g.space_id, g.name, s.label, d.path, v.modified_at, v.attributes, least(g.cap, fetch_document.ceiling) as most
        from textrawl.readable_graphs(credential, fetch_document.graphs) g
        join textrawl.source s on s.space_id = g.space_id and s.document_id = fetch_document.document and s.content_hash is not null
        join textrawl.document d on d.space_id = s.space_id and d.id = s.document_id
        join textrawl.document_version v on v.space_id = d.space_id and v.document_id = d.id and v.version = d.version
        order by g.space_id limit 1
    ), chunk as materialized (
        -- A chunk with more tokens than one answer may have is in no answer. Numbers of chunks are not their order.
        select (c ->> 0)::integer as part, (c ->> 1)::integer as start, (c ->> 1)::integer + (c ->> 2)::integer as stop,
            (c ->> 3)::integer as tokens
        from place p cross join lateral jsonb_array_elements(p.attributes -> 'chunks') c
        where (c ->> 3)::integer <= p.most
    ), rest as materialized (
        select c.*, row_number() over following as number,
            coalesce(max(c.stop) over (following rows between unbounded preceding and 1 preceding), c.start) as reached,
            sum(c.tokens) over following as used, lead(c.part) over following as following_part
        from chunk c
        where first_part is null or (c.start, c.part) >= (
            select f.start, f.part from chunk f where f.part = first_part)
        window following as (order by c.start, c.part)
    )
    select fetch_document.document, p.name, p.label, p.path, p.modified_at, r.part, k.line,
        right(o.content, greatest(r.stop - greatest(r.start, r.reached), 0)),
        last_value(r.following_part) over (order by r.number rows between unbounded preceding and unbounded following)
    from rest r cross join place p
    join textrawl.observation o on o.space_id = p.space_id and o.whole = fetch_document.document and o.part = r.part
    join textrawl.chunk k on k.space_id = o.space_id and k.observation_id = o.id
    where r.used <= p.most
    order by r.number;
end;

comment on function textrawl.fetch_document is
    'The text of a source from one of its chunks on, a row for each chunk in the order of the text, up to the cap of the graph and '
    'to `ceiling`. Texts that two chunks have in common are given once. An unknown source or chunk, and a source in a '
    'sensitive graph, give no row. Errors: none. '
    'Example: select content from textrawl.fetch_document(gen_random_uuid());';
