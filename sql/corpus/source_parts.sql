create function textrawl.source_parts(content text, attributes jsonb)
returns table (part integer, text text, tokens integer, line integer)
language sql immutable parallel safe rows 100
begin atomic
    with place as materialized (
        select (c ->> 0)::integer as part, (c ->> 1)::integer as start, (c ->> 2)::integer as length, (c ->> 3)::integer as tokens
        from jsonb_array_elements(attributes -> 'chunks') c
    ), piece as materialized (
        -- Cut the text between two chunks only once, so that the work grows with the text and not with its square.
        select p.*, substr(content, p.start + 1, p.length) as text,
            coalesce(lag(p.start) over by_place, 0) as before
        from place p window by_place as (order by p.start, p.part)
    )
    select p.part, p.text, p.tokens,
        1 + sum(regexp_count(substr(content, p.before + 1, p.start - p.before), E'\n')) over (order by p.start, p.part)::integer
    from piece p
    where content is not null;
end;

comment on function textrawl.source_parts is
    'The chunks of a source: their numbers, texts and sizes, and the lines in which they begin. `attributes` are those of '
    'document_version.';
