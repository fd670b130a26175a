create function textrawl.source_parts(content text, attributes jsonb)
returns table (part integer, text text, tokens integer, line integer)
language plpgsql immutable parallel safe rows 100
set search_path from current
as $$
#variable_conflict use_column
declare
    -- A stored text is compressed. Uncompress it once, and not for each chunk.
    plain text := content || '';
begin
    return query
    with super as materialized (
        -- Postgres counts characters from the beginning of a text. So cut the text first into large blocks, these into
        -- smaller ones, and then cut the chunks from small blocks.
        select s as number, substr(plain, s * 400000 + 1, 400000) as text
        from generate_series(0, (char_length(plain) - 1) / 400000) s
    ), middle as materialized (
        select s.number * 10 + m as number, substr(s.text, m * 40000 + 1, 40000) as text
        from super s cross join lateral generate_series(0, (char_length(s.text) - 1) / 40000) m
    ), block as materialized (
        select m.number * 10 + b as number, substr(m.text, b * 4000 + 1, 4000) as text
        from middle m cross join lateral generate_series(0, (char_length(m.text) - 1) / 4000) b
    ), counted as materialized (
        select b.number, b.text,
            coalesce(sum(regexp_count(b.text, E'\n')) over (order by b.number rows between unbounded preceding and 1 preceding), 0)
            as lines
        from block b
    ), chunk_range as materialized (
        select (c ->> 0)::integer as part, (c ->> 1)::integer as start, (c ->> 2)::integer as length, (c ->> 3)::integer as tokens
        from jsonb_array_elements(attributes -> 'chunks') c
    )
    select p.part, substr(string_agg(b.text, '' order by b.number), p.start % 4000 + 1, p.length), p.tokens,
        1 + (min(b.lines) + coalesce(regexp_count(
            left(string_agg(b.text, '' order by b.number) filter (where b.number = p.start / 4000), p.start % 4000), E'\n'), 0))::integer
    from chunk_range p
    cross join lateral generate_series(p.start / 4000, (p.start + p.length - 1) / 4000) number
    join counted b on b.number = number.number
    group by p.part, p.start, p.length, p.tokens;
end
$$;

comment on function textrawl.source_parts is
    'The chunks of a source: their numbers, texts and sizes, and the lines in which they begin. `attributes` are those of '
    'document_version.';
