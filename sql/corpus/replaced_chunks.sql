create function textrawl.replaced_chunks(
    chunks jsonb,
    prefix integer,   -- number of characters before the changed range
    removed integer,  -- length of the range before the change
    added integer,    -- length of the range after the change
    added_tokens integer default 0
) returns jsonb
language sql immutable parallel safe
begin atomic
    -- If a chunk starts inside the removed range, it now starts at the beginning of the range. If a chunk ends inside, it
    -- now ends at the new end. So all these chunks contain the new text.
    select jsonb_agg(jsonb_build_array(c.part, moved.start, moved.finish - moved.start,
                case when c.start < prefix + removed and c.finish > prefix then c.tokens + added_tokens else c.tokens end)
                order by c.rank)
    from (
        select (e ->> 0)::integer as part, (e ->> 1)::integer as start, (e ->> 1)::integer + (e ->> 2)::integer as finish,
            (e ->> 3)::integer as tokens, rank
        from jsonb_array_elements(chunks) with ordinality a (e, rank)) c
    cross join lateral (
        select case when c.start <= prefix then c.start when c.start >= prefix + removed then c.start - removed + added
                else prefix end as start,
            case when c.finish <= prefix then c.finish when c.finish >= prefix + removed then c.finish - removed + added
                else prefix + added end as finish) moved
    where moved.finish > moved.start;
end;

comment on function textrawl.replaced_chunks is
    'The chunks of a source after a range of its text was replaced. Chunks without a character are left out. Null if no '
    'chunk is left. '
    'Example: select textrawl.replaced_chunks(''[[1, 0, 10, 3], [2, 8, 10, 3]]'', 4, 2, 5);';
