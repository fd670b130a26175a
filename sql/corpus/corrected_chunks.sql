create function textrawl.corrected_chunks(
    chunks jsonb,
    part integer,                                     -- of the corrected chunk
    prefix integer, removed integer, added integer,  -- as in replaced_chunks()
    tokens integer,                                  -- of the corrected chunk
    growth integer                                   -- most tokens that the change can add to an overlapping chunk
) returns jsonb
language sql immutable parallel safe
begin atomic
    with former as (
        select (c ->> 0)::integer as part, (c ->> 1)::integer as start from jsonb_array_elements(chunks) c
    ), moved as (
        select (c ->> 0)::integer as part, (c ->> 1)::integer as start, (c ->> 2)::integer as length, (c ->> 3)::integer as tokens, rank
        from jsonb_array_elements(textrawl.replaced_chunks(chunks, prefix, removed, added, growth)) with ordinality a (c, rank)
    )
    select jsonb_agg(jsonb_build_array(
               m.part,
               case when cut.after then prefix + added else m.start end,
               case when cut.after then m.start + m.length - prefix - added when cut.before then prefix - m.start else m.length end,
               case when m.part = own.part then corrected_chunks.tokens when cut.before or cut.after then m.tokens - growth
                    else m.tokens end) order by m.rank)
    from moved m
    join former f on f.part = m.part
    join former own on own.part = corrected_chunks.part
    -- A chunk has at most 8,000 characters. If a neighbour would be longer, it loses the characters that the corrected chunk
    -- contains too.
    cross join lateral (select m.length > 8000 and f.start < own.start as before, m.length > 8000 and f.start > own.start as after) cut;
end;

comment on function textrawl.corrected_chunks is
    'The chunks of a source after a range inside chunk `part` was replaced. The tokens of overlapping '
    'chunks grow by `growth`, which can be too high, but never too low.';
