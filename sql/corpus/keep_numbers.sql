create function textrawl.keep_numbers(content text, chunks jsonb, former_content text, former_chunks jsonb) returns jsonb
language sql immutable parallel safe
begin atomic
    with numbered as materialized (
        select a.c, a.rank, p.text, row_number() over (partition by p.text order by a.rank) as copy
        from jsonb_array_elements(chunks) with ordinality a (c, rank)
        join textrawl.source_parts(content, jsonb_build_object('chunks', chunks)) p on p.part = (a.c ->> 0)::integer
    ), former as materialized (
        select f.part, f.text, row_number() over (partition by f.text order by f.part) as copy
        from textrawl.source_parts(former_content, jsonb_build_object('chunks', coalesce(former_chunks, '[]'))) f
    ), kept as materialized (
        select n.c, n.rank, f.part, row_number() over (partition by f.part is null order by n.rank) as place
        from numbered n left join former f on f.text = n.text and f.copy = n.copy
    ), last as (
        select coalesce(max(part), 0) as part from former
    )
    -- The numbers of new chunks follow the former ones, so that an id never means another chunk. If no numbers are left,
    -- all chunks are numbered again. Without a former text, no chunk is looked at, because a long text takes seconds.
    select case when former_content is null then (
            select jsonb_agg(jsonb_set(a.c, '{0}', to_jsonb(a.rank)) order by a.rank) from jsonb_array_elements(chunks) with ordinality a (c, rank))
        when l.part + (select count(*) from kept where part is null) > 32767 then chunks
        else (select jsonb_agg(jsonb_set(k.c, '{0}', to_jsonb(coalesce(k.part, l.part + k.place))) order by k.rank) from kept k) end
    from last l;
end;

comment on function textrawl.keep_numbers is
    'The chunks of a new version of a source. A chunk whose text was in the former version keeps its number, and so its id '
    'and its vector. '
    'Example: select textrawl.keep_numbers(''one two'', ''[[1, 0, 3, 1], [2, 4, 3, 1]]'', ''two'', ''[[1, 0, 3, 1]]'');';
